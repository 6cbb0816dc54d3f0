/*
 * web/compare — before and after: one map at a time (before, after, difference), and the numbers of a cell at the pointer or under
 * the arrow keys. The pictures are those that the page was written with, so they need no drawing.
 */
const Compare = (() => {
	"use strict";
	const NAMES = [["difference", "difference"], ["before", "before"], ["after", "after"], ["all", "all three"]];
	const SECOND = 1e9;

	/* The rates of both sides in a cell of the heat map: { before, after, difference } per second; null where nothing was recorded. */
	class Cells {
		constructor(heat) {
			this.heat = heat;
			this.counts = { before: new Map(), after: new Map() };
			for (const side of ["before", "after"])
				for (const [bucket, band, count] of heat[side].cells)
					this.counts[side].set(bucket * heat.bands.length + band, count);
		}

		rate(side, bucket, band) {
			const covered = this.heat[side].covered_ns[bucket];
			return covered ? (this.counts[side].get(bucket * this.heat.bands.length + band) || 0) * SECOND / covered : null;
		}

		at(bucket, band) {
			const before = this.rate("before", bucket, band), after = this.rate("after", bucket, band);
			return { before, after, difference: before === null || after === null ? null : after - before };
		}

		/* The heading says which cell it is. */
		lines(bucket, band) {
			const { before, after, difference } = this.at(bucket, band), { width_ns: width, bands } = this.heat;
			const [first, last] = bands[band];
			return [`${Words.duration(first)} to ${Words.duration(last + 1)}`,
				`that began ${Words.exact(bucket * width)} to ${Words.exact((bucket + 1) * width)}`,
				`before: ${rateText(before)}`, `after: ${rateText(after)}`,
				difference === null ? null : `difference: ${difference > 0 ? "+" : ""}${rateText(difference)}`];
		}
	}

	function rateText(rate) {
		return rate === null ? "not recorded" : `${Math.abs(rate) >= 100 ? Words.count(Math.round(rate)) : rate.toFixed(2)} per second`;
	}

	/* Where the picture has its cells, in its own units, as it was written. */
	function shapeOf(figure, heat) {
		const number = (key) => Number(figure.dataset[key]);
		return { left: number("left"), width: number("width"), top: number("top"), row: number("row"), firstBand: number("firstBand"),
			bands: number("bands"), nr: heat.nr };
	}

	/* The cell of a place in the picture; null beside the map. The longest latencies are on top. */
	function cellAt(shape, x, y) {
		const column = (x - shape.left) / (shape.width - shape.left), row = Math.floor((y - shape.top) / shape.row);
		if (column < 0 || column >= 1 || row < 0 || row >= shape.bands)
			return null;
		return [Math.floor(column * shape.nr), shape.firstBand + shape.bands - 1 - row];
	}

	/* Arrow keys: the next cell, within the map. */
	function step(shape, cell, key) {
		const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[key];
		if (!move)
			return null;
		if (!cell)
			return [0, shape.firstBand];
		const within = (value, low, high) => Math.min(Math.max(value, low), high);
		return [within(cell[0] + move[0], 0, shape.nr - 1), within(cell[1] + move[1], shape.firstBand, shape.firstBand + shape.bands - 1)];
	}

	function listen(svg, shape, cells) {
		let cell = null;
		svg.setAttribute("tabindex", "0");
		svg.addEventListener("pointermove", (event) => {
			const box = svg.getBoundingClientRect(), scale = shape.width / box.width;
			const found = cellAt(shape, (event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
			if (found)
				Dom.showTip(event.clientX, event.clientY, cells.lines(...found));
			else
				Dom.hideTip();
		});
		svg.addEventListener("pointerleave", () => Dom.hideTip());
		svg.addEventListener("blur", () => Dom.hideTip());
		svg.addEventListener("keydown", (event) => {
			const next = event.ctrlKey || event.altKey || event.metaKey ? null : step(shape, cell, event.key);
			if (!next)
				return;
			event.preventDefault();
			cell = next;
			const box = svg.getBoundingClientRect(), scale = box.width / shape.width, lines = cells.lines(...cell);
			const x = shape.left + (cell[0] + 0.5) * (shape.width - shape.left) / shape.nr;
			const y = shape.top + (shape.firstBand + shape.bands - 1 - cell[1] + 0.5) * shape.row;
			Dom.showTip(box.left + x * scale, box.top + y * scale, lines);
			Dom.say(lines.filter(Boolean).join(", "));
		});
	}

	function addSwitch(figure) {
		const parts = [...figure.querySelectorAll(".compare-part")];
		const show = (name) => {
			for (const part of parts)
				part.hidden = name !== "all" && part.dataset.map !== name;
		};
		const inputs = NAMES.map(([name, text], i) => Dom.el("label", {}, Dom.el("input", { type: "radio", name: "compare-map", value: name,
			checked: i === 0, onchange: () => show(name) }), text));
		figure.prepend(Dom.el("fieldset", { class: "compare-switch" }, Dom.el("legend", {}, "Show"), ...inputs));
		show(NAMES[0][0]);
	}

	function start({ model }) {
		const figure = document.getElementById("compare-heat"), compare = model.doc.compare;
		if (!figure || !compare)
			return;
		const cells = new Cells(compare.heat), shape = shapeOf(figure, compare.heat);
		addSwitch(figure);
		for (const svg of figure.querySelectorAll("svg.heat"))
			listen(svg, shape, cells);
	}

	return { start, Cells, cellAt, step, rateText };
})();
