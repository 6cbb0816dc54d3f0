/* web/selection: the address and the state say the same; spans lie on edges; the command is the equal one. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./load.mjs";
import { story } from "./story.mjs";

const { Model, Selection } = load(["Model", "Selection"]);
const { doc, tables } = story();
const model = new Model.Report(doc, (name) => tables[name] || null);
const parse = (text) => Selection.parse(text, model);

/* A window's address, with the entries that Back goes through. */
function window(first = "") {
	const entries = [first];
	let listener = () => {};
	return { entries, fragment: () => "#" + entries.at(-1), onchange: (f) => { listener = f; },
		go: (fragment, isPassing) => (isPassing ? entries.splice(-1, 1, fragment) : entries.push(fragment)),
		back: () => { entries.pop(); listener(); } };
}

test("a span is snapped to the edges around it", () => {
	const s = parse("t=45ms..61ms");
	assert.deepEqual([s.from, s.to], [40e6, 80e6]);
	assert.deepEqual([parse("t=40ms..60ms").from, parse("t=40ms..60ms").to], [40e6, 60e6]);
	assert.deepEqual([parse("t=45ms..45ms").from, parse("t=45ms..45ms").to], [40e6, 60e6]);
});

test("a selection goes into the address and comes back", () => {
	for (const text of ["t=40ms..80ms", "t=0s..20ms&tid=104", "lat=1us..10us", "t=0.98s..1s&lat=2us..1ms&pid=3&comm=a%26b%20%E2%82%AC&cgroup=%2Fuser%2Fa"])
		assert.equal(Selection.format(parse(text), model), Selection.format(parse(Selection.format(parse(text), model)), model));
	assert.equal(Selection.format(parse("t=40ms..80ms&tid=104"), model), "t=40ms..80ms&tid=104");
	assert.equal(parse("comm=a%26b%20%E2%82%AC").comm, "a&b \u20ac");
});

test("what means nothing is no selection", () => {
	for (const text of ["", "wait-3", "t=", "t=5", "t=2s..1s", "t=9s..10s", "t=x..y", "tid=-1", "tid=1e3", "lat=5s..6s", "t=0s..99s", "a=b", "t=" + "9".repeat(9999)])
		assert.ok(Selection.isEmpty(parse(text)), text);
});

test("latencies are snapped to slots", () => {
	assert.deepEqual(parse("lat=1500ns..3us").slots, [1, 2]);
	assert.deepEqual(parse("lat=1us..2us").slots, [1, 1]);
});

test("the equal command has the filters of the report, and those of the selection", () => {
	assert.equal(Selection.command(parse("t=40ms..80ms&tid=104"), model), "schedscope analyze a.pftrace --from 40ms --to 80ms --tid 104");
	assert.equal(Selection.command(parse("t=0s..80ms&comm=a%20*"), model), "schedscope analyze a.pftrace --to 80ms -c 'a \\*'");
	assert.equal(Selection.command(parse("pid=3&cgroup=%2Fuser"), model), "schedscope analyze a.pftrace -p 3 --cgroup /user");
	const filtered = new Model.Report({ ...doc, filters: { from_ns: 0, to_ns: 500e6, comm: "nginx*", cgroup: null, pid: null, tid: null, cpu: 3 } }, () => null);
	assert.equal(Selection.command(Selection.NONE, filtered), "schedscope analyze a.pftrace --from 0s --to 500ms -c 'nginx*' --cpu 3");
});

test("a change keeps the rest, goes into the address, and Back returns", () => {
	const place = window(), state = new Selection.State(model, place), seen = [];
	state.onchange((s) => seen.push(Selection.format(s, model)));
	state.change({ tid: 104 });
	state.change({ from: 41e6, to: 79e6 });
	assert.equal(place.entries.at(-1), "t=40ms..80ms&tid=104");
	place.back();
	assert.equal(state.now.tid, 104);
	assert.equal(state.now.from, null);
	place.back();
	assert.ok(state.isEmpty);
	assert.deepEqual(seen, ["tid=104", "t=40ms..80ms&tid=104", "tid=104", ""]);
});

test("the time that is shown is in the address, and is no selection", () => {
	const place = window("t=40ms..80ms&zoom=20ms..120ms"), state = new Selection.State(model, place), seen = [];
	state.onchange((s) => seen.push(Selection.format(s, model)));
	assert.deepEqual(state.zoom, [20e6, 120e6]);
	assert.equal(Selection.format(state.now, model), "t=40ms..80ms");
	state.show([30e6 + 0.4, 90e6]);
	assert.deepEqual(place.entries, ["t=40ms..80ms&zoom=30ms..90ms"]);
	state.change({ tid: 104 });
	assert.equal(place.entries.at(-1), "t=40ms..80ms&tid=104&zoom=30ms..90ms");
	state.show(null);
	assert.equal(place.entries.at(-1), "t=40ms..80ms&tid=104");
	place.back();
	assert.deepEqual(state.zoom, [30e6, 90e6]);
	state.clear();
	assert.equal(place.entries.at(-1), "");
	assert.deepEqual(seen, ["t=40ms..80ms&tid=104", "t=40ms..80ms", ""]);
	for (const text of ["", "zoom", "zoom=1s", "zoom=2s..1s", "zoom=1s..1s", "zoom=9s..10s", "zoom=x..y", "zoom=" + "9".repeat(9999)])
		assert.equal(Selection.parseZoom(text, model), null, text);
});

test("a drag leaves one entry for Back", () => {
	const place = window(), state = new Selection.State(model, place);
	state.change({ tid: 104 });
	for (let to = 50e6; to < 200e6; to += 10e6)
		state.change({ from: 41e6, to }, true);
	assert.equal(place.entries.length, 2);
});

test("a part is dropped, and everything cleared", () => {
	const place = window("t=40ms..80ms&tid=104&lat=1us..2us"), state = new Selection.State(model, place);
	state.drop("t");
	assert.equal(place.entries.at(-1), "lat=1us..2us&tid=104");
	state.clear();
	assert.equal(place.entries.at(-1), "");
	assert.ok(state.isEmpty);
});

test("a plain anchor selects nothing, and a selection after it is a new entry", () => {
	const place = window("wait-3"), state = new Selection.State(model, place);
	assert.ok(state.isEmpty);
	state.change({ tid: 104 });
	assert.deepEqual(place.entries, ["wait-3", "tid=104"]);
});

test("threads by tid, process, name and cgroup with those below", () => {
	const taken = (s) => [...model.takes({ ...Selection.NONE, ...s })].map((t, i) => (t ? i : -1)).filter((i) => i >= 0);
	assert.deepEqual(taken({ tid: 104 }), [4]);
	assert.deepEqual(taken({ cgroup: "/user" }), doc.who.map((w, i) => (/^\/user(\/|$)/.test(w.cgroup) ? i : -1)).filter((i) => i >= 0));
	assert.deepEqual(taken({ cgroup: "/" }), doc.who.map((w, i) => (w.cgroup === "/" ? i : -1)).filter((i) => i >= 0));
	assert.deepEqual(taken({ comm: "short" }), [13]);
	assert.equal(model.takes(Selection.NONE), null);
});

test("a waker that was in two cgroups is one", () => {
	const two = [{ tid: 9, tgid: 9, comm: "w", cgroup: "/a", task: 900 }, { tid: 9, tgid: 9, comm: "w", cgroup: "/b", task: 900 }];
	const nr = doc.who.length, wakers = [{ who: 0 }, { who: nr + 1 }, { interrupt: "timer" }, { who: nr }, { interrupt: "net" }, { who: 1 }];
	const odd = new Model.Report({ ...doc, who: [...doc.who, ...two], wakers }, () => null);
	assert.deepEqual([...odd.firstWakers()], [0, 1, 2, 1, 4, 5]);
});

test("a document that is not one is refused with a sentence", () => {
	for (const broken of [null, {}, { ...doc, version: 2 }, { ...doc, buckets: { width_ns: 0, nr: 1 } }, { ...doc, who: 5 }])
		assert.throws(() => new Model.Report(broken, () => null), /\.$/);
});
