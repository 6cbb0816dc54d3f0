/*
 * web/threads — a lane for each of the threads that waited or ran most: when it ran, when it waited for a CPU, and, where the
 * zoom shows it, for what.
 */
const Threads = (() => {
	"use strict";
	const { el, button } = Dom;
	const GUTTER = 132, LANE = 20, GAP = 4, AT_FIRST = 16;

	function start(host, page, { run, wait, blame, slice, waited, part }) {
		const { model, selection } = page, by = model.by("thread"), { of, units } = by;
		const unitsIn = (t) => Uint32Array.from(t.who, (who) => of[who]);
		const byUnit = (t) => (t ? Sums.index(unitsIn(t), units.length) : null);
		const byTime = (t) => (t ? Sums.indexBy(unitsIn(t), units.length, t.start) : null);
		const runs = byUnit(run), begun = byUnit(wait), waits = byUnit(blame), slices = byTime(slice), lengths = byTime(waited);
		/* Threads whose parts of waits are kept by name only: their waits count whole, where they begin. */
		const folded = model.folded(blame, by, { takes: null });
		let lanes = [], nrShown = AT_FIRST, running, waiting, colours, cells;

		/* Time waited, by unit; lanes show all latencies. */
		function lostIn(pick) {
			const lost = Sums.blame(blame, pick, by, model.doc.causes.length).lost;
			const kinds = [Sums.WOKEN, Sums.PREEMPTED].map((kind) => Sums.waits({ wait, wait_open: null }, pick, by, kind, model.slots.length).sum);
			return lost.map((ns, u) => (folded[u] ? kinds[0][u] + kinds[1][u] : ns));
		}

		/* Those that lost or used most time in the selection; what is left of others comes last. */
		function rank() {
			const pick = { ...selection.pick, slots: null, bands: null };
			const used = Sums.run({ run, run_open: null }, pick, by).ns, lost = lostIn(pick);
			const score = (u) => lost[u] * 4 + used[u], isRest = (u) => Boolean(model.who[units[u].who].is_rest);
			const order = units.map((_, u) => u).filter((u) => u > 0 && score(u) > 0)
				.sort((a, b) => isRest(a) - isRest(b) || score(b) - score(a));
			more.hidden = order.length <= nrShown;
			lanes = order.slice(0, nrShown).map((unit, i) => laneOf(unit, i, used[unit], lost[unit]));
		}

		function laneOf(unit, i, used, lost) {
			const { who, pick } = units[unit], near = folded[unit] ? "\u2248 " : "";
			return { y: GAP + i * (LANE + GAP), h: LANE, unit, text: model.label(who), used, lost, near,
				isSelected: selection.now.tid !== null && Boolean(pick) && pick.tid === selection.now.tid,
				ran: perBucket(run, runs, unit, "ns"),
				waited: folded[unit] ? perBucket(wait, begun, unit, "sum_ns") : perBucket(blame, waits, unit, "ns"),
				about: [`ran ${Words.duration(used)}, waited ${near}${Words.duration(lost)} in the selection`,
					Words.visible(model.who[who].cgroup || "")] };
		}

		function begin(scale) {
			const { width } = scale;
			cells = Rows.cellsPerPixel(scale, model.first, { width_ns: model.width, nr: model.nr });
			if (!running || running.length !== width)
				[running, waiting, colours] = [new Float32Array(width), new Float32Array(width), new Uint32Array(width)];
		}

		/* The time of one thread in each bucket: summed when it gets its lane, because a bucket may have many rows. */
		function perBucket(t, found, unit, column) {
			const out = new Float64Array(model.nr);
			for (let k = found ? found.start[unit] : 0; found && k < found.start[unit + 1]; k++)
				out[t.bucket[found.order[k]]] += t[column][found.order[k]];
			return out;
		}

		/* Adds the buckets of a lane to columns of device pixels, as parts of the time of each. */
		function fill(into, buckets, scale) {
			const from = (scale.from - model.first) / model.width, to = from + scale.width / scale.px / model.width;
			const cell = model.width * scale.px;
			into.fill(0);
			for (let b = Math.max(Math.floor(from), 0); b < Math.min(Math.ceil(to), model.nr); b++) {
				if (!buckets[b])
					continue;
				const at = (model.edge(b) - scale.from) * scale.px;
				const x0 = Math.max(Math.floor(at), 0), x1 = Math.min(Math.max(Math.floor(at + cell), x0 + 1), scale.width);
				for (let x = x0; x < x1; x++)
					into[x] += buckets[b] / model.width / cells[x];
			}
		}

		function paint(pixels, lane, y, h, scale) {
			const c = Theme.colours();
			pixels.fill(y, h, Theme.pixel(Theme.channels(c.none)));
			fill(running, lane.ran, scale);
			colours.fill(Theme.pixel(Theme.channels(c.run)));
			pixels.bars(y, h, running, colours);
			fill(waiting, lane.waited, scale);
			pixels.barsUpon(y, h, running, waiting, Theme.pixel(Theme.channels(c.wait)));
		}

		/* Rows of one thread in [from, to), the one before included, which may reach into it. */
		function rowsIn(t, { order, start: first }, unit, from, to) {
			const a = Sums.lowerBoundOf(order, t.start, from, first[unit], first[unit + 1]);
			return [a > first[unit] ? a - 1 : a, Sums.lowerBoundOf(order, t.start, to, a, first[unit + 1])];
		}

		function isLegible(inSight, from, to, scale) {
			if (!slices)
				return false;
			const nr = inSight.reduce((n, lane) => {
				const [a, b] = rowsIn(slice, slices, lane.unit, from, to);
				return n + b - a;
			}, 0);
			return nr <= Math.max((to - from) * scale.px * inSight.length / 2, 64);
		}

		function detail(c, lane, y, scale) {
			const left = scale.x(scale.from), right = scale.x(scale.to), clip = (ns) => Math.min(Math.max(scale.x(ns), left), right);
			c.fillStyle = Theme.colours().none;
			c.fillRect(left, y, right - left, lane.h);
			const [w0, w1] = lengths ? rowsIn(waited, lengths, lane.unit, scale.from, scale.to) : [0, 0];
			for (let k = w0; k < w1; k++)
				drawParts(c, lengths.order[k], { y: y + lane.h * 0.25, h: lane.h * 0.5, clip });
			const colour = Theme.channels(Theme.colours().run), [a, b] = rowsIn(slice, slices, lane.unit, scale.from, scale.to);
			for (let k = a; k < b; k++) {
				const row = slices.order[k], x0 = clip(slice.start[row]), x1 = clip(slice.start[row] + slice.ns[row]);
				if (x1 > x0 || (slice.start[row] >= scale.from && slice.start[row] < scale.to))
					Rows.drawNamed(c, { x0, x1, y, h: lane.h, colour, text: `CPU ${slice.cpu[row]}` });
			}
		}

		/* Parts of a wait, in the colours of their causes. */
		function drawParts(c, wait, { y, h, clip }) {
			eachPart(wait, (row, at, ns) => {
				const x0 = clip(at), x1 = clip(at + ns);
				c.fillStyle = row < 0 ? Theme.colours().wait : Theme.cause(part.cause[row]);
				c.fillRect(x0, y, Math.max(x1 - x0, x1 > x0 ? 0.5 : 0), h);
			});
		}

		function eachPart(wait, f) {
			let at = waited.start[wait];
			if (!part) {
				f(-1, at, waited.ns[wait]);
				return;
			}
			for (let row = Sums.lowerBound(part.wait, wait); row < part.rows && part.wait[row] === wait; row++) {
				f(row, at, part.ns[row]);
				at += part.ns[row];
			}
		}

		/* The row of one thread that covers a time, or -1. */
		function at(t, found, unit, ns) {
			if (!found || !model.hasDetail(ns, ns))
				return -1;
			const [a, b] = rowsIn(t, found, unit, ns, ns + 1);
			for (let k = a; k < b; k++)
				if (t.start[found.order[k]] <= ns && t.start[found.order[k]] + t.ns[found.order[k]] > ns)
					return found.order[k];
			return -1;
		}

		function hover(lane, ns) {
			const ran = at(slice, slices, lane.unit, ns), when = `at ${Words.exact(Math.round(ns))}`;
			if (ran >= 0)
				return [lane.text, `ran ${Words.duration(slice.ns[ran])} on CPU ${slice.cpu[ran]}`, when];
			const wait = at(waited, lengths, lane.unit, ns);
			if (wait >= 0)
				return [lane.text, `waited ${Words.duration(waited.ns[wait])} for a CPU`,
					waited.kind[wait] === Sums.PREEMPTED ? "it had been preempted" : `woken by ${model.waker(waited.waker[wait])}`,
					...partsText(wait), when];
			if (model.hasDetail(ns, ns))
				return [lane.text, "neither ran nor waited for a CPU", when];
			const bucket = model.bucket(ns);
			return [lane.text, `of ${Words.duration(model.width)}: ran ${Words.duration(lane.ran[bucket])}` +
				`, waited ${lane.near}${Words.duration(lane.waited[bucket])}`, when];
		}

		function partsText(wait) {
			const lines = [];
			eachPart(wait, (row, _, ns) => {
				if (row < 0)
					return;
				const culprit = part.culprit[row] ? `: ${model.label(part.culprit[row])}` : "";
				lines.push(`${Words.duration(ns)} ${model.doc.causes[part.cause[row]] || "unknown"}${culprit}`);
			});
			return lines.slice(0, 6);
		}

		function click(lane) {
			const { pick } = units[lane.unit];
			if (pick)
				selection.change(pick);
		}

		const figure = new Rows.Lanes(host, page, { label: "Thread lanes", gutter: GUTTER, lanes: () => lanes,
			total: () => lanes.length * (LANE + GAP) + GAP, begin, paint, isLegible, detail, hover, click });
		const more = button("More threads", () => {
			nrShown += AT_FIRST;
			update();
		});
		const table = Dom.tableOf("Threads of these lanes", null, () => Dom.plainTable(["thread", "ran", "waited"],
			lanes.map((lane) => [lane.text, Words.duration(lane.used), lane.near + Words.duration(lane.lost)])));
		figure.figure.live.append(more);
		host.append(...(part ? [legend(model)] : []), table.details);

		function update() {
			rank();
			figure.figure.label(`Lanes of ${Words.plural(lanes.length, "thread")} that waited or ran most. The table below has the numbers.`);
			figure.invalidate();
			table.fill(true);
		}

		return { update };
	}

	/* Colours of causes, which show at deep zoom. */
	function legend(model) {
		const key = (colour, text) => {
			const box = el("span", { class: "key" });
			box.style.background = colour;
			return el("span", {}, box, text);
		};
		return el("p", { class: "legend" }, "What single waits were for: ", ...model.doc.causes.map((name, i) => key(Theme.cause(i), name)));
	}

	return { start, must: ["run"], needs: ["run", "wait", "blame", "slice", "waited", "part"] };
})();
