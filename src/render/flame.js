/* Zoom, search and hover of one flame graph. The picture is complete without it. */
(function () {
	"use strict";
	const MARGIN = 10, ROW = 18, TOP = 94, BOTTOM = 44, GLYPH = 7.23, MIN_GLYPHS = 3, THIN = 0.1, SEARCH_WIDTH = 260;
	const SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
	const svg = document.currentScript.closest("svg");
	const isAlone = document.documentElement === svg;
	const total = Number(svg.dataset.total), before = Number(svg.dataset.before || 0);
	const depth = Number(svg.dataset.depth), unit = svg.dataset.unit;
	const state = { width: 1200, icicle: svg.dataset.icicle === "1", zoomed: null, at: null, pattern: null, isHovered: false };
	const listeners = [];

	function make(parent, name, attributes, text) {
		const element = document.createElementNS(SVG, name);
		for (const key of Object.keys(attributes || {}))
			element.setAttribute(key, attributes[key]);
		if (text !== undefined)
			element.textContent = text;
		return parent.appendChild(element);
	}

	function readFrame(g) {
		const [x, w, d, self, count, old, oldSelf] = g.dataset.f.split(",").map(Number);
		return { g, x, w, d, self, count, old, oldSelf, rect: g.querySelector("rect"), text: g.querySelector("text"),
			name: g.dataset.n, module: g.dataset.m || "", place: g.dataset.l || "", shown: true };
	}

	const frames = Array.from(svg.querySelectorAll("g.f"), readFrame);
	const frameOf = new Map(frames.map((f) => [f.g, f]));
	const holds = (outer, inner) => outer.x <= inner.x && outer.x + outer.w >= inner.x + inner.w;
	const ancestors = (f) => frames.filter((a) => a.d < f.d && holds(a, f)).sort((a, b) => a.d - b.d);

	/* ---- words ---- */

	function percent(part, whole) {
		const p = whole ? 100 * part / whole : 0;
		return (p >= 99.95 || p === 0 ? p.toFixed(0) : p >= 10 ? p.toFixed(1) : p.toFixed(2)) + " %";
	}

	function amount(value) {
		if (unit !== "ns")
			return value.toLocaleString("en-US") + " " + (value === 1 ? unit.replace(/s$/, "") : unit);
		for (const [size, name] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]])
			if (value >= size)
				return (value / size).toPrecision(4) + " " + name;
		return value + " ns";
	}

	const cut = (text, length) => (text.length > length ? text.slice(0, Math.max(length - 1, 1)) + "\u2026" : text);

	function signed(points) {
		return (points < 0 ? "\u2212" : "+") + Math.abs(points).toFixed(2);
	}

	function change(name, now, old) {
		return name + " " + percent(now, total) + ", was " + percent(old, before) + ": " +
			signed(100 * (now / total - (before ? old / before : 0))) + " points";
	}

	function describe(f) {
		const lines = [amount(f.w) + ", " + percent(f.w, total) + " of all"];
		if (state.zoomed && state.zoomed.w !== total && holds(state.zoomed, f))
			lines[0] += ", " + percent(f.w, state.zoomed.w) + " of the view";
		if (unit === "ns")
			lines[0] += ", " + f.count.toLocaleString("en-US") + " times";
		if (svg.dataset.before !== undefined)
			lines.push(change("total", f.w, f.old), change("self", f.self, f.oldSelf));
		else
			lines.push("self " + amount(f.self) + ", " + percent(f.self, total));
		if (f.module || f.place)
			lines.push([f.module, f.place].filter(Boolean).join("  "));
		return lines;
	}

	/* ---- layout ---- */

	function label(f, width) {
		const room = Math.floor((width - 6) / GLYPH);
		if (room < MIN_GLYPHS) {
			if (f.text)
				f.text.textContent = "";
			return;
		}
		if (!f.text)
			f.text = make(f.g, "text", { x: 4, y: 13 });
		f.text.textContent = cut(f.name, room);
	}

	function place(f, left, scale) {
		const z = state.zoomed, isAbove = z && f.d < z.d;
		f.shown = !z || holds(isAbove ? f : z, isAbove ? z : f);
		const x = isAbove ? 0 : (f.x - left) * scale;
		const width = isAbove ? state.width - 2 * MARGIN : f.w * scale;
		f.shown = f.shown && width >= THIN;
		f.g.style.display = f.shown ? "" : "none";
		if (!f.shown)
			return;
		const row = state.icicle ? f.d : depth - f.d;
		f.g.setAttribute("transform", "translate(" + (MARGIN + x).toFixed(2) + " " + (TOP + row * ROW) + ")");
		f.g.classList.toggle("up", Boolean(isAbove));
		f.rect.setAttribute("width", Math.max(width - (width > 2 ? 0.5 : 0), THIN).toFixed(2));
		label(f, width);
	}

	function layout() {
		const z = state.zoomed;
		const scale = (state.width - 2 * MARGIN) / (z ? z.w : total);
		for (const f of frames)
			place(f, z ? z.x : 0, scale);
		drawCrumbs();
		showMatches();
	}

	function resize() {
		const space = isAlone ? window.innerWidth : svg.parentNode.clientWidth;
		const height = TOP + (frames.length ? depth + 1 : 2) * ROW + BOTTOM;
		state.width = Math.max(space || 1200, 480);
		svg.setAttribute("width", state.width);
		svg.setAttribute("viewBox", "0 0 " + state.width + " " + height);
		box.setAttribute("x", state.width - MARGIN - SEARCH_WIDTH);
		found.setAttribute("x", state.width - MARGIN - SEARCH_WIDTH - 12);
		layout();
	}

	function zoom(f) {
		state.zoomed = f && f.w === total && f.d === 0 ? null : f;
		hideTip();
		layout();
		for (const listener of listeners)
			listener(state.zoomed);
	}

	/* ---- the way to the frame that is zoomed in on ---- */

	const crumbs = make(svg, "g", { class: "crumbs" });

	function drawCrumb(x, f, isLast) {
		const shown = cut(f.name, 28);
		make(crumbs, "text", { class: "crumb" + (isLast ? " last" : ""), x, y: 66 }, shown)
			.addEventListener("click", () => zoom(f));
		x += shown.length * GLYPH;
		if (!isLast)
			make(crumbs, "text", { class: "s", x: x + 6, y: 66 }, "\u203a");
		return x + 20;
	}

	function drawCrumbs() {
		crumbs.replaceChildren();
		if (!frames.length)
			return;
		if (!state.zoomed) {
			make(crumbs, "text", { class: "s", x: MARGIN, y: 66 },
				"Click a frame to zoom, / to search, Esc to reset, arrows and Enter to walk, I to turn over.");
			return;
		}
		const path = ancestors(state.zoomed).concat(state.zoomed);
		const room = Math.max(Math.floor((state.width - SEARCH_WIDTH - 240) / (22 * GLYPH)), 2);
		let x = MARGIN;
		path.forEach((f, i) => {
			const isSkipped = path.length > room && i > 0 && i < path.length - room + 1;
			if (isSkipped && i === 1) {
				make(crumbs, "text", { class: "s", x, y: 66 }, "\u2026 \u203a");
				x += 34;
			}
			if (!isSkipped)
				x = drawCrumb(x, f, f === state.zoomed);
		});
	}

	/* ---- search ---- */

	const found = make(svg, "text", { class: "s found", y: 27, "text-anchor": "end" });
	const box = make(svg, "foreignObject", { y: 10, width: SEARCH_WIDTH, height: 28 });
	const input = box.appendChild(document.createElementNS(HTML, "input"));
	input.setAttribute("type", "text");
	input.setAttribute("placeholder", "search: a regular expression");
	input.setAttribute("aria-label", "search");
	input.setAttribute("spellcheck", "false");

	/* Frames inside others that match count once. */
	function matchedValue(within) {
		const hits = frames.filter((f) => f.isHit && (!within || f.d < within.d ? holds(f, within || f) : holds(within, f)))
			.sort((a, b) => a.x - b.x || b.w - a.w);
		let sum = 0, end = -1;
		for (const f of hits) {
			if (f.x < end)
				continue;
			sum += within && f.d < within.d ? within.w : f.w;
			end = f.x + f.w;
		}
		return sum;
	}

	function showMatches() {
		svg.classList.toggle("searching", Boolean(state.pattern));
		found.classList.remove("wrong");
		if (!state.pattern) {
			found.textContent = "";
			return;
		}
		found.textContent = percent(matchedValue(null), total) + " matched";
		if (state.zoomed)
			found.textContent += ", " + percent(matchedValue(state.zoomed), state.zoomed.w) + " of the view";
	}

	function search(text) {
		try {
			/* Small letters alone match large ones too. */
			state.pattern = text ? new RegExp(text, /[A-Z]/.test(text.replace(/\\./g, "")) ? "" : "i") : null;
		} catch (error) {
			found.textContent = "not a regular expression";
			found.classList.add("wrong");
			return;
		}
		for (const f of frames) {
			f.isHit = Boolean(state.pattern) && f.d > 0 && (state.pattern.test(f.name) || state.pattern.test(f.module));
			f.g.classList.toggle("hit", f.isHit);
		}
		showMatches();
	}

	input.addEventListener("input", () => search(input.value));

	/* ---- what is under the pointer ---- */

	const tip = make(svg, "g", { class: "tip", visibility: "hidden" });

	function hideTip() {
		tip.setAttribute("visibility", "hidden");
		for (const g of svg.querySelectorAll(".f.hot"))
			g.classList.remove("hot");
	}

	function wrap(name, length) {
		const lines = [];
		for (let i = 0; i < name.length && lines.length < 4; i += length)
			lines.push(name.slice(i, i + length));
		if (name.length > 4 * length)
			lines[3] = cut(lines[3] + "\u2026", length);
		return lines;
	}

	function showTip(f, x, y) {
		const names = wrap(f.name, 96), lines = names.concat(describe(f));
		hideTip();
		f.g.classList.add("hot");
		tip.replaceChildren();
		const width = Math.max(...lines.map((line) => line.length)) * GLYPH + 20, height = lines.length * 17 + 12;
		const bottom = svg.viewBox.baseVal.height;
		make(tip, "rect", { width, height, rx: 6 });
		lines.forEach((line, i) => make(tip, "text", { class: i < names.length ? "n" : "s", x: 10, y: 20 + 17 * i }, line));
		const left = Math.min(Math.max(x + 14, MARGIN), Math.max(state.width - width - MARGIN, MARGIN));
		const above = y + 18 + height > bottom ? y - height - 10 : y + 18;
		tip.setAttribute("transform", "translate(" + left + " " + Math.max(above, 4) + ")");
		tip.setAttribute("visibility", "visible");
	}

	const frameAt = (event) => {
		const g = event.target.closest ? event.target.closest("g.f") : null;
		return g ? frameOf.get(g) : undefined;
	};

	function pointOf(event) {
		const area = svg.getBoundingClientRect(), scale = area.width ? state.width / area.width : 1;
		return [(event.clientX - area.left) * scale, (event.clientY - area.top) * scale];
	}

	svg.addEventListener("mousemove", (event) => {
		const f = frameAt(event);
		state.isHovered = true;
		if (f)
			showTip(f, ...pointOf(event));
		else
			hideTip();
	});
	svg.addEventListener("mouseleave", () => { state.isHovered = false; hideTip(); });
	svg.addEventListener("click", (event) => {
		const f = frameAt(event);
		if (f)
			zoom(f);
	});

	/* ---- keys ---- */

	function choose(f) {
		if (!f)
			return;
		if (state.at)
			state.at.g.classList.remove("at");
		state.at = f;
		f.g.classList.add("at");
		const row = state.icicle ? f.d : depth - f.d, left = state.zoomed ? state.zoomed.x : 0;
		const scale = (state.width - 2 * MARGIN) / (state.zoomed ? state.zoomed.w : total);
		showTip(f, MARGIN + Math.max(f.x - left, 0) * scale, TOP + row * ROW);
	}

	/* To the callee with the most, to the caller, to neighbours of the same depth. */
	function walk(key) {
		const at = state.at, level = (d) => frames.filter((f) => f.shown && f.d === d);
		if (!at || !at.shown) {
			choose(state.zoomed || frames[0]);
			return;
		}
		const inward = level(at.d + 1).filter((f) => holds(at, f)).sort((a, b) => b.w - a.w)[0];
		const outward = level(at.d - 1).find((f) => holds(f, at));
		const row = level(at.d).sort((a, b) => a.x - b.x), i = row.indexOf(at);
		const isUp = (key === "ArrowUp") !== state.icicle;
		choose(key === "ArrowLeft" ? row[i - 1] : key === "ArrowRight" ? row[i + 1] : isUp ? inward : outward);
	}

	function reset() {
		input.value = "";
		input.blur();
		if (state.at)
			state.at.g.classList.remove("at");
		state.at = null;
		search("");
		zoom(null);
	}

	function flip() {
		state.icicle = !state.icicle;
		svg.dataset.icicle = state.icicle ? "1" : "0";
		hideTip();
		layout();
	}

	function pressed(event) {
		const isTyping = document.activeElement === input, key = event.key;
		if (key === "Escape")
			reset();
		else if (isTyping)
			return;
		else if (key === "/")
			input.focus();
		else if (key.startsWith("Arrow"))
			walk(key);
		else if (key === "Enter" && state.at)
			zoom(state.at);
		else if (key === "Backspace" && state.zoomed)
			zoom(ancestors(state.zoomed).pop());
		else if (key === "i" || key === "I")
			flip();
		else
			return;
		event.preventDefault();
	}

	document.addEventListener("keydown", (event) => {
		const other = document.activeElement, isOurs = svg.contains(other);
		if (event.ctrlKey || event.metaKey || event.altKey || !frames.length)
			return;
		if (!isOurs && other && /^(input|textarea|select)$/i.test(other.tagName) && event.key !== "Escape")
			return;
		/* Other pages may hold several graphs, and keys of their own. */
		if (isAlone || isOurs || state.isHovered || svg.dataset.keys === "page")
			pressed(event);
	});

	/* For the page around it. */
	svg.flame = { frames, zoom, reset, flip, search: (text) => { input.value = text; search(text); }, input,
		onZoom: (listener) => listeners.push(listener), describe, percent, amount };
	if (!frames.length)
		box.setAttribute("display", "none");
	window.addEventListener("resize", resize);
	resize();
	/* Deep stacks are taller than a window: begin where they all begin. */
	if (isAlone && !state.icicle)
		window.scrollTo(0, document.documentElement.scrollHeight);
})();
