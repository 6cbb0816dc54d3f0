/*
 * web/dom — elements, the box at the pointer, and sentences for screen readers. Text of a trace only ever becomes text.
 */
const Dom = (() => {
	"use strict";

	/* el("td", { class: "num", onclick: f }, "text", element...): attributes, listeners and children. */
	function el(name, attributes = {}, ...children) {
		const element = document.createElement(name);
		for (const [key, value] of Object.entries(attributes)) {
			if (value === null || value === undefined || value === false)
				continue;
			if (typeof value === "function")
				element.addEventListener(key.slice(2), value);
			else
				element.setAttribute(key, value === true ? "" : value);
		}
		element.append(...children.filter((child) => child !== null && child !== undefined));
		return element;
	}

	/* A cell as the static tables have it. Values are null where there are none; isNear marks what is out of slots. */
	function cell({ key, analysis, value, text, isNear }) {
		return el("td", { class: "num", "data-key": key, "data-analysis": analysis, "data-value": value === null ? null : value,
			"data-approx": Boolean(isNear && value !== null) }, value === null ? "\u2013" : (isNear ? "\u2248 " : "") + text);
	}

	let tip = null, live = null, saying = 0;

	/* lines: the first is the heading. At the pointer, inside of the window. */
	function showTip(x, y, lines) {
		if (!tip) {
			tip = el("div", { id: "tip", role: "tooltip" });
			document.body.append(tip);
		}
		tip.replaceChildren(...lines.filter(Boolean).map((line, i) => el(i ? "div" : "strong", {}, line)));
		tip.hidden = false;
		const box = tip.getBoundingClientRect(), right = document.documentElement.clientWidth;
		tip.style.left = Math.max(Math.min(x + 14, right - box.width - 4), 4) + "px";
		tip.style.top = (y + 18 + box.height > window.innerHeight ? Math.max(y - box.height - 10, 4) : y + 18) + "px";
	}

	function hideTip() {
		if (tip)
			tip.hidden = true;
	}

	/* After a pause, so that a drag is one sentence. */
	function say(text) {
		if (!live) {
			live = el("div", { id: "live", role: "status", "aria-live": "polite", class: "unseen" });
			document.body.append(live);
		}
		clearTimeout(saying);
		saying = setTimeout(() => live.replaceChildren(text), 250);
	}

	const button = (text, onclick, attributes = {}) => el("button", { type: "button", onclick, ...attributes }, text);

	/*
	 * The table that says the same as a picture, made when it is opened. still: the id of the static table of the whole time, which is
	 * shown while nothing is selected, or null.
	 */
	function tableOf(title, still, make) {
		const details = el("details", { class: "as-table" }, el("summary", {}, title + (still ? " in the selection" : "")));
		const whole = still && document.getElementById(still) ? document.getElementById(still).closest("details") : null;
		const fill = (isSelected = true) => {
			if (whole)
				[whole.hidden, details.hidden] = [isSelected, !isSelected];
			if (details.open)
				details.replaceChildren(details.firstChild, el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": title }, make()));
		};
		details.addEventListener("toggle", () => fill(!details.hidden));
		return { details, fill };
	}

	/* head: names of columns; rows: lists of texts. The first column names the row. */
	function plainTable(head, rows) {
		return el("table", {}, el("thead", {}, el("tr", {}, ...head.map((h) => el("th", { scope: "col" }, h)))),
			el("tbody", {}, ...rows.map((row) => el("tr", {}, el("th", { scope: "row" }, row[0]),
				...row.slice(1).map((text) => el("td", { class: "num" }, text))))));
	}

	return { el, cell, button, showTip, hideTip, say, tableOf, plainTable };
})();
