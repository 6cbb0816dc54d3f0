/*
 * web/figure — a canvas in the place of a static picture: sharp on every screen, drawn at most once per frame and only
 * while it can be seen; gestures of pointers, wheels and fingers on it.
 */
const Figure = (() => {
	"use strict";
	const { el } = Dom;
	const DRAG_PX = 4, MAX_RATIO = 2;
	/* While a drag is under way nothing above the figure may move it: tables wait for its end. */
	const drag = { isUnderWay: false, onend: () => {} };

	class Canvas {
		/* host: the <figure>. draw(c, width, height) in CSS pixels; height is a function of the width. */
		constructor(host, { label, height, draw, role = "img" }) {
			Object.assign(this, { host, draw, heightOf: height, isVisible: false, isStale: true, isNew: true, frame: 0 });
			this.canvas = el("canvas", { role, "aria-label": label, tabindex: "0" });
			this.live = el("div", { class: "live" }, this.canvas);
			const caption = host.querySelector("figcaption");
			host.insertBefore(this.live, caption);
			host.classList.add("drawn");
			new ResizeObserver(() => this.invalidate()).observe(this.live);
			new IntersectionObserver(([entry]) => {
				this.isVisible = entry.isIntersecting;
				if (this.isStale)
					this.invalidate();
			}, { rootMargin: "200px" }).observe(host);
			Theme.onchange(() => this.invalidate());
		}

		label(text) {
			this.canvas.setAttribute("aria-label", text);
		}

		invalidate() {
			this.isStale = true;
			if ((this.isVisible || this.isNew) && !this.frame)
				this.frame = requestAnimationFrame(() => this.render());
		}

		render() {
			this.frame = 0;
			this.isStale = this.isNew = false;
			const width = Math.max(Math.floor(this.live.clientWidth), 64), height = Math.max(Math.floor(this.heightOf(width)), 16);
			const ratio = Math.min(window.devicePixelRatio || 1, MAX_RATIO);
			this.ratio = ratio;
			this.resize(width, height, ratio);
			const c = this.canvas.getContext("2d");
			c.setTransform(ratio, 0, 0, ratio, 0, 0);
			c.clearRect(0, 0, width, height);
			this.draw(c, width, height, ratio);
		}

		resize(width, height, ratio) {
			const { canvas } = this, w = Math.round(width * ratio), h = Math.round(height * ratio);
			if (canvas.width === w && canvas.height === h)
				return;
			[canvas.width, canvas.height] = [w, h];
			canvas.style.width = width + "px";
			canvas.style.height = height + "px";
		}

		at(event) {
			const box = this.canvas.getBoundingClientRect();
			return [event.clientX - box.left, event.clientY - box.top];
		}
	}

	/*
	 * Gestures. on: { hover(x, y) -> lines or null, click(x, y), drag(x0, y0, x1, y1, isBegun), scale() -> the time axis };
	 * view is zoomed and panned. Dragging selects; with Shift it pans; two fingers and Ctrl with the wheel zoom.
	 */
	function gestures(figure, view, on) {
		const { canvas } = figure, fingers = new Map();
		let start = null, isDrag = false, isPan = false, pinch = null;

		const tip = (event) => {
			const lines = on.hover && event.pointerType !== "touch" ? on.hover(...figure.at(event)) : null;
			if (lines)
				Dom.showTip(event.clientX, event.clientY, lines);
			else
				Dom.hideTip();
		};

		const spread = () => {
			const [a, b] = [...fingers.values()];
			return { middle: (a + b) / 2, apart: Math.max(Math.abs(a - b), 16) };
		};

		canvas.addEventListener("pointerdown", (event) => {
			if (event.button > 1)
				return;
			fingers.set(event.pointerId, figure.at(event)[0]);
			canvas.setPointerCapture(event.pointerId);
			if (fingers.size === 2)
				[pinch, start] = [spread(), null];
			else
				[start, isDrag, isPan] = [figure.at(event), false, event.shiftKey || event.button === 1];
		});

		const move = (event, x, y) => {
			if (!isDrag && Math.hypot(x - start[0], y - start[1]) < DRAG_PX)
				return;
			if (isPan) {
				view.pan((start[0] - x) / on.scale().width);
				start = [x, y];
			} else {
				on.drag(start[0], start[1], x, y, isDrag);
			}
			isDrag = drag.isUnderWay = true;
		};

		canvas.addEventListener("pointermove", (event) => {
			const [x, y] = figure.at(event);
			if (fingers.has(event.pointerId))
				fingers.set(event.pointerId, x);
			if (pinch && fingers.size === 2) {
				const now = spread(), scale = on.scale();
				view.zoom(pinch.apart / now.apart, scale.ns(now.middle));
				view.pan((pinch.middle - now.middle) / scale.width);
				pinch = now;
			} else if (start) {
				Dom.hideTip();
				move(event, x, y);
			} else {
				tip(event);
			}
		});

		const end = (event, isClick) => {
			fingers.delete(event.pointerId);
			if (isClick && start && !isDrag && !pinch)
				on.click(...figure.at(event), event);
			start = null;
			if (fingers.size === 0)
				pinch = null;
			if (drag.isUnderWay) {
				drag.isUnderWay = false;
				drag.onend();
			}
		};
		canvas.addEventListener("pointerup", (event) => end(event, true));
		canvas.addEventListener("pointercancel", (event) => end(event, false));
		canvas.addEventListener("pointerleave", () => Dom.hideTip());
		canvas.addEventListener("wheel", (event) => {
			const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.shiftKey ? event.deltaY : 0;
			if (!event.ctrlKey && !event.metaKey && !sideways)
				return;
			event.preventDefault();
			if (sideways && !event.ctrlKey && !event.metaKey)
				view.pan(sideways / on.scale().width);
			else
				view.zoom(Math.exp(Math.min(Math.max(event.deltaY, -200), 200) / 300), on.scale().ns(figure.at(event)[0]));
		}, { passive: false });
	}

	/* Rows of pixels that are filled a device pixel at a time: faster by far than one rectangle per cell. */
	class Pixels {
		constructor(width, height) {
			this.width = width;
			this.height = height;
			this.image = new ImageData(width, height);
			this.data = new Uint32Array(this.image.data.buffer);
		}

		/* In columns [x0, x1) of rows [y, y + h): bars of up to h from the bottom; parts and colours by column. */
		bars(y, h, parts, colours) {
			const { width, data, height } = this;
			for (let row = Math.max(y, 0); row < Math.min(y + h, height); row++) {
				const least = (y + h - row - 0.5) / h, at = row * width;
				for (let x = 0; x < width; x++)
					if (parts[x] >= least)
						data[at + x] = colours[x];
			}
		}

		/* The same where a bar stands upon another; step: of a hatching, in pixels. */
		barsUpon(y, h, below, parts, colour, step = 0) {
			const { width, data, height } = this;
			for (let row = Math.max(y, 0); row < Math.min(y + h, height); row++) {
				const least = (y + h - row - 0.5) / h, at = row * width;
				for (let x = 0; x < width; x++)
					if (below[x] < least && below[x] + parts[x] >= least && (!step || (x + row) % step < step / 2))
						data[at + x] = colour;
			}
		}

		/* Rows [y, y + h) in the colour of each column; 0 leaves the pixel as it is. */
		stripe(y, h, colours) {
			const { width, data, height } = this;
			for (let row = Math.max(y, 0); row < Math.min(y + h, height); row++)
				for (let x = 0, at = row * width; x < width; x++, at++)
					if (colours[x])
						data[at] = colours[x];
		}

		fill(y, h, colour) {
			this.data.fill(colour, Math.max(y, 0) * this.width, Math.max(Math.min(y + h, this.height), 0) * this.width);
		}
	}

	return { Canvas, Pixels, gestures, drag };
})();
