/*
 * web/unpack — a packed table of the page as typed arrays.
 *
 * {"table", "rows", "columns": [{"name", "encoding"}], "bytes", "data"}: base64 of zlib's deflate of the columns one
 * after the other, each of `rows` varints (LEB128). "delta" columns hold zigzag differences. What the file says of its
 * size is checked before memory is taken, and again while it is read.
 */
const Unpack = (() => {
	"use strict";
	const MAX_ROWS = 2e7, MAX_COLUMNS = 16, MAX_BYTES = 2 ** 28, MAX_VARINT = 8;
	const YIELD_VALUES = 500000; /* decoded at a stretch: some milliseconds */

	class Damaged extends Error {}

	function damaged(name, why) {
		return new Damaged(`The table "${name}" of this file is damaged (${why}): make the report again.`);
	}

	/* What the header promises, or an error. */
	function check(packed) {
		const name = String(packed && packed.table).slice(0, 32);
		const isCount = (n, most) => Number.isInteger(n) && n >= 0 && n <= most;
		if (!packed || typeof packed.data !== "string" || !Array.isArray(packed.columns))
			throw damaged(name, "its head is not complete");
		if (!isCount(packed.rows, MAX_ROWS) || !isCount(packed.bytes, MAX_BYTES) || packed.columns.length > MAX_COLUMNS)
			throw damaged(name, "its size is beyond all bounds");
		if (packed.bytes < packed.rows * packed.columns.length)
			throw damaged(name, "it has fewer bytes than values");
		for (const c of packed.columns)
			if (typeof c.name !== "string" || (c.encoding !== "delta" && c.encoding !== "plain"))
				throw damaged(name, "a column has an unknown encoding");
		return name;
	}

	function fromBase64(text) {
		if (Uint8Array.fromBase64)
			return Uint8Array.fromBase64(text);
		return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
	}

	/* Exactly so many bytes, never more. */
	async function inflate(deflated, bytes) {
		const out = new Uint8Array(bytes);
		const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate"));
		const reader = stream.getReader();
		let at = 0;
		for (;;) {
			const { done, value } = await reader.read();
			if (done)
				break;
			if (at + value.length > bytes) {
				await reader.cancel();
				throw new Error("more bytes than it says");
			}
			out.set(value, at);
			at += value.length;
		}
		if (at !== bytes)
			throw new Error("fewer bytes than it says");
		return out;
	}

	/* Reads varints one after the other. */
	class Varints {
		constructor(bytes) {
			this.bytes = bytes;
			this.at = 0;
		}

		next() {
			const { bytes } = this;
			let byte = bytes[this.at++];
			if (byte < 128)
				return byte;
			let value = byte & 127, scale = 128;
			for (let i = 1; i < MAX_VARINT; i++) {
				byte = bytes[this.at++];
				if (byte === undefined)
					break;
				value += (byte & 127) * scale;
				if (byte < 128) {
					if (value > Number.MAX_SAFE_INTEGER)
						break;
					return value;
				}
				scale *= 128;
			}
			throw new Error("a value is not a number");
		}
	}

	const unzigzag = (n) => (n % 2 ? -(n + 1) / 2 : n / 2);

	/* 32 bits where they suffice: half the memory, and faster sums. */
	class Column {
		constructor(rows) {
			this.values = new Uint32Array(rows);
		}

		set(i, value) {
			if (value > 0xffffffff && this.values instanceof Uint32Array)
				this.values = Float64Array.from(this.values);
			this.values[i] = value;
		}
	}

	async function readColumn(varints, rows, isDelta) {
		const column = new Column(rows);
		let value = 0;
		for (let i = 0; i < rows; i++) {
			const n = varints.next();
			value = isDelta ? value + unzigzag(n) : n;
			if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER))
				throw new Error("a value is out of range");
			column.set(i, value);
			if (i % YIELD_VALUES === YIELD_VALUES - 1)
				await new Promise((go) => setTimeout(go, 0));
		}
		return column.values;
	}

	/* {rows, NAME: typed array, ...}. Throws an error whose message is a sentence for the reader of the page. */
	async function table(packed) {
		const name = check(packed);
		const out = { rows: packed.rows };
		try {
			const varints = new Varints(await inflate(fromBase64(packed.data), packed.bytes));
			for (const c of packed.columns)
				out[c.name] = await readColumn(varints, packed.rows, c.encoding === "delta");
			if (varints.at !== packed.bytes)
				throw new Error("bytes are left over");
		} catch (error) {
			throw error instanceof Damaged ? error : damaged(name, error.message);
		}
		return out;
	}

	return { table };
})();
