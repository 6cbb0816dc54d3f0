/*
 * web/selection — what is selected: a span of time on edges of buckets, a range of latency on edges of slots, a thread,
 * process, name or cgroup. The fragment of the address is the state: links lead here, and Back goes back. It also holds the time
 * that lanes and heat map show, which is no selection.
 */
const Selection = (() => {
	"use strict";
	const NONE = { from: null, to: null, slots: null, tid: null, tgid: null, comm: null, cgroup: null };
	const MAX_FRAGMENT = 4096, MAX_NAME = 512;

	function readSpan(text) {
		const ends = text.split("..").map(Words.readDuration);
		return ends.length === 2 && ends[0] !== null && ends[1] !== null && ends[0] <= ends[1] ? ends : null;
	}

	/* The time that an address shows, or null for all of it. */
	function parseZoom(fragment, model) {
		const span = fragment.includes("=") && fragment.length <= MAX_FRAGMENT ? readSpan(new URLSearchParams(fragment).get("zoom") || "") : null;
		return span && span[0] < span[1] && span[0] < model.end ? span : null;
	}

	const readId = (text) => (/^\d{1,10}$/.test(text) ? Number(text) : null);

	/* Parts that mean nothing are left out: an address is input as any other. */
	function parse(fragment, model) {
		const s = { ...NONE };
		if (!fragment.includes("=") || fragment.length > MAX_FRAGMENT)
			return s;
		const words = new URLSearchParams(fragment);
		const time = readSpan(words.get("t") || ""), latency = readSpan(words.get("lat") || "");
		if (time && time[0] < model.end)
			[s.from, s.to] = model.snap(time[0], time[1]);
		if (latency)
			s.slots = model.slotsOf(latency[0], Math.max(latency[1], latency[0] + 1));
		s.tid = readId(words.get("tid") || "");
		s.tgid = readId(words.get("pid") || "");
		s.comm = readName(words, "comm");
		s.cgroup = readName(words, "cgroup");
		return normal(s, model);
	}

	const readName = (words, key) => (words.has(key) && words.get(key).length <= MAX_NAME ? words.get(key) : null);

	/* The whole time, or all latencies, is no selection. */
	function normal(s, model) {
		if (s.from === null || s.to === null || (s.from <= model.first && s.to >= model.end))
			s.from = s.to = null;
		return s;
	}

	function latency(s, model) {
		return [model.slots[s.slots[0]][0], model.slots[s.slots[1]][1] + 1];
	}

	function format(s, model) {
		const words = [], add = (key, text) => words.push(key + "=" + encodeURIComponent(text));
		if (s.from !== null)
			words.push(`t=${Words.exact(s.from)}..${Words.exact(s.to)}`);
		if (s.slots)
			words.push(`lat=${latency(s, model).map(Words.exact).join("..")}`);
		if (s.tid !== null)
			add("tid", s.tid);
		if (s.tgid !== null)
			add("pid", s.tgid);
		if (s.comm !== null)
			add("comm", s.comm);
		if (s.cgroup !== null)
			add("cgroup", s.cgroup);
		return words.join("&");
	}

	const isEmpty = (s) => Object.values(s).every((v) => v === null);
	const isTask = (s) => s.tid !== null || s.tgid !== null || s.comm !== null || s.cgroup !== null;

	/* A name as a pattern that means only itself. */
	const literal = (name) => name.replace(/[\\*?[\]]/g, "\\$&");

	/* The command whose counts and sums are those of the selection. */
	function command(s, model) {
		const words = ["schedscope", "analyze", Words.shell(model.doc.file || "FILE")];
		const given = model.doc.filters || {};
		const option = (name, value) => {
			if (value !== null && value !== undefined)
				words.push(name, Words.shell(String(value)));
		};
		option("--from", s.from !== null && s.from > model.first ? Words.exact(s.from) : time(given.from_ns));
		option("--to", s.to !== null && s.to < model.end ? Words.exact(s.to) : time(given.to_ns));
		option("--tid", s.tid === null ? given.tid : s.tid);
		option("-p", s.tgid === null ? given.pid : s.tgid);
		option("-c", s.comm === null ? given.comm : literal(s.comm));
		option("--cgroup", s.cgroup === null ? given.cgroup : literal(s.cgroup));
		option("--cpu", given.cpu);
		return words.join(" ");
	}

	const time = (ns) => (ns === null || ns === undefined ? null : Words.exact(ns));

	/* In words, part by part, for the bar at the top. */
	function describe(s, model) {
		const parts = [];
		if (s.from !== null)
			parts.push(["t", `${Words.exact(s.from)} to ${Words.exact(s.to)}`]);
		if (s.slots)
			parts.push(["lat", `waits of ${latency(s, model).map(Words.duration).join(" to ")}`]);
		if (s.tid !== null) {
			const found = model.who.find((w) => w.tid === s.tid);
			parts.push(["tid", `thread ${s.tid}${found ? " " + Words.visible(found.comm || "") : ""}`]);
		}
		if (s.tgid !== null)
			parts.push(["pid", `process ${s.tgid}`]);
		if (s.comm !== null)
			parts.push(["comm", `tasks named ${Words.visible(s.comm)}`]);
		if (s.cgroup !== null)
			parts.push(["cgroup", `cgroup ${Words.visible(s.cgroup)}`]);
		return parts;
	}

	const FIELDS = { t: ["from", "to"], lat: ["slots"], tid: ["tid"], pid: ["tgid"], comm: ["comm"], cgroup: ["cgroup"] };

	/* What sums need of it: buckets [first, last), threads, slots and bands [low, high]. */
	function pick(s, model) {
		return {
			first: s.from === null ? 0 : model.bucket(s.from),
			last: s.to === null ? model.nr : Math.round((s.to - model.first) / model.width),
			from: s.from === null ? model.first : s.from,
			to: s.to === null ? model.end : s.to,
			takes: model.takes(s),
			isById: s.tid !== null || s.tgid !== null,
			slots: s.slots,
			...model.bandsOf(s.slots),
		};
	}

	/* The state of the page. `place` is what it needs of a window: location, history and the event of a changed address. */
	class State {
		constructor(model, place) {
			this.model = model;
			this.place = place;
			this.listeners = [];
			this.now = parse(this.fragment(), model);
			this.zoom = parseZoom(this.fragment(), model);
			place.onchange(() => {
				this.zoom = parseZoom(this.fragment(), model);
				this.set(parse(this.fragment(), model));
			});
		}

		fragment() {
			return this.place.fragment().replace(/^#/, "");
		}

		address(of) {
			const words = format(of, this.model), zoom = this.zoom ? `zoom=${this.zoom.map(Words.exact).join("..")}` : "";
			return words && zoom ? `${words}&${zoom}` : words || zoom;
		}

		onchange(listener) {
			this.listeners.push(listener);
		}

		get pick() {
			return pick(this.now, this.model);
		}

		get isEmpty() {
			return isEmpty(this.now);
		}

		/* Part of a new selection, the rest stays. While a drag is under way the address is replaced, not added to. */
		change(part, isPassing = false) {
			const next = { ...this.now, ...part };
			if (next.from !== null)
				[next.from, next.to] = this.model.snap(next.from, next.to);
			this.go(normal(next, this.model), isPassing);
		}

		drop(key) {
			this.change(Object.fromEntries(FIELDS[key].map((field) => [field, null])));
		}

		clear() {
			this.zoom = null;
			this.go({ ...NONE });
		}

		/* The time that is shown has changed; null = all of it. Back does not return to it. */
		show(span) {
			this.zoom = span && span.map(Math.round);
			this.place.go(this.address(this.now), true);
		}

		go(next, isPassing = false) {
			const fragment = this.address(next);
			if (format(next, this.model) !== format(this.now, this.model) || (!isPassing && fragment !== this.fragment()))
				this.place.go(fragment, isPassing);
			this.set(next);
		}

		set(next) {
			if (format(next, this.model) === format(this.now, this.model))
				return;
			this.now = next;
			for (const listener of this.listeners)
				listener(this.now);
		}
	}

	return { NONE, State, parse, parseZoom, format, isEmpty, isTask, command, describe, pick, latency };
})();
