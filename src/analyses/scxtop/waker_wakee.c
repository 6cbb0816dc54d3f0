/* scxtop's waker_wakee_analyzer: who wakes whom (analyses/relations), in the orders and with the keys that its clients know. */
#include <errno.h>
#include <string.h>

#include "analyses/passes.h"
#include "analyses/relations.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/units.h"
#include "base/cleanup.h"
#include "base/hist.h"
#include "model/interrupt.h"

static uint32_t waker_of(const struct relations *x, uint32_t i)
{
	return x->pairs.at[i].by;
}

static uint32_t wakee_of(const struct relations *x, uint32_t i)
{
	return x->pairs.at[i].to;
}

static double mean_ns(const struct relations *x, uint32_t i)
{
	return (double)x->pairs.at[i].sum_ns / (double)x->pairs.at[i].count;
}

static void show_share(struct report *r, const char *key, uint64_t part, uint64_t other)
{
	report_percent(r, key, part, part + other);
}

static void show_places(struct report *r, const struct relation *at)
{
	report_u64(r, "same_cpu_count", at->same_cpu);
	report_u64(r, "cross_cpu_count", at->cross_cpu);
	report_u64(r, "same_llc_count", at->same_llc);
	report_u64(r, "cross_llc_count", at->cross_llc);
	report_u64(r, "same_node_count", at->same_node);
	report_u64(r, "cross_node_count", at->cross_node);
	show_share(r, "same_cpu_pct", at->same_cpu, at->cross_cpu);
	show_share(r, "same_llc_pct", at->same_llc, at->cross_llc);
	show_share(r, "same_node_pct", at->same_node, at->cross_node);
	report_begin_array(r, "cpu_pairs");
	for (int i = 0; i < RELATION_CPU_PAIRS && at->cpus[i].count; i++) {
		report_begin_object(r, NULL);
		report_u64(r, "waker_cpu", at->cpus[i].waker_cpu);
		report_u64(r, "wakee_cpu", at->cpus[i].run_cpu);
		report_u64(r, "count", at->cpus[i].count);
		report_end_object(r);
	}
	report_end_array(r);
	report_u64(r, "other_cpu_pairs_count", at->other_cpus);
}

static void show_latency(struct samples *ns, struct report *r)
{
	figure_us(r, "min_latency_us", (double)samples_percentile(ns, 0));
	figure_us(r, "max_latency_us", (double)samples_percentile(ns, HIST_P(100)));
	figure_us(r, "total_latency_us", (double)samples_sum(ns));
	report_u64(r, "sample_count", ns->nr);
	figure_us(r, "avg_latency_us", samples_mean(ns));
	figure_us(r, "p50_latency_us", (double)samples_percentile(ns, HIST_P(50)));
	figure_us(r, "p95_latency_us", (double)samples_percentile(ns, HIST_P(95)));
	figure_us(r, "p99_latency_us", (double)samples_percentile(ns, HIST_P(99)));
	figure_us(r, "criticality_score", (double)samples_sum(ns)); /* count times average */
}

/* The one at that place of those that were described. */
static void show_pair(const struct relations *x, uint32_t i, uint32_t place, struct report *r)
{
	const struct source *s = x->sc.s;
	struct samples ns = grouped_at(&x->latencies, place);

	report_begin_object(r, NULL);
	waker_report(s, r, waker_of(x, i), UNITS_LAST_NAME);
	report_u64(r, "wakee_pid", source_tid(s, wakee_of(x, i)));
	report_string(r, "wakee_comm", tasks_comm(s->tasks, wakee_of(x, i)));
	report_u64(r, "wakeup_count", x->pairs.at[i].count);
	report_u64(r, "first_seen_ns", x->at[place].first_ns);
	report_u64(r, "last_seen_ns", x->at[place].last_ns);
	show_latency(&ns, r);
	show_places(r, &x->at[place]);
	report_end_object(r);
}

static int show_pairs(struct relations *x, const struct top *top, const char *key, struct report *r)
{
	int err = top->has_failed ? -ENOMEM : relations_describe(x, top);

	if (err)
		return err;
	report_begin_array(r, key);
	for (uint32_t i = 0; i < top->nr; i++)
		show_pair(x, (uint32_t)top->entries[i].id, i, r);
	report_end_array(r);
	return 0;
}

static int show_top(struct relations *x, struct top *top, struct report *r)
{
	top_rank(top);
	report_u64(r, "count", top->nr);
	return show_pairs(x, top, "relationships", r);
}

static int show_critical(struct relations *x, struct top *top, struct report *r)
{
	for (uint32_t i = 0; i < x->pairs.nr; i++)
		top_add(top, x->pairs.at[i].sum_ns, i);
	return show_top(x, top, r);
}

static int show_frequency(struct relations *x, struct top *top, struct report *r)
{
	for (uint32_t i = 0; i < x->pairs.nr; i++)
		top_add(top, x->pairs.at[i].count, i);
	return show_top(x, top, r);
}

static int show_slow(struct relations *x, struct top *top, struct report *r)
{
	for (uint32_t i = 0; i < x->pairs.nr; i++)
		top_add(top, top_fraction(mean_ns(x, i)), i);
	return show_top(x, top, r);
}

static const char *pattern(struct report *r, uint64_t a, uint64_t b)
{
	double ratio = a > b ? (double)a / (double)b : (double)b / (double)a;

	if (ratio < 1.2)
		return "balanced ping-pong";
	if (ratio < 2.0)
		return "slightly imbalanced";
	return report_printf(r, "asymmetric (%.1f:1)", ratio);
}

static void show_both_ways(const struct relations *x, uint32_t a, struct report *r)
{
	const struct source *s = x->sc.s;
	uint32_t b = a;

	(void)relations_reverse(x, a, &b);
	report_begin_object(r, NULL);
	report_u64(r, "pid_a", source_tid(s, waker_of(x, a)));
	report_string(r, "comm_a", tasks_comm(s->tasks, waker_of(x, a)));
	report_u64(r, "pid_b", source_tid(s, wakee_of(x, a)));
	report_string(r, "comm_b", tasks_comm(s->tasks, wakee_of(x, a)));
	report_u64(r, "a_wakes_b_count", x->pairs.at[a].count);
	figure_us(r, "a_wakes_b_avg_latency_us", mean_ns(x, a));
	report_u64(r, "b_wakes_a_count", x->pairs.at[b].count);
	figure_us(r, "b_wakes_a_avg_latency_us", mean_ns(x, b));
	report_string(r, "pattern_description",
	              pattern(r, x->pairs.at[a].count, x->pairs.at[b].count));
	report_end_object(r);
}

/* Each pair once, from the side of the lower thread id; most wakeups first. */
static int show_bidirectional(struct relations *x, struct top *top, struct report *r)
{
	const struct source *s = x->sc.s;
	uint32_t back;

	for (uint32_t i = 0; i < x->pairs.nr; i++)
		if (relations_reverse(x, i, &back) &&
		    source_tid(s, waker_of(x, i)) < source_tid(s, wakee_of(x, i)))
			top_add(top, x->pairs.at[i].count + x->pairs.at[back].count, i);
	top_rank(top);
	report_u64(r, "count", top->nr);
	report_u64(r, "total_count", relations_both_ways(x));
	report_begin_array(r, "relationships");
	for (uint32_t i = 0; i < top->nr; i++)
		show_both_ways(x, (uint32_t)top->entries[i].id, r);
	report_end_array(r);
	return top->has_failed ? -ENOMEM : 0;
}

/* The scope is that of the thread; a pair is there if either end is it. */
static void show_side(const struct relations *x, struct top *top, bool is_waker, struct report *r)
{
	uint64_t nr = 0;

	for (uint32_t i = 0; i < x->pairs.nr; i++)
		if (source_tid(x->sc.s, is_waker ? waker_of(x, i) : wakee_of(x, i)) ==
		    x->sc.args->tid) {
			nr++;
			top_add(top, x->pairs.at[i].count, i);
		}
	top_rank(top);
	report_u64(r, is_waker ? "as_waker_count" : "as_wakee_count", nr);
}

static int show_thread(struct relations *x, struct top *top, struct report *r)
{
	SCOPED(top_done) struct top other = { .limit = top->limit };
	int err;

	report_u64(r, "pid", x->sc.args->tid);
	show_side(x, top, true, r);
	show_side(x, &other, false, r);
	report_begin_object(r, "relationships");
	report_u64(r, "pid", x->sc.args->tid);
	err = show_pairs(x, top, "as_waker", r);
	if (!err)
		err = show_pairs(x, &other, "as_wakee", r);
	report_end_object(r);
	return err;
}

/* Tasks that were woken and have not run since. */
static uint64_t nr_pending(const struct relations *x)
{
	struct rows it = { .sc = &x->sc };
	struct pair_wait w;
	uint64_t nr = 0;

	while (rows_wait(&it, &w))
		nr += w.is_open && w.cause != PAIR_PREEMPTED;
	return nr;
}

static int show_summary(struct relations *x, struct top *top, struct report *r)
{
	(void)top;
	report_begin_object(r, "summary");
	report_bool(r, "enabled", x->sc.s->facts->is_live);
	report_u64(r, "total_relationships", x->pairs.nr);
	report_u64(r, "total_wakeups", x->total);
	report_u64(r, "bidirectional_count", relations_both_ways(x));
	report_u64(r, "pending_wakeups", nr_pending(x));
	report_end_object(r);
	return 0;
}

static const struct wakee_mode {
	const char *name, *description;
	int (*show)(struct relations *x, struct top *top, struct report *r);
} modes[] = {
	{ "critical", "by wakeups times average latency", show_critical },
	{ "frequency", "by number of wakeups", show_frequency },
	{ "latency", "by average latency", show_slow },
	{ "bidirectional", "tasks that wake each other", show_bidirectional },
	{ "for_pid", "the tasks that a task wakes, and its wakers", show_thread },
	{ "summary", "all wakeups together", show_summary },
};

static const struct wakee_mode *find_mode(const struct pass_args *args)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!args->category || strcmp(modes[i].name, args->category) == 0)
			return &modes[i];
	return NULL;
}

static int show(void *work, struct report *r)
{
	struct relations *x = work;
	const struct wakee_mode *mode = find_mode(x->sc.args);
	SCOPED(top_done) struct top top = { .limit = pass_limit(&pass_waker_wakee, x->sc.args) };

	report_string(r, "mode", mode->name);
	report_string(r, "description", mode->description);
	return mode->show(x, &top, r);
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	const struct wakee_mode *mode = find_mode(args);

	if (!mode)
		return diag_set(d, -EINVAL,
		                "critical, frequency, latency, bidirectional, for_pid or summary",
		                "there is no mode '%.32s'", args->category);
	if (mode->show == show_thread && !args->tid)
		return diag_set(d, -EINVAL, "give a pid", "the mode for_pid is about one pid");
	return pass_run_with(&pass_waker_wakee.work, s, args, r, d);
}

const struct pass pass_waker_wakee = {
	.id = "waker_wakee_analyzer",
	.name = "Waker/Wakee Analyzer",
	.category = "scxtop",
	.what = "who wakes whom, as scxtop's live analyzer shows it",
	.needs = EV_BIT(EV_SWITCH),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP),
	.cost = 5,
	.run = run,
	.work = { sizeof(struct relations), .collect = relations_collect, .show = show,
	          .done = relations_done },
};
