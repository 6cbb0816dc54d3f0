/*
 * How long tasks waited for a CPU after they were woken, or were new: analyze/latency.h says from when. Counted for the CPU
 * on which they ran in the end, wherever the waker was. Waits of preempted tasks are reported separately, because these
 * tasks were not woken.
 */
#include <errno.h>

#include "analyses/passes.h"
#include "analyze/edges.h"
#include "analyze/grouped.h"
#include "analyze/latency.h"
#include "analyze/pass.h"
#include "analyze/top.h"
#include "analyze/units.h"
#include "base/cleanup.h"
#include "base/hist.h"

#define AHEAD 16U /* pairs whose memory is fetched before they are added */

/* Pairs that wait to be added. They are all over memory, which takes longer to answer than all else that a row needs. */
struct pairs_ahead {
	struct {
		uint32_t by, to;
		uint64_t ns;
	} at[AHEAD];
	uint64_t nr; /* that came, of all */
};

struct waits {
	struct scope sc; /* of all CPUs, so that one can be compared with all */
	struct pass_args all_cpus;
	uint32_t cpu; /* PASS_ANY_CPU = all */
	struct samples all;
	struct grouped by_cpu;
	struct samples preempted;
	struct edges edges; /* wakers and wakees */
	struct pairs_ahead ahead;
	struct latency_from from;
	uint64_t nr_new;
	uint64_t nr_open, nr_preempted_open;
	struct pair_wait worst;
};

static void done(struct waits *x)
{
	samples_done(&x->all);
	grouped_done(&x->by_cpu);
	samples_done(&x->preempted);
	edges_done(&x->edges);
	scope_done(&x->sc);
}

/* The one that came AHEAD pairs earlier is added. */
static int add_pair(struct waits *x, uint32_t by, uint32_t to, uint64_t ns)
{
	struct pairs_ahead *a = &x->ahead;
	uint32_t at = (uint32_t)(a->nr % AHEAD), half = (at + AHEAD / 2) % AHEAD;
	int err = 0;

	if (a->nr >= AHEAD)
		err = edges_add(&x->edges, a->at[at].by, a->at[at].to, a->at[at].ns);
	if (a->nr >= AHEAD / 2)
		edges_fetch(&x->edges, a->at[half].by, a->at[half].to);
	edges_fetch_place(&x->edges, by, to);
	a->at[at].by = by;
	a->at[at].to = to;
	a->at[at].ns = ns;
	a->nr++;
	return err;
}

/* Those that are left, in the order in which they came. */
static int add_last_pairs(struct waits *x)
{
	struct pairs_ahead *a = &x->ahead;
	int err = 0;

	for (uint64_t i = a->nr > AHEAD ? a->nr - AHEAD : 0; i < a->nr && !err; i++)
		err = edges_add(&x->edges, a->at[i % AHEAD].by, a->at[i % AHEAD].to,
		                a->at[i % AHEAD].ns);
	return err;
}

static int add(struct waits *x, const struct pair_wait *w)
{
	uint64_t ns = latency_ns(w);
	bool is_shown = x->cpu == PASS_ANY_CPU || x->cpu == w->cpu;

	if (w->is_open) {
		*(w->cause == PAIR_PREEMPTED ? &x->nr_preempted_open : &x->nr_open) += is_shown;
		return 0;
	}
	if (w->cause == PAIR_PREEMPTED) {
		if (is_shown)
			samples_add(&x->preempted, ns);
		return 0;
	}
	samples_add(&x->all, ns);
	if (w->cpu < x->sc.nr_cpus)
		grouped_add(&x->by_cpu, w->cpu, ns);
	if (!is_shown)
		return 0;
	latency_from_add(&x->from, w);
	x->nr_new += w->cause == PAIR_NEW;
	if (!x->worst.end_ns || ns > latency_ns(&x->worst))
		x->worst = *w;
	return add_pair(x, latency_waker(w), w->task, ns);
}

static int collect(struct waits *x)
{
	struct rows it = { .sc = &x->sc };
	struct pair_wait row;
	int err = edges_init_tasks(&x->edges, x->sc.nr_tasks);

	while (!err && rows_wait(&it, &row))
		err = add(x, &row);
	if (!err)
		err = add_last_pairs(x);
	if (!err && (x->all.has_failed || x->preempted.has_failed))
		err = -ENOMEM;
	return err ? err : grouped_order(&x->by_cpu, x->sc.nr_cpus);
}

static void show_worst(const struct waits *x, struct report *r)
{
	if (!x->worst.end_ns) {
		report_null(r, "worst");
		return;
	}
	report_begin_object(r, "worst");
	task_report(x->sc.s, r, x->worst.task);
	waker_report(x->sc.s, r, latency_waker(&x->worst), pair_wait_woken_ns(&x->worst));
	report_u64(r, "latency_ns", latency_ns(&x->worst));
	latency_from_one(&x->worst, r);
	report_u64(r, "schedule_timestamp", x->worst.end_ns);
	report_u64(r, "cpu", x->worst.cpu);
	report_end_object(r);
}

static void show_edge(const struct waits *x, const struct edge *e, struct report *r)
{
	waker_report(x->sc.s, r, e->by, UNITS_LAST_NAME);
	report_u64(r, "wakee_pid", source_tid(x->sc.s, e->to));
	report_string(r, "wakee_comm", source_comm(x->sc.s, e->to));
	report_u64(r, "count", e->count);
	report_u64(r, "total_latency_ns", e->sum_ns);
	report_u64(r, "avg_latency_ns", e->sum_ns / e->count);
	report_u64(r, "max_latency_ns", e->max_ns);
}

static int show_edges(const struct waits *x, uint32_t limit, struct report *r)
{
	SCOPED(top_done) struct top top = { .limit = limit };

	for (uint32_t i = 0; i < x->edges.nr; i++)
		top_add(&top, x->edges.at[i].sum_ns, i);
	top_rank(&top);
	report_u64(r, "total_pairs", x->edges.nr);
	for (uint32_t i = 0; top_row(&top, i, r, "top_pairs_by_total_latency"); i++)
		show_edge(x, &x->edges.at[top.entries[i].id], r);
	return top.has_failed ? -ENOMEM : 0;
}

static void show_preempted(struct waits *x, struct report *r)
{
	report_begin_object(r, "preempted_wait");
	report_u64(r, "count", x->preempted.nr);
	report_u64(r, "total_ns", samples_sum(&x->preempted));
	report_u64(r, "still_waiting", x->nr_preempted_open);
	samples_report(&x->preempted, r, "_wait_ns");
	report_end_object(r);
}

static void show_cpu(const struct waits *x, uint32_t cpu, struct report *r)
{
	struct samples of = grouped_at(&x->by_cpu, cpu);

	report_u64(r, "cpu_id", cpu);
	report_u64(r, "count", of.nr);
	report_u64(r, "avg_latency_ns", (uint64_t)samples_mean(&of));
	report_u64(r, "p99_latency_ns", samples_percentile(&of, HIST_P(99)));
}

static int show_all(struct waits *x, uint32_t limit, struct report *r)
{
	SCOPED(top_done) struct top top = { .limit = limit };
	uint64_t nr = 0;

	for (uint32_t i = 0; i < x->sc.nr_cpus; i++) {
		struct samples of = grouped_at(&x->by_cpu, i);

		if (!of.nr)
			continue;
		nr++;
		top_add(&top, top_fraction(samples_mean(&of)), i);
	}
	top_rank(&top);
	report_u64(r, "total_wakeups", x->all.nr);
	report_u64(r, "total_cpus", nr);
	report_begin_object(r, "global_stats");
	samples_report(&x->all, r, "_latency_ns");
	report_end_object(r);
	samples_report_histogram(&x->all, r, "histogram");
	for (uint32_t i = 0; top_row(&top, i, r, "worst_cpus_by_avg_latency"); i++)
		show_cpu(x, (uint32_t)top.entries[i].id, r);
	return top.has_failed ? -ENOMEM : 0;
}

static void show_one(struct waits *x, struct report *r)
{
	struct samples of = grouped_at(&x->by_cpu, x->cpu);

	report_u64(r, "cpu_filter", x->cpu);
	report_begin_object(r, "cpu_stats");
	report_u64(r, "cpu_id", x->cpu);
	report_u64(r, "count", of.nr);
	samples_report(&of, r, "_latency_ns");
	report_end_object(r);
	samples_report_histogram(&of, r, "histogram");
	report_begin_object(r, "global_comparison");
	report_u64(r, "global_count", x->all.nr);
	if (x->all.nr) {
		report_u64(r, "global_avg_latency_ns", (uint64_t)samples_mean(&x->all));
		report_u64(r, "global_p99_latency_ns", samples_percentile(&x->all, HIST_P(99)));
	} else {
		report_null(r, "global_avg_latency_ns");
		report_null(r, "global_p99_latency_ns");
	}
	report_end_object(r);
}

static int show(struct waits *x, struct report *r)
{
	uint32_t limit = pass_limit(&pass_wakeup_latency, x->sc.args);
	int err = 0;

	latency_from_report(&x->from, r);
	if (x->cpu == PASS_ANY_CPU)
		err = show_all(x, limit, r);
	else
		show_one(x, r);
	report_u64(r, "new_tasks", x->nr_new);
	report_u64(r, "still_waiting", x->nr_open);
	show_worst(x, r);
	show_preempted(x, r);
	if (!err)
		err = show_edges(x, limit, r);
	report_string(r, "note",
	              "from the waking where it was recorded, else from the wakeup, to the "
	              "switch-in, whichever CPUs they happened on");
	return err;
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	SCOPED(done) struct waits x = { .all_cpus = *args, .cpu = args->cpu };
	int err;

	x.all_cpus.cpu = PASS_ANY_CPU;
	err = scope_init(&x.sc, s, &x.all_cpus, d);
	if (err)
		return err;
	err = collect(&x);
	if (!err)
		err = show(&x, r);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

const struct pass pass_wakeup_latency = {
	.id = "wakeup_latency",
	.name = "Wakeup Latency",
	.category = "scheduling",
	.what = "how long woken and new tasks waited for a CPU, on which CPUs, and their wakers",
	.needs = EV_BIT(EV_SWITCH),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_WAKEUP_NEW),
	.cost = 4,
	.run = run,
};
