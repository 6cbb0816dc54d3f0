/*
 * web/model — the document of the page, its dimensions (time, threads, latencies), and its tables, each unpacked once,
 * when it is first asked for.
 */
const Model = (() => {
	"use strict";
	const SCHEMA = "schedscope-report", VERSION = 1, MAX_BUCKETS = 1e6, MAX_NAMES = 1e6;
	const WAYS = ["thread", "process", "comm", "cgroup"];

	function check(doc) {
		const b = doc && doc.buckets;
		if (!doc || doc.schema !== SCHEMA)
			throw new Error("This page has no report of schedscope in it: make the report again.");
		if (doc.version !== VERSION)
			throw new Error(`The data of this page are of version ${Number(doc.version)}, its scripts know ${VERSION}.`);
		if (!b || !(b.width_ns > 0) || !(b.nr >= 1 && b.nr <= MAX_BUCKETS) || !(doc.time && doc.time.span_ns >= 0))
			throw new Error("The time axis of this page is damaged: make the report again.");
		for (const list of [doc.cpus, doc.who, doc.wakers || [], doc.slots || []])
			if (!Array.isArray(list) || list.length > MAX_NAMES)
				throw new Error("A list of this page is damaged: make the report again.");
	}

	/* A pattern of --cgroup that is a path means that cgroup and those below it. */
	const isBelow = (path, of) => path === of || (of !== "/" && path.startsWith(of + "/"));

	const MANY_NAMES = ""; /* the rest of which not even names are kept */
	const restKey = (w) => `${w.comm}\n${w.cgroup}`;

	class Report {
		/* packed(name): the parsed element of a table, or null; has(name): whether there is one, without parsing it. */
		constructor(doc, packed, has = (name) => Boolean(packed(name))) {
			check(doc);
			this.doc = doc;
			this.packed = packed;
			this.has = has;
			this.hasSlices = has("slice");
			this.tables = new Map();
			this.ways = new Map();
			this.rests = new Map();
			this.who = doc.who;
			this.cpus = doc.cpus;
			this.slots = doc.slots || [];
			this.bands = doc.bands || this.slots.map((_, i) => [i, i]);
			this.wakers = doc.wakers || [];
			this.first = doc.buckets.first_ns || 0;
			this.width = doc.buckets.width_ns;
			this.nr = doc.buckets.nr;
			this.end = this.first + this.nr * this.width; /* the last edge, at or after the end */
			this.until = Math.min(this.end, this.first + doc.time.span_ns);
		}

		/* A promise of {rows, COLUMN: typed array}; null where the page has no such table. */
		table(name) {
			if (!this.tables.has(name)) {
				const packed = this.packed(name);
				this.tables.set(name, packed ? Unpack.table(packed) : Promise.resolve(null));
			}
			return this.tables.get(name);
		}

		async need(...names) {
			const out = {};
			for (const name of names)
				out[name] = await this.table(name);
			return out;
		}

		edge(i) {
			return this.first + i * this.width;
		}

		/* The bucket that a time is in, within the recording. */
		bucket(ns) {
			return Math.min(Math.max(Math.floor((ns - this.first) / this.width), 0), this.nr - 1);
		}

		/* Edges around a span: those at or before its start, at or after its end; at least a bucket. */
		snap(from, to) {
			const first = this.bucket(from);
			const last = Math.min(Math.max(Math.ceil((to - this.first) / this.width), first + 1), this.nr);
			return [this.edge(first), this.edge(last)];
		}

		/* The slots that a range of latency touches: [first, last], or null if it touches none. */
		slotsOf(from, to) {
			let first = -1, last = -1;
			this.slots.forEach(([low, high], i) => {
				if (high < from || low >= to)
					return;
				first = first < 0 ? i : first;
				last = i;
			});
			return first < 0 ? null : [first, last];
		}

		/* The bands, of which wakers and culprits are known, that a range of slots touches; isNear where one lies across an end. */
		bandsOf(slots) {
			if (!slots)
				return { bands: null, isNear: false };
			const touched = this.bands.map(([low, high], i) => (high >= slots[0] && low <= slots[1] ? i : -1)).filter((i) => i >= 0);
			if (!touched.length)
				return { bands: [1, 0], isNear: false };
			const bands = [touched[0], touched.at(-1)];
			return { bands, isNear: this.bands[bands[0]][0] < slots[0] || this.bands[bands[1]][1] > slots[1] };
		}

		/* A 1 for each thread that a selection takes; null = all. */
		takes({ tid, tgid, comm, cgroup }) {
			if (tid === null && tgid === null && comm === null && cgroup === null)
				return null;
			return Uint8Array.from(this.who, (w, i) => i > 0 && (tid === null || w.tid === tid) &&
				(tgid === null || w.tgid === tgid) && (comm === null || w.comm === comm || (w.names || []).includes(comm)) &&
				(cgroup === null || isBelow(w.cgroup || "", cgroup)) ? 1 : 0);
		}

		/*
		 * A 1 for each unit whose sums out of `wake` or `blame` may lack a part: where a file is too large, waits of single
		 * threads are there as those of all other threads of one name and cgroup. By name and cgroup nothing is lacking.
		 */
		folded(t, { of, units, way }, { takes, isById }) {
			const out = new Uint8Array(units.length), rests = this.restsIn(t);
			if (!rests.size || !(isById || way === "thread" || way === "process"))
				return out;
			this.who.forEach((w, i) => {
				if (i > 0 && !w.is_rest && (!takes || takes[i]) && (rests.has(restKey(w)) || rests.has(MANY_NAMES)))
					out[of[i]] = 1;
			});
			return out;
		}

		restsIn(t) {
			if (t && !this.rests.has(t))
				this.rests.set(t, new Set(Array.from(new Set(t.who), (i) => this.who[i]).filter((w) => w && w.is_rest)
					.map((w) => (w.comm === null ? MANY_NAMES : restKey(w)))));
			return t ? this.rests.get(t) : new Set();
		}

		/* Threads of which a name is left; those beyond the budget of the file have no tid of their own. */
		label(i) {
			const w = this.who[i];
			if (!w || (i === 0 && !w.comm))
				return "unknown";
			if (w.is_rest)
				return w.comm === null ? "others" : `${Words.visible(w.comm || "?")} (others)`;
			return `${Words.visible(w.comm || "?")} ${w.tid}`;
		}

		waker(i) {
			const w = this.wakers[i];
			if (!w)
				return "unknown";
			return w.interrupt !== undefined ? Words.visible(String(w.interrupt)) : this.label(w.who);
		}

		/* Of each waker the first one that is the same thread, which has another entry for each of its cgroups. */
		firstWakers() {
			const { of } = this.by("thread"), first = new Map();
			return Uint32Array.from(this.wakers, (w, i) => {
				const key = w.who === undefined ? `interrupt ${i}` : of[w.who];
				if (!first.has(key))
					first.set(key, i);
				return first.get(key);
			});
		}

		/*
		 * The units of rows of a table: {of: unit by thread, units: [{label, who, pick}]}; pick is what a selection of
		 * it needs. Unit 0 is "unknown or idle".
		 */
		by(way) {
			if (!this.ways.has(way))
				this.ways.set(way, this.group(WAYS.includes(way) ? way : "thread"));
			return this.ways.get(way);
		}

		group(way) {
			const of = new Uint32Array(this.who.length), ids = new Map(), units = [];
			this.who.forEach((w, i) => {
				const unit = i === 0 ? { label: "unknown", pick: null } : this.unit(w, way);
				const key = i === 0 ? "" : unit.key;
				let id = ids.get(key);
				if (id === undefined) {
					id = units.length;
					ids.set(key, id);
					units.push({ ...unit, who: i, threads: 0 });
				}
				units[id].threads++;
				of[i] = id;
			});
			return { of, units, way };
		}

		unit(w, way) {
			const comm = w.comm || "", cgroup = w.cgroup || "";
			if (way === "cgroup")
				return { key: "g" + cgroup, label: cgroup || "unknown", pick: cgroup ? { cgroup } : null };
			if (w.is_rest && w.comm === null)
				return { key: "others", label: "others", pick: null, isRest: true };
			if (way === "comm")
				return { key: "c" + comm, label: comm || "?", pick: { comm } };
			if (w.is_rest)
				return { key: "c" + comm, label: `${comm || "?"} (others)`, pick: { comm }, isRest: true };
			if (way === "process")
				return { key: "p" + w.tgid, label: `${w.process || comm} ${w.tgid}`, pick: w.tgid ? { tgid: w.tgid } : { comm } };
			return { key: `t${w.tid} ${w.task}`, label: `${comm || "?"} ${w.tid}`, pick: { tid: w.tid } };
		}

		/* The whole of it lies in a span with every slice and wait. */
		hasDetail(from, to) {
			const { detail } = this.doc;
			if (!detail || !this.hasSlices)
				return false;
			return detail.complete || (detail.spans || []).some(([a, b]) => a <= from && b >= to);
		}
	}

	return { Report, isBelow };
})();
