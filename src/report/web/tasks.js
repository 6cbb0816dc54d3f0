/*
 * web/tasks — the table of tasks of a selection, by thread, process, name or cgroup, and the search for names.
 */
const Tasks = (() => {
	"use strict";
	const { el } = Dom;
	const WAYS = [["thread", "threads"], ["process", "processes"], ["comm", "names"], ["cgroup", "cgroups"]];

	/* Everything that a row needs, by unit. */
	function sums(tables, pick, by, model) {
		const nrSlots = model.slots.length;
		const run = Sums.run(tables, pick, by), woken = Sums.waits(tables, pick, by, Sums.WOKEN, nrSlots);
		const preempted = Sums.waits(tables, pick, by, Sums.PREEMPTED, nrSlots), open = Sums.waiting(tables.waiting, pick, by);
		const lost = Sums.blame(tables.blame, pick, by, model.doc.causes.length).lost, folded = model.folded(tables.blame, by, pick);
		const isExact = Boolean(tables.waited && model.doc.detail.complete);
		const lengths = isExact ? Sums.lengths(tables.waited, pick, by, Sums.WOKEN, model.slots) : null;
		return { run, woken, preempted, open, lost, folded, lengths };
	}

	function percentile(s, unit, p, model) {
		if (s.lengths)
			return Sums.percentileOf(s.lengths[unit], p);
		return s.woken.count[unit] ? Sums.percentile(s.woken.slots, unit * model.slots.length, model.slots, s.woken.count[unit], p) : null;
	}

	/* The longest one: exact in full detail, else the end of the highest slot. */
	function longest(s, unit, model) {
		if (s.lengths)
			return Sums.percentileOf(s.lengths[unit], 1);
		const slot = Sums.highest(s.woken.slots, unit * model.slots.length, model.slots.length);
		return slot < 0 ? null : model.slots[slot][1];
	}

	function columns(s, by, model, pick) {
		const span = Math.min(pick.to, model.until) - pick.from, { slots } = pick;
		const time = (ns, isNear) => ({ value: ns, text: ns === null ? "" : Words.duration(ns), isNear });
		const count = (n) => ({ value: n, text: Words.count(n) });
		const isNear = !s.lengths;
		const all = [
			["task", "task", null, null, (u) => ({ text: Words.visible(by.units[u].label) })],
			["total_runtime_ns", "ran", "process_runtime", "time on CPUs", (u) => time(s.run.ns[u])],
			["cpu_time_percent", "CPU", "process_runtime", "time on CPUs, of the selected time", (u) => percent(s.run.ns[u], span)],
			["num_switches", "slices", "process_runtime", "times it was switched in", (u) => count(s.run.switches[u])],
			["waits", "waits", "blame", "all waits for a CPU: after a waking, as a new task, after preemption; also those that have not ended",
				(u) => count(s.woken.count[u] + s.preempted.count[u] + (slots ? 0 : s.open[u]))],
			["wait_ns", "waited", "blame", "time in which it waited for a CPU, within the selected time", 
				(u) => time(s.lost[u], pick.isNear || s.folded[u])],
			["total_wakeups", "wakeups", "wakeup_latency", "waits after a waking or as a new task that ended", (u) => count(s.woken.count[u])],
			["p50_latency_ns", "p50", "wakeup_latency", "half of its wakeups took at most this long",
				(u) => time(percentile(s, u, 0.5, model), isNear)],
			["p99_latency_ns", "p99", "wakeup_latency", "99 % of its wakeups took at most this long",
				(u) => time(percentile(s, u, 0.99, model), isNear)],
			["max_latency_ns", "longest", "wakeup_latency", "the longest wakeup", (u) => time(longest(s, u, model), isNear)],
		];
		return all.map(([key, title, analysis, about, of]) => ({ key, title, analysis, about, of, isName: key === "task" }));
	}

	/* As the analyses print it: two decimals. */
	const percent = (part, whole) => {
		const value = whole ? Number((100 * part / whole).toFixed(2)) : 0;
		return { value, text: `${value} %` };
	};

	function start(section, page, tables) {
		const { model, selection } = page, place = new Tables.Place(section);
		let way = "thread", wanted = "";
		const search = el("input", { type: "search", id: "search", placeholder: "Search tasks ( / )", "aria-label": "Search tasks",
			autocomplete: "off", oninput: () => {
				wanted = search.value.toLowerCase();
				update();
			} });
		const choice = el("select", { "aria-label": "Rows", onchange: () => {
			way = choice.value;
			update();
		} }, ...WAYS.map(([value, text]) => el("option", { value }, `by ${text}`)));
		const heading = section.querySelector("h2");
		section.insertBefore(el("div", { class: "tools keep" }, search, choice), heading ? heading.nextSibling : section.firstChild);
		Tables.selectRows(section, page);

		function update() {
			if (selection.isEmpty && way === "thread" && !wanted) {
				place.show();
				return;
			}
			const { pick } = selection, by = model.by(way), s = sums(tables, pick, by, model);
			const hasAny = (u) => s.run.switches[u] || s.run.ns[u] || s.woken.count[u] || s.preempted.count[u] || s.lost[u];
			const rows = by.units.map((_, u) => u).filter((u) => hasAny(u) && by.units[u].label.toLowerCase().includes(wanted));
			rows.sort((a, b) => s.run.ns[b] - s.run.ns[a] || s.lost[b] - s.lost[a]);
			const caption = rows.length ? `${Words.plural(rows.length, "row")} of the selection` : "No task of the selection matches.";
			place.show(...(pick.slots ? [el("p", { class: "note" }, "Time on CPUs and slices are of all latencies.")] : []),
				Tables.make({ columns: columns(s, by, model, pick), rows, caption, attributes: (u) => Tables.idsOf(by.units[u], model),
					pick: (u) => by.units[u].pick, select: (part) => selection.change(part) }));
		}

		return { update };
	}

	return { start, sums, percentile, longest, must: ["run"], needs: ["run", "run_open", "wait", "wait_open", "blame", "waiting", "waited"] };
})();
