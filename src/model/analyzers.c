#include "model/analyzers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "model/analyzers_priv.h"

void analyzers_free(struct analyzers *a)
{
	if (!a)
		return;
	for (int i = 0; i < ANALYZERS; i++)
		if (a->all[i].self)
			analyzers_table[i].close(a->all[i].self);
	free(a->places);
	free(a);
}

int analyzers_new(const struct analyzers_cfg *cfg, struct analyzers **out)
{
	struct analyzers *a;

	if (!cfg->pair || !cfg->tasks || cfg->nr_places > PAIR_MAX_CPUS)
		return -EINVAL;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->cfg = *cfg;
	if (!cfg->places)
		a->cfg.nr_places = 0;
	a->places = calloc(a->cfg.nr_places + 1, sizeof(*a->places));
	if (!a->places) {
		analyzers_free(a);
		return -ENOMEM;
	}
	if (a->cfg.nr_places)
		memcpy(a->places, cfg->places, a->cfg.nr_places * sizeof(*a->places));
	a->cfg.places = NULL;
	*out = a;
	return 0;
}

const char *analyzers_name(enum analyzer_id id)
{
	return analyzers_table[id].name;
}

int analyzers_set(const char *name, struct diag *d, uint32_t *out)
{
	char names[256] = "";
	size_t len = 0;

	if (strcmp(name, "all") == 0) {
		*out = ANALYZERS_ALL;
		return 0;
	}
	for (uint32_t i = 0; i < ANALYZERS; i++) {
		if (strcmp(name, analyzers_table[i].name) == 0) {
			*out = 1U << i;
			return 0;
		}
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s, ",
		                        analyzers_table[i].name);
	}
	return diag_set(d, -EINVAL, names, "there is no analyzer '%.64s'; there are all,", name);
}

uint64_t analyzers_kinds(uint32_t set)
{
	uint64_t kinds = 0;

	for (uint32_t i = 0; i < ANALYZERS; i++)
		if (set & 1U << i)
			kinds |= analyzers_table[i].kinds;
	return kinds;
}

static uint64_t at(struct analyzers *a, uint64_t ts_ns)
{
	if (ts_ns > a->now_ns)
		a->now_ns = ts_ns;
	return ts_ns ? ts_ns : a->now_ns;
}

static int start_one(struct analyzers *a, uint32_t i, uint64_t ts_ns)
{
	struct analyzer *one = &a->all[i];
	int err = 0;

	if (a->running & 1U << i)
		return 0;
	if (!one->self)
		err = analyzers_table[i].open(a, one);
	if (err)
		return err;
	if (analyzers_table[i].resume)
		analyzers_table[i].resume(one->self, ts_ns);
	one->since_ns = ts_ns;
	one->has_run = true;
	a->running |= 1U << i;
	return 0;
}

int analyzers_start(struct analyzers *a, uint32_t set, uint64_t ts_ns, struct diag *d)
{
	int err = 0, failed;

	ts_ns = at(a, ts_ns);
	for (uint32_t i = 0; i < ANALYZERS; i++) {
		if (!(set & 1U << i))
			continue;
		failed = start_one(a, i, ts_ns);
		if (failed)
			err = diag_set(d, failed, "start fewer of them", "cannot start %s",
			               analyzers_table[i].name);
	}
	return err;
}

static uint64_t run_ns(const struct analyzer *one, uint64_t now_ns)
{
	return one->since_ns && now_ns > one->since_ns ? now_ns - one->since_ns : 0;
}

void analyzers_stop(struct analyzers *a, uint32_t set, uint64_t ts_ns)
{
	ts_ns = at(a, ts_ns);
	for (uint32_t i = 0; i < ANALYZERS; i++) {
		if (!(set & a->running & 1U << i))
			continue;
		a->all[i].before_ns += run_ns(&a->all[i], ts_ns);
		a->all[i].since_ns = 0;
		a->running &= ~(1U << i);
	}
}

void analyzers_reset(struct analyzers *a, uint32_t set, uint64_t ts_ns)
{
	ts_ns = at(a, ts_ns);
	for (uint32_t i = 0; i < ANALYZERS; i++) {
		struct analyzer *one = &a->all[i];

		if (!(set & 1U << i) || !one->self)
			continue;
		analyzers_table[i].reset(one->self, ts_ns);
		one->has_run = a->running & 1U << i;
		one->since_ns = one->has_run ? ts_ns : 0;
		one->before_ns = 0;
		one->records = 0;
		one->lost = 0;
	}
}

uint32_t analyzers_running(const struct analyzers *a)
{
	return a->running;
}

void analyzers_status(const struct analyzers *a, enum analyzer_id id, struct analyzers_status *out)
{
	const struct analyzer *one = &a->all[id];
	bool is_running = a->running & 1U << id;

	*out = (struct analyzers_status){
		.is_running = is_running,
		.has_data = one->has_run,
		.observed_ns = one->before_ns + (is_running ? run_ns(one, a->now_ns) : 0),
		.records = one->records,
		.lost = one->lost,
		.one_in = pair_sampling(a->cfg.pair),
	};
}

/* Takes the lowest number out of a set; false when it is empty. */
static bool next_of(uint32_t *left, uint32_t *i)
{
	if (!*left)
		return false;
	*i = (uint32_t)__builtin_ctz(*left);
	*left &= *left - 1;
	return true;
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	const struct ev_lost *lost = (const struct ev_lost *)rec;
	uint64_t bit = rec->kind < EV_KIND_MAX ? EV_BIT(rec->kind) : 0;
	struct analyzers *a = ctx;

	if (rec->ts_ns > a->now_ns)
		a->now_ns = rec->ts_ns;
	for (uint32_t left = a->running, i; next_of(&left, &i);) {
		struct analyzer *one = &a->all[i];

		if (!one->since_ns)
			one->since_ns = a->now_ns;
		if (rec->kind == EV_LOST && lost->kind < EV_KIND_MAX &&
		    (analyzers_table[i].kinds & EV_BIT(lost->kind)))
			one->lost += lost->count;
		one->records += (analyzers_table[i].kinds & bit) != 0;
		if (one->sink.push)
			(void)!one->sink.push(one->sink.ctx, rec);
	}
	return 0;
}

static int advance(void *ctx, __u64 ts_ns)
{
	struct analyzers *a = ctx;

	if (ts_ns > a->now_ns)
		a->now_ns = ts_ns;
	for (uint32_t left = a->running, i; next_of(&left, &i);) {
		if (!a->all[i].since_ns)
			a->all[i].since_ns = a->now_ns;
		if (a->all[i].sink.advance)
			(void)!a->all[i].sink.advance(a->all[i].sink.ctx, ts_ns);
	}
	return 0;
}

struct ev_sink analyzers_sink(struct analyzers *a)
{
	return (struct ev_sink){ .push = push, .advance = advance, .ctx = a };
}

/* Who an index is matters to those that are stopped, too: they may go on later. */
static void on_task_begin(void *ctx, uint32_t task, uint64_t ts_ns)
{
	struct analyzers *a = ctx;

	for (uint32_t i = 0; i < ANALYZERS; i++)
		if (a->all[i].out.task_begin)
			a->all[i].out.task_begin(a->all[i].out.ctx, task, ts_ns);
}

static void on_task_end(void *ctx, uint32_t task, uint64_t ts_ns)
{
	struct analyzers *a = ctx;

	for (uint32_t i = 0; i < ANALYZERS; i++)
		if (a->all[i].out.task_end)
			a->all[i].out.task_end(a->all[i].out.ctx, task, ts_ns);
}

#define FORWARD(member, type)                                              \
	static void on_##member(void *ctx, const struct type *row)         \
	{                                                                  \
		struct analyzers *a = ctx;                                 \
                                                                           \
		for (uint32_t left = a->running, i; next_of(&left, &i);) { \
			const struct pair_out *out = &a->all[i].out;       \
                                                                           \
			if (out->member)                                   \
				out->member(out->ctx, row);                \
		}                                                          \
	}

FORWARD(switched, pair_switch)
FORWARD(wait, pair_wait)
FORWARD(wakeup, pair_wakeup)
FORWARD(migration, pair_migration)
FORWARD(span, pair_span)
FORWARD(mark, pair_mark)
FORWARD(gap, pair_gap)

struct pair_out analyzers_out(struct analyzers *a)
{
	return (struct pair_out){
		.ctx = a,
		.task_begin = on_task_begin,
		.task_end = on_task_end,
		.switched = on_switched,
		.wait = on_wait,
		.wakeup = on_wakeup,
		.migration = on_migration,
		.span = on_span,
		.mark = on_mark,
		.gap = on_gap,
	};
}

bool analyzers_has(const struct analyzers *a, enum analyzer_id id)
{
	return a->all[id].self != NULL;
}

#define READ(name, type, id)                                           \
	const struct type *analyzers_##name(const struct analyzers *a) \
	{                                                              \
		return a->all[id].self;                                \
	}

READ(event_buffer, event_buffer, ANALYZER_EVENT_BUFFER)
READ(latency, latency, ANALYZER_LATENCY_TRACKER)
READ(hotspots, hotspots, ANALYZER_CPU_HOTSPOT)
READ(migrations, migrations, ANALYZER_MIGRATION)
READ(history, history, ANALYZER_PROCESS_HISTORY)
READ(dsqs, dsq_monitor, ANALYZER_DSQ_MONITOR)
READ(rates, event_rates, ANALYZER_RATE_MONITOR)
READ(chains, chains, ANALYZER_WAKEUP_TRACKER)
READ(wakers, wakers, ANALYZER_WAKER_WAKEE)
READ(softirq, softirq, ANALYZER_SOFTIRQ)

const struct tasks *analyzers_tasks(const struct analyzers *a)
{
	return a->cfg.tasks;
}
