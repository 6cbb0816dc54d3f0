/*
 * What tasks sleep for: the system call in which each sleep began, and what ended it. A sleep counts with the part of it
 * that lies in the time asked for; one that has not ended counts so far, and has no end.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "abi/event_check.h"
#include "analyses/passes.h"
#include "analyses/sleep_ends.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/top.h"
#include "base/cleanup.h"

struct sleeper {
	uint64_t nr;
	uint64_t ns;
	uint64_t max_ns;
};

struct sleeps {
	struct scope sc;
	struct units units;
	struct sleeper *sleepers; /* by unit */
	struct sleeper all;
	struct edges reasons; /* of all: by 0, to the call */
	struct edges calls;   /* by unit, to the call */
	struct edges ends;    /* by unit, to what ended it */
	struct edges disks;   /* by unit, to the disk of the request whose completion ended it */
};

static void done(void *work)
{
	struct sleeps *x = work;

	free(x->sleepers);
	edges_done(&x->reasons);
	edges_done(&x->calls);
	edges_done(&x->ends);
	edges_done(&x->disks);
}

static void count(struct sleeper *s, uint64_t ns)
{
	s->nr++;
	s->ns += ns;
	if (ns > s->max_ns)
		s->max_ns = ns;
}

static int take(struct sleeps *x, const struct pair_sleep *s)
{
	uint64_t ns = scope_cut(&x->sc, s->start_ns, s->end_ns);
	uint32_t unit = units_of(&x->units, s->task), call = sleep_call(x->sc.s, s);
	int err;

	count(&x->sleepers[unit], ns);
	count(&x->all, ns);
	err = edges_add(&x->reasons, 0, call, ns);
	if (!err)
		err = edges_add(&x->calls, unit, call, ns);
	if (!err && !s->is_open)
		err = edges_add(&x->ends, unit, sleep_end(&x->units, s), ns);
	if (!err && s->dev)
		err = edges_add(&x->disks, unit, s->dev, ns);
	return err;
}

static int collect(void *work)
{
	struct sleeps *x = work;
	struct rows it = { .sc = &x->sc };
	struct pair_sleep s;
	int err;

	x->sleepers = calloc(x->units.nr ? x->units.nr : 1, sizeof(*x->sleepers));
	err = x->sleepers ? edges_init(&x->reasons) : -ENOMEM;
	if (!err)
		err = edges_init(&x->calls);
	if (!err)
		err = edges_init(&x->ends);
	if (!err)
		err = edges_init(&x->disks);
	while (!err && rows_sleep(&it, &s))
		if (s.task != TASKS_NONE)
			err = take(x, &s);
	edges_sort(&x->reasons);
	edges_sort(&x->calls);
	edges_sort(&x->ends);
	edges_sort(&x->disks);
	return err;
}

static void show_sums(const struct sleeper *s, struct report *r)
{
	report_u64(r, "sleeps", s->nr);
	report_u64(r, "sleep_ns", s->ns);
	report_u64(r, "max_sleep_ns", s->max_ns);
}

/* Both are null where none was recorded: the sleep began before the recording, or its record was lost. */
static void show_call(uint32_t call, struct report *r)
{
	report_string(r, "syscall", ev_call_name(call));
	report_string(r, "for", sleep_for((uint16_t)call));
}

static void show_reasons(const struct edges *e, uint32_t by, uint64_t all_ns, struct report *r)
{
	const struct edge *at;
	uint32_t nr = edges_of(e, by, &at);

	report_begin_array(r, "reasons");
	for (uint32_t i = 0; i < nr; i++) {
		report_begin_object(r, NULL);
		show_call(at[i].to, r);
		show_sums(&(struct sleeper){ at[i].count, at[i].sum_ns, at[i].max_ns }, r);
		report_percent(r, "percent", at[i].sum_ns, all_ns);
		report_end_object(r);
	}
	report_end_array(r);
}

/* Only where block requests were recorded. */
static void show_disks(const struct sleeps *x, uint32_t unit, uint64_t all_ns, struct report *r)
{
	const struct edge *at;
	uint32_t nr = edges_of(&x->disks, unit, &at);

	if (!x->sc.s->facts->kinds[EV_BLOCK])
		return;
	report_begin_array(r, "block_io");
	for (uint32_t i = 0; i < nr; i++) {
		const struct edge *e = &at[i];

		report_begin_object(r, NULL);
		report_string(r, "for",
		              report_printf(r, "block I/O on %s", figure_device(r, e->to)));
		report_string(r, "device", figure_device(r, e->to));
		show_sums(&(struct sleeper){ e->count, e->sum_ns, e->max_ns }, r);
		report_percent(r, "percent", e->sum_ns, all_ns);
		report_end_object(r);
	}
	report_end_array(r);
}

static int show(void *work, struct report *r)
{
	struct sleeps *x = work;
	SCOPED(top_done) struct top top = { .limit = pass_limit(&pass_sleeps, x->sc.args) };
	uint64_t nr = 0;

	for (uint32_t i = 0; i < x->units.nr; i++)
		if (x->sleepers[i].nr) {
			nr++;
			top_add(&top, x->sleepers[i].ns, i);
		}
	if (top.has_failed)
		return -ENOMEM;
	top_rank(&top);
	units_report_mode(&x->units, r);
	scope_report_pid(&x->sc, r);
	report_u64(r, "span_ns", x->sc.span_ns);
	show_sums(&x->all, r);
	show_reasons(&x->reasons, 0, x->all.ns, r);
	report_u64(r, "total_sleepers", nr);
	for (uint32_t i = 0; top_row(&top, i, r, "sleepers"); i++) {
		uint32_t unit = (uint32_t)top.entries[i].id;
		const struct sleeper *s = &x->sleepers[unit];

		units_report(&x->units, r, unit);
		show_sums(s, r);
		show_reasons(&x->calls, unit, s->ns, r);
		show_disks(x, unit, s->ns, r);
		sleep_ends_report(&x->ends, &x->units, unit, s->ns, r);
	}
	return 0;
}

const struct pass pass_sleeps = {
	.id = "sleeps",
	.name = "Sleeps",
	.category = "scheduling",
	.what = "what tasks sleep for: the system call of each sleep, and what ended it",
	.needs = EV_BIT(EV_SWITCH) | EV_BIT(EV_SLEEP),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP),
	.cost = 2,
	.default_by = PASS_BY_COMM,
	.work = { .size = sizeof(struct sleeps),
	          .units_at = offsetof(struct sleeps, units),
	          .collect = collect,
	          .show = show,
	          .done = done },
};
