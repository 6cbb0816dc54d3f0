/*
 * web/devices — interrupts, softirqs, idle states, frequencies and dispatch queues of the selected time. They are of CPUs and
 * of queues, not of tasks: a selection of tasks or latencies does not change them, and the section says so.
 */
const Devices = (() => {
	"use strict";
	const { el } = Dom;
	const nameOf = (entry) => Words.visible(String(entry && typeof entry === "object" ? entry.name : entry === undefined ? "unknown" : entry));
	const byTime = (rows) => [...rows].sort((a, b) => b[1].ns - a[1].ns);

	const count = (row) => ({ value: row[1].count, text: Words.count(row[1].count) });
	const time = (row) => ({ value: row[1].ns, text: Words.duration(row[1].ns) });

	function table(caption, names, columns, rows) {
		return Tables.make({ caption, rows, attributes: () => ({}), pick: () => null, select() {},
			columns: [{ key: "name", title: "name", isName: true, of: (row) => ({ text: names(row[0]) }) }, ...columns] });
	}

	function irqs(t, pick, { irqs: list = [] }) {
		const names = (i) => [list[i] && list[i].kind, list[i] && list[i].irq, nameOf(list[i])].filter((word) => word !== undefined).join(" ");
		return table("Interrupts of the selected time", names, [{ key: "count", title: "times", of: count },
			{ key: "total_ns", title: "time", about: "time in handlers", of: time }],
		byTime(Sums.byKey(t, pick, "what", ["count", "ns"])));
	}

	function idle(t, pick, { idle_states: list = [] }, cpuTime) {
		const share = (row) => ({ value: Number((100 * row[1].ns / cpuTime).toFixed(2)), text: Words.percent(row[1].ns, cpuTime) });
		return table("Idle states of the selected time", (i) => nameOf(list[i]), [
			{ key: "total_ns", title: "time", about: "of all CPUs", of: time },
			{ key: "percent", title: "share", about: "of the time of all CPUs", of: share }],
		byTime(Sums.byKey(t, pick, "state", ["ns"])));
	}

	function queues(t, pick, { queues: list = [] }) {
		return table("Dispatch queues of the selected time", (i) => nameOf(list[i]), [
			{ key: "count", title: "times", about: "tasks that ran out of it", of: count },
			{ key: "total_ns", title: "waited", about: "time in the queue, in all", of: time }],
		byTime(Sums.byKey(t, pick, "queue", ["count", "ns"])));
	}

	/* A CPU on which no task ran has idle states, and no lane. */
	const countCpus = (t, cpus) => t.cpu.reduce((most, cpu) => Math.max(most, cpu + 1), cpus.length);

	/* Lowest and highest frequency of each CPU. */
	function frequencies(t, pick) {
		const of = new Map(), [a, b] = Sums.rowsOf(t.bucket, pick.first, pick.last);
		for (let i = a; i < b; i++) {
			const [low, high] = of.get(t.cpu[i]) || [Infinity, 0];
			of.set(t.cpu[i], [Math.min(low, t.min_khz[i]), Math.max(high, t.max_khz[i])]);
		}
		const mhz = (i) => (row) => ({ value: of.get(row)[i], text: `${Words.count(Math.round(of.get(row)[i] / 1000))} MHz` });
		return Tables.make({ caption: "Frequencies of the selected time", rows: [...of.keys()].sort((x, y) => x - y),
			attributes: (cpu) => ({ "data-cpu": cpu }), pick: () => null, select() {}, columns: [
				{ key: "cpu", title: "CPU", isName: true, of: (cpu) => ({ text: `CPU ${cpu}` }) },
				{ key: "min_khz", title: "lowest", of: mhz(0) }, { key: "max_khz", title: "highest", of: mhz(1) }] });
	}

	function start(section, page, tables) {
		const { model, selection } = page, place = new Tables.Place(section);

		return { update() {
			const { now, pick } = selection, { doc } = model;
			if (now.from === null) {
				place.show();
				return;
			}
			const length = Math.min(pick.to, model.until) - pick.from;
			const made = [tables.irq && irqs(tables.irq, pick, doc),
				tables.idle && idle(tables.idle, pick, doc, length * countCpus(tables.idle, model.cpus)),
				tables.frequency && frequencies(tables.frequency, pick), tables.dsq && queues(tables.dsq, pick, doc)].filter(Boolean);
			const isMore = Selection.isTask(now) || now.slots;
			const note = el("p", { class: "note" }, isMore ? "Of the selected time; all tasks and latencies." : "Of the selected time.");
			place.show(...(made.length ? [note, ...made] : []));
		} };
	}

	return { start, must: [], needs: ["irq", "idle", "frequency", "dsq"] };
})();
