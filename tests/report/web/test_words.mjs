/* web/words: durations for people and for the command line. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./load.mjs";
import { random } from "./story.mjs";

const { Words } = load(["Words"]);

test("durations have three digits", () => {
	for (const [ns, text] of [[0, "0 ns"], [999, "999 ns"], [1000, "1.00 us"], [12345, "12.3 us"], [999600, "1.00 ms"],
		[1234567, "1.23 ms"], [99960000, "100 ms"], [1.5e9, "1.50 s"], [4e12, "4,000 s"]])
		assert.equal(Words.duration(ns), text);
});

test("exact times are as short as they can be", () => {
	for (const [ns, text] of [[0, "0s"], [17, "17ns"], [300000, "300us"], [1250000000, "1.25s"], [1000000001, "1.000000001s"],
		[20000000, "20ms"], [1000, "1us"]])
		assert.equal(Words.exact(ns), text);
});

test("exact times are read back", () => {
	const next = random(3);
	for (let i = 0; i < 2000; i++) {
		const ns = next(2 ** 31) * (1 + next(2000)) + next(1000);
		assert.equal(Words.readDuration(Words.exact(ns)), ns, Words.exact(ns));
	}
});

test("what is not a time is null", () => {
	for (const text of ["", "s", "1x", "-1s", "1.s", "1e3s", "1 s", "9".repeat(99), "9999999999999999s"])
		assert.equal(Words.readDuration(text), null, text);
	assert.equal(Words.readDuration("2"), 2e9);
});

test("words of a command are quoted where they have to be", () => {
	assert.equal(Words.shell("a.pftrace"), "a.pftrace");
	assert.equal(Words.shell("a b"), "'a b'");
	assert.equal(Words.shell("it's"), "'it'\\''s'");
	assert.equal(Words.shell(""), "''");
	assert.equal(Words.shell("\u202eit's\t\\"), "$'\\u202eit\\'s\\x09\\\\'");
});

test("direction marks and control characters are visible", () => {
	assert.equal(Words.visible("a\u202eb\u0007\u200bc\ufeff"), "a\\u202eb\\x07\\u200bc\\ufeff");
	assert.equal(Words.visible("so\u00adft\u{e0041}\u{1fffe}\ufdd0\u{1f600}"), "so\\u00adft\\U000e0041\\U0001fffe\\ufdd0\u{1f600}");
	assert.equal(Words.visible("plain \u20ac \u{1f600}"), "plain \u20ac \u{1f600}");
});
