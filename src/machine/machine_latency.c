#include "session/machine_latency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/stat.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/hist.h"
#include "base/map.h"
#include "session/machine_dist.h"
#include "session/stat_session.h"

#define TASKS_MAX     (1U << 18)
#define SCRATCH_BYTES (1ULL << 30) /* never reached: a thread with samples takes 7 KiB */

enum { PART_LATENCY, PART_PREEMPTED, PART_SLICE, PART_SLEEP, PARTS };

/* Which of our parts a metric belongs to. */
static const int part_of[TALLY_METRICS] = {
	[STAT_DELAY_WOKEN] = PART_LATENCY,   [STAT_DELAY_PREEMPTED] = PART_PREEMPTED,
	[STAT_SLICE_VOLUNTARY] = PART_SLICE, [STAT_SLICE_INVOLUNTARY] = PART_SLICE,
	[STAT_SLEEP_S] = PART_SLEEP,         [STAT_SLEEP_D] = PART_SLEEP,
	[STAT_SLEEP_OTHER] = PART_SLEEP,     [STAT_WAKING] = PARTS,
	[TALLY_DELAY_NEW] = PART_LATENCY,    [STAT_DSQ_LATENCY] = PARTS,
};

/* While adding up: one metric is looked at where it is, more are merged. */
struct sums {
	const struct hist *only[PARTS];
	struct hist *merged[PARTS];
};

struct crowd {
	struct latency_task *items;
	struct sums *sums;
	size_t nr, cap;
	struct map *index_of;
};

struct machine_latency {
	struct stat_session *session;
	struct crowd threads, processes;
	struct arena *scratch;
	double seconds;
	uint32_t nr_cpus;
	struct latency_cpu *cpus;
	uint64_t *switches; /* so far, by CPU */
	uint64_t *wakeups;
	uint64_t *arrivals;
	struct hist all;   /* waits of all CPUs */
	struct hist woken; /* waits after wakeups */
	uint32_t column[MACHINE_HEAT_ROWS];
	uint64_t lost;
};

uint32_t machine_heat_row(uint64_t ns)
{
	uint64_t us = ns / 1000;
	uint32_t row = us ? 64 - (uint32_t)__builtin_clzll(us) : 0;

	return row < MACHINE_HEAT_ROWS ? row : MACHINE_HEAT_ROWS - 1;
}

static int crowd_init(struct crowd *c)
{
	return map_new(sizeof(uint32_t), TASKS_MAX, &c->index_of);
}

static void crowd_done(struct crowd *c)
{
	map_free(c->index_of);
	free(c->items);
	free(c->sums);
}

static int crowd_grow(struct crowd *c)
{
	size_t cap = c->cap ? c->cap * 2 : 256;
	void *bigger;

	if (c->nr < c->cap)
		return 0;
	bigger = reallocarray(c->items, cap, sizeof(*c->items));
	if (!bigger)
		return -ENOMEM;
	c->items = bigger;
	bigger = reallocarray(c->sums, cap, sizeof(*c->sums));
	if (!bigger)
		return -ENOMEM;
	c->sums = bigger;
	c->cap = cap;
	return 0;
}

static int crowd_find(struct crowd *c, uint32_t id, uint32_t tgid, uint32_t *out)
{
	int err;

	if (map_find(c->index_of, &id, out))
		return 0;
	err = crowd_grow(c);
	if (!err)
		err = map_insert(c->index_of, &id, (uint32_t)c->nr);
	if (err)
		return err;
	c->items[c->nr] = (struct latency_task){ .id = id, .tgid = tgid };
	c->sums[c->nr] = (struct sums){ 0 };
	*out = (uint32_t)c->nr++;
	return 0;
}

static int add_hist(struct machine_latency *l, struct sums *s, int part, const struct hist *h)
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

static int add_view(struct machine_latency *l, struct crowd *c, uint32_t id,
                    const struct tally_row *row)
{
	const struct tally_view *v = &row->view[TALLY_INTERVAL];
	struct latency_task *task;
	uint32_t idx;
	int err = crowd_find(c, id, row->tgid, &idx);

	if (err)
		return err;
	task = &c->items[idx];
	task->voluntary += count_of(v, STAT_SLICE_VOLUNTARY);
	task->involuntary += count_of(v, STAT_SLICE_INVOLUNTARY);
	task->migrations += v->migrations.all;
	task->llc_migrations += v->migrations.cross_llc;
	task->node_migrations += v->migrations.cross_node;
	for (int m = 0; m < TALLY_METRICS && !err; m++)
		if (part_of[m] != PARTS && count_of(v, m))
			err = add_hist(l, &c->sums[idx], part_of[m], v->hist[m]);
	return err;
}

static void finish(struct crowd *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		c->items[i].latency = machine_dist_of(c->sums[i].only[PART_LATENCY]);
		c->items[i].preempted = machine_dist_of(c->sums[i].only[PART_PREEMPTED]);
		c->items[i].slice = machine_dist_of(c->sums[i].only[PART_SLICE]);
		c->items[i].sleep = machine_dist_of(c->sums[i].only[PART_SLEEP]);
	}
}

static int add_rows(struct machine_latency *l, const struct stat_report_in *in)
{
	int err = 0;

	for (size_t i = 0; i < in->nr_rows && !err; i++) {
		const struct tally_row *row = in->rows[i];
		const struct tally_view *v = &row->view[TALLY_INTERVAL];

		if (!v->crowd.nr_tasks && !row->open_slice_ns)
			continue;
		if (v->hist[STAT_DELAY_WOKEN])
			hist_merge(&l->woken, v->hist[STAT_DELAY_WOKEN]);
		if (!row->tid)
			continue; /* those for which there was no room */
		err = add_view(l, &l->threads, row->tid, row);
		if (!err)
			err = add_view(l, &l->processes, row->tgid, row);
	}
	return err;
}

static void add_cpus(struct machine_latency *l, const struct stat_report_in *in)
{
	memset(&l->all, 0, sizeof(l->all));
	for (uint32_t cpu = 0; cpu < l->nr_cpus && cpu < in->nr_cpus; cpu++) {
		const struct tally_cpu *tc = in->cpus[cpu];
		const struct stat_cpu *sc = stat_session_cpu(l->session, cpu);
		struct latency_cpu *out = &l->cpus[cpu];
		uint64_t arrivals;

		*out = (struct latency_cpu){ .tid = -1 };
		if (tc && tc->is_known) {
			out->wait = machine_dist_of(&tc->delay[TALLY_INTERVAL]);
			hist_merge(&l->all, &tc->delay[TALLY_INTERVAL]);
		}
		if (!sc)
			continue;
		out->switches = sc->events[STAT_EV_SWITCH] - l->switches[cpu];
		out->wakeups = sc->events[STAT_EV_WAKEUP] + sc->events[STAT_EV_WAKEUP_NEW] -
		               l->wakeups[cpu];
		l->switches[cpu] = sc->events[STAT_EV_SWITCH];
		l->wakeups[cpu] = sc->events[STAT_EV_WAKEUP] + sc->events[STAT_EV_WAKEUP_NEW];
		out->has_arrivals = stat_session_arrivals(l->session, cpu, &arrivals);
		if (out->has_arrivals) {
			out->arrivals = arrivals - l->arrivals[cpu];
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
		.view = TALLY_INTERVAL,
		.output_fd = -1,
		.is_stepped = true,
	};

	return stat_session_open(&cfg, d, &l->session);
}

static void scoped_latency(struct machine_latency *const *l)
{
	machine_latency_close(*l);
}

int machine_latency_open(uint32_t tgid, struct diag *d, struct machine_latency **out)
{
	SCOPED(scoped_latency) struct machine_latency *l = calloc(1, sizeof(*l));
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
	    crowd_init(&l->threads) || crowd_init(&l->processes))
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
	crowd_done(&l->threads);
	crowd_done(&l->processes);
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
	*out = cpu < l->nr_cpus ? l->cpus[cpu] : (struct latency_cpu){ .tid = -1 };
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
