/*
 * 1,000 random streams of a small machine: each analysis against what brute force makes of the raw records. Then
 * damaged streams, where what must hold whatever comes in is checked too.
 */
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/passes.h"

#define NR_STREAMS RANDOM_WORLDS(1000U)

struct sums {
	uint64_t nr, sum, values[REF_MAX];
};

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void add(struct sums *s, uint64_t value)
{
	s->values[s->nr++] = value;
	s->sum += value;
	qsort(s->values, s->nr, sizeof(uint64_t), by_value);
}

static uint64_t rank(const struct sums *s, double percent)
{
	uint64_t n = (uint64_t)ceil(percent * (double)s->nr / 100 - 1e-9);

	return s->values[n ? n - 1 : 0];
}

static void expect_near(double a, double b)
{
	if (fabs(a - b) > 1e-6 * (1 + fabs(b)))
		fail_msg("%.9f is not %.9f", a, b);
}

static const struct report_node *under(const struct report_node *node, const char *path)
{
	const struct report_node *at = report_at(node, path);

	if (!at)
		fail_msg("no %s", path);
	return at;
}

/* The members with a suffix, such as min_latency_ns. */
static void expect_stats(const struct report_node *node, const char *suffix, const struct sums *s)
{
	static const struct {
		const char *name;
		double percent;
	} rows[] = { { "min", 0 },  { "max", 100 }, { "p50", 50 },
		     { "p95", 95 }, { "p99", 99 },  { "p999", 99.9 } };
	char key[64];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(key, sizeof(key), "%s%s", rows[i].name, suffix);
		if (!s->nr)
			assert_true(is_null_at(node, key));
		else
			expect_eq(num_at(node, key), rank(s, rows[i].percent));
	}
	snprintf(key, sizeof(key), "avg%s", suffix);
	if (s->nr)
		expect_eq(num_at(node, key), s->sum / s->nr);
}

/* The row of a list in which a member has a value; NULL if there is none. */
static const struct report_node *row_of(const struct report_node *list, const char *key,
                                        uint64_t value)
{
	for (const struct report_node *n = list->first; n; n = n->next)
		if (num_at(n, key) == value)
			return n;
	return NULL;
}

static uint64_t queued_at(const struct ref_wait *w)
{
	return w->wakeup ? w->wakeup : w->waking;
}

static uint64_t latency(const struct ref_wait *w)
{
	return w->end - (w->waking ? w->waking : w->wakeup);
}

static bool is_wakeup(const struct ref_wait *w)
{
	return w->cause != PAIR_PREEMPTED && !w->is_open;
}

static uint64_t run_ns(const struct ref *ref, uint32_t tid)
{
	uint64_t ns = 0;

	for (int i = 0; i < ref->nr_slices; i++)
		if (ref->slices[i].tid == tid)
			ns += ref->slices[i].end - ref->slices[i].start;
	return ns;
}

static void check_runtime(struct pass_fixture *p, const struct ref *ref)
{
	const struct report_node *root = run_pass(p, &pass_process_runtime);
	const struct report_node *list = under(root, "processes");
	uint64_t total = 0, nr = 0;

	for (uint32_t tid = REF_FIRST; tid < REF_FIRST + REF_TASKS; tid++) {
		const struct report_node *row = row_of(list, "pid", tid);
		struct sums s = { 0 };
		uint64_t nr_slices = 0;

		for (int i = 0; i < ref->nr_slices; i++) {
			if (ref->slices[i].tid != tid)
				continue;
			nr_slices++;
			if (ref->slices[i].how != PAIR_END_OPEN)
				add(&s, ref->slices[i].end - ref->slices[i].start);
		}
		expect_eq(row != NULL, nr_slices > 0);
		if (!row)
			continue;
		nr++;
		total += run_ns(ref, tid);
		expect_eq(num_at(row, "total_runtime_ns"), run_ns(ref, tid));
		expect_eq(num_at(row, "num_switches"), nr_slices);
		expect_stats(row, "_timeslice_ns", &s);
		assert_true(real_at(row, "cpu_time_percent") <= 100.0);
	}
	expect_eq(num_at(root, "total_processes"), nr);
	expect_eq(num_at(root, "total_runtime_ns"), total);
}

/* Busy, idle and unknown fill the time of each CPU; tasks and CPUs come to the same. */
static void check_cpus(struct pass_fixture *p, const struct ref *ref, bool is_whole)
{
	const struct report_node *root = run_pass(p, &pass_cpu_utilization);
	const struct report_node *list = under(root, "top_utilized_cpus");
	uint64_t busy = 0, of_tasks = 0;

	for (const struct report_node *n = list->first; n; n = n->next) {
		uint64_t cpu = num_at(n, "cpu_id"), ns = 0;

		for (int i = 0; i < ref->nr_slices; i++)
			if (ref->slices[i].cpu == cpu)
				ns += ref->slices[i].end - ref->slices[i].start;
		expect_eq(num_at(n, "active_time_ns"), ns);
		expect_eq(num_at(n, "idle_time_ns"), ref->idle_ns[cpu]);
		expect_eq(num_at(n, "active_time_ns") + num_at(n, "idle_time_ns") +
		                  num_at(n, "unknown_time_ns"),
		          ref->end - ref->start);
		busy += ns;
	}
	for (uint32_t tid = REF_FIRST; tid < REF_FIRST + REF_TASKS; tid++)
		of_tasks += run_ns(ref, tid);
	if (is_whole)
		expect_eq(list->nr, REF_CPUS);
	expect_eq(busy, of_tasks);
}

static void check_latency(struct pass_fixture *p, const struct ref *ref)
{
	const struct report_node *root = run_pass(p, &pass_wakeup_latency);
	struct sums all = { 0 }, preempted = { 0 };
	uint64_t nr_open[2] = { 0 }, nr_pairs = 0;

	for (int i = 0; i < ref->nr_waits; i++) {
		const struct ref_wait *w = &ref->waits[i];
		bool is_first = is_wakeup(w);

		nr_open[w->cause == PAIR_PREEMPTED] += w->is_open;
		if (is_wakeup(w))
			add(&all, latency(w));
		else if (!w->is_open)
			add(&preempted, latency(w));
		for (int k = 0; k < i; k++)
			if (is_wakeup(&ref->waits[k]) && ref->waits[k].tid == w->tid &&
			    ref->waits[k].by == w->by)
				is_first = false;
		nr_pairs += is_first;
	}
	expect_eq(num_at(root, "total_wakeups"), all.nr);
	expect_stats(under(root, "global_stats"), "_latency_ns", &all);
	expect_eq(num_at(root, "preempted_wait.count"), preempted.nr);
	expect_stats(under(root, "preempted_wait"), "_wait_ns", &preempted);
	expect_eq(num_at(root, "still_waiting"), nr_open[false]);
	expect_eq(num_at(root, "preempted_wait.still_waiting"), nr_open[true]);
	expect_eq(num_at(root, "total_pairs"), nr_pairs);
	if (all.nr)
		expect_eq(num_at(root, "worst.latency_ns"), rank(&all, 100));
	for (uint32_t cpu = 0; cpu < REF_CPUS; cpu++) {
		const struct report_node *row = row_of(under(root, "worst_cpus_by_avg_latency"),
		                                       "cpu_id", cpu);
		struct sums here = { 0 };

		for (int i = 0; i < ref->nr_waits; i++)
			if (is_wakeup(&ref->waits[i]) && ref->waits[i].cpu == cpu)
				add(&here, latency(&ref->waits[i]));
		expect_eq(row != NULL, here.nr > 0);
		if (!row)
			continue;
		expect_eq(num_at(row, "count"), here.nr);
		expect_eq(num_at(row, "p99_latency_ns"), rank(&here, 99));
	}
}

static void check_correlation(struct pass_fixture *p, const struct ref *ref)
{
	const struct report_node *root, *n;
	struct sums all = { 0 };
	uint64_t last = UINT64_MAX, sum = 0;

	for (int i = 0; i < ref->nr_waits; i++)
		if (is_wakeup(&ref->waits[i]))
			add(&all, latency(&ref->waits[i]));
	p->args.limit = 7; /* totals are those of all, whatever is shown */
	root = run_pass(p, &pass_correlation);
	p->args.limit = 1000;
	expect_eq(num_at(root, "total_correlations"), all.nr);
	expect_stats(under(root, "latency"), "_ns", &all);
	expect_eq(len_at(root, "correlations"), all.nr < 7 ? all.nr : 7);
	for (n = under(root, "correlations")->first; n; n = n->next) {
		assert_true(num_at(n, "wakeup_latency_ns") <= last);
		last = num_at(n, "wakeup_latency_ns");
		sum += last;
		expect_eq(num_at(n, "schedule_timestamp") - num_at(n, "wakeup_timestamp"), last);
	}
	for (uint64_t i = 0; i < 7 && i < all.nr; i++)
		sum -= all.values[all.nr - 1 - i];
	expect_eq(sum, 0);
}

static void check_states(struct pass_fixture *p, const struct ref *ref)
{
	const struct report_node *root = run_pass(p, &pass_task_states);

	for (uint32_t tid = REF_FIRST; tid < REF_FIRST + REF_TASKS; tid++) {
		const struct report_node *row = row_of(under(root, "processes"), "pid", tid);
		uint64_t runnable = 0, sleeping = 0, blocked = 0, voluntary = 0, involuntary = 0;
		struct sums delays = { 0 };

		if (!row)
			continue;
		for (int i = 0; i < ref->nr_slices; i++) {
			const struct ref_slice *s = &ref->slices[i];

			voluntary += s->tid == tid &&
			             (s->how == PAIR_END_SLEEP || s->how == PAIR_END_DEAD);
			involuntary += s->tid == tid && s->how == PAIR_END_RUNNABLE;
		}
		for (int i = 0; i < ref->nr_waits; i++) {
			const struct ref_wait *w = &ref->waits[i];

			if (w->tid != tid)
				continue;
			runnable += w->end - queued_at(w);
			if (!w->is_open)
				add(&delays, w->end - queued_at(w));
		}
		for (int i = 0; i < ref->nr_sleeps; i++) {
			const struct ref_sleep *s = &ref->sleeps[i];

			if (s->tid != tid)
				continue;
			*(s->is_blocked ? &blocked : &sleeping) += s->end - s->start;
		}
		expect_eq(num_at(row, "running_time_ns"), run_ns(ref, tid));
		expect_eq(num_at(row, "runnable_time_ns"), runnable);
		expect_eq(num_at(row, "sleeping_time_ns"), sleeping);
		expect_eq(num_at(row, "blocked_time_ns"), blocked);
		expect_eq(num_at(row, "voluntary_switches"), voluntary);
		expect_eq(num_at(row, "involuntary_switches"), involuntary);
		expect_stats(row, "_scheduler_latency_ns", &delays);
		assert_true(num_at(row, "total_time_ns") + num_at(row, "unknown_time_ns") <=
		            ref->end - ref->start);
	}
}

static void check_preemptions(struct pass_fixture *p, const struct ref *ref)
{
	const struct report_node *root = run_pass(p, &pass_preemptions);
	uint64_t total = 0;

	for (uint32_t tid = REF_FIRST; tid < REF_FIRST + REF_TASKS; tid++) {
		const struct report_node *row = row_of(under(root, "processes"), "pid", tid);
		uint64_t nr = 0, nr_by = 0;

		for (uint32_t by = REF_FIRST; by < REF_FIRST + REF_TASKS; by++) {
			uint64_t here = 0;

			for (int i = 0; i < ref->nr_waits; i++)
				here += ref->waits[i].tid == tid && ref->waits[i].by == by &&
				        by != tid && ref->waits[i].cause == PAIR_PREEMPTED;
			nr += here;
			nr_by += here > 0;
		}
		total += nr;
		expect_eq(row != NULL, nr > 0);
		if (!row)
			continue;
		expect_eq(num_at(row, "preempted_count"), nr);
		expect_eq(num_at(row, "total_unique_preemptors"), nr_by);
	}
	expect_eq(num_at(root, "total_preemptions"), total);
}

/* The same from the records alone: who left runnable while another came on. */
static void check_preemption_records(struct pass_fixture *p, const struct ref *ref)
{
	const struct report_node *root = run_pass(p, &pass_preemptions);
	uint64_t nr = 0;

	for (int i = 0; i < ref->nr_recs; i++)
		nr += ref->recs[i].kind == EV_SWITCH && ref->recs[i].tid && ref->recs[i].other &&
		      (ref->recs[i].state == EV_STATE_RUNNABLE ||
		       ref->recs[i].state == EV_STATE_PREEMPTED);
	expect_eq(num_at(root, "total_preemptions"), nr);
}

static void check_moves(struct pass_fixture *p, const struct ref *ref)
{
	const struct report_node *root = run_pass(p, &pass_migration_patterns);
	uint64_t same = 0, cross = 0, unknown = 0, of_task[REF_TASKS] = { 0 };
	struct sums waits = { 0 };

	for (int i = 0; i < ref->nr_moves; i++) {
		const struct ref_move *m = &ref->moves[i];

		of_task[m->tid - REF_FIRST]++;
		if (m->from > 3 || m->to > 3)
			unknown++;
		else if (m->from / 2 == m->to / 2)
			same++;
		else
			cross++;
	}
	for (int i = 0; i < ref->nr_waits; i++) {
		const struct ref_wait *w = &ref->waits[i];

		if (!w->is_open && w->from_cpu != PAIR_NO_CPU && w->from_cpu != w->cpu)
			add(&waits, latency(w));
	}
	expect_eq(num_at(root, "latency.count"), waits.nr);
	if (waits.nr) {
		expect_eq(num_at(root, "latency.p95_ns"), rank(&waits, 95));
		expect_eq(num_at(root, "latency.max_ns"), rank(&waits, 100));
	}
	if (!ref->nr_moves)
		return; /* then moves are taken from slices: tested by hand */
	expect_eq(num_at(root, "total_migrations"), ref->nr_moves);
	expect_eq(num_at(root, "cross_llc_migrations"), cross);
	for (uint32_t i = 0; i < REF_TASKS; i++) {
		const struct report_node *row = row_of(under(root, "top_migrating_processes"),
		                                       "pid", REF_FIRST + i);

		expect_eq(row ? num_at(row, "migration_count") : 0, of_task[i]);
	}
	root = run_pass(p, &pass_llc_locality);
	expect_eq(num_at(root, "same_llc_migrations"), same);
	expect_eq(num_at(root, "cross_llc_same_numa_migrations"), cross);
	expect_eq(num_at(root, "cross_numa_migrations"), 0);
	expect_eq(num_at(root, "unknown_distance_migrations"), unknown);
	expect_eq(num_at(root, "per_llc_stats.0.internal_migrations") +
	                  num_at(root, "per_llc_stats.1.internal_migrations"),
	          same);
}

static void check_breakdown(struct pass_fixture *p, const struct ref *ref)
{
	const struct report_node *root = run_pass(p, &pass_latency_breakdown);
	struct sums first = { 0 }, second = { 0 }, both = { 0 };

	for (int i = 0; i < ref->nr_waits; i++) {
		const struct ref_wait *w = &ref->waits[i];

		if (!is_wakeup(w))
			continue;
		if (w->waking && w->wakeup)
			add(&first, w->wakeup - w->waking);
		if (w->wakeup)
			add(&second, w->end - w->wakeup);
		if (w->waking)
			add(&both, w->end - w->waking);
	}
	expect_eq(num_at(root, "stats.waking_to_wakeup.count"), first.nr);
	expect_eq(num_at(root, "stats.wakeup_to_schedule.count"), second.nr);
	expect_eq(num_at(root, "stats.waking_to_schedule.count"), both.nr);
	if (first.nr)
		expect_eq(num_at(root, "stats.waking_to_wakeup.p99_ns"), rank(&first, 99));
	if (second.nr)
		expect_eq(num_at(root, "stats.wakeup_to_schedule.avg_ns"), second.sum / second.nr);
	if (first.nr && first.sum + second.sum)
		expect_near(real_at(root, "stats.waking_to_wakeup.percent_of_total") +
		                    real_at(root, "stats.wakeup_to_schedule.percent_of_total"),
		            100);
}

/* In the queue of which CPU a wait is at a moment; where its moves contradict each other, where it ran in the end. */
static uint32_t place_of(const struct ref *ref, const struct ref_wait *w, uint64_t ts)
{
	uint32_t from = w->cause == PAIR_PREEMPTED ? w->from_cpu : PAIR_NO_CPU;

	for (int i = 0; i < ref->nr_moves; i++) {
		const struct ref_move *m = &ref->moves[i];

		if (m->tid != w->tid || m->ts < queued_at(w) || m->ts >= w->end)
			continue;
		if (m->ts > ts)
			return from == PAIR_NO_CPU || from == m->from ? m->from : w->cpu;
		from = m->to;
	}
	return w->cpu;
}

/* Without a wakeup the first move may be the placement, before which it is in no queue: tests/ledger has that. */
static bool has_placements(const struct ref *ref)
{
	for (int i = 0; i < ref->nr_waits; i++)
		for (int k = 0; !ref->waits[i].wakeup && k < ref->nr_moves; k++)
			if (ref->moves[k].tid == ref->waits[i].tid)
				return true;
	return false;
}

/* Who is on a CPU, or waits for it, from one moment on to the next. */
static uint32_t depth_at(const struct ref *ref, uint32_t cpu, uint64_t ts)
{
	uint32_t nr = 0;

	for (int i = 0; i < ref->nr_slices; i++)
		nr += ref->slices[i].cpu == cpu && ref->slices[i].start <= ts &&
		      ref->slices[i].end > ts;
	for (int i = 0; i < ref->nr_waits; i++)
		nr += queued_at(&ref->waits[i]) <= ts && ref->waits[i].end > ts &&
		      place_of(ref, &ref->waits[i], ts) == cpu;
	return nr;
}

static void check_depth(struct pass_fixture *p, const struct ref *ref)
{
	const struct report_node *root = run_pass(p, &pass_runqueue_depth);
	struct sums times = { 0 };

	if (has_placements(ref))
		return;
	for (int i = 0; i < ref->nr_recs; i++)
		if (ref->recs[i].ts >= ref->start)
			add(&times, ref->recs[i].ts);
	for (uint32_t cpu = 0; cpu < REF_CPUS; cpu++) {
		const struct report_node *row = row_of(under(root, "worst_cpus_by_max_depth"),
		                                       "cpu_id", cpu);
		uint64_t at[REF_TASKS + 2] = { 0 }, sum = 0, span = ref->end - ref->start;
		uint32_t max = 0, p99 = 0;
		double area = 0;

		for (uint64_t i = 0; i < times.nr; i++) {
			uint64_t to = i + 1 < times.nr ? times.values[i + 1] : ref->end;
			uint32_t depth = depth_at(ref, cpu, times.values[i]);

			if (to == times.values[i])
				continue;
			at[depth] += to - times.values[i];
			area += (double)depth * (double)(to - times.values[i]);
			max = depth > max ? depth : max;
		}
		for (p99 = 0; p99 < max; p99++) {
			sum += at[p99];
			if ((double)sum >= 0.99 * (double)span)
				break;
		}
		if (!row)
			continue;
		expect_eq(num_at(row, "max_depth"), max);
		expect_near(real_at(row, "avg_depth"), area / (double)span);
		expect_eq(num_at(row, "p99_depth"), p99);
	}
}

static void check_fairness(struct pass_fixture *p, const struct ref *ref)
{
	const struct report_node *root = run_pass(p, &pass_fairness);
	double differences = 0, total = 0, n = 0;

	for (uint32_t a = REF_FIRST; a < REF_FIRST + REF_TASKS; a++) {
		n += run_ns(ref, a) > 0;
		total += (double)run_ns(ref, a);
		for (uint32_t b = REF_FIRST; b < REF_FIRST + REF_TASKS; b++)
			if (run_ns(ref, a) && run_ns(ref, b))
				differences += fabs((double)run_ns(ref, a) -
				                    (double)run_ns(ref, b));
	}
	expect_eq(num_at(root, "total_processes"), (uint64_t)n);
	expect_eq(num_at(root, "total_cpu_time_ns"), (uint64_t)total);
	if (n > 0)
		expect_near(real_at(root, "gini_coefficient"), differences / (2 * n * total));
}

/* The wait that the waker of a wait had last, when it woke. -1 = none. */
static int before(const struct ref *ref, const struct ref_wait *w)
{
	int found = -1;

	for (int i = 0; w->by && i < ref->nr_waits; i++)
		if (is_wakeup(&ref->waits[i]) && ref->waits[i].tid == w->by &&
		    ref->waits[i].end <= w->edge &&
		    (found < 0 || ref->waits[i].end > ref->waits[found].end))
			found = i;
	return found;
}

/* Length of the chain that ends with a wait, until a task would come twice; the links, the last first. */
static int chain_of(const struct ref *ref, int end, int path[REF_MAX])
{
	int len = 0;

	for (int i = end; i >= 0; i = before(ref, &ref->waits[i])) {
		for (int k = 0; k < len; k++)
			if (ref->waits[path[k]].tid == ref->waits[i].tid)
				return len;
		path[len++] = i;
	}
	return len;
}

/* One that still waits is the last of its chain. */
static bool is_link(const struct ref_wait *w)
{
	return w->cause != PAIR_PREEMPTED;
}

static void check_chains(struct pass_fixture *p, const struct ref *ref)
{
	const struct report_node *root = run_pass(p, &pass_wakeup_chains);
	uint64_t nr = 0, best = 0;
	int path[REF_MAX], longer[REF_MAX];

	for (int i = 0; i < ref->nr_waits; i++) {
		int len = is_link(&ref->waits[i]) ? chain_of(ref, i, path) : 0;
		uint64_t total = 0;
		bool is_part = false;

		for (int k = 0; k < len; k++)
			total += latency(&ref->waits[path[k]]);
		for (int k = 0; k < ref->nr_waits && len > 1; k++)
			if (is_link(&ref->waits[k]) && before(ref, &ref->waits[k]) == i &&
			    chain_of(ref, k, longer) == len + 1)
				is_part = true;
		if (len < 2 || is_part)
			continue;
		nr++;
		best = total * (uint64_t)len > best ? total * (uint64_t)len : best;
	}
	expect_eq(num_at(root, "total_chains_found"), nr);
	if (!nr)
		return;
	expect_eq(num_at(root, "chains.0.total_latency_ns") *
	                  num_at(root, "chains.0.full_chain_length"),
	          best);
	assert_true(num_at(root, "chains.0.total_latency_ns") <= ref->end - ref->start);
}

static double between(const struct sums *s, double p)
{
	double at = (double)(s->nr - 1) * p;
	uint64_t i = (uint64_t)at;

	if (i + 1 == s->nr)
		return (double)s->values[i];
	return (double)s->values[i] * (1 - (at - (double)i)) +
	       (double)s->values[i + 1] * (at - (double)i);
}

static void check_outliers(struct pass_fixture *p, const struct ref *ref)
{
	const struct report_node *root = run_pass(p, &pass_outliers);
	const struct report_node *result = under(root, "latency_outliers.detection_result");
	struct sums all = { 0 };
	uint64_t nr = 0;
	double q1, q3;

	for (int i = 0; i < ref->nr_waits; i++)
		if (is_wakeup(&ref->waits[i]))
			add(&all, latency(&ref->waits[i]));
	expect_eq(num_at(result, "total_points"), all.nr);
	if (!all.nr)
		return;
	q1 = between(&all, 0.25);
	q3 = between(&all, 0.75);
	if (q3 - q1 < 1)
		return; /* tested by hand */
	for (uint64_t i = 0; i < all.nr; i++)
		nr += (double)all.values[i] > q3 + 1.5 * (q3 - q1) + 1e-6 ||
		      (double)all.values[i] < q1 - 1.5 * (q3 - q1) - 1e-6;
	expect_eq(num_at(result, "outlier_count"), nr);
}

static uint64_t slept_ns(const struct ref *ref, uint32_t tid)
{
	uint64_t ns = 0;

	for (int i = 0; i < ref->nr_sleeps; i++)
		if (ref->sleeps[i].tid == tid)
			ns += ref->sleeps[i].end - ref->sleeps[i].start;
	return ns;
}

/*
 * Ranked by the time lost; only a task that is always busy may stand further down: behind one that sleeps most of the time and lost
 * much, and behind no other that lost less, but for further busy ones.
 */
static void check_order(const struct ref *ref, const struct report_node *n, uint64_t *before,
                        bool *is_after_sleeper)
{
	uint64_t ns = num_at(n, "lost_ns");
	uint32_t tid = (uint32_t)num_at(n, "affected_pids.0");
	uint64_t ran = run_ns(ref, tid), slept = slept_ns(ref, tid);

	if (ns > *before) {
		assert_string_equal(text_at(n, "kind"), "wait");
		assert_true(*is_after_sleeper && slept < ran / 10);
		return;
	}
	*before = ns;
	*is_after_sleeper = !strcmp(text_at(n, "kind"), "wait") && slept > ran &&
	                    ns >= (ref->end - ref->start) / 10;
}

/* Tasks have no names here, so that each is a victim of its own: of waits, and of uninterruptible sleeps. */
static void check_bottlenecks(struct pass_fixture *p, const struct ref *ref)
{
	const struct report_node *root = run_pass(p, &pass_scheduling_bottlenecks);
	uint64_t lost[REF_TASKS] = { 0 }, blocked[REF_TASKS] = { 0 }, all = 0;
	uint64_t got = 0, before = UINT64_MAX;
	bool is_after_sleeper = false;

	for (int i = 0; i < ref->nr_waits; i++) {
		lost[ref->waits[i].tid - REF_FIRST] += latency(&ref->waits[i]);
		all += latency(&ref->waits[i]);
	}
	for (int i = 0; i < ref->nr_sleeps; i++)
		if (ref->sleeps[i].is_blocked)
			blocked[ref->sleeps[i].tid - REF_FIRST] += ref->sleeps[i].end -
			                                           ref->sleeps[i].start;
	expect_eq(num_at(root, "total_lost_ns"), all);
	for (const struct report_node *n = under(root, "bottlenecks")->first; n; n = n->next) {
		bool is_wait = !strcmp(text_at(n, "kind"), "wait");
		uint64_t ns = num_at(n, "lost_ns");

		expect_eq(len_at(n, "affected_pids"), 1);
		expect_eq(ns, (is_wait ? lost : blocked)[num_at(n, "affected_pids.0") - REF_FIRST]);
		check_order(ref, n, &before, &is_after_sleeper);
		assert_true(num_at(n, "time_range.0") < num_at(n, "time_range.1"));
		assert_true(num_at(n, "time_range.0") >= ref->start);
		assert_true(num_at(n, "time_range.1") <= ref->end);
		got += is_wait ? ns : 0;
	}
	assert_true(got <= all);
}

static void check_all(struct pass_fixture *p, const struct ref *ref, bool is_whole)
{
	check_runtime(p, ref);
	check_cpus(p, ref, is_whole);
	check_states(p, ref);
	check_preemptions(p, ref);
	check_moves(p, ref);
	check_depth(p, ref);
	check_fairness(p, ref);
	check_bottlenecks(p, ref);
	check_outliers(p, ref);
	if (!pass_applies(&pass_wakeup_latency, &p->source))
		return;
	check_latency(p, ref);
	check_correlation(p, ref);
	check_breakdown(p, ref);
}

static void stream(unsigned int seed, bool is_damaged)
{
	struct ref_cfg cfg = {
		.seed = seed,
		.has_waking = seed % 3 != 0,
		.has_wakeup = seed % 3 != 1,
		.scale = seed % 5 ? 1 : 200000,
		.is_damaged = is_damaged,
	};
	static struct ref ref;
	struct pass_fixture *p;
	void *state;

	pass_setup(&state);
	p = state;
	p->args.limit = 1000;
	ref_make(&ref, &cfg);
	ref_push(&ref, p);
	if (is_damaged)
		ref_read(&ref, p);
	else
		ref_pair(&ref);
	check_all(p, &ref, !is_damaged);
	if (!is_damaged) {
		check_preemption_records(p, &ref);
		if (pass_applies(&pass_wakeup_chains, &p->source))
			check_chains(p, &ref);
	}
	pass_teardown(&state);
}

static void each_analysis_agrees_with_brute_force_on_whole_streams(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < NR_STREAMS; i++)
		stream(i + 1, false);
}

static void each_analysis_agrees_with_the_tables_of_damaged_streams(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < NR_STREAMS; i++)
		stream(i + 1, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_analysis_agrees_with_brute_force_on_whole_streams),
		cmocka_unit_test(each_analysis_agrees_with_the_tables_of_damaged_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
