/* web/compare: rates of cells, and which cell a place or a key leads to. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import vm from "node:vm";

import { WEB } from "./load.mjs";

/* The scripts between these two need a browser; what is tested here does not. */
const text = ["words.js", "compare.js"].map((name) => fs.readFileSync(path.join(WEB, name), "utf8")).join("\n");
const { Compare } = vm.runInThisContext(`(() => {\n${text}\nreturn { Compare };\n})()`, { filename: "report.js" });

const HEAT = {
	width_ns: 100e6, nr: 3, bands: [[0, 999], [1000, 1999], [2000, 3999]],
	before: { covered_ns: [100e6, 50e6], cells: [[0, 1, 5], [1, 2, 4]] },
	after: { covered_ns: [200e6, 200e6, 100e6], cells: [[0, 1, 20], [2, 0, 1]] },
};
const SHAPE = { left: 110, width: 960, top: 4, row: 9, firstBand: 1, bands: 2, nr: 3 };

test("rates are per second of what was recorded", () => {
	const cells = new Compare.Cells(HEAT);
	assert.deepEqual(cells.at(0, 1), { before: 50, after: 100, difference: 50 });
	assert.deepEqual(cells.at(1, 2), { before: 80, after: 0, difference: -80 });
	assert.deepEqual(cells.at(0, 0), { before: 0, after: 0, difference: 0 });
});

test("what one side did not record has no difference", () => {
	const cells = new Compare.Cells(HEAT);
	assert.deepEqual(cells.at(2, 0), { before: null, after: 10, difference: null });
	assert.deepEqual(cells.lines(2, 0), ["0 ns to 1.00 us", "that began 200ms to 300ms", "before: not recorded", "after: 10.00 per second", null]);
	assert.equal(cells.lines(0, 1)[4], "difference: +50.00 per second");
	assert.equal(cells.lines(1, 2)[4], "difference: -80.00 per second");
});

test("a place in the picture is a cell, the longest latencies on top", () => {
	assert.deepEqual(Compare.cellAt(SHAPE, 110, 4), [0, 2]);
	assert.deepEqual(Compare.cellAt(SHAPE, 959, 21.9), [2, 1]);
	for (const [x, y] of [[109, 10], [960, 10], [500, 3], [500, 22]])
		assert.equal(Compare.cellAt(SHAPE, x, y), null);
});

test("arrow keys stay in the map", () => {
	let cell = Compare.step(SHAPE, null, "ArrowRight");
	assert.deepEqual(cell, [0, 1]);
	for (const [key, want] of [["ArrowDown", [0, 1]], ["ArrowLeft", [0, 1]], ["ArrowUp", [0, 2]], ["ArrowUp", [0, 2]], ["ArrowRight", [1, 2]],
		["ArrowRight", [2, 2]], ["ArrowRight", [2, 2]]])
		assert.deepEqual(cell = Compare.step(SHAPE, cell, key), want, key);
	assert.equal(Compare.step(SHAPE, cell, "a"), null);
});

test("large rates have no decimals", () => {
	assert.equal(Compare.rateText(12345.6), "12,346 per second");
	assert.equal(Compare.rateText(-123.4), "-123 per second");
	assert.equal(Compare.rateText(0.25), "0.25 per second");
});
