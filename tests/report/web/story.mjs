/*
 * A small machine whose scheduling is made up, as rows (slices, waits, parts of waits, samples), and the same packed as the
 * page has it (docs/report-schema.md). Tests compute what they expect from the rows alone.
 */
import zlib from "node:zlib";

/* A generator with a seed: a failure can be repeated. */
export function random(seed) {
	let state = seed >>> 0;
	return (below) => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return Math.floor((state / 2 ** 32) * below);
	};
}

function varint(n, out) {
	while (n >= 128) {
		out.push((n % 128) + 128);
		n = Math.floor(n / 128);
	}
	out.push(n);
}

export function pack(table, columns, rows) {
	const bytes = [];
	columns.forEach((name, c) => {
		let last = 0;
		for (const row of rows) {
			const step = row[c] - last;
			varint(c === 0 ? (step < 0 ? -2 * step - 1 : 2 * step) : row[c], bytes);
			last = row[c];
		}
	});
	return { table, rows: rows.length, bytes: bytes.length,
		columns: columns.map((name, c) => ({ name, encoding: c === 0 ? "delta" : "plain" })),
		data: zlib.deflateSync(Uint8Array.from(bytes)).toString("base64") };
}

const SLOTS = [[0, 999], [1000, 1999], [2000, 9999], [10000, 99999], [100000, 999999], [1000000, 9999999], [10000000, 99999999]];
const slotOf = (ns) => SLOTS.findIndex(([, last]) => ns <= last);

/* Adds up rows of equal keys; keys come first. */
function fold(rows, nrKeys) {
	const sums = new Map();
	for (const row of rows) {
		const key = row.slice(0, nrKeys).join(" ");
		const sum = sums.get(key);
		if (sum)
			for (let i = nrKeys; i < row.length; i++)
				sum[i] += row[i];
		else
			sums.set(key, [...row]);
	}
	return [...sums.values()].sort(byColumns);
}

function byColumns(a, b) {
	for (let i = 0; i < a.length; i++)
		if (a[i] !== b[i])
			return a[i] - b[i];
	return 0;
}

/* [bucket, ns in it] of a span. */
function cuts(start, end, width) {
	const out = [];
	for (let b = Math.floor(start / width); b * width < end; b++)
		out.push([b, Math.min(end, (b + 1) * width) - Math.max(start, b * width)]);
	return out;
}

const CGROUPS = ["/", "/user", "/user/a", "/system"];

function makeWho(nr, next) {
	const who = [{ tid: 0, tgid: 0, comm: "", process: "", cgroup: "", class: "", is_rest: false }];
	for (let i = 1; i <= nr; i++)
		who.push({ tid: 100 + i, tgid: 100 + i - (i % 3), comm: `task${i % 4}`, process: `task${(i - (i % 3)) % 4}`,
			cgroup: CGROUPS[next(4)], class: "fair", is_rest: false, task: i });
	who.push({ tid: 0, tgid: 0, comm: "short", process: "short", cgroup: "/system", class: "fair", is_rest: true, task: null });
	return who;
}

/* On each CPU slices one after the other, each after a wait that may have begun long before. */
function makeRows({ next, nrCpus, who, span }) {
	const slices = [], waits = [];
	for (let cpu = 0; cpu < nrCpus; cpu++)
		for (let at = next(2000000); at < span;) {
			const ns = 1 + (next(20) === 0 ? next(60000000) : next(900000)), end = Math.min(at + ns, span);
			const w = 1 + next(who.length - 1), length = next(10) === 0 ? next(50000000) : next(300000);
			slices.push({ cpu, start: at, ns: end - at, who: w, end: end === span ? 3 : next(2) });
			if (length <= at)
				waits.push({ start: at - length, ns: length, who: w, cpu, from: next(nrCpus + 1), waker: next(5), kind: next(4) === 0 ? 1 : 0,
					parts: makeParts(next, length, cpu, who.length) });
			at = end + next(1500000);
		}
	waits.sort((a, b) => a.start + a.ns - b.start - b.ns); /* as they end */
	return { slices, waits };
}

function makeParts(next, length, cpu, nrWho) {
	const parts = [];
	for (let left = length; left > 0;) {
		const ns = parts.length === 3 ? left : 1 + next(left), cause = next(9);
		parts.push({ cause, culprit: cause === 7 ? 1 + next(nrWho - 1) : 0, cpu, ns });
		left -= ns;
	}
	return parts;
}

function runTables({ slices }, width) {
	const cells = [], open = [];
	for (const s of slices) {
		for (const [b, ns] of cuts(s.start, s.start + s.ns, width))
			cells.push([b, s.cpu, s.who, ns, b === Math.floor(s.start / width) ? 1 : 0]);
		for (let e = Math.floor(s.start / width) + 1; e * width < s.start + s.ns; e++)
			open.push([e, s.cpu, s.who, 1]);
	}
	return { run: pack("run", ["bucket", "cpu", "who", "ns", "begun"], fold(cells, 3)),
		run_open: pack("run_open", ["edge", "cpu", "who", "count"], fold(open, 3)) };
}

/* Rows of one kind of cell: those where waits begin, and those open at an edge. `keys` are between the bucket and the sums. */
function waitCells(waits, width, keys) {
	const cells = [], open = [];
	for (const w of waits) {
		const first = Math.floor(w.start / width);
		cells.push([first, ...keys(w), 1, w.ns]);
		for (let e = first + 1; e * width < w.start + w.ns; e++)
			open.push([e, ...keys(w), 1, w.ns]);
	}
	const nrKeys = 1 + (waits.length ? keys(waits[0]).length : 0);
	return [fold(cells, nrKeys), fold(open, nrKeys)];
}

const BANDS = [[0, 1], [2, 2], [3, 6]];
const bandOf = (ns) => BANDS.findIndex(([, last]) => slotOf(ns) <= last);

function waitTables({ waits }, width) {
	const blame = [];
	for (const w of waits) {
		let at = w.start;
		for (const p of w.parts) {
			for (const [b, ns] of cuts(at, at + p.ns, width))
				blame.push([b, w.who, bandOf(w.ns), p.cause, p.culprit, ns]);
			at += p.ns;
		}
	}
	const [wait, waitOpen] = waitCells(waits, width, (w) => [w.who, w.kind, slotOf(w.ns)]);
	const [wake, wakeOpen] = waitCells(waits, width, (w) => [w.who, w.waker, w.kind, bandOf(w.ns)]);
	return { wait: pack("wait", ["bucket", "who", "kind", "slot", "count", "sum_ns"], wait),
		wait_open: pack("wait_open", ["edge", "who", "kind", "slot", "count", "sum_ns"], waitOpen),
		wake: pack("wake", ["bucket", "who", "waker", "kind", "band", "count", "sum_ns"], wake),
		wake_open: pack("wake_open", ["edge", "who", "waker", "kind", "band", "count", "sum_ns"], wakeOpen),
		blame: pack("blame", ["bucket", "who", "band", "cause", "culprit", "ns"], fold(blame, 5)) };
}

/* Share of CPU, and a depth that only has to be something, at the finer width. */
function busyTable({ slices }, fine, nrWho) {
	const most = new Map();
	for (const s of slices)
		for (const [b, ns] of cuts(s.start, s.start + s.ns, fine.width_ns)) {
			const key = s.cpu * fine.nr + b, cell = most.get(key) || { ns: 0, who: s.who, best: 0 };
			cell.ns += ns;
			if (ns > cell.best)
				Object.assign(cell, { best: ns, who: s.who });
			most.set(key, cell);
		}
	const rows = [...most].map(([key, c]) => [Math.floor(key / fine.nr), key % fine.nr, Math.round(255 * c.ns / fine.width_ns), 0,
		(key * 7) % 40, (key * 7) % 4, c.who % nrWho]);
	return pack("busy", ["cpu", "bucket", "busy", "unknown", "depth_mean", "depth_max", "who"], rows.sort(byColumns));
}

function detailTables({ slices, waits }) {
	const parts = waits.flatMap((w, i) => w.parts.map((p) => [i, p.cause, p.culprit, p.cpu, p.ns]));
	return { slice: pack("slice", ["cpu", "start", "ns", "who", "end"], slices.map((s) => [s.cpu, s.start, s.ns, s.who, s.end])),
		waited: pack("waited", ["start", "ns", "who", "cpu", "from_cpu", "waker", "kind"],
			waits.map((w) => [w.start, w.ns, w.who, w.cpu, w.from, w.waker, w.kind])),
		part: pack("part", ["wait", "cause", "culprit", "cpu", "ns"], parts) };
}

const FUNCTIONS = ["start", "main", "read", "vfs_read", "compute", "sort", "schedule", "do_sleep"];

function stackTables({ next, who, nr }) {
	const frames = [[0, 0], [1, 1], [2, 2], [3, 3], [2, 4], [5, 5], [4, 6], [7, 7]], samples = [];
	for (let i = 0; i < 400; i++)
		samples.push([next(nr), next(2), 1 + next(who.length - 1), next(frames.length), 1 + next(5), next(1000000)]);
	return { frame: pack("frame", ["parent", "name"], frames),
		sample: pack("sample", ["bucket", "kind", "who", "stack", "count", "ns"], fold(samples, 4)) };
}

function deviceTables({ next, nr, nrCpus }) {
	const irq = [], idle = [];
	for (let b = 0; b < nr; b++)
		for (let cpu = 0; cpu < nrCpus; cpu++) {
			irq.push([b, cpu, next(3), 1 + next(9), next(50000)]);
			idle.push([b, cpu, next(2), next(1000000)]);
		}
	return { irq: pack("irq", ["bucket", "cpu", "what", "count", "ns"], irq), idle: pack("idle", ["bucket", "cpu", "state", "ns"], idle) };
}

/* {doc, tables, rows}: the document, the packed tables by name, and what they were made of. */
export function story({ seed = 1, nrCpus = 4, nrThreads = 12, nr = 50, width = 20000000, hasDetail = true, fineNr = 500 } = {}) {
	const next = random(seed), span = nr * width - width / 4, who = makeWho(nrThreads, next);
	const rows = makeRows({ next, nrCpus, who, span });
	const fine = { first_ns: 0, width_ns: Math.round(nr * width / fineNr), nr: fineNr };
	const doc = {
		schema: "schedscope-report", version: 1, title: "a made-up machine", command: "schedscope report a.pftrace", generator: "schedscope",
		file: "a.pftrace", filters: { from_ns: null, to_ns: null, comm: null, cgroup: null, pid: null, tid: null, cpu: null },
		time: { start_ns: 1000, span_ns: span, unix_ns: null, clock: "boottime" },
		buckets: { first_ns: 0, width_ns: width, nr }, fine,
		cpus: Array.from({ length: nrCpus }, (_, cpu) => ({ cpu, core: cpu >> 1, llc: cpu >> 3, node: cpu >> 5 })),
		who, wakers: [{ who: 0 }, { who: 1 }, { who: 2 }, { who: 3 }, { interrupt: "timer softirq" }],
		causes: ["unknown", "waking", "queue", "throttled", "stolen", "interrupt", "softirq", "task", "idle"],
		slots: SLOTS, bands: BANDS, detail: hasDetail ? { complete: true } : { complete: false, spans: [] },
		functions: FUNCTIONS.map((name, i) => ({ name, module: i < 3 ? "app" : "", kernel: i === 3 || i > 5 })),
		irqs: [{ kind: "irq", name: "eth0" }, { kind: "softirq", name: "timer" }, { kind: "ipi", name: "reschedule" }],
		idle_states: [{ name: "C1" }, { name: "C6" }],
		verdict: [], truth: {}, waits: [], analyses: {},
	};
	const tables = { ...runTables(rows, width), ...waitTables(rows, width), busy: busyTable(rows, fine, who.length),
		...(hasDetail ? detailTables(rows) : {}), ...stackTables({ next, who, nr }), ...deviceTables({ next, nr, nrCpus }) };
	return { doc, tables, rows };
}
