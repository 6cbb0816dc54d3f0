/*
 * Scripts of the report as the page runs them: joined in the order of src/report/web/scripts, in one scope. What a test
 * asks for by name is handed out.
 */
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

export const WEB = path.join(import.meta.dirname, "../../../src/report/web");

/* Files that another part of the page may add later are not there yet. */
export function scriptNames() {
	return fs.readFileSync(path.join(WEB, "scripts"), "utf8").trim().split("\n").filter((name) => fs.existsSync(path.join(WEB, name)));
}

export function load(names, until = "sums.js") {
	const all = scriptNames();
	const text = all.slice(0, all.indexOf(until) + 1).map((name) => fs.readFileSync(path.join(WEB, name), "utf8")).join("\n");
	return vm.runInThisContext(`(() => {\n${text}\nreturn { ${names.join(", ")} };\n})()`, { filename: "report.js" });
}
