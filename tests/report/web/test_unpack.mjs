/* web/unpack: what is packed comes back; what is damaged is refused with a sentence. */
import assert from "node:assert/strict";
import { test } from "node:test";
import zlib from "node:zlib";

import { load } from "./load.mjs";
import { pack, random } from "./story.mjs";

const { Unpack } = load(["Unpack"]);

const good = () => pack("t", ["a", "b"], [[5, 1], [3, 300], [2 ** 40, 2 ** 52]]);
const refused = (packed, why) => assert.rejects(Unpack.table(packed), (error) => {
	assert.match(error.message, /^The table ".*" of this file is damaged \(.*\): make the report again\.$/);
	assert.match(error.message, why);
	return true;
});

test("columns come back, differences and plain values alike", async () => {
	const t = await Unpack.table(good());
	assert.deepEqual([t.rows, [...t.a], [...t.b]], [3, [5, 3, 2 ** 40], [1, 300, 2 ** 52]]);
});

test("an empty table is a table", async () => {
	const t = await Unpack.table(pack("t", ["a"], []));
	assert.deepEqual([t.rows, t.a.length], [0, 0]);
});

test("small values take 32 bits", async () => {
	const t = await Unpack.table(pack("t", ["a"], [[0], [2 ** 32 - 1]]));
	assert.equal(t.a.constructor.name, "Uint32Array");
});

test("random tables come back", async () => {
	const next = random(7);
	for (let round = 0; round < 20; round++) {
		const rows = Array.from({ length: next(2000) }, () => [next(2 ** 31) * next(2 ** 20), next(2 ** 31)]);
		const t = await Unpack.table(pack("t", ["a", "b"], rows));
		assert.deepEqual(Array.from(t.a, (a, i) => [a, t.b[i]]), rows);
	}
});

test("a head that is not complete is refused", async () => {
	await refused(null, /head/);
	await refused({ ...good(), data: 5 }, /head/);
	await refused({ ...good(), columns: undefined }, /head/);
});

test("sizes beyond all bounds are refused before memory is taken", async () => {
	await refused({ ...good(), rows: 1e12 }, /size/);
	await refused({ ...good(), rows: -1 }, /size/);
	await refused({ ...good(), bytes: 2 ** 40 }, /size/);
	await refused({ ...good(), rows: 1e6 }, /fewer bytes/);
});

test("an unknown encoding is refused", async () => {
	await refused({ ...good(), columns: [{ name: "a", encoding: "gzip" }] }, /encoding/);
});

test("bytes that are cut, left over, more than said, or not deflate are refused", async () => {
	const packed = good();
	await refused({ ...packed, bytes: packed.bytes + 1 }, /fewer bytes/);
	await refused({ ...packed, bytes: packed.bytes - 1 }, /more bytes/);
	await refused({ ...packed, rows: 2 }, /left over|not a number|out of range/);
	await refused({ ...packed, data: packed.data.slice(0, 8) }, /./);
	await refused({ ...packed, data: "%%%" }, /./);
	await refused({ ...packed, data: "AAAA" }, /./);
});

test("values that do not end, are too large or below zero are refused", async () => {
	const raw = (bytes, encoding) => ({ table: "t", rows: 1, bytes: bytes.length, columns: [{ name: "a", encoding }],
		data: zlib.deflateSync(Uint8Array.from(bytes)).toString("base64") });
	await refused(raw([0x80], "plain"), /not a number/);
	await refused(raw([255, 255, 255, 255, 255, 255, 255, 127], "plain"), /not a number/);
	await refused(raw([255, 255, 255, 255, 255, 255, 255, 255, 127], "plain"), /not a number/);
	await refused(raw([1], "delta"), /out of range/);
});

test("any flipped bit is refused or read, never a hang or another error", async () => {
	const packed = good(), bytes = Buffer.from(packed.data, "base64");
	for (let bit = 0; bit < bytes.length * 8; bit++) {
		const copy = Buffer.from(bytes);
		copy[bit >> 3] ^= 1 << (bit & 7);
		try {
			await Unpack.table({ ...packed, data: copy.toString("base64") });
		} catch (error) {
			assert.match(error.message, /is damaged/);
		}
	}
});
