#include <errno.h>
#include <string.h>

#include "analyze/analyzers_report_priv.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/hist.h"
#include "model/wakers.h"

static double mean_ns(const struct wakers_edge *e)
{
	return (double)e->latency.total_ns / (double)e->latency.samples;
}

static void put_pct(struct facts *f, const char *key, uint64_t part, uint64_t other)
{
	if (part + other)
		facts_double(f, key, 100.0 * (double)part / (double)(part + other));
	else
		facts_null(f, key);
}

static void put_places(struct facts *f, const struct wakers_edge *e)
{
	struct facts *list, *row;

	facts_u64(f, "same_cpu_count", e->same_cpu);
	facts_u64(f, "cross_cpu_count", e->cross_cpu);
	facts_u64(f, "same_llc_count", e->same_llc);
	facts_u64(f, "cross_llc_count", e->cross_llc);
	facts_u64(f, "same_node_count", e->same_node);
	facts_u64(f, "cross_node_count", e->cross_node);
	put_pct(f, "same_cpu_pct", e->same_cpu, e->cross_cpu);
	put_pct(f, "same_llc_pct", e->same_llc, e->cross_llc);
	put_pct(f, "same_node_pct", e->same_node, e->cross_node);
	list = facts_list(f, "cpu_pairs");
	for (int i = 0; i < WAKERS_CPU_PAIRS && e->cpus[i].count; i++) {
		row = facts_object(list, NULL);
		facts_u64(row, "waker_cpu", e->cpus[i].waker_cpu);
		facts_u64(row, "wakee_cpu", e->cpus[i].run_cpu);
		facts_u64(row, "count", e->cpus[i].count);
	}
	facts_u64(f, "other_cpu_pairs_count", e->other_cpus);
}

static void put_edge(const struct view *r, struct facts *list, uint32_t i)
{
	const struct wakers_edge *e = wakers_at(analyzers_wakers(r->a), i);
	struct facts *f = facts_object(list, NULL);

	facts_known_u64(f, "waker_pid", e->waker_tid,
	                e->waker_tid); /* null: an interrupt, or idle */
	facts_string(f, "waker_comm", report_comm(r, e->waker_comm_id));
	facts_u64(f, "wakee_pid", e->wakee_tid);
	facts_string(f, "wakee_comm", report_comm(r, e->wakee_comm_id));
	facts_u64(f, "wakeup_count", e->latency.samples);
	facts_u64(f, "first_seen_ns", e->first_seen_ns);
	facts_u64(f, "last_seen_ns", e->last_seen_ns);
	facts_us(f, "min_latency_us", true, e->latency.min_ns);
	facts_us(f, "max_latency_us", true, e->latency.max_ns);
	facts_us(f, "total_latency_us", true, e->latency.total_ns);
	facts_u64(f, "sample_count", e->latency.samples);
	facts_double(f, "avg_latency_us", mean_ns(e) / 1000);
	facts_us(f, "p50_latency_us", true, wakers_percentile_ns(e, HIST_P(50)));
	facts_us(f, "p95_latency_us", true, wakers_percentile_ns(e, HIST_P(95)));
	facts_us(f, "p99_latency_us", true, wakers_percentile_ns(e, HIST_P(99)));
	facts_us(f, "criticality_score", true, e->latency.total_ns); /* count times average */
	put_places(f, e);
}

static int put_top(struct view *r, enum wakers_by by)
{
	const struct wakers *w = analyzers_wakers(r->a);
	uint32_t max = report_limit(r, wakers_nr(w));
	uint32_t *top = ARENA_ARRAY(r->mem, uint32_t, max + 1U);
	struct facts *list;

	if (!top)
		return -ENOMEM;
	max = wakers_top(w, by, top, max);
	facts_u64(r->out, "count", max);
	list = facts_list(r->out, "relationships");
	for (uint32_t i = 0; i < max; i++)
		put_edge(r, list, top[i]);
	return 0;
}

static int put_critical(struct view *r)
{
	return put_top(r, WAKERS_BY_SCORE);
}

static int put_frequency(struct view *r)
{
	return put_top(r, WAKERS_BY_COUNT);
}

static int put_latency(struct view *r)
{
	return put_top(r, WAKERS_BY_LATENCY);
}

/* Each pair once, from its edge of the lower number; most wakeups first. */
static uint32_t find_both_ways(const struct wakers *w, struct ranked *rows)
{
	uint32_t nr = 0, back;

	for (uint32_t i = 0; i < wakers_nr(w); i++)
		if (wakers_reverse(w, i, &back) && i < back)
			rows[nr++] = (struct ranked){
				.key = (double)(wakers_at(w, i)->latency.samples +
				                wakers_at(w, back)->latency.samples),
				.i = i
			};
	return nr;
}

static const char *pattern(const struct view *r, uint64_t a, uint64_t b)
{
	double ratio = a > b ? (double)a / (double)b : (double)b / (double)a;

	if (ratio < 1.2)
		return "balanced ping-pong";
	if (ratio < 2.0)
		return "slightly imbalanced";
	return arena_printf(r->mem, "asymmetric (%.1f:1)", ratio);
}

static void put_both_ways(const struct view *r, struct facts *list, uint32_t i)
{
	const struct wakers *w = analyzers_wakers(r->a);
	const struct wakers_edge *a = wakers_at(w, i), *b;
	struct facts *f = facts_object(list, NULL);
	uint32_t back = i;

	(void)wakers_reverse(w, i, &back);
	b = wakers_at(w, back);
	facts_u64(f, "pid_a", a->waker_tid);
	facts_string(f, "comm_a", report_comm(r, a->waker_comm_id));
	facts_u64(f, "pid_b", a->wakee_tid);
	facts_string(f, "comm_b", report_comm(r, a->wakee_comm_id));
	facts_u64(f, "a_wakes_b_count", a->latency.samples);
	facts_double(f, "a_wakes_b_avg_latency_us", mean_ns(a) / 1000);
	facts_u64(f, "b_wakes_a_count", b->latency.samples);
	facts_double(f, "b_wakes_a_avg_latency_us", mean_ns(b) / 1000);
	facts_string(f, "pattern_description", pattern(r, a->latency.samples, b->latency.samples));
}

static int put_bidirectional(struct view *r)
{
	const struct wakers *w = analyzers_wakers(r->a);
	struct ranked *rows = report_rank_new(r, wakers_nr(w));
	struct facts *list;
	uint32_t nr;

	if (!rows)
		return -ENOMEM;
	nr = find_both_ways(w, rows);
	report_rank(rows, nr);
	facts_u64(r->out, "count", report_limit(r, nr));
	facts_u64(r->out, "total_count", nr);
	list = facts_list(r->out, "relationships");
	for (uint32_t i = 0; i < report_limit(r, nr); i++)
		put_both_ways(r, list, rows[i].i);
	return 0;
}

static uint32_t rank_of_pid(const struct view *r, bool is_waker, struct ranked *rows)
{
	const struct wakers *w = analyzers_wakers(r->a);
	uint32_t nr = 0;

	for (uint32_t i = 0; i < wakers_nr(w); i++) {
		const struct wakers_edge *e = wakers_at(w, i);

		if ((is_waker ? e->waker_tid : e->wakee_tid) == r->args->pid)
			rows[nr++] = (struct ranked){ (double)e->latency.samples, e->last_seen_ns,
				                      i };
	}
	report_rank(rows, nr);
	return nr;
}

static int put_for_pid(struct view *r)
{
	uint32_t nr_all = wakers_nr(analyzers_wakers(r->a)), nr[2];
	struct ranked *rows[2] = { report_rank_new(r, nr_all), report_rank_new(r, nr_all) };
	struct facts *both, *list;

	if (!r->args->has_pid)
		return diag_set(r->d, -EINVAL, "give a pid", "the mode for_pid is about one pid");
	if (!rows[0] || !rows[1])
		return -ENOMEM;
	nr[0] = rank_of_pid(r, true, rows[0]);
	nr[1] = rank_of_pid(r, false, rows[1]);
	facts_u64(r->out, "pid", r->args->pid);
	facts_u64(r->out, "as_waker_count", nr[0]);
	facts_u64(r->out, "as_wakee_count", nr[1]);
	both = facts_object(r->out, "relationships");
	facts_u64(both, "pid", r->args->pid);
	for (int k = 0; k < 2; k++) {
		list = facts_list(both, k ? "as_wakee" : "as_waker");
		for (uint32_t i = 0; i < report_limit(r, nr[k]); i++)
			put_edge(r, list, rows[k][i].i);
	}
	return 0;
}

static int put_summary(struct view *r)
{
	const struct wakers *w = analyzers_wakers(r->a);
	struct facts *f = facts_object(r->out, "summary");
	struct wakers_total total;
	uint32_t nr = 0, back;

	wakers_total(w, &total);
	for (uint32_t i = 0; i < wakers_nr(w); i++)
		nr += wakers_reverse(w, i, &back) && i < back;
	facts_bool(f, "enabled", r->status.is_running);
	facts_u64(f, "total_relationships", wakers_nr(w));
	facts_u64(f, "total_wakeups", total.nr_wakeups);
	facts_u64(f, "bidirectional_count", nr);
	facts_u64(f, "pending_wakeups", total.pending);
	return 0;
}

int report_wakers(struct view *r)
{
	static const struct {
		const char *mode, *description;
		int (*put)(struct view *r);
	} modes[] = {
		{ "critical", "by wakeups times average latency", put_critical },
		{ "frequency", "by number of wakeups", put_frequency },
		{ "latency", "by average latency", put_latency },
		{ "bidirectional", "tasks that wake each other", put_bidirectional },
		{ "for_pid", "whom a task wakes, and who wakes it", put_for_pid },
		{ "summary", "all wakeups together", put_summary },
	};
	const char *mode = r->args->mode ? r->args->mode : modes[0].mode;
	struct wakers_total total;

	wakers_total(analyzers_wakers(r->a), &total);
	r->left_out = total.forgotten + total.no_memory;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].mode, mode) != 0)
			continue;
		facts_string(r->out, "mode", modes[i].mode);
		facts_string(r->out, "description", modes[i].description);
		return modes[i].put(r);
	}
	return diag_set(r->d, -EINVAL,
	                "critical, frequency, latency, bidirectional, for_pid or summary",
	                "there is no mode '%.32s'", mode);
}
