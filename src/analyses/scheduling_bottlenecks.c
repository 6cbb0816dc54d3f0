/* The rules of analyses/bottlenecks, as a report: the worst first. */
#include <errno.h>

#include "analyses/bottlenecks.h"
#include "analyses/passes.h"
#include "analyze/pass.h"
#include "analyze/top.h"
#include "base/cleanup.h"

#define DEFAULT_LIMIT  10
#define SHOWN_AFFECTED 10
#define NS_PER_MS      1e6

struct bottlenecks_work {
	struct scope sc;
	struct bottlenecks b;
};

static void done(void *work)
{
	struct bottlenecks_work *x = work;

	bottlenecks_done(&x->b);
}

static const char *describe(const struct bottlenecks_work *x, const struct bottleneck *f,
                            struct report *r)
{
	const struct source *s = x->sc.s;

	switch (f->rule) {
	case BOTTLENECK_SWITCHES:
		return report_printf(r, "CPU %u switched tasks %.0f times per second", f->cpu,
		                     f->at.per_second);
	case BOTTLENECK_LATENCY:
		return report_printf(r, "1 %% of wakeups took %.1f ms or more to get a CPU",
		                     (double)f->p99_ns / NS_PER_MS);
	case BOTTLENECK_MIGRATIONS:
		return report_printf(r, "tasks moved between CPUs %.0f times per second",
		                     f->at.per_second);
	case BOTTLENECK_OVERLOAD:
		return report_printf(r, "CPU %u was busy with %.1f tasks waiting for it", f->cpu,
		                     f->waiting);
	case BOTTLENECK_STARVED:
		return report_printf(r, "%s (%u) waited %.1f ms for a CPU%s",
		                     source_comm(s, f->task), source_tid(s, f->task),
		                     (double)latency_queue_ns(&f->wait) / NS_PER_MS,
		                     f->wait.is_open ? ", and still did at the end" : "");
	case BOTTLENECK_RULES:
		break;
	}
	return "";
}

static void show_type(const struct bottlenecks_work *x, const struct bottleneck *f,
                      struct report *r)
{
	static const char *const names[BOTTLENECK_RULES] = {
		[BOTTLENECK_SWITCHES] = "HighContextSwitchRate",
		[BOTTLENECK_LATENCY] = "LongWakeupLatency",
		[BOTTLENECK_MIGRATIONS] = "ExcessiveMigration",
		[BOTTLENECK_OVERLOAD] = "OverloadedCpu",
		[BOTTLENECK_STARVED] = "StarvedTask",
	};

	report_begin_object(r, "bottleneck_type");
	report_begin_object(r, f->rule < BOTTLENECK_RULES ? names[f->rule] : "?");
	if (f->rule == BOTTLENECK_SWITCHES || f->rule == BOTTLENECK_OVERLOAD)
		report_u64(r, "cpu", f->cpu);
	if (f->rule == BOTTLENECK_SWITCHES) {
		report_double(r, "rate_hz", f->at.per_second, 1);
	} else if (f->rule == BOTTLENECK_MIGRATIONS) {
		report_double(r, "migration_rate", f->at.per_second, 1);
	} else if (f->rule == BOTTLENECK_LATENCY) {
		report_u64(r, "avg_latency_ns", f->avg_ns);
		report_u64(r, "p99_latency_ns", f->p99_ns);
	} else if (f->rule == BOTTLENECK_OVERLOAD) {
		report_double(r, "busy_percent", f->busy_percent, 1);
		report_double(r, "avg_waiting", f->waiting, 2);
	} else {
		report_u64(r, "pid", source_tid(x->sc.s, f->task));
		report_u64(r, "wait_ns", latency_queue_ns(&f->wait));
		report_string(r, "cause", latency_cause(&f->wait));
		report_bool(r, "is_over", !f->wait.is_open);
	}
	report_end_object(r);
	report_end_object(r);
}

/* Those with the most, of what the rule is about. */
static int show_affected(const struct bottlenecks_work *x, const struct bottleneck *f,
                         struct report *r)
{
	SCOPED(top_done) struct top top = { .limit = SHOWN_AFFECTED };
	const struct edges *who = &x->b.who[f->rule];
	bool is_time = f->rule == BOTTLENECK_OVERLOAD || f->rule == BOTTLENECK_LATENCY;

	for (uint32_t i = 0; i < who->nr; i++)
		if (who->at[i].by == f->cpu)
			top_add(&top, is_time ? who->at[i].sum_ns : who->at[i].count, i);
	top_rank(&top);
	report_begin_array(r, "affected_pids");
	if (f->rule == BOTTLENECK_STARVED)
		report_u64(r, NULL, source_tid(x->sc.s, f->task));
	for (uint32_t i = 0; i < top.nr; i++)
		report_u64(r, NULL, source_tid(x->sc.s, who->at[top.entries[i].id].to));
	report_end_array(r);
	return top.has_failed ? -ENOMEM : 0;
}

static int show_one(const struct bottlenecks_work *x, const struct bottleneck *f, struct report *r)
{
	int err;

	report_begin_object(r, NULL);
	report_string(r, "description", describe(x, f, r));
	report_double(r, "severity", f->severity, 2);
	err = show_affected(x, f, r);
	report_begin_array(r, "time_range");
	report_u64(r, NULL, f->at.from_ns);
	report_u64(r, NULL, f->at.to_ns);
	report_end_array(r);
	show_type(x, f, r);
	report_end_object(r);
	return err;
}

static int collect(void *work)
{
	struct bottlenecks_work *x = work;

	return bottlenecks_find(&x->b, &x->sc);
}

static int show(void *work, struct report *r)
{
	const struct bottlenecks_work *x = work;
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_scheduling_bottlenecks, x->sc.args) };
	int err = 0;

	for (uint32_t i = 0; i < x->b.nr_found; i++)
		top_add(&top, top_fraction(x->b.found[i].severity), i);
	top_rank(&top);
	report_u64(r, "total_bottlenecks", x->b.nr_found);
	report_begin_array(r, "bottlenecks");
	for (uint32_t i = 0; !err && i < top.nr; i++)
		err = show_one(x, &x->b.found[top.entries[i].id], r);
	report_end_array(r);
	return top.has_failed ? -ENOMEM : err;
}

const struct pass pass_scheduling_bottlenecks = {
	.id = "scheduling_bottlenecks",
	.name = "Scheduling Bottlenecks",
	.category = "scheduling",
	.what = "what kept tasks from running: how severe, when, and which tasks were affected",
	.needs = EV_BIT(EV_SWITCH),
	.uses = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_MIGRATE),
	.cost = 5,
	.default_limit = DEFAULT_LIMIT,
	.work = { .size = sizeof(struct bottlenecks_work),
	          .collect = collect,
	          .show = show,
	          .done = done },
};
