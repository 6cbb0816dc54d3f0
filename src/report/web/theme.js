/*
 * web/theme — dark and light, and the colours of what is drawn. Categories are those of Okabe and Ito, shades go along
 * viridis: both can be told apart by colour-blind readers.
 */
const Theme = (() => {
	"use strict";
	/* Of page.css, by name; here for pages without it. */
	const FALLBACK = { bg: "#ffffff", ink: "#1b1d21", soft: "#595f69", line: "#d5d9e0", panel: "#f5f6f8", run: "#0072b2", wait: "#d55e00",
		bad: "#b3261e", none: "#eceef2", grey: "#70767f" };
	/* By enum ledger_kind: unknown, waking, queue, throttled, stolen, interrupt, softirq, task, idle. */
	const CAUSES = ["#9aa0aa", "#8fb3d9", "#5b8c8c", "#b3261e", "#7a4d9e", "#d0a000", "#a87900", "#d55e00", "#009e73"];
	const HUES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b5a900", "#8a6fb8"];
	const VIRIDIS = ["#440154", "#482878", "#3e4a89", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
	const listeners = [];
	const asked = typeof matchMedia === "function" ? matchMedia("(prefers-color-scheme: dark)") : { matches: false, addEventListener() {} };

	const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
	const mix = (a, b, part) => channels(a).map((c, i) => Math.round(c + (channels(b)[i] - c) * part));
	const css = ([r, g, b]) => `rgb(${r} ${g} ${b})`;
	/* As a pixel of an ImageData: bytes red, green, blue, opaque in memory. */
	const pixel = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

	const isDark = () => {
		const { theme } = document.documentElement.dataset;
		return theme ? theme === "dark" : asked.matches;
	};
	let known = null; /* until the theme changes */

	function colours() {
		if (known)
			return known;
		const style = getComputedStyle(document.documentElement);
		known = Object.fromEntries(Object.entries(FALLBACK).map(([name, other]) => {
			const value = style.getPropertyValue("--" + name).trim();
			return [name, /^#[0-9a-f]{6}$/i.test(value) ? value : other];
		}));
		known.queue = ["#f0b27a", known.wait, known.bad]; /* 1, 2 or 3, 4 tasks or more */
		known.edge = known.ink;
		known.veil = `rgb(${channels(known.bg).join(" ")} / 72%)`;
		return known;
	}

	function hash(text) {
		let h = 2166136261;
		for (let i = 0; i < text.length; i++)
			h = Math.imul(h ^ text.charCodeAt(i), 16777619);
		return h >>> 0;
	}

	/* Tasks of one name have one colour: a hue, and one of three shades of it. */
	function ofName(name) {
		const h = hash(name), hue = HUES[h % HUES.length];
		return mix(hue, isDark() ? "#ffffff" : "#000000", [0, 0.2, 0.35][(h >>> 8) % 3]);
	}

	/* Functions: warm ones of programs, cool ones of the kernel, each in a shade of its own. */
	function ofFunction(name, isKernel) {
		const part = (hash(name) % 64) / 64;
		return isKernel ? mix("#5f9fd6", "#8cc4e8", part) : mix("#e07b39", "#f2c14e", part);
	}

	/* White or black, whichever has more contrast to it: relative luminance as WCAG has it. */
	function inkOn(colour) {
		const [r, g, b] = colour.map((c) => (c <= 10 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4));
		return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
	}

	/* 0 to 1 along viridis, in 256 steps: what is much stands out, dark on a light page, light on a dark one. Its other end is left out. */
	const SHADES = Array.from({ length: 256 }, (_, i) => {
		const at = i / 255 * (VIRIDIS.length - 1), low = Math.min(Math.floor(at), VIRIDIS.length - 2);
		return mix(VIRIDIS[low], VIRIDIS[low + 1], at - low);
	});
	const shade = (part) => {
		const within = Math.min(Math.max(part, 0), 1);
		return SHADES[Math.round((isDark() ? 0.25 + 0.75 * within : 0.9 - 0.9 * within) * 255)];
	};

	const cause = (i) => CAUSES[i] || CAUSES[0];

	function changed() {
		known = null;
		for (const listener of listeners)
			listener();
	}

	function toggle() {
		document.documentElement.dataset.theme = isDark() ? "light" : "dark";
		changed();
	}

	asked.addEventListener("change", changed);
	return { colours, isDark, ofName, ofFunction, inkOn, shade, cause, css, pixel, channels, toggle, onchange: (f) => listeners.push(f) };
})();
