/*
 * web/blame — which tasks kept which others waiting, in the selection: what victims lost and to what, and a matrix of those
 * that lost most and those that caused most of it.
 */
const Blame = (() => {
	"use strict";
	const { el } = Dom;
	const WAYS = [["cgroup", "cgroups"], ["process", "processes"], ["comm", "names"], ["thread", "threads"]];
	const MATRIX = 8, CULPRITS = 3;

	const most = (sums, nr) => [...sums.keys()].filter((u) => sums[u] > 0).sort((a, b) => sums[b] - sums[a]).slice(0, nr);

	/* Victims with their causes. Columns of causes that took no time are left out. */
	function columns(s, by, { model, pick, nrCauses }) {
		const { causes } = model.doc;
		const time = (u, ns) => ({ value: ns, text: Words.duration(ns), isNear: pick.isNear || s.folded[u] });
		const list = [
			{ key: "victim", title: "waited", isName: true, of: (u) => ({ text: Words.visible(by.units[u].label) }) },
			{ key: "wait_ns", title: "time", of: (u) => time(u, s.lost[u]),
				about: "time waited for a CPU within the selected time; two tasks that wait for the same millisecond have two" },
		];
		causes.forEach((name, c) => {
			if (by.units.some((_, u) => s.causes[u * nrCauses + c]))
				list.push({ key: `${name === "interrupt" ? "irq" : name}_ns`, title: name === "task" ? "other tasks" : name,
					about: `of that, ${name}`, of: (u) => time(u, s.causes[u * nrCauses + c]) });
		});
		list.push({ key: "blames", title: "because of", isName: true, isPicked: false, of: (u) => ({ text: culpritsText(s, u, by) }) });
		return list.map((c) => ({ analysis: "blame", ...c }));
	}

	function culpritsText(s, victim, by) {
		return Sums.culprits(s, victim, by.units.length).slice(0, CULPRITS)
			.map(([culprit, ns]) => `${Words.visible(by.units[culprit].label)} ${Words.duration(ns)}`).join(", ");
	}

	/* Rows waited, columns had the CPU; the shade is the share of the largest cell, the number says it. */
	function matrix(s, by) {
		const victims = most(s.lost, MATRIX), culprits = most(s.caused, MATRIX);
		if (!victims.length || !culprits.length)
			return null;
		const at = (v, c) => s.pairs.get(v * by.units.length + c) || 0;
		const largest = Math.max(...victims.flatMap((v) => culprits.map((c) => at(v, c))), 1);
		const cell = (v, c) => {
			const ns = at(v, c), td = el("td", { class: "num", "data-value": ns }, ns ? Words.duration(ns) : "");
			if (ns) {
				const colour = Theme.shade(0.1 + 0.9 * ns / largest);
				td.style.background = Theme.css(colour);
				td.style.color = Theme.inkOn(colour);
			}
			return td;
		};
		const name = (u) => Words.cut(Words.visible(by.units[u].label), 28);
		return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Blame matrix" }, el("table", { class: "matrix" },
			el("caption", {}, "Rows waited while columns had the CPU"),
			el("thead", {}, el("tr", {}, el("td"), ...culprits.map((c) => el("th", { scope: "col" }, name(c))))),
			el("tbody", {}, ...victims.map((v) => el("tr", {}, el("th", { scope: "row" }, name(v)), ...culprits.map((c) => cell(v, c)))))));
	}

	function start(section, page, { blame }) {
		const { model, selection } = page, place = new Tables.Place(section), nrCauses = model.doc.causes.length;
		let way = "comm";
		const choice = el("select", { "aria-label": "Rows of the blame table", onchange: () => {
			way = choice.value;
			update();
		} }, ...WAYS.map(([value, text]) => el("option", { value, selected: value === way }, `by ${text}`)));
		Tables.selectRows(section, page);
		Theme.onchange(() => update());

		function update() {
			if (selection.isEmpty) {
				place.show();
				return;
			}
			const { pick } = selection, by = model.by(way), s = { ...Sums.blame(blame, pick, by, nrCauses), folded: model.folded(blame, by, pick) };
			const rows = most(s.lost, by.units.length);
			const table = Tables.make({ columns: columns(s, by, { model, pick, nrCauses }), rows, caption: "Time lost in the selection",
				pick: (u) => by.units[u].pick, attributes: (u) => Tables.idsOf(by.units[u], model), select: (part) => selection.change(part) });
			place.show(...[el("div", { class: "tools" }, choice), totalText(s, pick), matrix(s, by), table].filter(Boolean));
		}

		function totalText({ total: ns, folded }, pick) {
			const isFolded = folded.some((n) => n), isNear = pick.isNear || (pick.isById && isFolded);
			const total = el("span", { "data-analysis": "blame", "data-key": "wait_ns", "data-value": ns, "data-approx": isNear },
				(isNear ? "\u2248 " : "") + Words.duration(ns));
			return el("p", { class: "note" }, "Time waited in the selection: ", total, ".", Tables.nearText(pick, isFolded));
		}

		return { update };
	}

	return { start, must: ["blame"], needs: ["blame"] };
})();
