/*
 * web/words — numbers as people read them: 12.3 ms, 1,234, 45.6 %; and times as the command line takes them.
 */
const Words = (() => {
	"use strict";
	const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "us"]];
	const UNIT_NS = { s: 1e9, ms: 1e6, us: 1e3, "\u00b5s": 1e3, "\u03bcs": 1e3, ns: 1 };
	const MAX_TEXT = 64;

	/* Three digits: 1.23 s, 12.3 ms, 123 us. */
	function duration(ns) {
		for (const [size, name] of UNITS)
			if (ns >= size * 0.9995)
				return digits(ns / size) + " " + name;
		return Math.round(ns) + " ns";
	}

	function digits(value) {
		return value >= 999.5 ? Math.round(value).toLocaleString("en-US") :
			value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
	}

	/* Exactly, in the shortest form that --from and --to read: 1.25s, 300us, 17ns. */
	function exact(ns) {
		if (ns === 0)
			return "0s";
		for (const [size, name] of UNITS)
			if (ns >= size)
				return decimal(ns, size) + name;
		return ns + "ns";
	}

	/* Of integers, because a division by 1e9 does not keep 53 bits. */
	function decimal(ns, size) {
		const whole = Math.floor(ns / size), rest = ns - whole * size;
		if (!rest)
			return String(whole);
		return whole + "." + String(rest).padStart(String(size).length - 1, "0").replace(/0+$/, "");
	}

	/* The reverse: nanoseconds, or null if it is not a time. A bare number is in seconds, as after --from. */
	function readDuration(text) {
		const found = text.length <= MAX_TEXT && /^(\d{1,16})(?:\.(\d{1,18}))?(s|ms|us|\u00b5s|\u03bcs|ns)?$/.exec(text);
		if (!found)
			return null;
		const size = UNIT_NS[found[3] || "s"];
		const ns = Number(found[1]) * size + Math.floor(Number("0." + (found[2] || "0")) * size + 1e-6);
		return ns <= Number.MAX_SAFE_INTEGER ? ns : null;
	}

	const count = (n) => n.toLocaleString("en-US");

	function percent(part, whole) {
		const p = whole ? 100 * part / whole : 0;
		return (p === 0 || p >= 99.95 ? p.toFixed(0) : p >= 10 ? p.toFixed(1) : p.toFixed(2)) + " %";
	}

	const plural = (n, one, many) => count(n) + " " + (n === 1 ? one : many || one + "s");

	/* A word of a shell command, quoted where it has to be; hidden characters as the escapes of bash and zsh. */
	function shell(text) {
		if (visible(text) !== text)
			return "$'" + visible(text.replace(/[\\']/g, "\\$&")) + "'";
		return /^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
	}

	const cut = (text, length) => (text.length > length ? text.slice(0, Math.max(length - 1, 1)) + "\u2026" : text);

	const HIDDEN = new RegExp("[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb" +
		"\\u{e0000}-\\u{e007f}\\p{Noncharacter_Code_Point}]", "gu");

	/* Controls, marks of direction and separators of a name as visible escapes, as the static page has them (report/html). */
	function visible(text) {
		return text.replace(HIDDEN, (c) => {
			const code = c.codePointAt(0), [letter, digits] = code < 0x80 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
			return "\\" + letter + code.toString(16).padStart(digits, "0");
		});
	}

	return { duration, exact, readDuration, count, percent, plural, shell, cut, visible };
})();
