/*
 * web/help — what can be done with the page, in a box that ? opens.
 */
const Help = (() => {
	"use strict";
	const { el, button } = Dom;
	const LINES = [
		["W S", "zoom in and out"],
		["A D", "earlier and later"],
		["/", "search tasks"],
		["Esc", "select nothing"],
		["?", "this help"],
		["drag", "in lanes and heat map: select a time, or a time and latencies"],
		["Shift + drag", "pan"],
		["Ctrl + wheel, two fingers", "zoom"],
		["click", "on a cell, a bar, a task: select it"],
		["arrow keys, Enter", "in the heat map: go from cell to cell, select one"],
		["Back", "the selection before; the address is a link to what is selected"],
	];
	let dialog = null;

	function toggle() {
		if (dialog && dialog.open) {
			dialog.close();
			return;
		}
		if (!dialog) {
			dialog = el("dialog", { id: "help", "aria-labelledby": "help-title" }, el("h2", { id: "help-title" }, "Keys and gestures"),
				el("dl", {}, ...LINES.flatMap(([key, text]) => [el("dt", {}, key), el("dd", {}, text)])),
				el("p", {}, "Selected times lie on edges of buckets: counts and sums are those of the command in the bar. " +
					"\u2248 marks percentiles that are right within a slot of the histogram."),
				button("Close", () => dialog.close()));
			document.body.append(dialog);
		}
		dialog.showModal();
	}

	return { toggle };
})();
