#include "analyses/bottlenecks.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/moves.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/hist.h"

#define MAX_SWITCHES_PER_SEC 1000
#define MAX_MOVES_PER_SEC    100
#define MIN_EVENTS           10 /* fewer do not make a rate */
#define LONG_NS              100000000ULL
#define MAX_WAITING          2
#define MIN_BUSY_PERCENT     95
#define MAX_SEVERITY         10
#define NS_PER_SECOND        1e9

static int add(struct bottlenecks *b, struct bottleneck row)
{
	if (GROW(b->found, b->capacity, b->nr_found))
		return -ENOMEM;
	if (row.severity > MAX_SEVERITY)
		row.severity = MAX_SEVERITY;
	b->found[b->nr_found++] = row;
	return 0;
}

static int prepare(struct bottlenecks *b)
{
	const struct scope *sc = b->sc;
	int err = windows_init(&b->switches, sc->from_ns, sc->span_ns, sc->nr_cpus);

	if (!err)
		err = windows_init(&b->busy, sc->from_ns, sc->span_ns, sc->nr_cpus);
	if (!err)
		err = windows_init(&b->waiting, sc->from_ns, sc->span_ns, sc->nr_cpus);
	if (!err)
		err = windows_init(&b->moves, sc->from_ns, sc->span_ns, 1);
	b->longest = calloc(sc->nr_tasks ? sc->nr_tasks : 1, sizeof(*b->longest));
	for (uint32_t i = 0; !err && i < BOTTLENECK_RULES; i++) {
		err = edges_init(&b->who[i]);
		b->over[i] = calloc(sc->nr_cpus + 1U, sizeof(*b->over[i]));
		if (!b->over[i])
			err = -ENOMEM;
	}
	return b->longest ? err : -ENOMEM;
}

static void take_wait(struct bottlenecks *b, const struct pair_wait *w)
{
	struct pair_wait *longest = &b->longest[w->task];

	windows_spread(&b->waiting, w->cpu, pair_wait_start_ns(w), w->end_ns);
	if (latency_counts(w))
		samples_add(&b->latencies, latency_ns(w));
	if (!longest->end_ns || latency_queue_ns(w) > latency_queue_ns(longest))
		*longest = *w;
}

static int collect(struct bottlenecks *b)
{
	struct rows slices = { .sc = b->sc }, idles = { .sc = b->sc }, waits = { .sc = b->sc };
	SCOPED(moves_done) struct moves moves = { 0 };
	struct pair_slice slice;
	struct pair_idle idle;
	struct pair_wait wait;
	struct pair_migration move;
	int err = moves_init(&moves, b->sc);

	if (err)
		return err;
	while (rows_slice(&slices, &slice)) {
		windows_count(&b->switches, slice.cpu, slice.start_ns);
		windows_spread(&b->busy, slice.cpu, slice.start_ns, slice.end_ns);
	}
	while (rows_idle(&idles, &idle))
		windows_count(&b->switches, idle.cpu, idle.start_ns);
	while (rows_wait(&waits, &wait))
		take_wait(b, &wait);
	while (moves_next(&moves, &move))
		windows_count(&b->moves, 0, move.ts_ns);
	return b->latencies.has_failed ? -ENOMEM : 0;
}

static int judge_switches(struct bottlenecks *b, uint32_t cpu)
{
	struct stretch at;

	if (!windows_worst(&b->switches, cpu, MAX_SWITCHES_PER_SEC, &at) ||
	    windows_sum(&b->switches, cpu, &at) < MIN_EVENTS)
		return 0;
	b->over[BOTTLENECK_SWITCHES][cpu] = at;
	return add(b, (struct bottleneck){ .rule = BOTTLENECK_SWITCHES,
	                                   .severity = at.per_second / MAX_SWITCHES_PER_SEC,
	                                   .cpu = cpu,
	                                   .at = at });
}

static int judge_load(struct bottlenecks *b, uint32_t cpu)
{
	struct stretch at;
	double waiting, busy, ns;

	if (!windows_worst(&b->waiting, cpu, MAX_WAITING * NS_PER_SECOND, &at))
		return 0;
	ns = (double)(at.to_ns - at.from_ns);
	waiting = (double)windows_sum(&b->waiting, cpu, &at) / ns;
	busy = 100 * (double)windows_sum(&b->busy, cpu, &at) / ns;
	if (busy < MIN_BUSY_PERCENT)
		return 0;
	b->over[BOTTLENECK_OVERLOAD][cpu] = at;
	return add(b, (struct bottleneck){ .rule = BOTTLENECK_OVERLOAD,
	                                   .severity = waiting / MAX_WAITING,
	                                   .cpu = cpu,
	                                   .at = at,
	                                   .busy_percent = busy,
	                                   .waiting = waiting });
}

static int judge_moves(struct bottlenecks *b)
{
	struct stretch at;

	if (!windows_worst(&b->moves, 0, MAX_MOVES_PER_SEC, &at) ||
	    windows_sum(&b->moves, 0, &at) < MIN_EVENTS)
		return 0;
	b->over[BOTTLENECK_MIGRATIONS][0] = at;
	return add(b, (struct bottleneck){ .rule = BOTTLENECK_MIGRATIONS,
	                                   .severity = at.per_second / MAX_MOVES_PER_SEC,
	                                   .at = at });
}

/* From the first of the long ones to the last. */
static struct stretch long_waits(const struct bottlenecks *b)
{
	struct rows it = { .sc = b->sc };
	struct stretch at = { .from_ns = UINT64_MAX };
	struct pair_wait w;

	while (rows_wait(&it, &w)) {
		if (!latency_counts(&w) || latency_ns(&w) <= LONG_NS)
			continue;
		if (pair_wait_woken_ns(&w) < at.from_ns)
			at.from_ns = pair_wait_woken_ns(&w);
		at.to_ns = w.end_ns;
	}
	return at;
}

static int judge_latency(struct bottlenecks *b)
{
	uint64_t p99_ns = samples_percentile(&b->latencies, HIST_P(99));
	struct stretch at;

	if (p99_ns <= LONG_NS)
		return 0;
	at = long_waits(b);
	b->over[BOTTLENECK_LATENCY][0] = at;
	return add(b, (struct bottleneck){ .rule = BOTTLENECK_LATENCY,
	                                   .severity = (double)p99_ns / (double)LONG_NS,
	                                   .at = at,
	                                   .avg_ns = (uint64_t)samples_mean(&b->latencies),
	                                   .p99_ns = p99_ns });
}

static int judge_starved(struct bottlenecks *b, uint32_t task)
{
	const struct pair_wait *w = &b->longest[task];
	uint64_t ns = latency_queue_ns(w);

	if (!w->end_ns || ns < LONG_NS)
		return 0;
	return add(b, (struct bottleneck){ .rule = BOTTLENECK_STARVED,
	                                   .severity = (double)ns / (double)LONG_NS,
	                                   .task = task,
	                                   .at = { pair_wait_start_ns(w), w->end_ns, 0 },
	                                   .wait = *w });
}

static int judge(struct bottlenecks *b)
{
	int err = judge_latency(b);

	if (!err)
		err = judge_moves(b);
	for (uint32_t i = 0; !err && i < b->sc->nr_cpus; i++) {
		err = judge_switches(b, i);
		if (!err)
			err = judge_load(b, i);
	}
	for (uint32_t i = 0; !err && i < b->sc->nr_tasks; i++)
		err = judge_starved(b, i);
	return err;
}

/* Whether a task did something, or had to wait, where a rule was found to hold. */
static int blame(struct bottlenecks *b, enum bottleneck_rule rule, uint32_t key, uint32_t task,
                 const uint64_t times[2])
{
	const struct stretch *at = &b->over[rule][key];
	/* The last moment of all belongs to the last window. */
	bool is_late = times[0] >= at->to_ns && at->to_ns < b->sc->to_ns;

	if (!at->to_ns || times[1] < at->from_ns || is_late || task == TASKS_NONE)
		return 0;
	return edges_add(&b->who[rule], key, task, times[1] - times[0]);
}

static bool holds(const struct bottlenecks *b, enum bottleneck_rule rule)
{
	for (uint32_t i = 0; i < b->nr_found; i++)
		if (b->found[i].rule == rule)
			return true;
	return false;
}

static int blame_waits(struct bottlenecks *b)
{
	struct rows it = { .sc = b->sc };
	struct pair_wait w;
	int err = 0;

	while (!err && rows_wait(&it, &w)) {
		const uint64_t times[] = { pair_wait_start_ns(&w), w.end_ns };

		if (w.cpu < b->sc->nr_cpus)
			err = blame(b, BOTTLENECK_OVERLOAD, w.cpu, w.task, times);
		if (!err && latency_counts(&w) && latency_ns(&w) > LONG_NS)
			err = blame(b, BOTTLENECK_LATENCY, 0, w.task, times);
	}
	return err;
}

static int find_affected(struct bottlenecks *b)
{
	struct rows it = { .sc = b->sc };
	SCOPED(moves_done) struct moves moves = { 0 };
	struct pair_slice s;
	struct pair_migration m;
	int err = moves_init(&moves, b->sc);

	while (!err && holds(b, BOTTLENECK_SWITCHES) && rows_slice(&it, &s))
		if (s.cpu < b->sc->nr_cpus)
			err = blame(b, BOTTLENECK_SWITCHES, s.cpu, s.task,
			            (uint64_t[]){ s.start_ns, s.start_ns });
	while (!err && holds(b, BOTTLENECK_MIGRATIONS) && moves_next(&moves, &m))
		err = blame(b, BOTTLENECK_MIGRATIONS, 0, m.task, (uint64_t[]){ m.ts_ns, m.ts_ns });
	if (!err && (holds(b, BOTTLENECK_OVERLOAD) || holds(b, BOTTLENECK_LATENCY)))
		err = blame_waits(b);
	return err;
}

int bottlenecks_find(struct bottlenecks *b, const struct scope *sc)
{
	int err;

	b->sc = sc;
	err = prepare(b);
	if (!err)
		err = collect(b);
	if (!err)
		err = judge(b);
	return err ? err : find_affected(b);
}

void bottlenecks_done(struct bottlenecks *b)
{
	windows_done(&b->switches);
	windows_done(&b->busy);
	windows_done(&b->waiting);
	windows_done(&b->moves);
	samples_done(&b->latencies);
	for (uint32_t i = 0; i < BOTTLENECK_RULES; i++) {
		edges_done(&b->who[i]);
		free(b->over[i]);
	}
	free(b->longest);
	free(b->found);
}
