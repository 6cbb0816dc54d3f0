/*
 * web/histogram — how many waits of the selection were how long. A click on a bar, or a drag over several, selects these
 * latencies.
 */
const Histogram = (() => {
	"use strict";
	const LEFT = 48, BOTTOM = 22, TOP = 10, HEIGHT = 200, LABEL_PX = 64, MOST_LINES = 4;

	/* Round counts for the lines of the axis, from 0. */
	function lines(most) {
		const step = Array.from({ length: 48 }, (_, i) => [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3)).find((n) => most / n <= MOST_LINES);
		return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
	}

	function start(host, page, tables) {
		const { model, selection, view } = page;
		let bars = [], sums = { count: 0, slots: [] }, width = 0, steps = [];

		function layout(w) {
			if (w !== width) {
				width = w;
				steps = Heat.steps(model.slots, (w - LEFT) / 2);
			}
			bars = steps.map((step) => {
				let n = 0;
				for (let s = step.low; s <= step.high; s++)
					n += sums.slots[s];
				return { ...step, n, x0: LEFT + step.from * (w - LEFT), x1: LEFT + step.to * (w - LEFT) };
			});
		}

		function draw(c, w, h) {
			layout(w);
			const colours = Theme.colours(), most = bars.reduce((m, b) => Math.max(m, b.n), 0), plot = h - TOP - BOTTOM, { slots } = selection.now;
			c.font = "11px system-ui, sans-serif";
			c.textBaseline = "middle";
			axis(c, colours, most, plot, w);
			for (const bar of bars) {
				const height = bar.n ? Math.max(plot * bar.n / most, 1.5) : 0; /* one long wait is seen beside a million short ones */
				c.fillStyle = slots && (bar.high < slots[0] || bar.low > slots[1]) ? colours.line : colours.run;
				c.fillRect(bar.x0, TOP + plot - height, Math.max(bar.x1 - bar.x0 - 0.5, 1), height);
			}
			c.textAlign = "center";
			c.fillStyle = colours.soft;
			for (const { text, part } of Heat.ticks(model.slots)) {
				const x = LEFT + part * (w - LEFT);
				c.fillRect(Math.round(x), TOP + plot, 1, 4);
				c.fillText(text, Math.min(x, w - LABEL_PX / 2), h - 9);
			}
		}

		function axis(c, colours, most, plot, w) {
			c.textAlign = "right";
			for (const n of lines(most)) {
				const y = TOP + plot * (1 - n / Math.max(most, 1));
				c.fillStyle = colours.line;
				c.fillRect(LEFT, Math.round(y), w - LEFT, 1);
				c.fillStyle = colours.soft;
				c.fillText(Words.count(n), LEFT - 4, y);
			}
		}

		const barAt = (x) => bars.findIndex((bar) => x < bar.x1) >= 0 ? bars.findIndex((bar) => x < bar.x1) : bars.length - 1;
		const rangeText = (bar) => `${Words.duration(model.slots[bar.low][0])} to ${Words.duration(model.slots[bar.high][1] + 1)}`;

		function pick(x0, x1, isBegun) {
			if (!bars.length)
				return;
			const slots = [bars[barAt(Math.min(x0, x1))].low, bars[barAt(Math.max(x0, x1))].high], { now } = selection;
			const isSame = !isBegun && x0 === x1 && now.slots && now.slots[0] === slots[0] && now.slots[1] === slots[1];
			selection.change({ slots: isSame ? null : slots }, isBegun);
		}

		function hover(x) {
			if (x < LEFT || !bars.length)
				return null;
			const bar = bars[barAt(x)];
			return [Words.plural(bar.n, "wait"), `of ${rangeText(bar)}`, `${Words.percent(bar.n, sums.count)} of the selection`];
		}

		const figure = new Figure.Canvas(host, { label: "Latency histogram", height: () => HEIGHT, draw, role: "application" });
		figure.canvas.setAttribute("aria-roledescription", "histogram, arrow keys go from bar to bar");
		let cursor = -1;
		figure.canvas.addEventListener("keydown", (event) => {
			const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
			if (!step || !bars.length || event.ctrlKey || event.altKey || event.metaKey)
				return;
			event.preventDefault();
			cursor = Math.min(Math.max(cursor + step, 0), bars.length - 1);
			selection.change({ slots: [bars[cursor].low, bars[cursor].high] }, selection.now.slots !== null);
			Dom.say(`${Words.plural(bars[cursor].n, "wait")} of ${rangeText(bars[cursor])}`);
		});
		Figure.gestures(figure, view, { scale: () => view.scale(LEFT, width - LEFT), hover,
			drag: (x0, y0, x1, y1, isBegun) => pick(x0, x1, isBegun), click: (x) => x >= LEFT && pick(x, x, false) });
		const table = Dom.tableOf("Wakeups by latency", "latency-slots", () => Dom.plainTable(["latency", "waits"],
			bars.filter((bar) => bar.n).map((bar) => [rangeText(bar), Words.count(bar.n)])));
		const line = Dom.el("p", { class: "figures" });
		figure.live.append(line);
		host.append(table.details);

		/* Count, sum and percentiles of all selected waits, in cells that are found by key. */
		function numbers() {
			const pick = selection.pick, all = { of: new Uint32Array(model.who.length), units: [0] };
			const own = pick.slots ? Sums.histogram(tables, pick, Sums.WOKEN, model.slots.length) : sums;
			const exact = tables.waited && model.doc.detail.complete ? Sums.lengths(tables.waited, pick, all, Sums.WOKEN, model.slots)[0] : null;
			const value = (key, n, text) => Dom.el("span", { "data-analysis": "wakeup_latency", "data-key": key, "data-value": n,
				"data-approx": key.startsWith("p") && !exact }, text);
			const items = [value("total_wakeups", own.count, Words.plural(own.count, "wait")), " of woken and new tasks, ",
				value("total_latency_ns", own.sum, Words.duration(own.sum)), " in all"];
			for (const [name, p] of [["p50", 0.5], ["p99", 0.99], ["p999", 0.999]]) {
				const ns = exact ? Sums.percentileOf(exact, p) : Sums.percentile(own.slots, 0, model.slots, own.count, p);
				if (ns !== null)
					items.push(`, ${name} `, value(`${name}_latency_ns`, ns, (exact ? "" : "\u2248 ") + Words.duration(ns)));
			}
			line.replaceChildren(...items, ".");
		}

		return { update() {
			sums = Sums.histogram(tables, { ...selection.pick, slots: null, bands: null }, Sums.WOKEN, model.slots.length);
			layout(width || 600);
			numbers();
			figure.label(`Histogram of ${Words.plural(sums.count, "wait")} by latency. The table Wakeups by latency has the numbers.`);
			figure.invalidate();
			table.fill(!selection.isEmpty);
		} };
	}

	return { start, lines, must: ["wait"], needs: ["wait", "wait_open", "waited"] };
})();
