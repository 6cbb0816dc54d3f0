/*
 * web/wakers — which tasks and interrupts woke which, in the selection.
 */
const Wakers = (() => {
	"use strict";
	const { el } = Dom;
	const MOST_ROWS = 500;

	function columns(model, by, pick, folded) {
		const isNear = (row) => pick.isNear || Boolean(folded[row.unit]);
		const all = [
			["waker", "woken by", null, (row) => ({ text: model.waker(row.waker) })],
			["wakee_comm", "task", null, (row) => ({ text: Words.visible(by.units[row.unit].label) })],
			["count", "times", "how often", (row) => ({ value: row.count, text: Words.count(row.count), isNear: isNear(row) })],
			["total_latency_ns", "waited", "time from the waking until it ran, in all",
				(row) => ({ value: row.ns, text: Words.duration(row.ns), isNear: isNear(row) })],
			["avg_latency_ns", "mean", "the same, each time",
				(row) => ({ value: Math.floor(row.ns / row.count), text: Words.duration(row.ns / row.count), isNear: isNear(row) })],
		];
		return all.map(([key, title, about, of], i) => ({ key, title, about, of, analysis: "wakeup_latency", isName: i < 2, isPicked: i === 1 }));
	}

	function start(section, page, tables) {
		const { model, selection } = page, place = new Tables.Place(section), first = model.firstWakers();
		Tables.selectRows(section, page);

		function attributes(row, by) {
			const w = model.wakers[row.waker], waker = w && w.who !== undefined ? model.who[w.who] : null;
			return { "data-waker": waker && waker.tid ? waker.tid : null, "data-tid": (by.units[row.unit].pick || {}).tid,
				"data-rest": by.units[row.unit].isRest || Boolean(waker && waker.is_rest) };
		}

		return { update() {
			if (selection.isEmpty) {
				place.show();
				return;
			}
			const { pick } = selection, by = model.by("thread"), rows = Sums.wakers(tables, pick, by, first);
			const folded = model.folded(tables.wake, by, pick);
			place.show(el("p", { class: "note" }, `${Words.plural(rows.length, "pair")} in the selection` +
				(rows.length > MOST_ROWS ? `, of which ${MOST_ROWS} with most time waited are shown.` : "."),
			Tables.nearText(pick, folded.some((n) => n))),
			Tables.make({ columns: columns(model, by, pick, folded), rows: rows.slice(0, MOST_ROWS), caption: "Wakings of the selection",
				attributes: (row) => attributes(row, by), pick: (row) => by.units[row.unit].pick, select: (part) => selection.change(part) }));
		} };
	}

	return { start, must: ["wake"], needs: ["wake", "wake_open"] };
})();
