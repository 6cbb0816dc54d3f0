/* The list of functions below the graph, and the choice of a process. */
(function () {
	"use strict";
	const SHOWN = 300;
	const data = JSON.parse(document.getElementById("flame-data").textContent);
	const svg = document.querySelector("svg.schedscope-flame"), flame = svg.flame;
	const choice = document.getElementById("process"), filter = document.getElementById("filter");
	const body = document.querySelector("tbody"), more = document.querySelector(".more");
	const isDiff = data.before !== null;
	const state = { key: isDiff ? "selfChange" : "self", isRising: false, process: null };
	svg.dataset.keys = "page";

	/* Rows: function, own value, whole value, and both before. */
	function rowsOf(process) {
		const now = process ? process.total : data.total, old = isDiff ? (process ? process.before : data.before) : 0;
		return (process ? process.functions : data.functions).map(([number, self, total, oldSelf, oldTotal]) => {
			const f = data.names[number], share = (part, whole) => (whole ? part / whole : 0);
			const row = { name: f[0], module: f[1], place: f[2], kind: data.kinds[f[3]], self: share(self, now), total: share(total, now), value: self };
			row.oldSelf = share(oldSelf || 0, old);
			row.selfChange = row.self - row.oldSelf;
			row.totalChange = row.total - share(oldTotal || 0, old);
			return row;
		});
	}

	const columns = [["self", "SELF", true]]
		.concat(isDiff ? [["oldSelf", "BEFORE", true], ["selfChange", "CHANGE", true]] : [["value", data.unit.toUpperCase(), true]])
		.concat([["total", "TOTAL", true]], isDiff ? [["totalChange", "CHANGE", true]] : [])
		.concat([["name", "FUNCTION"], ["module", "MODULE"], ["place", "WHERE"]]);

	function cell(tr, text, className) {
		const td = tr.appendChild(document.createElement("td"));
		td.className = className;
		td.textContent = text;
		return td;
	}

	function drawNumber(tr, key, row) {
		if (key === "value") {
			cell(tr, data.unit === "ns" ? flame.amount(row.value) : row.value.toLocaleString("en-US"), "num");
		} else if (key.endsWith("Change")) {
			const points = 100 * row[key], isSmall = Math.abs(points) < 0.005;
			cell(tr, (points < 0 ? "\u2212" : "+") + Math.abs(points).toFixed(2), "num" + (isSmall ? "" : points > 0 ? " grew" : " shrank"));
		} else {
			const td = cell(tr, (100 * row[key]).toFixed(2) + " %", "num");
			if (key === "self" && !isDiff) {
				const part = document.createElement("span");
				part.className = "part " + row.kind;
				part.style.width = Math.max(60 * row.self, 1).toFixed(1) + "px";
				td.prepend(part);
			}
		}
	}

	function drawRow(row) {
		const tr = body.appendChild(document.createElement("tr"));
		for (const [key, , isNumber] of columns) {
			if (isNumber)
				drawNumber(tr, key, row);
			else
				cell(tr, key === "module" && row.kind === "inlined" ? row.module + " (inlined)" : row[key], key === "name" ? "name" : "soft");
		}
		tr.addEventListener("click", () => flame.search("^" + row.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + "$"));
	}

	function compare(a, b) {
		const key = state.key, x = key.endsWith("Change") ? Math.abs(a[key]) : a[key], y = key.endsWith("Change") ? Math.abs(b[key]) : b[key];
		const order = typeof x === "string" ? (x < y ? -1 : x > y ? 1 : 0) : x - y;
		return (state.isRising ? order : -order) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
	}

	function pattern() {
		try {
			return filter.value ? new RegExp(filter.value, "i") : null;
		} catch (error) {
			return null;
		}
	}

	function draw() {
		const wanted = pattern();
		const rows = rowsOf(state.process).filter((r) => !wanted || wanted.test(r.name) || wanted.test(r.module)).sort(compare);
		body.replaceChildren();
		rows.slice(0, SHOWN).forEach(drawRow);
		const hidden = Math.max(rows.length - SHOWN, 0) + (wanted ? 0 : data.leftOut);
		more.textContent = rows.length === 0 ? "No function." : hidden ? hidden.toLocaleString("en-US") + " more functions" : "";
		for (const th of document.querySelectorAll("th")) {
			th.classList.toggle("sorted", th.dataset.key === state.key);
			th.classList.toggle("rising", state.isRising);
		}
	}

	const head = document.querySelector("thead tr");
	for (const [key, title, isNumber] of columns) {
		const th = head.appendChild(document.createElement("th"));
		th.textContent = title;
		th.dataset.key = key;
		th.className = isNumber ? "num" : "";
		th.addEventListener("click", () => {
			state.isRising = state.key === key ? !state.isRising : !isNumber;
			state.key = key;
			draw();
		});
	}

	choice.appendChild(new Option("all processes", ""));
	data.processes.forEach((p, i) => choice.appendChild(new Option(p.name + "  " + flame.percent(p.total, data.total), String(i))));
	choice.addEventListener("change", () => {
		state.process = choice.value === "" ? null : data.processes[Number(choice.value)];
		const name = state.process && state.process.name;
		flame.zoom(name ? flame.frames.find((f) => f.d === 1 && f.name === name) || null : null);
		draw();
	});
	flame.onZoom((f) => {
		if (f === null && state.process) {
			state.process = null;
			choice.value = "";
			draw();
		}
	});
	document.getElementById("flip").addEventListener("click", () => flame.flip());
	document.getElementById("reset").addEventListener("click", () => flame.reset());
	filter.addEventListener("input", draw);
	draw();
})();
