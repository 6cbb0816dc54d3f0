/*
 * web/waits — of the cards of worst waits those that are in the selection; the others are hidden, and a line says so.
 */
const Waits = (() => {
	"use strict";
	const { el } = Dom;

	/* What a selection takes: times, tids (null = all), and lengths of waits (null = all, and sleeps). */
	function taken({ from, to, takes, slots }, model) {
		return { from, to, tids: takes && new Set(model.who.filter((_, i) => takes[i]).map((w) => w.tid)),
			lengths: slots && [model.slots[slots[0]][0], model.slots[slots[1]][1] ?? Infinity] };
	}

	/* wait: {from, to, tid, isSleep}. */
	function isIn({ from, to, tid, isSleep }, { from: first, to: last, tids, lengths }) {
		return from < last && to > first && (!tids || tids.has(tid)) &&
			(!lengths || (!isSleep && to - from >= lengths[0] && to - from <= lengths[1]));
	}

	function start({ model, selection }) {
		const section = document.getElementById("waits"), more = section && section.querySelector(".more");
		if (!section)
			return;
		const cards = [...section.querySelectorAll(".card")].map((card) => ({ card, isSleep: card.id.startsWith("sleep-"),
			tid: Number(card.dataset.tid), from: Number(card.dataset.from), to: Number(card.dataset.to) }));
		const note = el("p", { class: "note", hidden: true });
		let isUnfolded = false; /* by this */
		section.insertBefore(note, section.querySelector(".card, .more"));

		function unfold(hasMore) {
			more.hidden = !hasMore;
			if (!selection.isEmpty && hasMore && !more.open)
				more.open = isUnfolded = true;
			else if (selection.isEmpty && isUnfolded)
				more.open = isUnfolded = false;
		}

		function update() {
			const of = taken(selection.pick, model);
			let nr = 0;
			for (const wait of cards) {
				wait.card.hidden = !selection.isEmpty && !isIn(wait, of);
				nr += !wait.card.hidden;
			}
			note.hidden = selection.isEmpty;
			note.textContent = nr ? `In the selection: ${nr} of these ${cards.length}.` : `None of these ${cards.length} is in the selection.`;
			if (more)
				unfold(cards.some(({ card }) => !card.hidden && more.contains(card)));
		}

		selection.onchange(update);
		update();
	}

	return { start, taken, isIn };
})();
