/*
 * Rules for the scripts and styles of the page: they are valid, make no request, and put no text of a trace where a browser
 * would take it for code. The page's policy (CSP) forbids most of it, too; here the line is named.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import vm from "node:vm";

import { WEB, scriptNames } from "./load.mjs";

const MAX_LINES = 400, MAX_COLUMNS = 150;
const FORBIDDEN = [
	[/\b(innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|DOMParser|srcdoc)\b|document\.write/, "text as HTML"],
	[/\beval\s*\(|\bFunction\s*\(|\bset(Timeout|Interval)\s*\(\s*["'`]|javascript:/, "text as code"],
	[/setAttribute\(\s*["'](style|on\w+)["']|\.cssText\b/, "an attribute that the policy forbids"],
	[/\b(fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts|RTCPeerConnection|WebTransport)\b|\bimport\s*[({"']/, "a request"],
	[/https?:\/\/(?!www\.w3\.org\/)/, "an address"],
	[/^\s*(import|export)\b/, "a module of its own: scripts are joined"],
	[/\bconsole\.|\bdebugger\b|\balert\s*\(/, "a remainder of debugging"],
	[/\b(localStorage|sessionStorage|indexedDB|document\.cookie)\b/, "storage"],
];

/* Lines with what a rule forbids. */
function offences(text, name) {
	return text.split("\n").flatMap((line, i) => FORBIDDEN.filter(([pattern]) => pattern.test(line)).map(([, what]) => `${name}:${i + 1}: ${what}: ${line.trim()}`));
}

const listed = scriptNames();

for (const name of listed) {
	const text = fs.readFileSync(path.join(WEB, name), "utf8");

	test(`${name} is valid and follows the rules`, () => {
		new vm.Script(text, { filename: name }); /* a SyntaxError names the line */
		assert.deepEqual(offences(text, name), []);
		assert.match(text, /^\/\*\n \* web\/\w+ \u2014 /, "the head says what the file is");
		assert.ok(text.split("\n").length <= MAX_LINES, `more than ${MAX_LINES} lines`);
		text.split("\n").forEach((line, i) => assert.ok(line.replaceAll("\t", "    ").length <= MAX_COLUMNS, `${name}:${i + 1}: longer than ${MAX_COLUMNS}`));
	});
}

test("all scripts together are one valid program", () => {
	const joined = listed.map((name) => fs.readFileSync(path.join(WEB, name), "utf8")).join("\n");
	execFileSync(process.execPath, ["--check", "--input-type=module", "-"], { input: joined, stdio: ["pipe", "pipe", "pipe"] });
});

test("every script of the folder is in the list", () => {
	assert.deepEqual(fs.readdirSync(WEB).filter((name) => name.endsWith(".js")).sort(), [...listed].sort());
});

test("styles load nothing", () => {
	for (const name of fs.readdirSync(WEB).filter((n) => n.endsWith(".css")))
		assert.doesNotMatch(fs.readFileSync(path.join(WEB, name), "utf8"), /@import|url\((?!["']?data:)|expression\(/, name);
});

test("the rules find what they forbid", () => {
	for (const line of ["a.innerHTML = b;", "document.write(a)", "eval(a)", "new Function('a')", "setTimeout('a', 1)", "e.setAttribute('style', a)",
		"e.setAttribute(\"onclick\", a)", "fetch(a)", "new WebSocket(a)", "import('a')", "import a from 'a';", "export { a };", "console.log(1)",
		"localStorage.a = 1", "const a = 'https://example.org';", "e.style.cssText = a"])
		assert.equal(offences(line, "x").length > 0, true, line);
	for (const line of ["e.style.left = a;", "e.setAttribute('role', 'img')", "const SVG = 'http://www.w3.org/2000/svg';", "refetched(a)", "evaluate(a)"])
		assert.deepEqual(offences(line, "x"), [], line);
});
