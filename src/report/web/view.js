/*
 * web/view — the time that lanes and heat map show, and its axis. It is zoomed and panned without changing what is
 * selected.
 */
const View = (() => {
	"use strict";
	const FINEST_NS = 2000, FEWEST_CELLS = 8, TICK_PX = 90;

	class Window {
		constructor(model) {
			this.model = model;
			this.from = model.first;
			this.to = model.until > model.first ? model.until : model.end;
			this.whole = [this.from, this.to];
			this.isLed = false;
			this.listeners = [];
		}

		onchange(listener) {
			this.listeners.push(listener);
		}

		/* The shortest span that can be shown around a time: finer only where every slice is in the file. */
		least(at) {
			const { fine } = this.model.doc;
			const cell = fine ? fine.width_ns : this.model.width;
			return Math.min(this.model.hasDetail(at, at) ? FINEST_NS : cell * FEWEST_CELLS, this.whole[1] - this.whole[0]);
		}

		get isWhole() {
			return this.from <= this.whole[0] && this.to >= this.whole[1];
		}

		get isLimited() {
			const middle = (this.from + this.to) / 2;
			return !this.model.hasDetail(middle, middle) && this.to - this.from <= this.least(middle) * 1.01;
		}

		set(from, to) {
			const [first, end] = this.whole;
			const length = Math.min(Math.max(to - from, this.least((from + to) / 2)), end - first);
			const start = Math.min(Math.max((from + to - length) / 2, first), end - length);
			if (start === this.from && start + length === this.to)
				return;
			[this.from, this.to] = [start, start + length];
			for (const listener of this.listeners)
				listener();
		}

		/* factor < 1 zooms in; the time `at` stays where it is. */
		zoom(factor, at = (this.from + this.to) / 2) {
			const length = Math.max((this.to - this.from) * factor, this.least(at));
			const real = length / (this.to - this.from);
			this.set(at - (at - this.from) * real, at + (this.to - at) * real);
		}

		/* By a part of what is shown. */
		pan(part) {
			const step = (this.to - this.from) * part;
			const [first, end] = this.whole;
			const by = step < 0 ? Math.max(step, first - this.from) : Math.min(step, end - this.to);
			this.set(this.from + by, this.to + by);
		}

		/* A span with half its length on both sides. */
		show(from, to) {
			const margin = (to - from) / 2;
			this.set(from - margin, to + margin);
		}

		reset() {
			this.set(...this.whole);
		}

		/* Makes a span visible that is not. */
		reveal(from, to) {
			if (from < this.from || to > this.to || (to - from) * 50 < this.to - this.from)
				this.show(from, to);
		}

		scale(left, width) {
			const { from, to } = this;
			const px = width / (to - from);
			return { from, to, left, width, px, x: (ns) => left + (ns - from) * px, ns: (x) => from + (x - left) / px };
		}
	}

	/* Round times, about TICK_PX apart: [ns, text]. */
	function ticks({ from, to, width }) {
		const rough = (to - from) / Math.max(width / TICK_PX, 1), power = 10 ** Math.floor(Math.log10(rough));
		const step = Math.max([1, 2, 5, 10].map((n) => n * power).find((s) => s >= rough), 1);
		const out = [];
		for (let i = Math.ceil(from / step); i * step <= to; i++)
			out.push([i * step, tickText(i * step, step)]);
		return out;
	}

	/* In one unit along the axis, with as many decimals as steps need. */
	function tickText(ns, step) {
		const [size, unit] = ns === 0 && step < 1e9 ? [1, ""] : ns >= 1e9 || step >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] :
			ns >= 1e3 ? [1e3, "us"] : [1, "ns"];
		const decimals = Math.min(Math.max(Math.ceil(Math.log10(size / step) - 1e-9), 0), 9);
		return `${(ns / size).toFixed(ns === 0 ? 0 : decimals)} ${unit}`.trim();
	}

	/* Ticks and their texts at the top of a figure; thin lines down to its end. */
	function drawAxis(c, scale, { top, bottom }) {
		const colours = Theme.colours();
		c.font = "11px system-ui, sans-serif";
		c.textAlign = "left";
		c.textBaseline = "middle";
		for (const [ns, text] of ticks(scale)) {
			const x = Math.round(scale.x(ns)) + 0.5;
			c.strokeStyle = colours.line;
			c.beginPath();
			c.moveTo(x, top);
			c.lineTo(x, bottom);
			c.stroke();
			c.fillStyle = colours.soft;
			if (x + 4 + c.measureText(text).width < scale.left + scale.width)
				c.fillText(text, x + 4, top + 8);
		}
	}

	/* What is not selected is dimmed; both edges are lines. */
	function drawSelection(c, scale, { top, bottom, selection }) {
		const { from, to } = selection;
		if (from === null)
			return;
		const colours = Theme.colours(), right = scale.left + scale.width;
		const a = Math.min(Math.max(scale.x(from), scale.left), right), b = Math.min(Math.max(scale.x(to), scale.left), right);
		c.fillStyle = colours.veil;
		c.fillRect(scale.left, top, a - scale.left, bottom - top);
		c.fillRect(b, top, right - b, bottom - top);
		c.fillStyle = colours.edge;
		for (const [ns, x] of [[from, a], [to, b]])
			if (ns >= scale.from && ns <= scale.to)
				c.fillRect(Math.round(x) - 0.5, top, 1, bottom - top);
	}

	return { Window, ticks, drawAxis, drawSelection };
})();
