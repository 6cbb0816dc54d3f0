/* The longest waits, or the wait of a task at a moment, explained. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/explain/explain.h"
#include "analyses/explain/explain_sleep.h"
#include "analyses/explain/quota_periods.h"
#include "analyses/passes.h"
#include "analyze/cgroups.h"
#include "analyze/latency.h"
#include "analyze/pass.h"
#include "analyze/scope.h"
#include "analyze/units.h"
#include "base/cleanup.h"

#define DEFAULT_WAITS 3
#define MAX_WAITS     100

static uint64_t length(const struct pair_wait *w)
{
	return w->end_ns - pair_wait_woken_ns(w);
}

/* The longest of those wanted, longest first; how many. */
static uint32_t choose(const struct scope *sc, struct pair_wait *out, uint32_t max)
{
	struct rows it = { .sc = sc };
	struct pair_wait w;
	uint32_t nr = 0;

	while (rows_wait(&it, &w)) {
		uint64_t at_ns = sc->args->at_ns;
		uint32_t at;

		if (nr == max && length(&out[max - 1]) >= length(&w))
			continue;
		if (at_ns && (at_ns < pair_wait_woken_ns(&w) || at_ns > w.end_ns))
			continue;
		at = nr < max ? nr++ : max - 1;
		for (; at > 0 && length(&out[at - 1]) < length(&w); at--)
			out[at] = out[at - 1];
		out[at] = w;
	}
	return nr;
}

static const char *const kinds[] = {
	[LEDGER_UNKNOWN] = "unknown",     [LEDGER_WAKING] = "waking", [LEDGER_QUEUE] = "queue",
	[LEDGER_THROTTLED] = "throttled", [LEDGER_STOLEN] = "stolen", [LEDGER_INTERRUPT] = "irq",
	[LEDGER_SOFTIRQ] = "softirq",     [LEDGER_TASK] = "task",     [LEDGER_IDLE] = "idle",
	[LEDGER_KINDS] = "smaller_parts",
};

_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == LEDGER_KINDS + 1, "a kind has no name");

static const char *const limits[EV_LIMITS] = {
	[EV_LIMIT_QUOTA] = "quota",
	[EV_LIMIT_RT] = "real_time",
	[EV_LIMIT_DEADLINE] = "deadline",
	[EV_LIMIT_YIELD] = "yield",
};

const char *explain_kind(uint8_t kind)
{
	return kinds[kind];
}

/* What was not recorded is not 0. */
static bool is_measured(const struct source *s, int kind)
{
	const uint64_t *nr = s->facts->kinds;

	switch (kind) {
	case LEDGER_INTERRUPT:
		return nr[EV_IRQ_ENTRY] || nr[EV_IPI_ENTRY];
	case LEDGER_SOFTIRQ:
		return nr[EV_SOFTIRQ_ENTRY];
	case LEDGER_THROTTLED:
		return pair_measures(s->pair) & (EV_MEASURES_QUOTA | EV_MEASURES_QUOTA_CPU);
	case LEDGER_STOLEN:
		return pair_measures(s->pair) & EV_MEASURES_STEAL;
	case LEDGER_QUEUE:
		return nr[EV_DSQ_LEAVE];
	case LEDGER_WAKING:
		return nr[EV_WAKING] && (nr[EV_WAKEUP] || nr[EV_MIGRATE]);
	default:
		return true;
	}
}

/* Quotas are not measured, but the limits of real-time and deadline tasks. */
static bool is_other_limit(const struct source *s, int kind)
{
	return kind == LEDGER_THROTTLED && pair_measures(s->pair) & EV_MEASURES_LIMITS;
}

void explain_sums(const struct source *s, const uint64_t ns[LEDGER_KINDS], struct report *r)
{
	for (int i = 0; i < LEDGER_KINDS; i++) {
		const char *key = report_printf(r, "%s_ns", kinds[i]);

		if (is_measured(s, i) || (ns[i] && is_other_limit(s, i)))
			report_u64(r, key, ns[i]);
		else
			report_null(r, key);
	}
}

static void show_cpu(uint16_t cpu, struct report *r)
{
	if (cpu == PAIR_NO_CPU)
		report_null(r, "cpu");
	else
		report_u64(r, "cpu", cpu);
}

/* Only of recordings that have them: answers are short. */
static void show_cgroup(const struct source *s, uint32_t cgroup, struct report *r)
{
	if (s->facts->kinds[EV_CGROUP])
		report_string(r, "cgroup", cgroup ? cgroup_name(s, cgroup, r) : NULL);
}

static void show_periods(const struct source *s, uint64_t cgroup, struct report *r)
{
	struct quota_periods periods;
	bool is_known = quota_periods(s, cgroup, &periods);

	report_u64_if(r, "throttled_periods", is_known, periods.throttled);
	report_u64_if(r, "passed_periods", is_known, periods.passed);
}

static void show_part(const struct source *s, const struct explain_wait *e,
                      const struct explain_part *p, struct report *r)
{
	report_begin_object(r, NULL);
	report_string(r, "kind", kinds[p->kind]);
	report_u64(r, "ns", p->ns);
	report_percent(r, "percent", p->ns, explain_wait_ns(e));
	show_cpu(p->cpu, r);
	report_string(r, "text", explain_part_text(s, &e->parts, p, r));
	if (p->kind == LEDGER_TASK) {
		report_string(r, "comm", source_comm_at(s, (uint32_t)p->what, e->wait.end_ns));
		report_u64(r, "tid", source_tid(s, (uint32_t)p->what));
		report_u64(r, "tasks", p->nr_tasks);
		report_string(r, "class", explain_class(p->prio, p->policy, r));
		show_cgroup(s, p->cgroup, r);
	}
	if (p->kind == LEDGER_THROTTLED) {
		report_string(r, "limit", limits[p->limit < EV_LIMITS ? p->limit : EV_LIMIT_QUOTA]);
		report_string(r, "cgroup", explain_cgroup(s, p->what));
		report_id(r, "cgroup_id", p->what);
		report_u64_if(r, "quota_ns", p->quota_ns, p->quota_ns);
		report_u64_if(r, "period_ns", p->period_ns, p->period_ns);
		show_periods(s, p->what, r);
	}
	if (p->kind == LEDGER_IDLE && p->what) {
		report_string(r, "forced_by",
		              source_comm_at(s, (uint32_t)p->what - 1, e->wait.end_ns));
		report_u64(r, "forced_by_tid", source_tid(s, (uint32_t)p->what - 1));
	}
	if (p->kind == LEDGER_STOLEN)
		report_bool(r, "is_estimated", e->parts.is_steal_estimated);
	report_u64(r, "times", p->nr_times);
	report_end_object(r);
}

static void show_parts(const struct source *s, const struct explain_wait *e, struct report *r)
{
	explain_sums(s, e->ns, r);
	if (e->forced_idle_ns)
		report_u64(r, "forced_idle_ns", e->forced_idle_ns);
	report_begin_array(r, "parts");
	for (uint32_t i = 0; i < e->parts.nr; i++)
		show_part(s, e, &e->parts.at[i], r);
	report_end_array(r);
	report_u64(r, "stays", e->nr_stays);
	report_begin_array(r, "stay_list");
	for (uint32_t i = 0; i < e->nr_stays && i < EXPLAIN_MAX_STAYS; i++) {
		report_begin_object(r, NULL);
		show_cpu(e->stays[i].cpu, r);
		report_u64(r, "start_timestamp", e->stays[i].start_ns);
		report_u64(r, "wait_ns", e->stays[i].end_ns - e->stays[i].start_ns);
		report_end_object(r);
	}
	report_end_array(r);
}

static void show_idle(const struct explain_wait *e, struct report *r)
{
	report_begin_array(r, "idle_cpus");
	for (uint32_t i = 0; i < e->nr_idle && i < EXPLAIN_MAX_IDLE; i++) {
		report_begin_object(r, NULL);
		report_u64(r, "cpu", e->idle[i].cpu);
		report_u64(r, "idle_ns", e->idle[i].ns);
		report_end_object(r);
	}
	report_end_array(r);
}

static void show_links(const struct source *s, const struct explain_link *links, uint32_t nr,
                       struct report *r)
{
	uint64_t sum = 0;

	report_begin_array(r, "chain");
	for (uint32_t i = 0; i < nr; i++) {
		const struct pair_wait *w = &links[i].wait;

		sum += links[i].wait_ns;
		report_begin_object(r, NULL);
		report_string(r, "comm", source_comm_at(s, w->task, w->end_ns));
		report_u64(r, "tid", source_tid(s, w->task));
		report_u64(r, "wait_ns", links[i].wait_ns);
		report_u64(r, "run_ns", links[i].run_ns);
		report_u64(r, "cpu", w->cpu);
		report_u64(r, "start_timestamp", pair_wait_woken_ns(w));
		report_u64(r, "end_timestamp", w->end_ns);
		report_string(r, "woken_by", explain_interrupt(s, w, r));
		report_end_object(r);
	}
	report_end_array(r);
	report_u64(r, "compound_delay_ns", sum);
}

static int show_wait(const struct source *s, struct ledger *l, const struct pair_wait *w,
                     enum pass_by by, struct report *r)
{
	static const char *const causes[] = { "woken", "new", "preempted" };
	struct explain_link links[EXPLAIN_MAX_LINKS];
	struct explain_wait e;
	uint32_t nr_links;
	int err = explain_measure(s, l, w, by, &e);

	if (!err)
		err = explain_links(s, w, links, &nr_links);
	if (err)
		return err;
	report_begin_object(r, NULL);
	report_string(r, "comm", source_comm_at(s, w->task, e.start_ns));
	report_u64(r, "tid", source_tid(s, w->task));
	show_cgroup(s, e.cgroup, r);
	report_u64(r, "wait_ns", explain_wait_ns(&e));
	report_bool(r, "is_open", w->is_open);
	report_string(r, "cause", causes[w->cause]);
	report_string(r, "from",
	              w->cause == PAIR_PREEMPTED ? "switch"
	              : e.is_from_waking         ? "waking"
	                                         : "wakeup");
	report_u64(r, "cpu", w->cpu);
	report_u64(r, "start_timestamp", e.start_ns);
	report_u64(r, "end_timestamp", w->end_ns);
	waker_report(s, r, w->cause == PAIR_PREEMPTED ? w->waker : latency_waker(w), e.start_ns);
	report_u64(r, "other_cpu_idle_ns", e.any_idle_ns);
	report_u64(r, "other_cpu_unknown_ns", e.unknown_elsewhere_ns);
	report_begin_array(r, "sentences");
	explain_sentences(s, &e, links, nr_links, r);
	report_end_array(r);
	show_parts(s, &e, r);
	show_idle(&e, r);
	show_links(s, links, nr_links, r);
	report_end_object(r);
	return 0;
}

/* The ledger is of the time that the waits cover. */
int explain_show_waits(const struct source *s, const struct pair_wait *waits, uint32_t nr,
                       enum pass_by by, struct report *r)
{
	SCOPED(scoped_ledger) struct ledger *l = NULL;
	uint64_t start_ns = UINT64_MAX, end_ns = 0;
	int err;

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t from = pair_wait_woken_ns(&waits[i]);

		start_ns = from < start_ns ? from : start_ns;
		end_ns = waits[i].end_ns > end_ns ? waits[i].end_ns : end_ns;
	}
	err = nr ? explain_ledger(s, start_ns, end_ns, &l) : 0;
	for (uint32_t i = 0; i < nr && !err; i++)
		err = show_wait(s, l, &waits[i], by, r);
	return err;
}

static bool wants_sleeps(const struct pass_args *args)
{
	return args->category && strcmp(args->category, "sleeps") == 0;
}

/* Sums take the ledger of the whole recording: only of tasks that are named. */
static bool wants_sums(const struct pass_args *args)
{
	return (args->tid || args->pid || args->comm || args->cgroup) && !args->at_ns &&
	       !wants_sleeps(args);
}

/*
 * The waits, or the sleeps. Without a choice a moment at which a task slept and did not wait is one of a sleep.
 */
static int show(const struct scope *sc, uint32_t limit, struct report *r)
{
	SCOPED(scoped_free) struct pair_wait *waits = calloc(limit, sizeof(*waits));
	uint32_t nr;
	int err;

	if (!waits)
		return -ENOMEM;
	if (wants_sleeps(sc->args))
		return explain_sleeps(sc, limit, r);
	nr = choose(sc, waits, limit);
	if (!nr && sc->args->at_ns && !sc->args->category && explain_has_sleep(sc))
		return explain_sleeps(sc, limit, r);
	report_u64(r, "waits_explained", nr);
	report_begin_array(r, "waits");
	err = explain_show_waits(sc->s, waits, nr, sc->args->by, r);
	report_end_array(r);
	return err;
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	uint32_t limit = pass_limit(&pass_explain, args);
	struct scope sc;
	int err = 0;

	if (args->by == PASS_BY_CLASS)
		return diag_set(d, -EINVAL, "thread, process, comm or cgroup",
		                "the tasks that one waited behind cannot be grouped by class");
	if (args->by == PASS_BY_CGROUP)
		err = cgroups_check(s, d);
	if (!err)
		err = scope_init(&sc, s, args, d);
	if (err)
		return err;
	if (s->facts->incomplete)
		report_string(r, "incomplete", s->facts->incomplete);
	err = show(&sc, limit > MAX_WAITS ? MAX_WAITS : limit, r);
	scope_done(&sc);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	return wants_sums(args) ? explain_all_waits(s, args, r, d) : 0;
}

const struct pass pass_explain = {
	.id = "explain",
	.name = "Explain Waits",
	.category = "extended",
	.what = "why the longest waits were so long: what ran, which interrupts came, which CPUs "
		"were idle, what woke the task; also why tasks slept",
	.needs = EV_BIT(EV_SWITCH),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_WAKEUP_NEW),
	.cost = 2,
	.default_limit = DEFAULT_WAITS,
	.finds_by_task = TIMELINE_BIT(SLICE) | TIMELINE_BIT(WAIT) | TIMELINE_BIT(MIGRATION) |
	                 TIMELINE_BIT(DSQ) | TIMELINE_BIT(THROTTLE),
	.finds_by_cpu = TIMELINE_BIT(SLICE) | TIMELINE_BIT(SPAN) | TIMELINE_BIT(IDLE) |
	                TIMELINE_BIT(GAP) | TIMELINE_BIT(STEAL),
	.run = run,
};
