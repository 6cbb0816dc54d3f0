/*
 * web/sums — the figures of a selection out of the tables. Pure functions; no table is changed.
 *
 * A pick is {first, last, from, to, takes, slots, bands}: buckets [first, last), which are the times [from, to); a 1 for
 * each thread in `takes` (null = all); slots, and bands of slots, [low, high] of latency, both included (null = all).
 * Counts and sums are exactly those that `schedscope analyze --from --to` prints, because spans lie on edges of buckets:
 * what begins in the span is in its buckets, what was under way at its start is in the table of that edge. A table that
 * would have no rows is null.
 */
const Sums = (() => {
	"use strict";
	const WOKEN = 0, PREEMPTED = 1;

	/* The first row whose value is at least that. */
	function lowerBound(column, value, low = 0, high = column.length) {
		while (low < high) {
			const mid = (low + high) >>> 1;
			if (column[mid] < value)
				low = mid + 1;
			else
				high = mid;
		}
		return low;
	}

	/* Rows [a, b) of a table that is sorted by that column. */
	const rowsOf = (column, first, last) => [lowerBound(column, first), lowerBound(column, last)];

	const isWithin = (range, i) => !range || (i >= range[0] && i <= range[1]);
	const hasThread = (pick, who) => !pick.takes || pick.takes[who] === 1;

	/* Calls f(row) for each row of the pick's buckets, or of the edge at its start. */
	function inBuckets(t, pick, f) {
		if (!t)
			return;
		const [a, b] = rowsOf(t.bucket, pick.first, pick.last);
		for (let i = a; i < b; i++)
			if (hasThread(pick, t.who[i]))
				f(i);
	}

	function atEdge(t, pick, f) {
		if (!t || pick.first === 0)
			return;
		const [a, b] = rowsOf(t.edge, pick.first, pick.first + 1);
		for (let i = a; i < b; i++)
			if (hasThread(pick, t.who[i]))
				f(i);
	}

	/* Time on CPUs and slices, by unit. */
	function run(tables, pick, { of, units }) {
		const ns = new Float64Array(units.length), switches = new Float64Array(units.length);
		const { run: t, run_open: open } = tables;
		inBuckets(t, pick, (i) => {
			ns[of[t.who[i]]] += t.ns[i];
			switches[of[t.who[i]]] += t.begun[i];
		});
		atEdge(open, pick, (i) => {
			switches[of[open.who[i]]] += open.count[i];
		});
		return { ns, switches };
	}

	/* Calls f(table, row) for the finished waits of a kind that the selection has: those that began in it, those under way. */
	function eachWait(begun, open, pick, kind, f) {
		const ofKind = (t) => (i) => {
			if (t.kind[i] === kind && (t.slot ? isWithin(pick.slots, t.slot[i]) : isWithin(pick.bands, t.band[i])))
				f(t, i);
		};
		inBuckets(begun, pick, ofKind(begun));
		atEdge(open, pick, ofKind(open));
	}

	/* Count, sum and slots of waits, by unit: {count, sum, slots: unit after unit}. */
	function waits(tables, pick, { of, units }, kind, nrSlots) {
		const out = { count: new Float64Array(units.length), sum: new Float64Array(units.length),
			slots: new Float64Array(units.length * nrSlots) };
		eachWait(tables.wait, tables.wait_open, pick, kind, (t, i) => {
			const unit = of[t.who[i]];
			out.count[unit] += t.count[i];
			out.sum[unit] += t.sum_ns[i];
			out.slots[unit * nrSlots + t.slot[i]] += t.count[i];
		});
		return out;
	}

	/* The same of all threads together. */
	function histogram(tables, pick, kind, nrSlots) {
		const out = { count: 0, sum: 0, slots: new Float64Array(nrSlots) };
		eachWait(tables.wait, tables.wait_open, pick, kind, (t, i) => {
			out.count += t.count[i];
			out.sum += t.sum_ns[i];
			out.slots[t.slot[i]] += t.count[i];
		});
		return out;
	}

	/* Waits of woken and new tasks by the bucket in which they begin, and slot: bucket after bucket. */
	function heat(tables, pick, nrBuckets, nrSlots) {
		const { wait: t } = tables;
		const counts = new Float64Array(nrBuckets * nrSlots);
		for (let i = 0; t && i < t.rows; i++)
			if (t.kind[i] === WOKEN && hasThread(pick, t.who[i]))
				counts[t.bucket[i] * nrSlots + t.slot[i]] += t.count[i];
		return counts;
	}

	/* Nearest rank, 1 to count. */
	const rank = (count, p) => Math.max(Math.ceil(count * p - 1e-9), 1);

	/* A percentile out of slots, interpolated in its slot: right within that slot. Null without samples. */
	function percentile(slots, offset, ranges, count, p) {
		let before = 0;
		const wanted = rank(count, p);
		for (let i = 0; i < ranges.length; i++) {
			const here = slots[offset + i];
			if (here && before + here >= wanted) {
				const [first, last] = ranges[i];
				return Math.min(first + Math.floor((wanted - before) * (last - first + 1) / here), last);
			}
			before += here;
		}
		return null;
	}

	/* The highest slot that has a sample, or -1. */
	function highest(slots, offset, nrSlots) {
		let i = nrSlots - 1;
		while (i >= 0 && !slots[offset + i])
			i--;
		return i;
	}

	/* Lengths of waits, by unit, sorted: of a recording with full detail, where percentiles are exact. */
	function lengths(waited, pick, { of, units }, kind, slots) {
		const lists = units.map(() => []);
		for (let i = 0; waited && i < waited.rows; i++) {
			const start = waited.start[i], end = start + waited.ns[i];
			if (waited.kind[i] === kind && start < pick.to && (end > pick.from || (waited.ns[i] === 0 && start === pick.from)) &&
				hasThread(pick, waited.who[i]) && isInSlots(pick, waited.ns[i], slots))
				lists[of[waited.who[i]]].push(waited.ns[i]);
		}
		return lists.map((list) => Float64Array.from(list).sort());
	}

	function isInSlots(pick, ns, slots) {
		return !pick.slots || (ns >= slots[pick.slots[0]][0] && ns <= slots[pick.slots[1]][1]);
	}

	const percentileOf = (sorted, p) => (sorted.length ? sorted[rank(sorted.length, p) - 1] : null);

	/* Time lost: by victim and cause, by victim and culprit, by culprit. Units of both are of one way. */
	function blame(t, pick, { of, units }, nrCauses) {
		const causes = new Float64Array(units.length * nrCauses), lost = new Float64Array(units.length);
		const caused = new Float64Array(units.length), pairs = new Map();
		let total = 0;
		inBuckets(t, pick, (i) => {
			if (!isWithin(pick.bands, t.band[i]))
				return;
			const victim = of[t.who[i]], culprit = of[t.culprit[i]], ns = t.ns[i];
			total += ns;
			lost[victim] += ns;
			causes[victim * nrCauses + t.cause[i]] += ns;
			if (t.culprit[i] === 0)
				return;
			caused[culprit] += ns;
			const key = victim * units.length + culprit;
			pairs.set(key, (pairs.get(key) || 0) + ns);
		});
		return { total, lost, causes, caused, pairs };
	}

	/* The culprits of one victim: [[unit, ns]], most first. */
	function culprits({ pairs }, victim, nrUnits) {
		const list = [];
		for (const [key, ns] of pairs)
			if (Math.floor(key / nrUnits) === victim)
				list.push([key % nrUnits, ns]);
		return list.sort((a, b) => b[1] - a[1]);
	}

	/* Which tasks and interrupts wake which: [{waker, unit, count, ns}], most time first. */
	function wakers(tables, pick, { of, units }, first) {
		const rows = new Map();
		eachWait(tables.wake, tables.wake_open, pick, WOKEN, (t, i) => {
			const unit = of[t.who[i]], waker = first[t.waker[i]], key = waker * units.length + unit;
			const row = rows.get(key) || { waker, unit, count: 0, ns: 0 };
			row.count += t.count[i];
			row.ns += t.sum_ns[i];
			rows.set(key, row);
		});
		return [...rows.values()].sort((a, b) => b.ns - a.ns);
	}

	/* Waits that have not ended, by unit: begun before the end of the span, and open until the end of the recording. */
	function waiting(t, pick, { of, units }) {
		const count = new Float64Array(units.length);
		for (let i = 0; t && i < t.rows; i++)
			if (t.bucket[i] < pick.last && hasThread(pick, t.who[i]))
				count[of[t.who[i]]] += t.count[i];
		return count;
	}

	/* Weights of stacks by their leaf, of one kind of sample: {counts, ns}. */
	function stacks(t, pick, kind, nrFrames) {
		const counts = new Float64Array(nrFrames), ns = new Float64Array(nrFrames);
		inBuckets(t, pick, (i) => {
			if (t.kind[i] === kind && t.stack[i] < nrFrames) {
				counts[t.stack[i]] += t.count[i];
				ns[t.stack[i]] += t.ns[i];
			}
		});
		return { counts, ns };
	}

	/* Weights of leaves added up along the prefix tree; a parent stands before its children. */
	function inclusive(frame, weights) {
		const out = Float64Array.from(weights);
		for (let i = frame.rows - 1; i >= 0; i--) {
			const parent = frame.parent[i] - 1;
			if (parent >= i)
				throw new Error("The stacks of this page are damaged: make the report again.");
			if (parent >= 0)
				out[parent] += out[i];
		}
		return out;
	}

	/* Of tables without threads (irq, idle, dsq): sums of columns by key, of the buckets of the pick. */
	function byKey(t, pick, key, sums) {
		const rows = new Map(), [a, b] = t ? rowsOf(t.bucket, pick.first, pick.last) : [0, 0];
		for (let i = a; i < b; i++) {
			const id = t[key][i];
			if (!rows.has(id))
				rows.set(id, Object.fromEntries(sums.map((name) => [name, 0])));
			const row = rows.get(id);
			for (const name of sums)
				row[name] += t[name][i];
		}
		return rows;
	}

	/* Rows by the value of a column, in their order: {order, start}; those of v are order[start[v]] to order[start[v + 1]]. */
	function index(column, nr) {
		const start = new Uint32Array(nr + 2), order = new Uint32Array(column.length);
		for (const v of column)
			if (v < nr)
				start[v + 2]++;
		for (let v = 2; v < start.length; v++)
			start[v] += start[v - 1];
		for (let i = 0; i < column.length; i++)
			if (column[i] < nr)
				order[start[column[i] + 1]++] = i;
		return { order, start };
	}

	/* The same, with the rows of each value sorted by another column. */
	function indexBy(column, nr, key) {
		const found = index(column, nr), { order, start } = found;
		for (let v = 0; v < nr; v++)
			order.subarray(start[v], start[v + 1]).sort((a, b) => key[a] - key[b]);
		return found;
	}

	/* The first place in order[low, high) whose row has at least that value; rows are sorted by it there. */
	function lowerBoundOf(order, column, value, low, high) {
		while (low < high) {
			const mid = (low + high) >>> 1;
			if (column[order[mid]] < value)
				low = mid + 1;
			else
				high = mid;
		}
		return low;
	}

	return { WOKEN, PREEMPTED, lowerBound, lowerBoundOf, rowsOf, run, waits, histogram, heat, percentile, percentileOf, highest,
		lengths, blame, culprits, wakers, waiting, stacks, inclusive, byKey, index, indexBy };
})();
