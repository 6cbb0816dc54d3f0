/*
 * web/evidence — from a sentence or a card to the lanes: its span and thread are selected, the lanes show it, and Back returns.
 */
const Evidence = (() => {
	"use strict";
	const { button } = Dom;

	/* A card's span and thread, or null where the card does not say them. */
	function spanOf(card) {
		const { from, to, tid } = card.dataset;
		const ends = [from, to].map(Number);
		if (from === undefined || to === undefined || !ends.every((n) => Number.isSafeInteger(n) && n >= 0) || ends[0] > ends[1])
			return null;
		return { from: ends[0], to: Math.max(ends[1], ends[0] + 1), tid: /^[1-9]\d*$/.test(tid || "") ? Number(tid) : null };
	}

	function show(card, page) {
		const span = spanOf(card), target = document.getElementById("cpus") || document.getElementById("threads");
		if (!span)
			return;
		page.selection.go({ ...Selection.NONE, ...boundary(span, page.model), tid: span.tid });
		page.view.show(span.from, span.to);
		if (target)
			target.scrollIntoView({ block: "start" });
	}

	function boundary({ from, to }, model) {
		const [a, b] = model.snap(from, to);
		return { from: a, to: b };
	}

	function addButton(to, card, page, name) {
		to.append(button("Show in the lanes", () => show(card, page), { class: "show", "aria-label": `Show in the lanes: ${name}` }));
	}

	/* What an address leads to may be folded, or have been hidden by the selection before: browsers do not scroll to that. */
	function goTo(id) {
		const target = id && !id.includes("=") ? document.getElementById(id) : null;
		if (!target)
			return;
		const folded = target.closest("details:not([open])");
		if (folded)
			folded.open = true;
		const { top } = target.getBoundingClientRect();
		if (top < 0 || top > innerHeight)
			target.scrollIntoView({ block: "start" });
	}

	function start(page) {
		goTo(location.hash.slice(1));
		addEventListener("hashchange", () => goTo(location.hash.slice(1)));
		for (const card of document.querySelectorAll("#waits .card")) {
			if (!spanOf(card))
				continue;
			addButton(card.querySelector("h3") || card, card, page, card.id);
			for (const picture of card.querySelectorAll("svg"))
				picture.addEventListener("click", () => show(card, page));
		}
		for (const finding of document.querySelectorAll("#verdict li"))
			ofFinding(finding, page);
	}

	/* The first card that a finding links to. A click on its text does the same, unless text is being selected. */
	function ofFinding(finding, page) {
		const cards = [...finding.querySelectorAll("a[href^='#']")].map((a) => document.getElementById(a.getAttribute("href").slice(1)));
		const card = cards.find((element) => element && element.classList.contains("card") && spanOf(element));
		if (!card)
			return;
		addButton(finding.querySelector("p") || finding, card, page, finding.id || card.id);
		finding.classList.add("leads");
		finding.addEventListener("click", (event) => {
			if (!event.target.closest("a, button, code") && getSelection().isCollapsed)
				show(card, page);
		});
	}

	return { start, spanOf };
})();
