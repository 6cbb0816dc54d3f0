/*
 * web/rows — a figure of many lanes along the time axis, of which those in sight are drawn. CPU lanes and thread lanes are
 * made of it.
 */
const Rows = (() => {
	"use strict";
	const { el, button } = Dom;
	const WIDEST_PX = 10, AXIS = 18, MOST_PX = 560, NARROW_PX = 600;

	class Lanes {
		/*
		 * what: { label, gutter(width), lanes: [{y, h, text, head}], total, paint(pixels, lane, y, h, scale), detail(c, lane, y, scale),
		 * hover(lane, ns, y) -> lines, click(lane, ns) } — y and h of lanes in CSS pixels, those of paint in device pixels.
		 */
		constructor(host, page, what) {
			Object.assign(this, { page, what });
			this.figure = new Figure.Canvas(host, { label: what.label, role: "application", height: () => this.height(),
				draw: (...a) => this.draw(...a) });
			const { live, canvas } = this.figure;
			canvas.setAttribute("aria-roledescription", "figure");
			this.space = el("div", { class: "space" }, canvas);
			this.scroll = el("div", { class: "lane-scroll" }, this.space);
			this.note = el("p", { class: "note" });
			live.append(this.tools(), this.scroll, this.note);
			this.scroll.addEventListener("scroll", () => this.figure.invalidate(), { passive: true });
			page.view.onchange(() => this.figure.invalidate());
			Figure.gestures(this.figure, page.view, {
				scale: () => this.scale,
				hover: (x, y) => this.hover(x, y),
				click: (x, y) => this.click(x, y),
				drag: (x0, y0, x1, y1, isBegun) => this.drag(x0, x1, isBegun),
			});
		}

		tools() {
			const { view } = this.page;
			const tool = (text, name, f) => button(text, f, { "aria-label": text.length > 1 ? null : name, title: name });
			return el("div", { class: "tools" },
				tool("+", "Zoom in (W)", () => view.zoom(0.5)), tool("\u2212", "Zoom out (S)", () => view.zoom(2)),
				tool("\u2190", "Earlier (A)", () => view.pan(-0.25)), tool("\u2192", "Later (D)", () => view.pan(0.25)),
				tool("Whole time", "Show the whole recording", () => view.reset()),
				tool("To selection", "Show the selected time", () => this.toSelection()));
		}

		toSelection() {
			const { from, to } = this.page.selection.now;
			if (from !== null)
				this.page.view.show(from, to);
		}

		height() {
			return AXIS + Math.min(this.what.total(), MOST_PX);
		}

		draw(c, width, height, ratio) {
			const { what, page, scroll } = this;
			const total = what.total();
			this.fit(total, height);
			const left = width < NARROW_PX ? what.gutter * 0.75 : what.gutter;
			this.scale = page.view.scale(left, width - left);
			this.top = scroll.scrollTop;
			const inSight = what.lanes().filter((lane) => lane.y + lane.h > this.top && lane.y < this.top + height - AXIS);
			this.paint(c, inSight, height, ratio);
			View.drawAxis(c, this.scale, { top: 0, bottom: height });
			this.details(c, inSight, height);
			View.drawSelection(c, this.scale, { top: AXIS, bottom: height, selection: page.selection.now });
			this.labels(c, inSight, left);
			const note = page.view.isLimited ? this.limit() : "";
			if (note !== this.note.textContent)
				this.note.textContent = note;
		}

		/* Styles are written when they change: each write costs a layout of the page. */
		fit(total, height) {
			if (this.fitted === `${total} ${height}`)
				return;
			this.fitted = `${total} ${height}`;
			this.space.style.height = AXIS + total + "px";
			this.scroll.style.maxHeight = height + "px";
			this.scroll.classList.toggle("is-long", total > MOST_PX);
		}

		limit() {
			const least = Words.duration(leastOf(this.page.view));
			const { detail } = this.page.model.doc;
			return `Zoom is limited to ${least} here: ` + (detail && (detail.spans || []).length ?
				"single slices are in this file only around the worst waits." : "single slices are not in this file.");
		}

		/* What is drawn pixel by pixel: the levels of detail that the file has of the whole time. */
		paint(c, inSight, height, ratio) {
			const { what, scale } = this;
			const w = Math.max(Math.round(scale.width * ratio), 1), h = Math.round((height - AXIS) * ratio);
			if (!this.pixels || this.pixels.width !== w || this.pixels.height !== h)
				this.pixels = new Figure.Pixels(w, h);
			else
				this.pixels.data.fill(0);
			const fine = { from: scale.from, width: w, px: w / (scale.to - scale.from) };
			what.begin(fine);
			for (const lane of inSight)
				what.paint(this.pixels, lane, Math.round((lane.y - this.top) * ratio), Math.max(Math.round(lane.h * ratio), 1), fine);
			c.putImageData(this.pixels.image, Math.round(scale.left * ratio), Math.round(AXIS * ratio));
		}

		details(c, inSight, height) {
			const { what, scale } = this;
			c.save();
			c.beginPath();
			c.rect(scale.left, AXIS, scale.width, height - AXIS);
			c.clip();
			for (const [from, to] of detailSpans(this.page.model, scale))
				if (what.isLegible(inSight, from, to, scale))
					for (const lane of inSight)
						what.detail(c, lane, AXIS + lane.y - this.top, { ...scale, from, to });
			c.restore();
		}

		labels(c, inSight, left) {
			const colours = Theme.colours();
			c.font = "11px system-ui, sans-serif";
			c.textBaseline = "middle";
			c.textAlign = "right";
			let last = -99;
			for (const lane of inSight) {
				const y = AXIS + lane.y - this.top;
				if (y + lane.h / 2 < AXIS + 4)
					continue;
				if (lane.head) {
					c.fillStyle = colours.soft;
					c.textAlign = "left";
					c.fillText(lane.head, 2, y - 7);
					c.textAlign = "right";
				}
				if (y - last < 11)
					continue;
				last = y;
				c.fillStyle = lane.isSelected ? colours.wait : colours.ink;
				c.fillText(fit(c, lane.text, left - 8), left - 6, y + lane.h / 2);
			}
		}

		laneAt(y) {
			return this.what.lanes().find((lane) => y - AXIS + this.top >= lane.y && y - AXIS + this.top < lane.y + lane.h);
		}

		hover(x, y) {
			const lane = this.scale && y >= AXIS ? this.laneAt(y) : null;
			if (!lane)
				return null;
			return x < this.scale.left ? [lane.text, ...(lane.about || [])] : this.what.hover(lane, this.scale.ns(x), y);
		}

		click(x, y) {
			const lane = y >= AXIS ? this.laneAt(y) : null;
			if (lane)
				this.what.click(lane, x < this.scale.left ? null : this.scale.ns(x));
		}

		drag(x0, x1, isBegun) {
			const { scale, page } = this, inside = (x) => Math.min(Math.max(scale.ns(x), scale.from), scale.to);
			page.selection.change({ from: inside(Math.min(x0, x1)), to: inside(Math.max(x0, x1)) }, isBegun);
		}

		invalidate() {
			this.figure.invalidate();
		}
	}

	const leastOf = (view) => view.least((view.from + view.to) / 2);

	/* The parts of what is shown of which every slice is in the file. */
	function detailSpans(model, { from, to }) {
		const { detail } = model.doc;
		if (!detail)
			return [];
		if (detail.complete)
			return [[from, to]];
		return (detail.spans || []).filter(([a, b]) => b > from && a < to).map(([a, b]) => [Math.max(a, from), Math.min(b, to)]);
	}

	/* How many cells of time begin in each device pixel, at least 1: means are of so many. */
	function cellsPerPixel({ from, width, px }, origin, { width_ns: cell, nr }) {
		const out = new Uint32Array(width);
		const first = Math.max(Math.floor((from - origin) / cell), 0), last = Math.min(Math.ceil((from + width / px - origin) / cell), nr);
		for (let b = first; b < last; b++) {
			const x = Math.floor((origin + b * cell - from) * px);
			if (x >= 0 && x < width)
				out[x]++;
		}
		return out.map((n) => Math.max(n, 1));
	}

	function fit(c, text, width) {
		if (text.length * WIDEST_PX <= width || c.measureText(text).width <= width)
			return text;
		let n = text.length;
		while (n > 1 && c.measureText(text.slice(0, n) + "\u2026").width > width)
			n--;
		return text.slice(0, n) + "\u2026";
	}

	/* A rectangle of a slice with its name, where there is room for it. */
	function drawNamed(c, { x0, x1, y, h, colour, text, isDim }) {
		const width = Math.max(x1 - x0, 0.5);
		c.globalAlpha = isDim ? 0.25 : 1;
		c.fillStyle = Theme.css(colour);
		c.fillRect(x0, y, width > 3 ? width - 0.5 : width, h);
		if (width > 30 && h >= 9 && text) {
			c.fillStyle = Theme.inkOn(colour);
			c.font = "10px system-ui, sans-serif";
			c.textAlign = "left";
			c.textBaseline = "middle";
			c.fillText(fit(c, text, width - 6), x0 + 3, y + h / 2 + 0.5);
		}
		c.globalAlpha = 1;
	}

	const hatching = { colour: null, tile: null };

	/* A tile of slanting stripes, made once per colour: filling with it costs no more than with a colour. */
	function hatch(c, step) {
		const { grey } = Theme.colours();
		if (hatching.colour !== grey) {
			const tile = document.createElement("canvas"), pixels = new Figure.Pixels(step, step);
			for (let i = 0; i < step * step; i++)
				pixels.data[i] = (i % step + Math.floor(i / step)) % step < step / 2 ? Theme.pixel(Theme.channels(grey)) : 0;
			[tile.width, tile.height] = [step, step];
			tile.getContext("2d").putImageData(pixels.image, 0, 0);
			Object.assign(hatching, { colour: grey, tile });
		}
		return c.createPattern(hatching.tile, "repeat");
	}

	return { Lanes, drawNamed, hatch, cellsPerPixel };
})();
