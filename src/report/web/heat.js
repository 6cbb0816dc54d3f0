/*
 * web/heat — the latency heat map: waits of woken and new tasks by the time at which they begin, and by how long they were.
 * A drag selects a rectangle of it, a click a cell; arrow keys go from cell to cell.
 */
const Heat = (() => {
	"use strict";
	const GUTTER = 64, AXIS = 18, HEIGHT = 280, STEP_PX = 6, LEAST_NS = 500, SWATCHES = 8;

	const log = (ns) => Math.log2(Math.max(ns, LEAST_NS));

	/* Where a latency is between the shortest and the longest: 0 to 1, by its logarithm. */
	function position(slots) {
		const base = log(slots[0][0]), range = Math.max(log(slots.at(-1)[1] + 1) - base, 1e-9);
		return (ns) => (log(ns) - base) / range;
	}

	/* Round latencies on the axis: powers of ten, or, where there are few of them, also 2 and 5 times. */
	function ticks(slots) {
		if (!slots.length)
			return [];
		const at = position(slots), low = Math.max(slots[0][0], LEAST_NS), high = slots.at(-1)[1] + 1;
		const tens = Array.from({ length: 10 }, (_, i) => 1000 * 10 ** i);
		const within = (digits) => tens.flatMap((ten) => digits.map((d) => d * ten)).filter((ns) => ns >= low && ns <= high);
		const coarse = within([1]);
		return (coarse.length > 1 ? coarse : within([1, 2, 5])).map((ns) => ({ text: Words.duration(ns).replace(/\.0+ /, " "), part: at(ns) }));
	}

	/* Rows of the map, of neighbouring slots each, so that each is high enough to be hit: [{low, high, from, to}], bottom first. */
	function steps(slots, height) {
		if (!slots.length)
			return [];
		const at = position(slots), out = [];
		for (let i = 0; i < slots.length; i++) {
			const before = out.at(-1);
			if (before && (before.to - before.from) * height < STEP_PX)
				Object.assign(before, { high: i, to: at(slots[i][1] + 1) });
			else
				out.push({ low: i, high: i, from: at(slots[i][0]), to: at(slots[i][1] + 1) });
		}
		return out;
	}

	/* Counts of buckets and slots as counts of buckets and steps. */
	function fold(counts, nrBuckets, nrSlots, rows) {
		const out = new Float64Array(nrBuckets * rows.length);
		for (let b = 0; b < nrBuckets; b++)
			rows.forEach((row, r) => {
				for (let s = row.low; s <= row.high; s++)
					out[b * rows.length + r] += counts[b * nrSlots + s];
			});
		return out;
	}

	function start(host, page, tables) {
		const { model, selection, view } = page, nrSlots = model.slots.length;
		const plot = HEIGHT - AXIS, rows = steps(model.slots, plot), tile = document.createElement("canvas");
		let cells = null, most = 0, cursor = null, scale = null;
		const yOf = (part) => AXIS + plot * (1 - part);
		const range = (row) => [model.slots[row.low][0], model.slots[row.high][1] + 1];
		const rangeText = (row) => range(row).map(Words.duration).join(" to ");

		/* By orders of magnitude: one wait is seen beside a thousand. */
		const level = (n) => (most > 1 ? Math.log(n) / Math.log(most) : 0);

		/* A pixel per cell, scaled when it is drawn: zoom and pan cost one call. */
		function colour() {
			[tile.width, tile.height] = [model.nr, Math.max(rows.length, 1)];
			const pixels = new Figure.Pixels(tile.width, tile.height);
			for (let b = 0; b < model.nr; b++)
				rows.forEach((row, r) => {
					const n = cells[b * rows.length + r];
					if (n)
						pixels.data[(rows.length - 1 - r) * model.nr + b] = Theme.pixel(Theme.shade(level(n)));
				});
			tile.getContext("2d").putImageData(pixels.image, 0, 0);
		}

		function draw(c, width, height) {
			const colours = Theme.colours();
			scale = view.scale(GUTTER, width - GUTTER);
			c.fillStyle = colours.none;
			c.fillRect(GUTTER, AXIS, width - GUTTER, plot);
			c.save();
			c.beginPath();
			c.rect(GUTTER, AXIS, width - GUTTER, plot);
			c.clip();
			c.imageSmoothingEnabled = false;
			const x0 = scale.x(model.first), x1 = scale.x(model.end);
			rows.forEach((row, r) => c.drawImage(tile, 0, rows.length - 1 - r, model.nr, 1, x0, yOf(row.to), x1 - x0, yOf(row.from) - yOf(row.to)));
			c.restore();
			View.drawAxis(c, scale, { top: 0, bottom: height });
			veil(c, colours);
			View.drawSelection(c, scale, { top: AXIS, bottom: height, selection: selection.now });
			labels(c, colours);
			if (cursor && document.activeElement === figure.canvas)
				outline(c, colours);
		}

		/* Latencies that are not selected are dimmed. */
		function veil(c, colours) {
			const { slots } = selection.now;
			if (!slots)
				return;
			const top = yOf(rows.find((row) => row.high >= slots[1]).to), bottom = yOf(rows.findLast((row) => row.low <= slots[0]).from);
			c.fillStyle = colours.veil;
			c.fillRect(GUTTER, AXIS, scale.width, top - AXIS);
			c.fillRect(GUTTER, bottom, scale.width, HEIGHT - bottom);
		}

		function labels(c, colours) {
			c.fillStyle = colours.soft;
			c.textAlign = "right";
			c.textBaseline = "middle";
			for (const { text, part } of ticks(model.slots))
				c.fillText(text, GUTTER - 6, Math.min(Math.max(yOf(part), AXIS + 6), HEIGHT - 6));
		}

		function outline(c, colours) {
			const row = rows[cursor.row], x = scale.x(model.edge(cursor.bucket));
			c.strokeStyle = colours.edge;
			c.lineWidth = 2;
			c.strokeRect(x, yOf(row.to), Math.max(model.width * scale.px, 3), yOf(row.from) - yOf(row.to));
			c.lineWidth = 1;
		}

		const rowAt = (y) => {
			const part = 1 - (Math.min(Math.max(y, AXIS), HEIGHT - 0.5) - AXIS) / plot;
			const found = rows.findIndex((row) => part < row.to);
			return found < 0 ? rows.length - 1 : found;
		};
		const inside = (x) => Math.min(Math.max(scale.ns(x), scale.from), scale.to);
		const countAt = (bucket, row) => cells[bucket * rows.length + row];

		function hover(x, y) {
			if (!scale || x < GUTTER || y < AXIS || !rows.length)
				return null;
			const bucket = model.bucket(scale.ns(x)), row = rowAt(y);
			return [Words.plural(countAt(bucket, row), "wait"), `of ${rangeText(rows[row])}`,
				`that began ${Words.exact(model.edge(bucket))} to ${Words.exact(model.edge(bucket + 1))}`];
		}

		function pick(x0, y0, x1, y1, isBegun) {
			const low = rows[rowAt(Math.max(y0, y1))].low, high = rows[rowAt(Math.min(y0, y1))].high;
			const isAll = low === 0 && high === nrSlots - 1;
			selection.change({ from: inside(Math.min(x0, x1)), to: inside(Math.max(x0, x1)), slots: isAll ? null : [low, high] }, isBegun);
		}

		function choose(bucket, row) {
			selection.change({ from: model.edge(bucket), to: model.edge(bucket + 1), slots: [rows[row].low, rows[row].high] });
		}

		/* The map as a grid under the arrow keys. */
		function keys(event) {
			const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
			if (event.key === "Enter" && cursor)
				choose(cursor.bucket, cursor.row);
			if (!step || event.ctrlKey || event.altKey || event.metaKey)
				return;
			event.preventDefault();
			cursor = cursor || { bucket: model.bucket(view.from), row: 0 };
			const within = (n, nr) => Math.min(Math.max(n, 0), nr - 1);
			cursor = { bucket: within(cursor.bucket + step[0], model.nr), row: within(cursor.row + step[1], rows.length) };
			const at = model.edge(cursor.bucket);
			if (at < view.from || at >= view.to)
				view.pan((at - view.from) / (view.to - view.from) - 0.5);
			Dom.say(`${Words.plural(countAt(cursor.bucket, cursor.row), "wait")} of ${rangeText(rows[cursor.row])} at ${Words.exact(at)}`);
			figure.invalidate();
		}

		const figure = new Figure.Canvas(host, { label: "Latency heat map", height: () => HEIGHT, draw, role: "application" });
		figure.canvas.setAttribute("aria-roledescription", "heat map, arrow keys go from cell to cell, Enter selects one");
		figure.canvas.addEventListener("keydown", keys);
		figure.canvas.addEventListener("blur", () => figure.invalidate());
		Figure.gestures(figure, view, { scale: () => scale, hover, drag: pick,
			click: (x, y) => x >= GUTTER && y >= AXIS && choose(model.bucket(scale.ns(x)), rowAt(y)) });
		view.onchange(() => figure.invalidate());
		Theme.onchange(() => {
			if (cells) {
				colour();
				explain();
			}
		});
		const legend = Dom.el("p", { class: "legend" });
		figure.live.append(legend);

		return { update() {
			cells = fold(Sums.heat(tables, selection.pick, model.nr, nrSlots), model.nr, nrSlots, rows);
			most = cells.reduce((a, b) => Math.max(a, b), 0);
			colour();
			const total = cells.reduce((a, b) => a + b, 0);
			const ends = rows.length ? [model.slots[0][0], model.slots.at(-1)[1] + 1].map(Words.duration).join(" to ") : "none";
			figure.label(`Heat map of ${Words.plural(total, "wait")} of woken and new tasks by time and latency, ${ends}. ` +
				"The table Wakeups by latency has the numbers.");
			explain();
			figure.invalidate();
		} };

		function explain() {
			const colours = Array.from({ length: SWATCHES }, (_, i) => {
				const box = Dom.el("span", { class: "key" });
				box.style.background = Theme.css(Theme.shade(i / (SWATCHES - 1)));
				return box;
			});
			legend.replaceChildren(Dom.el("span", {}, "Wakings and new tasks: when they began to wait, and how long it took until they ran. "),
				Dom.el("span", {}, ...colours), Dom.el("span", {}, most ? `1 to ${Words.count(most)} in a cell` : "none in the selection"));
		}
	}

	return { start, steps, ticks, fold, must: ["wait"], needs: ["wait", "wait_open"] };
})();
