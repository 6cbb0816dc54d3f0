/*
 * web/sums: the figures of random selections, out of packed tables, against sums over the rows that the tables were made
 * of. The rules of a span are those of `analyze --from --to`: rows that overlap it count whole, times are cut to it.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./load.mjs";
import { random, story } from "./story.mjs";

const { Model, Selection, Sums } = load(["Model", "Selection", "Sums"]);
const NAMES = ["run", "run_open", "wait", "wait_open", "wake", "wake_open", "blame", "waited", "sample", "frame", "irq", "idle"];
const WAYS = ["thread", "process", "comm", "cgroup"];

const overlaps = (s, from, to) => s.start < to && (s.start + s.ns > from || (s.ns === 0 && s.start === from));
const inside = (s, from, to) => Math.max(Math.min(s.start + s.ns, to) - Math.max(s.start, from), 0);
const add = (map, key, n) => map.set(key, (map.get(key) || 0) + n);

/* A selection at random: an own draw for each part of it. */
function draw(next, model) {
	const s = { ...Selection.NONE };
	if (next(4)) {
		const a = next(model.nr), b = a + 1 + next(model.nr - a);
		[s.from, s.to] = [model.edge(a), model.edge(b)];
	}
	if (next(2)) {
		const low = next(model.slots.length);
		s.slots = [low, low + next(model.slots.length - low)];
	}
	const key = [null, null, "tid", "tgid", "comm", "cgroup"][next(6)];
	if (key)
		s[key] = model.who[1 + next(model.who.length - 1)][key === "tgid" ? "tgid" : key];
	return s;
}

/* What a selection takes of rows, without looking at pick(). */
function taker(s, doc) {
	const from = s.from === null ? 0 : s.from, to = s.to === null ? Infinity : s.to;
	const low = s.slots ? doc.slots[s.slots[0]][0] : 0, high = s.slots ? doc.slots[s.slots[1]][1] : Infinity;
	const isThread = (i) => {
		const w = doc.who[i];
		return (s.tid === null || w.tid === s.tid) && (s.tgid === null || w.tgid === s.tgid) && (s.comm === null || w.comm === s.comm) &&
			(s.cgroup === null || w.cgroup === s.cgroup || (s.cgroup !== "/" && w.cgroup.startsWith(s.cgroup + "/")));
	};
	/* Wakers and culprits are known by bands of slots: those that the range touches. */
	const slotOf = (ns) => doc.slots.findIndex(([, last]) => ns <= last);
	const isBand = (ns) => !s.slots || doc.bands.some(([a, b]) => slotOf(ns) >= a && slotOf(ns) <= b && b >= s.slots[0] && a <= s.slots[1]);
	return { from, to, isThread, isBand, isLength: (ns) => ns >= low && ns <= high };
}

const machines = [1, 2, 3].map((seed) => story({ seed })).map(({ doc, tables, rows }) =>
	({ doc, rows, model: new Model.Report(doc, (name) => tables[name] || null) }));

async function eachSelection(rounds, f) {
	const next = random(42);
	for (const [seed, { doc, rows, model }] of machines.entries()) {
		const t = await model.need(...NAMES);
		for (let i = 0; i < rounds; i++) {
			const s = draw(next, model);
			await f({ model, doc, rows, t, s, pick: Selection.pick(s, model), take: taker(s, doc), by: model.by(WAYS[next(4)]),
				about: `seed ${seed}: ${Selection.format(s, model)}` });
		}
	}
}

/* A typed array by unit as a map without zeros. */
const asMap = (array) => new Map([...array.entries()].filter(([, n]) => n));
const same = (got, expected, about) => assert.deepEqual([...got].sort((a, b) => a[0] - b[0]),
	[...expected].filter(([, n]) => n).sort((a, b) => a[0] - b[0]), about);

test("time on CPUs and slices are those of the rows", () => eachSelection(60, ({ t, pick, by, rows, take, about }) => {
	const ns = new Map(), switches = new Map();
	for (const s of rows.slices)
		if (overlaps(s, take.from, take.to) && take.isThread(s.who)) {
			add(ns, by.of[s.who], inside(s, take.from, take.to));
			add(switches, by.of[s.who], 1);
		}
	const got = Sums.run(t, pick, by);
	same(asMap(got.ns), ns, about);
	same(asMap(got.switches), switches, about);
}));

test("count and sum of waits are those of the rows", () => eachSelection(60, ({ t, pick, by, rows, take, model, about }) => {
	for (const kind of [Sums.WOKEN, Sums.PREEMPTED]) {
		const count = new Map(), sum = new Map();
		const all = rows.waits.filter((w) => w.kind === kind && overlaps(w, take.from, take.to) && take.isThread(w.who) && take.isLength(w.ns));
		for (const w of all) {
			add(count, by.of[w.who], 1);
			add(sum, by.of[w.who], w.ns);
		}
		const got = Sums.waits(t, pick, by, kind, model.slots.length);
		same(asMap(got.count), count, about);
		same(asMap(got.sum), sum, about);
		const whole = Sums.histogram(t, pick, kind, model.slots.length);
		assert.deepEqual([whole.count, whole.sum], [all.length, all.reduce((n, w) => n + w.ns, 0)], about);
		assert.deepEqual([...whole.slots], model.slots.map(([a, b]) => all.filter((w) => w.ns >= a && w.ns <= b).length), about);
	}
}));

test("percentiles out of slots are within the slot, those of full detail exact", () => eachSelection(40, ({ t, pick, by, rows, take, model, about }) => {
	const got = Sums.waits(t, pick, by, Sums.WOKEN, model.slots.length);
	const lengths = Sums.lengths(t.waited, pick, by, Sums.WOKEN, model.slots);
	by.units.forEach((unit, u) => {
		const own = rows.waits.filter((w) => w.kind === 0 && by.of[w.who] === u && overlaps(w, take.from, take.to) && take.isThread(w.who) &&
			take.isLength(w.ns)).map((w) => w.ns).sort((a, b) => a - b);
		for (const p of [0.5, 0.95, 0.99, 1]) {
			const truth = own.length ? own[Math.max(Math.ceil(own.length * p), 1) - 1] : null;
			assert.equal(Sums.percentileOf(lengths[u], p), truth, about);
			const near = Sums.percentile(got.slots, u * model.slots.length, model.slots, got.count[u], p);
			const slot = model.slots.find(([a, b]) => truth !== null && truth >= a && truth <= b);
			assert.ok(truth === null ? near === null : near >= slot[0] && near <= slot[1], `${about}: p${p} ${near}, is ${truth}`);
		}
		const top = Sums.highest(got.slots, u * model.slots.length, model.slots.length);
		assert.equal(top < 0, own.length === 0);
		assert.ok(top < 0 || (own.at(-1) >= model.slots[top][0] && own.at(-1) <= model.slots[top][1]), about);
	});
}));

test("the heat map has each wait of a woken task once, where it begins", () => eachSelection(10, ({ t, pick, rows, take, model, about }) => {
	const got = Sums.heat(t, pick, model.nr, model.slots.length), expected = new Map();
	for (const w of rows.waits)
		if (w.kind === 0 && take.isThread(w.who))
			add(expected, Math.floor(w.start / model.width) * model.slots.length + model.slots.findIndex(([, b]) => w.ns <= b), 1);
	same(asMap(got), expected, about);
}));

test("time lost, by cause and by culprit, is that of the parts", () => eachSelection(60, ({ t, pick, by, rows, take, doc, about }) => {
	const lost = new Map(), causes = new Map(), caused = new Map(), pairs = new Map();
	for (const w of rows.waits) {
		let at = w.start;
		for (const p of w.parts) {
			const ns = inside({ start: at, ns: p.ns }, take.from, take.to);
			at += p.ns;
			if (!ns || !take.isThread(w.who) || !take.isBand(w.ns))
				continue;
			add(lost, by.of[w.who], ns);
			add(causes, by.of[w.who] * doc.causes.length + p.cause, ns);
			if (p.culprit) {
				add(caused, by.of[p.culprit], ns);
				add(pairs, by.of[w.who] * by.units.length + by.of[p.culprit], ns);
			}
		}
	}
	const got = Sums.blame(t.blame, pick, by, doc.causes.length);
	same(asMap(got.lost), lost, about);
	same(asMap(got.causes), causes, about);
	same(asMap(got.caused), caused, about);
	same(got.pairs, pairs, about);
	assert.equal(got.total, [...lost.values()].reduce((a, b) => a + b, 0), about);
	for (const victim of lost.keys())
		for (const [culprit, ns] of Sums.culprits(got, victim, by.units.length))
			assert.equal(ns, pairs.get(victim * by.units.length + culprit), about);
}));

test("wakers have the waits that they began", () => eachSelection(30, ({ t, pick, by, rows, take, about }) => {
	const count = new Map(), ns = new Map();
	for (const w of rows.waits)
		if (w.kind === 0 && overlaps(w, take.from, take.to) && take.isThread(w.who) && take.isBand(w.ns)) {
			add(count, w.waker * by.units.length + by.of[w.who], 1);
			add(ns, w.waker * by.units.length + by.of[w.who], w.ns);
		}
	const got = Sums.wakers(t, pick, by, Uint32Array.from({ length: 1000 }, (_, i) => i));
	const key = (row) => row.waker * by.units.length + row.unit;
	same(new Map(got.map((row) => [key(row), row.count])), count, about);
	same(new Map(got.map((row) => [key(row), row.ns])), ns, about);
	got.forEach((row, i) => assert.ok(i === 0 || got[i - 1].ns >= row.ns));
}));

test("stacks add up along the tree", async () => {
	const { doc, tables } = story({ seed: 5 });
	const model = new Model.Report(doc, (name) => tables[name]);
	const { sample, frame } = await model.need("sample", "frame");
	const { counts, ns } = Sums.stacks(sample, Selection.pick(Selection.NONE, model), 1, frame.rows);
	const of = (i) => (frame.parent[i] ? [i, ...of(frame.parent[i] - 1)] : [i]);
	const expected = new Float64Array(frame.rows);
	for (let i = 0; i < sample.rows; i++)
		if (sample.kind[i] === 1)
			for (const f of of(sample.stack[i]))
				expected[f] += sample.ns[i];
	assert.deepEqual(Sums.inclusive(frame, ns), expected);
	assert.ok(counts.some((n) => n > 0));
	assert.throws(() => Sums.inclusive({ rows: 2, parent: [2, 2] }, [1, 1]), /damaged/);
});

test("interrupts and idle states of a span", () => eachSelection(10, ({ t, pick, about }) => {
	const got = Sums.byKey(t.irq, pick, "what", ["count", "ns"]), expected = new Map();
	for (let i = 0; i < t.irq.rows; i++)
		if (t.irq.bucket[i] >= pick.first && t.irq.bucket[i] < pick.last)
			add(expected, t.irq.what[i], t.irq.ns[i]);
	same(new Map([...got].map(([what, row]) => [what, row.ns])), expected, about);
}));

test("an index has the rows of each value in their order", () => {
	const { order, start } = Sums.index([2, 0, 2, 1, 9, 0], 3);
	assert.deepEqual([0, 1, 2].map((v) => [...order.slice(start[v], start[v + 1])]), [[1, 5], [3], [0, 2]]);
});

test("an index sorts the rows of each value by another column", () => {
	const { order, start } = Sums.indexBy([1, 0, 1, 1], 2, [9, 5, 3, 4]);
	assert.deepEqual([[...order.slice(start[0], start[1])], [...order.slice(start[1], start[2])]], [[1], [2, 3, 0]]);
});

test("a binary search finds the first of equals", () => {
	assert.deepEqual([0, 1, 2, 3, 9].map((v) => Sums.lowerBound([1, 1, 2, 5], v)), [0, 0, 2, 3, 4]);
});

test("a range of latency that lies across a band is marked", () => {
	const { doc } = story(), model = new Model.Report(doc, () => null);
	assert.deepEqual(model.bandsOf(null), { bands: null, isNear: false });
	assert.deepEqual(model.bandsOf([0, 1]), { bands: [0, 0], isNear: false });
	assert.deepEqual(model.bandsOf([1, 2]), { bands: [0, 1], isNear: true });
	assert.deepEqual(model.bandsOf([2, 6]), { bands: [1, 2], isNear: false });
});

test("waits that have not ended count from their beginning on", () => {
	const t = { rows: 3, bucket: [0, 4, 9], who: [1, 2, 1], count: [1, 1, 1] }, by = { of: [0, 1, 2], units: [0, 1, 2] };
	assert.deepEqual([...Sums.waiting(t, { first: 5, last: 6, takes: null }, by)], [0, 1, 1]);
	assert.deepEqual([...Sums.waiting(t, { first: 0, last: 10, takes: [0, 1, 0] }, by)], [0, 2, 0]);
	assert.deepEqual([...Sums.waiting(null, { first: 0, last: 10, takes: null }, by)], [0, 0, 0]);
});

test("units whose waits are partly kept by name only are marked", () => {
	const { doc } = story(), model = new Model.Report(doc, () => null);
	const rest = doc.who.length - 1, twin = doc.who.findIndex((w, i) => i > 0 && !w.is_rest);
	doc.who[rest] = { ...doc.who[twin], tid: 0, tgid: 0, is_rest: true };
	const marked = (t, way, isById) => [...model.folded(t, model.by(way), { takes: null, isById })];
	const with_rest = { who: [1, rest, 2] }, without = { who: [1, 2] };
	assert.deepEqual(marked(without, "thread", false).filter((n) => n), []);
	assert.equal(marked(with_rest, "thread", false)[model.by("thread").of[twin]], 1);
	assert.deepEqual(marked(with_rest, "comm", false).filter((n) => n), []);
	assert.ok(marked(with_rest, "comm", true)[model.by("comm").of[twin]]);
	assert.deepEqual([...model.folded(null, model.by("thread"), { takes: null })].filter((n) => n), []);
	doc.who[rest].comm = null;
	const other = new Model.Report(doc, () => null);
	assert.ok([...other.folded(with_rest, other.by("thread"), { takes: null })].slice(1, -1).every((n) => n), "any thread may be among many names");
	assert.equal(other.label(rest), "others");
});

test("threads that are kept by name only are a row that says so, except among names", () => {
	const { doc } = story(), model = new Model.Report(doc, () => null), rest = doc.who.findIndex((w) => w.is_rest), of = (way) => model.by(way).units[model.by(way).of[rest]];
	assert.equal(of("thread").label, "short (others)");
	assert.equal(of("thread").isRest, true);
	assert.equal(of("process").isRest, true);
	assert.equal(of("comm").label, "short");
	assert.equal(of("comm").isRest, undefined);
});
