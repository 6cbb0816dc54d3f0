/*
 * web/flame — flame graphs of the selection: samples of CPUs, and time asleep. Names of functions along the stack, widths by
 * weight. A click zooms into a function, a click on the bottom row zooms out.
 */
const Flame = (() => {
	"use strict";
	const ROW = 18, MOST_ROWS = 60, THINNEST_PX = 0.4, LISTED = 50;
	const KINDS = { "flame-cpu": { kind: 0, unit: "samples" }, "flame-off-cpu": { kind: 1, unit: "ns" } };

	/* Children of each frame, largest first; place 0 is of those without a parent. */
	function childrenOf(frame, totals) {
		const children = Array.from({ length: frame.rows + 1 }, () => null);
		for (let i = 0; i < frame.rows; i++)
			if (totals[i] > 0)
				(children[frame.parent[i]] ||= []).push(i);
		for (const list of children)
			if (list)
				list.sort((a, b) => totals[b] - totals[a]);
		return children;
	}

	/* Rectangles below a frame (-1 = all): [{i, x, w, depth}] with x and w as parts of the whole. */
	function layout(children, totals, root, whole) {
		const out = [], open = [];
		const push = (list, x, depth) => {
			for (let k = list.length - 1, end = x + list.reduce((n, i) => n + totals[i], 0); k >= 0; k--) {
				end -= totals[list[k]];
				open.push([list[k], end, depth]);
			}
		};
		if (root >= 0)
			open.push([root, 0, 0]);
		else
			push(children[0] || [], 0, 0);
		while (open.length) {
			const [i, x, depth] = open.pop();
			out.push({ i, x: x / whole, w: totals[i] / whole, depth });
			if (children[i + 1] && depth < MOST_ROWS)
				push(children[i + 1], x, depth + 1);
		}
		return out;
	}

	function start(host, page, { sample, frame }) {
		const { model, selection, view } = page, { kind, unit } = KINDS[host.id], functions = model.doc.functions || [];
		let totals = new Float64Array(0), self, children = [], boxes = [], root = -1, whole = 0, depth = 0;
		const nameOf = (i) => Words.visible((functions[frame.name[i]] || {}).name || "unknown");
		const amount = (n) => (unit === "ns" ? Words.duration(n) : Words.plural(n, "sample"));

		function arrange() {
			whole = root >= 0 ? totals[root] : (children[0] || []).reduce((n, i) => n + totals[i], 0);
			boxes = whole ? layout(children, totals, root, whole) : [];
			depth = boxes.reduce((most, b) => Math.max(most, b.depth + 1), 0);
		}

		const above = () => (root < 0 ? 0 : 1);
		const height = () => Math.max(depth + above(), 1) * ROW + 4;
		const colourOf = (i) => {
			const f = functions[frame.name[i]] || {};
			return Theme.ofFunction(nameOf(i), Boolean(f.kernel));
		};

		function draw(c, w, h) {
			const colours = Theme.colours();
			c.font = "11px system-ui, sans-serif";
			c.textBaseline = "middle";
			c.textAlign = "left";
			c.fillStyle = colours.soft;
			if (!whole)
				c.fillText("No samples in the selection.", 4, h / 2);
			if (root >= 0)
				c.fillText("\u2190 all stacks", 4, h - ROW / 2 - 2);
			for (const b of boxes) {
				const width = b.w * w;
				if (width < THINNEST_PX)
					continue;
				const y = h - (b.depth + 1 + above()) * ROW - 2, colour = colourOf(b.i);
				Rows.drawNamed(c, { x0: b.x * w, x1: (b.x + b.w) * w, y, h: ROW - 1, colour, text: nameOf(b.i) });
			}
		}

		const hit = (x, y) => {
			const row = Math.floor((figure.canvas.clientHeight - 2 - y) / ROW) - above(), at = x / figure.canvas.clientWidth;
			return row < 0 ? null : boxes.find((b) => b.depth === row && at >= b.x && at < b.x + b.w);
		};

		function hover(x, y) {
			const b = hit(x, y);
			if (!b)
				return null;
			const f = functions[frame.name[b.i]] || {};
			return [nameOf(b.i), `${amount(totals[b.i])}, ${Words.percent(totals[b.i], whole)} of what is shown`, `self ${amount(self[b.i])}`,
				f.kernel ? "kernel" : Words.visible(f.module || "")];
		}

		function zoom(i) {
			root = i;
			arrange();
			figure.invalidate();
		}

		const figure = new Figure.Canvas(host, { label: "Flame graph", height, draw });
		Figure.gestures(figure, view, { scale: () => view.scale(0, figure.canvas.clientWidth), hover, drag() {},
			click: (x, y) => { const b = hit(x, y); zoom(b && b.i !== root ? b.i : -1); } });
		const note = Dom.el("p", { class: "note" });
		const table = Dom.tableOf("Functions as a table", () => Dom.plainTable(["function", "total", "self"],
			[...totals.keys()].filter((i) => self[i] > 0).sort((a, b) => self[b] - self[a]).slice(0, LISTED)
				.map((i) => [nameOf(i), amount(totals[i]), amount(self[i])])));
		figure.live.append(note);
		host.append(table.details);

		return { update() {
			const sums = Sums.stacks(sample, selection.pick, kind, frame.rows);
			self = unit === "ns" ? sums.ns : sums.counts;
			totals = Sums.inclusive(frame, self);
			children = childrenOf(frame, totals);
			root = root >= 0 && totals[root] > 0 ? root : -1;
			arrange();
			note.textContent = selection.now.slots ? "Of all latencies: stacks are not known by how long a wait was." : "";
			figure.label(`Flame graph of ${amount(whole)}. The table below has the functions.`);
			figure.invalidate();
			table.fill();
		} };
	}

	return { start, childrenOf, layout, must: ["sample", "frame"], needs: ["sample", "frame"] };
})();
