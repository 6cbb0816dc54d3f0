#include "machine/machine_latency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/stat.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/hist.h"
#include "base/map.h"
#include "stat/stat_session.h"

#define TASKS_MAX     (1U << 18)
#define SCRATCH_BYTES (1ULL << 30) /* never reached: a thread with samples takes 7 KiB */

/* Which distribution of an interval a metric belongs to; INTERVAL_DISTS = none. */
static const int dist_of[TALLY_METRICS] = {
	[STAT_DELAY_WOKEN] = INTERVAL_LATENCY,   [STAT_DELAY_PREEMPTED] = INTERVAL_PREEMPTED,
	[STAT_SLICE_VOLUNTARY] = INTERVAL_SLICE, [STAT_SLICE_INVOLUNTARY] = INTERVAL_SLICE,
	[STAT_SLEEP_S] = INTERVAL_SLEEP,         [STAT_SLEEP_D] = INTERVAL_SLEEP,
	[STAT_SLEEP_OTHER] = INTERVAL_SLEEP,     [STAT_WAKING] = INTERVAL_DISTS,
	[TALLY_DELAY_NEW] = INTERVAL_LATENCY,    [STAT_DSQ_LATENCY] = INTERVAL_DISTS,
};

/* While adding up: one metric is read in place, more are merged. */
struct metric_sums {
	const struct hist *only[INTERVAL_DISTS];
	struct hist *merged[INTERVAL_DISTS];
};

struct latency_table {
	struct machine_interval *items;
	struct metric_sums *sums;
	size_t nr, cap;
	struct map *index_of;
};

struct machine_latency {
	struct stat_session *session;
	struct latency_table threads, processes;
	struct arena *scratch;
	double seconds;
	uint64_t end_ns;
	uint32_t nr_cpus;
	struct latency_cpu *cpus;
	uint64_t *switches; /* so far, by CPU */
	uint64_t *wakeups;
	uint64_t *arrivals;
	struct hist all;   /* waits of all CPUs */
	struct hist woken; /* waits of woken and new tasks */
	uint32_t column[MACHINE_HEAT_ROWS];
	uint64_t lost;
};

uint32_t machine_heat_row(uint64_t ns)
{
	uint64_t us = ns / 1000;
	uint32_t row = us ? 64 - (uint32_t)__builtin_clzll(us) : 0;

	return row < MACHINE_HEAT_ROWS ? row : MACHINE_HEAT_ROWS - 1;
}

static int table_init(struct latency_table *t)
{
	return map_new(sizeof(uint32_t), TASKS_MAX, &t->index_of);
}

static void table_done(struct latency_table *t)
{
	map_free(t->index_of);
	free(t->items);
	free(t->sums);
}

static int table_grow(struct latency_table *t)
{
	size_t cap = t->cap;

	return GROW(t->items, cap, t->nr) || GROW(t->sums, t->cap, t->nr) ? -ENOMEM : 0;
}

static int table_find(struct latency_table *t, uint32_t id, uint32_t tgid, uint32_t *out)
{
	int err;

	if (map_find(t->index_of, &id, out))
		return 0;
	err = table_grow(t);
	if (!err)
		err = map_insert(t->index_of, &id, (uint32_t)t->nr);
	if (err)
		return err;
	t->items[t->nr] = (struct machine_interval){ .id = id, .tgid = tgid };
	t->sums[t->nr] = (struct metric_sums){ 0 };
	*out = (uint32_t)t->nr++;
	return 0;
}

static int add_hist(struct machine_latency *l, struct metric_sums *s, int part,
                    const struct hist *h)
{
	if (!s->only[part]) {
		s->only[part] = h;
		return 0;
	}
	if (!s->merged[part]) {
		s->merged[part] = ARENA_ARRAY(l->scratch, struct hist, 1);
		if (!s->merged[part])
			return -ENOMEM;
		*s->merged[part] = *s->only[part];
		s->only[part] = s->merged[part];
	}
	hist_merge(s->merged[part], h);
	return 0;
}

static uint64_t count_of(const struct tally_view *v, int metric)
{
	return v->hist[metric] ? v->hist[metric]->count : 0;
}

static int add_view(struct machine_latency *l, struct latency_table *t, uint32_t id,
                    const struct tally_row *row)
{
	const struct tally_view *v = &row->view[TALLY_INTERVAL];
	struct machine_interval *task;
	uint32_t idx;
	int err = table_find(t, id, row->tgid, &idx);

	if (err)
		return err;
	task = &t->items[idx];
	task->run_ns += v->times.run_ns;
	task->wait_ns += v->times.wait_ns;
	task->lacks_run |= v->has_gap;
	if (row->open_wait.ns >= MACHINE_STALL_NS && row->open_wait.ns > task->stall_ns)
		task->stall_ns = row->open_wait.ns;
	task->counts[INTERVAL_VOLUNTARY] += count_of(v, STAT_SLICE_VOLUNTARY);
	task->counts[INTERVAL_INVOLUNTARY] += count_of(v, STAT_SLICE_INVOLUNTARY);
	task->counts[INTERVAL_MIGRATIONS] += v->migrations.all;
	task->counts[INTERVAL_LLC_MIGRATIONS] += v->migrations.cross_llc;
	task->counts[INTERVAL_NODE_MIGRATIONS] += v->migrations.cross_node;
	for (int m = 0; m < TALLY_METRICS && !err; m++)
		if (dist_of[m] != INTERVAL_DISTS && count_of(v, m))
			err = add_hist(l, &t->sums[idx], dist_of[m], v->hist[m]);
	return err;
}

static void finish(struct latency_table *t)
{
	for (size_t i = 0; i < t->nr; i++)
		for (int k = 0; k < INTERVAL_DISTS; k++)
			t->items[i].dists[k] = machine_dist_of(t->sums[i].only[k]);
}

static int add_rows(struct machine_latency *l, const struct stat_report_in *in)
{
	int err = 0;

	for (size_t i = 0; i < in->nr_rows && !err; i++) {
		const struct tally_row *row = in->rows[i];
		const struct tally_view *v = &row->view[TALLY_INTERVAL];

		if (v->hist[STAT_DELAY_WOKEN])
			hist_merge(&l->woken, v->hist[STAT_DELAY_WOKEN]);
		if (v->hist[TALLY_DELAY_NEW])
			hist_merge(&l->woken, v->hist[TALLY_DELAY_NEW]);
		if (!row->tid)
			continue; /* those for which there was no room */
		err = add_view(l, &l->threads, row->tid, row);
		if (!err)
			err = add_view(l, &l->processes, row->tgid, row);
	}
	return err;
}

static const struct latency_cpu unknown_cpu = { .sums.lacks_arrivals = true, .tid = -1 };

static void add_cpus(struct machine_latency *l, const struct stat_report_in *in)
{
	memset(&l->all, 0, sizeof(l->all));
	for (uint32_t cpu = 0; cpu < l->nr_cpus && cpu < in->nr_cpus; cpu++) {
		const struct tally_cpu *tc = in->cpus[cpu];
		const struct stat_cpu *sc = stat_session_cpu(l->session, cpu);
		struct latency_cpu *out = &l->cpus[cpu];
		uint64_t arrivals, wakeups;

		*out = unknown_cpu;
		if (tc && tc->is_known) {
			out->wait = machine_dist_of(&tc->delay[TALLY_INTERVAL]);
			hist_merge(&l->all, &tc->delay[TALLY_INTERVAL]);
		}
		if (!sc)
			continue;
		wakeups = sc->events[STAT_EV_WAKING] + sc->events[STAT_EV_WAKEUP_NEW];
		out->sums.switches = sc->events[STAT_EV_SWITCH] - l->switches[cpu];
		out->sums.wakeups = wakeups - l->wakeups[cpu];
		l->switches[cpu] = sc->events[STAT_EV_SWITCH];
		l->wakeups[cpu] = wakeups;
		out->sums.lacks_arrivals = !stat_session_arrivals(l->session, cpu, &arrivals);
		if (!out->sums.lacks_arrivals) {
			out->sums.arrivals = arrivals - l->arrivals[cpu];
			l->arrivals[cpu] = arrivals;
		}
		if (sc->since_ns)
			out->tid = sc->is_idle ? 0 : sc->running_tid;
	}
}

static void make_column(struct machine_latency *l)
{
	memset(l->column, 0, sizeof(l->column));
	for (uint32_t i = 0; i < HIST_SLOTS; i++) {
		struct hist_range r = hist_slot_range(i);

		if (l->woken.slots[i])
			l->column[machine_heat_row(r.first + (r.last - r.first) / 2)] +=
				(uint32_t)l->woken.slots[i];
	}
}

static int take(void *ctx, struct stat_report_in *in, bool is_final)
{
	struct machine_latency *l = ctx;
	int err;

	(void)is_final;
	map_clear(l->threads.index_of);
	map_clear(l->processes.index_of);
	l->threads.nr = l->processes.nr = 0;
	arena_reset(l->scratch);
	memset(&l->woken, 0, sizeof(l->woken));
	l->seconds = in->interval_s;
	l->end_ns = in->time_ns;
	err = add_rows(l, in);
	finish(&l->threads);
	finish(&l->processes);
	add_cpus(l, in);
	make_column(l);
	l->lost = 0;
	for (size_t i = 0; i < in->own.lost.nr; i++)
		if (!in->own.lost.items[i].is_part)
			l->lost += in->own.lost.items[i].value;
	return err;
}

static int open_session(struct machine_latency *l, uint32_t tgid, struct diag *d)
{
	struct stat_session_cfg cfg = {
		.groups = { .asked = STAT_GROUP_LATENCY | STAT_GROUP_SLICE | STAT_GROUP_SLEEP |
		                     STAT_GROUP_MIGRATION },
		.tgid = tgid,
		.display = TALLY_BY_TID,
		.interval_ns = 1000000000ULL,
		.is_from_waking = true, /* as a recording has it */
		.view = TALLY_INTERVAL,
		.output_fd = -1,
		.is_stepped = true,
	};

	return stat_session_open(&cfg, d, &l->session);
}

DEFINE_SCOPED(machine_latency, machine_latency_close)

int machine_latency_open(uint32_t tgid, struct diag *d, struct machine_latency **out)
{
	SCOPED(scoped_machine_latency) struct machine_latency *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	err = open_session(l, tgid, d);
	if (err)
		return err;
	while (stat_session_cpu(l->session, l->nr_cpus))
		l->nr_cpus++;
	l->cpus = calloc(l->nr_cpus + 1, sizeof(*l->cpus));
	l->switches = calloc(l->nr_cpus + 1, sizeof(*l->switches));
	l->wakeups = calloc(l->nr_cpus + 1, sizeof(*l->wakeups));
	l->arrivals = calloc(l->nr_cpus + 1, sizeof(*l->arrivals));
	l->scratch = arena_new(SCRATCH_BYTES);
	if (!l->cpus || !l->switches || !l->wakeups || !l->arrivals || !l->scratch ||
	    table_init(&l->threads) || table_init(&l->processes))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	/* The first interval begins here. */
	err = machine_latency_step(l, d);
	if (err)
		return err;
	*out = TAKE_PTR(l);
	return 0;
}

void machine_latency_close(struct machine_latency *l)
{
	if (!l)
		return;
	stat_session_close(l->session);
	table_done(&l->threads);
	table_done(&l->processes);
	arena_free(l->scratch);
	free(l->cpus);
	free(l->switches);
	free(l->wakeups);
	free(l->arrivals);
	free(l);
}

int machine_latency_step(struct machine_latency *l, struct diag *d)
{
	int err = stat_session_step(l->session, take, l, d);

	return err && !d->code ? diag_set(d, err, NULL, "out of memory") : err;
}

double machine_latency_seconds(const struct machine_latency *l)
{
	return l->seconds;
}

uint64_t machine_latency_end_ns(const struct machine_latency *l)
{
	return l->end_ns;
}

struct latency_tasks machine_latency_threads(const struct machine_latency *l)
{
	struct latency_tasks t = { l->threads.items, l->threads.nr };

	return t;
}

struct latency_tasks machine_latency_processes(const struct machine_latency *l)
{
	struct latency_tasks t = { l->processes.items, l->processes.nr };

	return t;
}

void machine_latency_cpu(const struct machine_latency *l, uint32_t cpu, struct latency_cpu *out)
{
	*out = cpu < l->nr_cpus ? l->cpus[cpu] : unknown_cpu;
}

struct machine_dist machine_latency_all(const struct machine_latency *l)
{
	return machine_dist_of(&l->all);
}

const uint32_t *machine_latency_column(const struct machine_latency *l)
{
	return l->column;
}

uint64_t machine_latency_lost(const struct machine_latency *l)
{
	return l->lost;
}

const char *machine_latency_note(const struct machine_latency *l, size_t i)
{
	return i < stat_session_nr_notes(l->session) ? stat_session_note(l->session, i) : NULL;
}
