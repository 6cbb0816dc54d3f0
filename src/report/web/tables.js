/*
 * web/tables — tables that are sorted by a click on a heading, and tables of the selection that take the place of static ones
 * as long as something is selected.
 */
const Tables = (() => {
	"use strict";
	const { el, button } = Dom;
	const AT_FIRST = 50;

	const valueOf = (row, i) => {
		const cell = row.cells[i];
		if (!cell)
			return null;
		const raw = cell.dataset.value;
		return raw === undefined ? cell.textContent.trim() : raw !== "" && !Number.isNaN(Number(raw)) ? Number(raw) : raw;
	};

	/* Numbers by size, texts by name; what is unknown comes last in both directions. */
	function compare(a, b, sign) {
		const isNone = (v) => v === null || v === "" || v === "\u2013";
		if (isNone(a) || isNone(b))
			return isNone(a) - isNone(b);
		if (typeof a === "number" && typeof b === "number")
			return sign * (a - b);
		return sign * String(a).localeCompare(String(b), "en", { numeric: true });
	}

	function sortBy(table, i, isRising) {
		const body = table.tBodies[0];
		const rows = [...body.rows].map((row) => [valueOf(row, i), row]);
		rows.sort((a, b) => compare(a[0], b[0], isRising ? 1 : -1));
		body.append(...rows.map(([, row]) => row));
		[...table.tHead.rows[0].cells].forEach((head, k) => {
			if (k === i)
				head.setAttribute("aria-sort", isRising ? "ascending" : "descending");
			else
				head.removeAttribute("aria-sort");
		});
	}

	/* A button in each heading: numbers begin with the largest, names with the first. */
	function sortable(table) {
		if (!table.tHead || !table.tBodies[0] || table.tBodies[0].rows.length < 2)
			return;
		[...table.tHead.rows[0].cells].forEach((head, i) => {
			const isNumber = typeof valueOf(table.tBodies[0].rows[0], i) === "number";
			head.append(button("", () => {
				const now = head.getAttribute("aria-sort");
				sortBy(table, i, now ? now === "descending" : !isNumber);
			}, { class: "sort", "aria-label": `Sort by ${head.textContent.trim()}` }));
		});
	}

	/*
	 * columns: [{key, title, about, analysis, isName, of(row) -> {value, text, isNear}}]; rows: anything, in the order that is shown.
	 * attributes(row): data- attributes of the <tr>; pick(row): what a click on its name selects, or null.
	 */
	function make({ columns, rows, caption, attributes, pick, select }) {
		const headOf = (c) => el("th", { scope: "col", class: c.isName ? null : "num n", "data-key": c.key },
			el("span", { title: c.about }, c.title));
		const cellOf = (c, row) => (c.isName ? nameCell(c, row, pick, select) : Dom.cell({ key: c.key, analysis: c.analysis, ...c.of(row) }));
		const head = el("tr", {}, ...columns.map(headOf));
		const body = el("tbody"), table = el("table", { class: "selected" }, el("caption", {}, caption), el("thead", {}, head), body);
		const wrap = el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption }, table);
		const add = (list) => body.append(...list.map((row) => el("tr", attributes(row), ...columns.map((c) => cellOf(c, row)))));
		add(rows.slice(0, AT_FIRST));
		sortable(table);
		if (rows.length > AT_FIRST) {
			const more = button(`All ${Words.count(rows.length)} rows`, () => {
				add(rows.slice(AT_FIRST));
				more.remove();
			});
			wrap.append(more);
		}
		return wrap;
	}

	function nameCell(c, row, pick, select) {
		const text = c.of(row).text, picked = c.isPicked === false ? null : pick(row);
		const shown = picked ? button(text, null, { class: "name", title: "Select it" }) : text; /* its click is that of the cell, too */
		return el("td", { "data-key": c.key, "data-value": text, onclick: picked ? () => select(picked) : null }, shown);
	}

	/* data- attributes by which static rows are found, too; `unit` is one of Model's. Those with data-rest add up threads that have no rows. */
	function idsOf(unit, model) {
		const picked = unit.pick || {}, w = model.who[unit.who] || {}, isThread = picked.tid !== undefined;
		return { "data-tid": picked.tid, "data-tgid": isThread ? w.tgid : picked.tgid, "data-comm": isThread ? w.comm : picked.comm,
			"data-cgroup": picked.cgroup, "data-rest": unit.isRest };
	}

	/* Why some numbers are approximate. */
	function nearText({ isNear }, isFolded) {
		return (isNear ? " The range of latencies is taken at coarser edges here." : "") +
			(isFolded ? " This file has waits of some threads only by name and cgroup: what is marked \u2248 may lack a part." : "");
	}

	/* Shows `made` instead of the static content of a section, or that content again. The heading stays. */
	class Place {
		constructor(section) {
			this.section = section;
			this.made = el("div", { class: "of-selection", hidden: true });
			this.still = [...section.children].filter((child) => !/^H[1-6]$/.test(child.tagName) && !child.classList.contains("keep"));
			section.append(this.made);
			section.querySelectorAll("table").forEach(sortable);
		}

		show(...made) {
			const hasMade = made.length > 0;
			this.made.replaceChildren(...made);
			this.made.hidden = !hasMade;
			for (const element of this.still)
				element.hidden = hasMade;
		}
	}

	/* Clicks on names of static rows select their task, as those of our own do. */
	function selectRows(section, { model, selection }) {
		section.addEventListener("click", (event) => {
			const cell = event.target.closest("td"), row = cell && cell.closest("tr");
			if (!row || row.closest(".of-selection") || event.target.closest("a, button") || cell.cellIndex > 1)
				return;
			const { tid, comm, cgroup, tgid } = row.dataset;
			if (tid !== undefined && tid !== "" && tid !== "0")
				selection.change({ tid: Number(tid) });
			else if (comm)
				selection.change({ comm: comm });
			else if (cgroup && model.who.some((w) => w.cgroup === cgroup)) /* and not the row of those without one */
				selection.change({ cgroup: cgroup });
			else if (tgid)
				selection.change({ tgid: Number(tgid) });
		});
	}

	return { sortable, compare, make, idsOf, nearText, Place, selectRows };
})();
