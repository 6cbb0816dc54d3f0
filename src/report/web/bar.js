/*
 * web/bar — the line at the top that says what is selected, with the command that gives the same numbers, and what takes each
 * part of it away.
 */
const Bar = (() => {
	"use strict";
	const { el, button } = Dom;

	/* Without access to the clipboard the text is selected, to be copied by hand. */
	async function copy(text, code, done) {
		try {
			await navigator.clipboard.writeText(text);
			done.textContent = "Copied";
		} catch {
			getSelection().selectAllChildren(code);
			done.textContent = "Press Ctrl+C";
		}
		setTimeout(() => { done.textContent = "Copy"; }, 1500);
	}

	function start(host, page) {
		const { model, selection } = page;

		function part([key, text]) {
			return el("span", { class: "part" }, text, button("\u00d7", () => selection.drop(key), { "aria-label": `Do not select ${text}` }));
		}

		function show() {
			host.hidden = selection.isEmpty;
			if (selection.isEmpty) {
				host.replaceChildren();
				return;
			}
			const command = Selection.command(selection.now, model), code = el("code", { tabindex: "0" }, command);
			const copier = button("Copy", () => copy(command, code, copier), { "aria-label": "Copy the command" });
			const parts = Selection.describe(selection.now, model);
			host.replaceChildren(el("span", { class: "selected-what" }, "Selected: ", ...parts.map(part)),
				button("Clear (Esc)", () => selection.clear()), el("span", { class: "command" }, code, copier),
				...(selection.pick.takes && !selection.pick.takes.includes(1) ? [el("span", { class: "note" }, "No task of this file matches; " +
					"threads that ran little are kept by name only.")] : []),
				...(selection.now.slots ? [el("span", { class: "note" }, "The command has all latencies.")] : []));
			Dom.say(`Selected: ${parts.map(([, text]) => text).join(", ")}`);
		}

		host.setAttribute("role", "region");
		host.setAttribute("aria-label", "Selection");
		selection.onchange(show);
		show();
	}

	return { start };
})();
