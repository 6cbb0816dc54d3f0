/* What of the figures needs no browser: rows of the heat map, flame graphs, the time axis, the order of tables, cards. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./load.mjs";
import { random, story } from "./story.mjs";

const { Evidence, Flame, Heat, Histogram, Lanes, Model, Rows, Selection, Sums, Tables, View, Waits } = load(["Evidence", "Flame", "Heat", "Histogram", "Lanes", "Model",
	"Rows", "Selection", "Sums", "Tables", "View", "Waits"], "evidence.js");

const modelOf = (options) => {
	const { doc, tables } = story(options);
	return new Model.Report(doc, (name) => tables[name] || null);
};

test("rows of the heat map have every slot once, upwards, and are high enough to be hit", () => {
	const slots = Array.from({ length: 200 }, (_, i) => [Math.round(1000 * 1.08 ** i), Math.round(1000 * 1.08 ** (i + 1)) - 1]);
	const steps = Heat.steps(slots, 260);
	assert.deepEqual(steps.flatMap(({ low, high }) => Array.from({ length: high - low + 1 }, (_, k) => low + k)), slots.map((_, i) => i));
	steps.slice(0, -1).forEach((s, i) => assert.ok((s.to - s.from) * 260 >= 5.9 && s.to <= steps[i + 1].from + 1e-9));
	assert.equal(steps[0].from, 0);
	assert.ok(Math.abs(steps.at(-1).to - 1) < 1e-9);
	assert.deepEqual(Heat.steps([], 260), []);
});

test("folding slots into rows keeps every wait", () => {
	const next = random(9), counts = Float64Array.from({ length: 10 * 7 }, () => next(5));
	const rows = [{ low: 0, high: 2 }, { low: 3, high: 3 }, { low: 4, high: 6 }];
	const folded = Heat.fold(counts, 10, 7, rows);
	assert.equal(folded.reduce((a, b) => a + b), counts.reduce((a, b) => a + b));
	assert.equal(folded[3 * 3 + 2], counts[3 * 7 + 4] + counts[3 * 7 + 5] + counts[3 * 7 + 6]);
});

test("boxes of a flame graph lie within their parents, and add up", () => {
	const frame = { rows: 6, parent: [0, 1, 1, 2, 0, 5], name: [0, 1, 2, 3, 4, 5] };
	const self = [0, 1, 4, 3, 0, 2], totals = Sums.inclusive(frame, self);
	const boxes = Flame.layout(Flame.childrenOf(frame, totals), totals, -1, 10);
	const of = (i) => boxes.find((b) => b.i === i);
	assert.equal(boxes.length, 6);
	for (const b of boxes) {
		assert.ok(Math.abs(b.w - totals[b.i] / 10) < 1e-9);
		if (frame.parent[b.i]) {
			const up = of(frame.parent[b.i] - 1);
			assert.ok(b.x >= up.x - 1e-9 && b.x + b.w <= up.x + up.w + 1e-9 && b.depth === up.depth + 1);
		}
	}
	for (const a of boxes)
		for (const b of boxes)
			assert.ok(a === b || a.depth !== b.depth || a.x + a.w <= b.x + 1e-9 || b.x + b.w <= a.x + 1e-9, "neighbours do not overlap");
});

test("zoom keeps the time under the pointer, and never leaves the recording", () => {
	const model = modelOf(), view = new View.Window(model);
	view.zoom(0.5, 300e6);
	const before = view.scale(0, 1000).x(300e6);
	view.zoom(0.5, 300e6);
	assert.ok(Math.abs(view.scale(0, 1000).x(300e6) - before) < 1e-6);
	view.pan(-100);
	assert.equal(view.from, model.first);
	view.pan(100);
	assert.equal(view.to, model.until);
	view.zoom(1e9);
	assert.deepEqual([view.from, view.to], view.whole);
});

test("zoom is limited where single slices are not in the file", () => {
	const coarse = new View.Window(modelOf({ hasDetail: false })), full = new View.Window(modelOf());
	for (let i = 0; i < 100; i++) {
		coarse.zoom(0.5);
		full.zoom(0.5);
	}
	assert.equal(Math.round(coarse.to - coarse.from), 8 * coarse.model.doc.fine.width_ns);
	assert.ok(coarse.isLimited);
	assert.equal(Math.round(full.to - full.from), 2000);
	assert.ok(!full.isLimited);
});

test("a span is revealed where it is out of sight, and left alone where it is not", () => {
	const view = new View.Window(modelOf());
	view.reveal(100e6, 400e6);
	assert.deepEqual([view.from, view.to], view.whole);
	view.show(700e6, 720e6);
	view.reveal(100e6, 140e6);
	assert.deepEqual([view.from, view.to], [80e6, 160e6]);
});

test("ticks are round and inside", () => {
	const ticks = View.ticks({ from: 13e6, to: 987e6, width: 900 });
	assert.deepEqual(ticks.map(([ns]) => ns), [100e6, 200e6, 300e6, 400e6, 500e6, 600e6, 700e6, 800e6, 900e6]);
	assert.equal(ticks[0][1], "100 ms");
	assert.deepEqual(View.ticks({ from: 1e9, to: 1e9 + 2000, width: 200 }).map(([, text]) => text), ["1.000000 s", "1.000001 s", "1.000002 s"]);
});

test("means are of the cells that begin in a pixel", () => {
	const cells = (px) => Rows.cellsPerPixel({ from: 0, width: 10, px }, 0, { width_ns: 100, nr: 40 });
	assert.deepEqual([...cells(10 / 4000)], Array(10).fill(4));
	assert.deepEqual([...cells(10 / 500)], Array(10).fill(1));
	assert.equal(cells(10 / 2500).reduce((a, b) => a + b), 25);
});

test("lanes of CPUs have headings where a node or a cache begins", () => {
	const lanes = Lanes.layout(modelOf({ nrCpus: 64, hasDetail: false }).cpus);
	assert.equal(lanes.length, 64);
	assert.deepEqual(lanes.filter((lane) => lane.head).map((lane) => lane.cpu), [0, 8, 16, 24, 32, 40, 48, 56]);
	assert.equal(lanes[32].head, "node 1 \u00b7 LLC 4");
	lanes.slice(1).forEach((lane, i) => assert.ok(lane.y >= lanes[i].y + lanes[i].h));
	assert.ok(Lanes.layout([{ cpu: 0, core: null, llc: null, node: null }]).every((lane) => !lane.head));
});

test("tables are sorted by number or by name, what is unknown last", () => {
	const sorted = (list, sign) => [...list].sort((a, b) => Tables.compare(a, b, sign));
	assert.deepEqual(sorted([3, null, 10, 2], 1), [2, 3, 10, null]);
	assert.deepEqual(sorted([3, null, 10, 2], -1), [10, 3, 2, null]);
	assert.deepEqual(sorted(["b10", "b9", "\u2013", "a"], 1), ["a", "b9", "b10", "\u2013"]);
});

test("a card says its span and thread, or is none", () => {
	const span = (dataset) => Evidence.spanOf({ dataset });
	assert.deepEqual(span({ from: "5", to: "9", tid: "7" }), { from: 5, to: 9, tid: 7 });
	assert.deepEqual(span({ from: "5", to: "5" }), { from: 5, to: 6, tid: null });
	for (const bad of [{}, { from: "9", to: "5" }, { from: "x", to: "5" }, { from: "-1", to: "5" }])
		assert.equal(span(bad), null);
});

test("axes have round values", () => {
	assert.deepEqual(Heat.ticks([[700, 800], [5000000, 6000000]]).map((tick) => tick.text), ["1 us", "10 us", "100 us", "1 ms"]);
	assert.deepEqual(Heat.ticks([[1500, 1600], [40000, 60000]]).map((tick) => tick.text), ["2 us", "5 us", "10 us", "20 us", "50 us"]);
	assert.deepEqual(Heat.ticks([]), []);
	assert.deepEqual(Histogram.lines(78), [0, 20, 40, 60]);
	assert.deepEqual(Histogram.lines(1), [0, 1]);
	assert.deepEqual(Histogram.lines(0), [0]);
});

test("cards are in a selection by time, thread, name and length", () => {
	const model = modelOf(), card = { from: 50e6, to: 50e6 + 1500, tid: model.who[1].tid, isSleep: false };
	const isIn = (text, wait = card) => Waits.isIn(wait, Waits.taken(Selection.pick(Selection.parse(text, model), model), model));
	const other = model.who.find((w) => w.tid && w.tid !== card.tid && w.comm !== model.who[1].comm);
	assert.ok(isIn("t=40ms..60ms") && isIn(`tid=${card.tid}`) && isIn(`comm=${encodeURIComponent(model.who[1].comm)}`) && isIn("lat=1us..2us"));
	assert.ok(!isIn("t=60ms..80ms") && !isIn("t=20ms..40ms") && !isIn(`tid=${other.tid}`) && !isIn(`comm=${encodeURIComponent(other.comm)}`));
	assert.ok(!isIn("lat=10us..100us") && !isIn("lat=1us..2us", { ...card, isSleep: true }) && isIn("t=40ms..60ms", { ...card, from: 0, isSleep: true }));
	assert.ok(!isIn(`t=40ms..60ms&tid=${other.tid}`));
});
