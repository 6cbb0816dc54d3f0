#include <errno.h>
#include <string.h>

#include "analyze/analyzers_report_priv.h"
#include "base/diag.h"
#include "base/hist.h"
#include "model/softirq.h"

static void put_spread(struct facts *f, const struct hist *h)
{
	bool has = h->count > 0;

	facts_us(f, "total_time_us", true, h->sum_ns);
	facts_us(f, "avg_duration_us", has, (uint64_t)hist_mean_ns(h));
	facts_us(f, "min_duration_us", has, h->min_ns);
	facts_us(f, "max_duration_us", has, h->max_ns);
	facts_us(f, "p50_duration_us", has, hist_percentile_ns(h, HIST_P(50)));
	facts_us(f, "p95_duration_us", has, hist_percentile_ns(h, HIST_P(95)));
	facts_us(f, "p99_duration_us", has, hist_percentile_ns(h, HIST_P(99)));
}

static void put_vector(struct facts *f, uint32_t vector)
{
	facts_u64(f, "softirq_nr", vector);
	facts_string(f, "softirq_name", softirq_name(vector));
}

static int put_summary(struct view *r)
{
	const struct softirq *s = analyzers_softirq(r->a);
	struct facts *f = facts_object(r->out, "summary");
	struct hist all = { 0 };
	uint32_t nr_types = 0;

	for (uint32_t v = 0; v < SOFTIRQ_VECTORS; v++) {
		hist_merge(&all, softirq_vector(s, v));
		nr_types += softirq_vector(s, v)->count > 0;
	}
	facts_u64(f, "total_events", all.count);
	report_rate(r, f, "event_rate_per_sec", all.count);
	put_spread(f, &all);
	facts_u64(f, "unique_softirq_types", nr_types);
	facts_string(r->out, "note", "rates are over the time observed");
	return 0;
}

static int put_types(struct view *r)
{
	const struct softirq *s = analyzers_softirq(r->a);
	struct ranked rows[SOFTIRQ_VECTORS];
	struct facts *list, *f;
	uint32_t nr = 0;

	for (uint32_t v = 0; v < SOFTIRQ_VECTORS; v++)
		if (softirq_vector(s, v)->count)
			rows[nr++] = (struct ranked){ .key = (double)softirq_vector(s, v)->count,
				                      .i = v };
	report_rank(rows, nr);
	facts_u64(r->out, "count", nr);
	list = facts_list(r->out, "stats");
	for (uint32_t i = 0; i < nr; i++) {
		const struct hist *h = softirq_vector(s, rows[i].i);

		f = facts_object(list, NULL);
		put_vector(f, rows[i].i);
		facts_u64(f, "count", h->count);
		report_rate(r, f, "rate_per_sec", h->count);
		put_spread(f, h);
	}
	return 0;
}

static bool is_asked_for(const struct view *r, uint32_t vector)
{
	return !r->args->has_softirq_nr || r->args->softirq_nr == vector;
}

static void put_asked_for(const struct view *r)
{
	facts_known_u64(r->out, "softirq_nr", r->args->has_softirq_nr, r->args->softirq_nr);
}

static void put_cpu(const struct view *r, struct facts *list, uint32_t i)
{
	uint32_t cpu = i / SOFTIRQ_VECTORS, vector = i % SOFTIRQ_VECTORS;
	const struct softirq_cpu *c = softirq_cpu_at(analyzers_softirq(r->a), cpu);
	const struct live_latency *t = &c->time[vector];
	struct facts *f = facts_object(list, NULL);

	facts_u64(f, "cpu", cpu);
	put_vector(f, vector);
	facts_u64(f, "count", t->samples);
	report_rate(r, f, "rate_per_sec", t->samples);
	facts_us(f, "avg_duration_us", true, t->total_ns / t->samples);
	facts_us(f, "p99_duration_us", true,
	         small_hist_percentile_ns(&c->hist[vector], HIST_P(99), t->min_ns, t->max_ns));
	facts_us(f, "max_duration_us", true, t->max_ns);
}

static int put_cpus(struct view *r)
{
	const struct softirq *s = analyzers_softirq(r->a);
	uint32_t max = softirq_nr_cpus(s) * SOFTIRQ_VECTORS, nr = 0;
	struct ranked *rows = report_rank_new(r, max);
	struct facts *list;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < max; i++) {
		uint64_t count =
			softirq_cpu_at(s, i / SOFTIRQ_VECTORS)->time[i % SOFTIRQ_VECTORS].samples;

		if (count && is_asked_for(r, i % SOFTIRQ_VECTORS))
			rows[nr++] = (struct ranked){ .key = (double)count, .i = i };
	}
	report_rank(rows, nr);
	put_asked_for(r);
	facts_u64(r->out, "count", report_limit(r, nr));
	list = facts_list(r->out, "stats");
	for (uint32_t i = 0; i < report_limit(r, nr); i++)
		put_cpu(r, list, rows[i].i);
	return 0;
}

static void put_task(const struct view *r, struct facts *list, uint32_t i)
{
	const struct softirq_task *t = softirq_task_at(analyzers_softirq(r->a), i);
	struct facts *f = facts_object(list, NULL);

	facts_u64(f, "pid", t->tid); /* 0: nobody ran */
	facts_string(f, "comm", report_comm(r, t->comm_id));
	put_vector(f, t->vector);
	facts_u64(f, "count", t->time.samples);
	facts_us(f, "total_time_us", true, t->time.total_ns);
	facts_us(f, "avg_duration_us", true, t->time.total_ns / t->time.samples);
	facts_us(f, "max_duration_us", true, t->time.max_ns);
}

static int put_tasks(struct view *r)
{
	const struct softirq *s = analyzers_softirq(r->a);
	struct ranked *rows = report_rank_new(r, softirq_nr_tasks(s));
	struct facts *list;
	uint32_t nr = 0;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < softirq_nr_tasks(s); i++)
		if (is_asked_for(r, softirq_task_at(s, i)->vector))
			rows[nr++] = (struct ranked){
				.key = (double)softirq_task_at(s, i)->time.total_ns, .i = i
			};
	report_rank(rows, nr);
	put_asked_for(r);
	facts_u64(r->out, "count", report_limit(r, nr));
	list = facts_list(r->out, "stats");
	for (uint32_t i = 0; i < report_limit(r, nr); i++)
		put_task(r, list, rows[i].i);
	return 0;
}

int report_softirq(struct view *r)
{
	static const struct {
		const char *mode;
		int (*put)(struct view *r);
	} modes[] = {
		{ "summary", put_summary },
		{ "by_type", put_types },
		{ "by_cpu", put_cpus },
		{ "by_process", put_tasks },
	};
	const char *mode = r->args->mode ? r->args->mode : modes[0].mode;

	r->left_out = softirq_left_out(analyzers_softirq(r->a));
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].mode, mode) != 0)
			continue;
		facts_string(r->out, "mode", modes[i].mode);
		return modes[i].put(r);
	}
	return diag_set(r->d, -EINVAL, "summary, by_type, by_cpu or by_process",
	                "there is no mode '%.32s'", mode);
}
