/*
 * web/keys — the keyboard. Keys that are typed into a field are the field's.
 */
const Keys = (() => {
	"use strict";
	const ZOOM = 0.7, STEP = 0.15;

	const isTyping = (element) => Boolean(element && element.closest && element.closest("input, textarea, select, [contenteditable]"));

	function start({ selection, view }) {
		const actions = {
			w: () => view.zoom(ZOOM), s: () => view.zoom(1 / ZOOM), a: () => view.pan(-STEP), d: () => view.pan(STEP),
			"?": () => Help.toggle(),
			"/": () => focusSearch(),
			escape: () => selection.clear(),
		};
		document.addEventListener("keydown", (event) => {
			const key = event.key.toLowerCase();
			if (event.ctrlKey || event.metaKey || event.altKey || !actions[key] || document.querySelector("dialog[open]"))
				return;
			if (isTyping(event.target)) {
				if (key === "escape")
					event.target.blur();
				return;
			}
			event.preventDefault();
			actions[key]();
		});
	}

	function focusSearch() {
		const search = document.getElementById("search");
		if (!search)
			return;
		search.scrollIntoView({ block: "center" });
		search.focus({ preventScroll: true });
		search.select();
	}

	return { start };
})();
