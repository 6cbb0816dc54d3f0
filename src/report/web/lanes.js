/*
 * web/lanes — a lane for each CPU, grouped by node, last-level cache and core: how busy it was, how many tasks waited in its
 * queue (the stripe above), and which task ran, where the zoom shows it. Hatched is time of which nothing is known: it is not idle.
 */
const Lanes = (() => {
	"use strict";
	const GUTTER = 64, HEAD = 14, LARGEST = 26, SMALLEST = 6, WANTED_PX = 520, HATCH = 6;
	const ENDS = ["then slept", "was preempted", "exited", "still ran at the end"];

	/* Places of lanes; a heading where another node or cache begins. */
	function layout(cpus, selected) {
		const h = Math.min(Math.max(Math.floor(WANTED_PX / Math.max(cpus.length, 1)) - 2, SMALLEST), LARGEST);
		const nodes = new Set(cpus.map((c) => c.node)), caches = new Set(cpus.map((c) => c.llc));
		let y = 0, before = null;
		return cpus.map((cpu, i) => {
			const isOther = !before || before.node !== cpu.node || before.llc !== cpu.llc;
			const head = (nodes.size > 1 || caches.size > 1) && isOther ? heading(cpu, nodes, caches) : null;
			y += (head ? HEAD : 0) + (before && before.core === cpu.core && cpu.core !== null ? 1 : 3);
			const lane = { y, h, text: `CPU ${cpu.cpu}`, head, cpu: cpu.cpu, i, about: about(cpu), isSelected: selected === cpu.cpu };
			before = cpu;
			y += h;
			return lane;
		});
	}

	const known = (n) => n !== null && n !== undefined;

	function heading(cpu, nodes, caches) {
		return [nodes.size > 1 && known(cpu.node) ? `node ${cpu.node}` : null, caches.size > 1 && known(cpu.llc) ? `LLC ${cpu.llc}` : null]
			.filter(Boolean).join(" \u00b7 ");
	}

	const about = (cpu) => [["node", cpu.node], ["LLC", cpu.llc], ["core", cpu.core]].filter(([, n]) => known(n)).map(([name, n]) => `${name} ${n}`);

	function start(host, page, { busy, slice }) {
		const { model, selection } = page, { fine } = model.doc, origin = fine.first_ns || model.first;
		const nrCpus = model.cpus.reduce((most, c) => Math.max(most, c.cpu + 1), 0);
		const byCpu = Sums.index(busy.cpu, nrCpus), slices = slice ? Sums.indexBy(slice.cpu, nrCpus, slice.start) : null;
		const lanes = layout(model.cpus), last = lanes.at(-1);
		const total = last ? last.y + last.h + 4 : 0;
		let parts, unknown, colours, stripe, deepest, cells, ink;

		/* Rows of a CPU that lie in [from, to). */
		const rowsIn = (cpu, from, to) => {
			const first = Math.floor((from - origin) / fine.width_ns), end = Math.ceil((to - origin) / fine.width_ns);
			const a = Sums.lowerBoundOf(byCpu.order, busy.bucket, first, byCpu.start[cpu], byCpu.start[cpu + 1]);
			return [a, Sums.lowerBoundOf(byCpu.order, busy.bucket, end, a, byCpu.start[cpu + 1])];
		};
		const slicesIn = (cpu, from, to) => {
			const a = Sums.lowerBoundOf(slices.order, slice.start, from, slices.start[cpu], slices.start[cpu + 1]);
			return [a > slices.start[cpu] ? a - 1 : a, Sums.lowerBoundOf(slices.order, slice.start, to, a, slices.start[cpu + 1])];
		};
		const colourOf = (who) => Theme.ofName((model.who[who] || {}).comm || "");

		function begin(scale) {
			const { width } = scale;
			if (!parts || parts.length !== width) {
				[parts, unknown] = [0, 0].map(() => new Float32Array(width));
				[colours, stripe, deepest] = [0, 0, 0].map(() => new Uint32Array(width));
			}
			ink = inks();
			cells = Rows.cellsPerPixel(scale, origin, fine);
		}

		/* Colours of a frame as pixels. */
		function inks() {
			const c = Theme.colours(), of = (name) => Theme.pixel(Theme.channels(c[name]));
			const queue = c.queue.map((hex) => Theme.pixel(Theme.channels(hex)));
			return { queue, run: of("run"), dim: of("line"), none: of("none"), grey: of("grey"), takes: selection.pick.takes,
				tasks: Uint32Array.from(model.who, (w) => Theme.pixel(Theme.ofName(w.comm || ""))) };
		}

		/* A column per device pixel: the mean of busy, the deepest queue, the task that ran most where cells are wide. */
		function fill(lane, scale) {
			const { queue, takes, run, dim, tasks } = ink, cell = fine.width_ns * scale.px;
			parts.fill(0);
			unknown.fill(0);
			deepest.fill(0);
			colours.fill(run);
			const [a, b] = rowsIn(lane.cpu, scale.from, scale.from + scale.width / scale.px);
			for (let k = a; k < b; k++) {
				const row = byCpu.order[k], at = (origin + busy.bucket[row] * fine.width_ns - scale.from) * scale.px;
				const x0 = Math.max(Math.floor(at), 0), x1 = Math.min(Math.max(Math.floor(at + cell), x0 + 1), scale.width);
				const depth = busy.depth_max[row];
				const colour = takes && !takes[busy.who[row]] ? dim : cell >= 3 || takes ? tasks[busy.who[row]] : run;
				for (let x = x0; x < x1; x++) {
					parts[x] += busy.busy[row] / cells[x] / 255;
					unknown[x] += busy.unknown[row] / cells[x] / 255;
					colours[x] = colour;
					deepest[x] = Math.max(deepest[x], depth);
				}
			}
			for (let x = 0; x < scale.width; x++)
				stripe[x] = deepest[x] ? queue[deepest[x] > 3 ? 2 : deepest[x] > 1 ? 1 : 0] : 0;
		}

		function paint(pixels, lane, y, h, scale) {
			const top = Math.max(Math.round(h * 0.2), 1);
			pixels.fill(y, h, ink.none);
			fill(lane, scale);
			pixels.bars(y + top, h - top, parts, colours);
			pixels.barsUpon(y + top, h - top, parts, unknown, ink.grey, HATCH);
			pixels.stripe(y, top, stripe);
		}

		/* Slices are drawn where they are a pixel wide on average. */
		function isLegible(inSight, from, to, scale) {
			if (!slices)
				return false;
			let nr = 0;
			for (const lane of inSight) {
				const [a, b] = slicesIn(lane.cpu, from, to);
				nr += b - a;
			}
			return nr <= Math.max((to - from) * scale.px * inSight.length / 2, 64) && nr <= 20000;
		}

		function detail(c, lane, y, scale) {
			const top = Math.max(Math.round(lane.h * 0.2), 1), [a, b] = slicesIn(lane.cpu, scale.from, scale.to);
			const left = scale.x(scale.from), right = scale.x(scale.to);
			c.fillStyle = Theme.colours().none;
			c.fillRect(left, y + top, right - left, lane.h - top);
			drawUnknown(c, lane, y + top, scale);
			for (let k = a; k < b; k++) {
				const row = slices.order[k], who = slice.who[row];
				const x0 = Math.max(scale.x(slice.start[row]), left), x1 = Math.min(scale.x(slice.start[row] + slice.ns[row]), right);
				if (x1 >= x0)
					Rows.drawNamed(c, { x0, x1, y: y + top, h: lane.h - top, colour: colourOf(who), text: model.label(who),
						isDim: ink.takes && !ink.takes[who] });
			}
		}

		/* Of cells, because no slice says it: as high as its share. */
		function drawUnknown(c, lane, y, scale) {
			const [a, b] = rowsIn(lane.cpu, scale.from, scale.to), clip = (ns) => scale.x(Math.min(Math.max(ns, scale.from), scale.to));
			const top = Math.max(Math.round(lane.h * 0.2), 1);
			c.fillStyle = Rows.hatch(c, HATCH);
			for (let k = a; k < b; k++) {
				const row = byCpu.order[k], at = origin + busy.bucket[row] * fine.width_ns, h = (lane.h - top) * busy.unknown[row] / 255;
				if (h)
					c.fillRect(clip(at), y + lane.h - top - h, clip(at + fine.width_ns) - clip(at), h);
			}
		}

		function sliceAt(lane, ns) {
			if (!slices || !model.hasDetail(ns, ns))
				return -1;
			const [a, b] = slicesIn(lane.cpu, ns, ns + 1);
			for (let k = a; k < b; k++) {
				const row = slices.order[k];
				if (slice.start[row] <= ns && slice.start[row] + slice.ns[row] > ns)
					return row;
			}
			return -1;
		}

		function hover(lane, ns) {
			const row = sliceAt(lane, ns), when = `CPU ${lane.cpu} at ${Words.exact(Math.round(ns))}`;
			if (row >= 0)
				return [model.label(slice.who[row]),
					`ran ${Words.duration(slice.ns[row])} from ${Words.exact(slice.start[row])}, ${ENDS[slice.end[row]] || ""}`,
					Words.visible(model.who[slice.who[row]].cgroup || ""), when];
			const [a, b] = rowsIn(lane.cpu, ns, ns + 1), cell = a < b ? byCpu.order[a] : -1;
			if (cell < 0)
				return [when, "idle, no task in its queue"];
			return [when, `busy ${Words.percent(busy.busy[cell], 255)} of ${Words.duration(fine.width_ns)}`,
				busy.unknown[cell] ? `unknown ${Words.percent(busy.unknown[cell], 255)}` : null,
				`in its queue: ${(busy.depth_mean[cell] / 16).toFixed(1)} on average, at most ${busy.depth_max[cell]}`,
				busy.busy[cell] ? `most of it: ${model.label(busy.who[cell])}` : null];
		}

		function click(lane, ns) {
			const row = ns === null ? -1 : sliceAt(lane, ns);
			if (row >= 0 && model.who[slice.who[row]].tid)
				selection.change({ tid: model.who[slice.who[row]].tid });
			else if (ns !== null)
				selection.change({ from: ns, to: ns });
		}

		const figure = new Rows.Lanes(host, page, { label: "CPU lanes", gutter: GUTTER, lanes: () => lanes, total: () => total,
			begin, paint, isLegible, detail, hover, click });
		const table = Dom.tableOf("CPUs", "cpu-table", () => asTable());
		host.append(table.details);

		/* Of the selected time, or of all. */
		function asTable() {
			const { from, to } = selection.pick;
			return Dom.plainTable(["CPU", "busy", "unknown", "queue, mean", "queue, most"], lanes.map((lane) => {
				const sums = sumsOf(lane.cpu, from, Math.min(to, model.until));
				return [lane.text, Words.percent(sums.busy, 1), Words.percent(sums.unknown, 1), sums.mean.toFixed(2), String(sums.most)];
			}));
		}

		function sumsOf(cpu, from, to) {
			const [a, b] = rowsIn(cpu, from, to), nr = Math.max((to - from) / fine.width_ns, 1e-9);
			let sum = 0, unknownSum = 0, depth = 0, most = 0;
			for (let k = a; k < b; k++) {
				const row = byCpu.order[k];
				sum += busy.busy[row];
				unknownSum += busy.unknown[row];
				depth += busy.depth_mean[row];
				most = Math.max(most, busy.depth_max[row]);
			}
			return { busy: Math.min(sum / 255 / nr, 1), unknown: Math.min(unknownSum / 255 / nr, 1), mean: depth / 16 / nr, most };
		}

		return { update() {
			const { from, to } = selection.pick;
			const sums = lanes.map((lane) => sumsOf(lane.cpu, from, Math.min(to, model.until)));
			const mean = (key) => Words.percent(sums.reduce((n, of) => n + of[key], 0) / Math.max(lanes.length, 1), 1);
			figure.figure.label(`Lanes of ${Words.plural(lanes.length, "CPU")}, ${Words.exact(from)} to ${Words.exact(Math.min(to, model.until))}: ` +
				`busy ${mean("busy")} on average, unknown ${mean("unknown")}. The table below has the numbers.`);
			figure.invalidate();
			table.fill(!selection.isEmpty);
		} };
	}

	return { start, layout, must: ["busy"], needs: ["busy", "slice"] };
})();
