/* The longest waits, or the wait of a task at a moment, explained. */
#include <errno.h>
#include <stdlib.h>

#include "analyze/explain.h"
#include "analyze/pass.h"
#include "analyze/passes.h"
#include "analyze/scope.h"
#include "base/cleanup.h"

#define DEFAULT_WAITS 3
#define MAX_WAITS     100

static uint64_t start_of(const struct pair_wait *w)
{
	return w->waking_ns ? w->waking_ns : w->wakeup_ns;
}

static uint64_t length(const struct pair_wait *w)
{
	return w->end_ns - start_of(w);
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

		if (w.is_open || (nr == max && length(&out[max - 1]) >= length(&w)))
			continue;
		if (at_ns && (at_ns < start_of(&w) || at_ns > w.end_ns))
			continue;
		at = nr < max ? nr++ : max - 1;
		for (; at > 0 && length(&out[at - 1]) < length(&w); at--)
			out[at] = out[at - 1];
		out[at] = w;
	}
	return nr;
}

static void show_runners(const struct source *s, const struct explain_wait *e, struct report *r)
{
	report_begin_array(r, "ran_meanwhile");
	for (uint32_t i = 0; i < e->nr_runners && i < EXPLAIN_MAX_RUNNERS; i++) {
		report_begin_object(r, NULL);
		report_string(r, "comm", source_comm(s, e->runners[i].task));
		report_u64(r, "tid", source_tid(s, e->runners[i].task));
		report_u64(r, "runtime_ns", e->runners[i].ns);
		report_u64(r, "slices", e->runners[i].nr_slices);
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
		report_string(r, "comm", source_comm(s, w->task));
		report_u64(r, "tid", source_tid(s, w->task));
		report_u64(r, "wait_ns", links[i].wait_ns);
		report_u64(r, "run_ns", links[i].run_ns);
		report_u64(r, "cpu", w->cpu);
		report_u64(r, "start_timestamp", start_of(w));
		report_u64(r, "end_timestamp", w->end_ns);
		report_end_object(r);
	}
	report_end_array(r);
	report_u64(r, "compound_delay_ns", sum);
}

static int show_wait(const struct source *s, const struct pair_wait *w, struct report *r)
{
	static const char *const causes[] = { "woken", "new", "preempted" };
	struct explain_link links[EXPLAIN_MAX_LINKS];
	struct explain_wait e;
	uint32_t nr_links;
	int err = explain_look(s, w, &e);

	if (!err)
		err = explain_links(s, w, links, &nr_links);
	if (err)
		return err;
	report_begin_object(r, NULL);
	report_string(r, "comm", source_comm(s, w->task));
	report_u64(r, "tid", source_tid(s, w->task));
	report_u64(r, "wait_ns", explain_wait_ns(&e));
	report_string(r, "cause", causes[w->cause]);
	report_string(r, "from",
	              w->cause == PAIR_PREEMPTED ? "switch"
	              : e.is_from_waking         ? "waking"
	                                         : "wakeup");
	report_u64(r, "cpu", w->cpu);
	report_u64(r, "start_timestamp", e.start_ns);
	report_u64(r, "end_timestamp", w->end_ns);
	report_string(r, "waker_comm", w->waker == TASKS_NONE ? NULL : source_comm(s, w->waker));
	report_u64(r, "busy_ns", e.busy_ns);
	report_u64(r, "idle_ns", e.idle_ns);
	report_u64(r, "unknown_ns", e.unknown_ns);
	report_u64(r, "irq_ns", e.irq_ns);
	report_u64(r, "softirq_ns", e.softirq_ns);
	report_u64(r, "migrations", e.nr_migrations);
	report_u64(r, "other_cpu_idle_ns", e.any_idle_ns);
	report_begin_array(r, "sentences");
	explain_sentences(s, &e, links, nr_links, r);
	report_end_array(r);
	show_runners(s, &e, r);
	show_idle(&e, r);
	show_links(s, links, nr_links, r);
	report_end_object(r);
	return 0;
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	uint32_t limit = pass_limit(&pass_explain, args), nr;
	SCOPED(scoped_free) struct pair_wait *waits = NULL;
	struct scope sc;
	int err = scope_init(&sc, s, args, d);

	if (err)
		return err;
	limit = limit > MAX_WAITS ? MAX_WAITS : limit;
	waits = calloc(limit, sizeof(*waits));
	nr = waits ? choose(&sc, waits, limit) : 0;
	scope_done(&sc);
	if (!waits)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	report_u64(r, "waits_explained", nr);
	report_begin_array(r, "waits");
	for (uint32_t i = 0; i < nr && !err; i++)
		err = show_wait(s, &waits[i], r);
	report_end_array(r);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

const struct pass pass_explain = {
	.id = "explain",
	.name = "Explain Waits",
	.category = "extended",
	.what = "why the longest waits were so long: who ran, what interrupted, which CPUs sat idle, who woke whom",
	.needs = EV_BIT(EV_SWITCH),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_WAKEUP_NEW),
	.cost = 2,
	.default_limit = DEFAULT_WAITS,
	.finds_by_task = TIMELINE_BIT(SLICE) | TIMELINE_BIT(WAIT) | TIMELINE_BIT(MIGRATION),
	.finds_by_cpu = TIMELINE_BIT(SLICE) | TIMELINE_BIT(SPAN) | TIMELINE_BIT(IDLE),
	.run = run,
};
