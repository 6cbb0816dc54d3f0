/*
 * web/main — joins the parts of the page. The text is there before any of this runs; figures come one after the other, those
 * in sight first, each when its tables are unpacked.
 *
 * <html data-drawn> is the fragment that all parts show; it is absent while some are behind. <html data-broken> is a sentence
 * that says what could not be shown.
 */
(() => {
	"use strict";
	const { el, button } = Dom;
	const PARTS = [["heat", Heat], ["histogram", Histogram], ["lanes", Lanes], ["thread-lanes", Threads], ["blame", Blame],
		["wakers", Wakers], ["flame-cpu", Flame], ["flame-off-cpu", Flame], ["tasks", Tasks], ["devices", Devices]];
	const root = document.documentElement, IDLE_MS = 150, FRAME_MS = 400, STILL_MS = 250;

	const element = (id) => document.getElementById(id);
	const hasTable = (name) => Boolean(element("table-" + name));
	const readTable = (name) => (hasTable(name) ? JSON.parse(element("table-" + name).textContent) : null);

	function broken(error, host) {
		const sentence = error && error.message ? error.message : String(error);
		root.dataset.broken = sentence;
		(host || document.body).prepend(el("p", { class: "broken", role: "alert" }, sentence));
	}

	/* The address of the window, as web/selection needs it. */
	const place = {
		fragment: () => location.hash,
		onchange: (listener) => addEventListener("hashchange", listener),
		go(fragment, isPassing) {
			history[isPassing ? "replaceState" : "pushState"](null, "", fragment ? "#" + fragment : location.pathname + location.search);
		},
	};

	const idle = () => new Promise((go) => (window.requestIdleCallback ? requestIdleCallback(go, { timeout: IDLE_MS }) : setTimeout(go, 20)));
	/* Until what was asked for has been painted; windows that are not shown paint nothing. */
	const painted = () => new Promise((go) => {
		setTimeout(go, FRAME_MS);
		requestAnimationFrame(() => requestAnimationFrame(go));
	});

	/* A figure or table: made when its turn comes, and updated when the selection has changed since. */
	class Part {
		constructor(host, module, page) {
			Object.assign(this, { host, module, page, made: null, isBehind: true, isInSight: false });
		}

		async follow() {
			this.isBehind = false;
			try {
				if (!this.made)
					this.made = this.module.start(this.host, this.page, await this.page.model.need(...this.module.needs));
				this.made.update();
			} catch (error) {
				this.made = this.made || { update() {} };
				broken(error, this.host);
			}
		}
	}

	class Parts {
		constructor(parts, selection) {
			this.parts = parts;
			this.selection = selection;
			this.isRunning = false;
			this.watcher = new IntersectionObserver((entries) => {
				for (const entry of entries)
					parts.find((part) => part.host === entry.target).isInSight = entry.isIntersecting;
			}, { rootMargin: "300px" });
			for (const part of parts)
				this.watcher.observe(part.host);
		}

		changed() {
			delete root.dataset.drawn;
			for (const part of this.parts)
				part.isBehind = true;
			this.run();
		}

		async run() {
			if (this.isRunning)
				return;
			this.isRunning = true;
			for (;;) {
				const next = this.next();
				if (!next) {
					await painted();
					if (this.next())
						continue;
					break;
				}
				if (!next.isInSight)
					await idle();
				await next.follow();
			}
			this.isRunning = false;
			if (!this.parts.some((part) => part.isBehind))
				root.dataset.drawn = this.selection.fragment();
		}

		/* Those in sight first. */
		next() {
			const behind = this.parts.filter((part) => part.isBehind && !(Figure.drag.isUnderWay && part.host.tagName === "SECTION"));
			return behind.find((part) => part.isInSight) || behind[0];
		}
	}

	function addControls(...controls) {
		const header = document.querySelector("header") || document.body;
		const made = el("span", { class: "controls" }, button("Dark / light", () => Theme.toggle(), { id: "theme" }), ...controls);
		header.insertBefore(made, header.querySelector(".about, nav"));
	}

	/* An address that was typed, a link, or Back: the lanes go where it leads. */
	function follow({ selection, view }) {
		const { from, to } = selection.now;
		view.isLed = true; /* by the address, which stays as it is */
		if (selection.zoom)
			view.set(...selection.zoom);
		else if (from !== null)
			view.reveal(from, to);
		else
			view.reset();
		view.isLed = false;
	}

	/* What was zoomed or panned goes into the address when it stands still: browsers refuse too many changes. */
	function keepZoom({ selection, view }) {
		let timer = 0;
		view.onchange(() => {
			clearTimeout(timer);
			if (view.isLed)
				return;
			timer = setTimeout(() => {
				view.isLed = true;
				view.set(Math.round(view.from), Math.round(view.to)); /* the address has whole ns, and leads to what is shown */
				view.isLed = false;
				selection.show(view.isWhole ? null : [view.from, view.to]);
				if (root.dataset.drawn !== undefined)
					root.dataset.drawn = selection.fragment();
			}, STILL_MS);
		});
	}

	function start() {
		const doc = JSON.parse(element("report-json").textContent);
		if (!doc.buckets) {
			addControls(); /* a recording without events has neither time nor figures */
			root.dataset.drawn = "";
			return;
		}
		const model = new Model.Report(doc, readTable, hasTable), selection = new Selection.State(model, place);
		const page = { model, selection, view: new View.Window(model) };
		const parts = PARTS.filter(([id, module]) => element(id) && module.must.every(hasTable))
			.map(([id, module]) => new Part(element(id), module, page));
		const all = new Parts(parts, selection);
		addControls(button("Keys ( ? )", () => Help.toggle(), { id: "keys" }));
		if (element("selection"))
			Bar.start(element("selection"), page);
		Keys.start(page);
		Waits.start(page); /* before evidence, which scrolls to what is shown then */
		Evidence.start(page);
		if (typeof Compare !== "undefined")
			Compare.start(page);
		selection.onchange(() => all.changed());
		addEventListener("hashchange", () => {
			follow(page);
			if (!all.isRunning)
				root.dataset.drawn = selection.fragment();
		});
		Figure.drag.onend = () => all.run();
		follow(page);
		keepZoom(page);
		all.run();
	}

	addEventListener("error", (event) => broken(event.error || event.message));
	addEventListener("unhandledrejection", (event) => broken(event.reason));
	requestAnimationFrame(() => setTimeout(() => {
		try {
			start();
		} catch (error) {
			broken(error);
		}
	}, 0));
})();
