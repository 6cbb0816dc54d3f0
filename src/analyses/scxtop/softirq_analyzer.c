/* scxtop's softirq_analyzer: softirqs (analyses/devices/softirqs) in the parts and with the keys that its clients know. */
#include <errno.h>
#include <string.h>

#include "analyses/devices/softirqs.h"
#include "analyses/passes.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "base/cleanup.h"
#include "base/hist.h"

static void show_us(struct report *r, const char *key, struct samples *s, uint32_t p10000)
{
	figure_us_if(r, key, s->nr, (double)samples_percentile(s, p10000));
}

static void show_spread(struct samples *s, struct report *r)
{
	figure_us(r, "total_time_us", (double)samples_sum(s));
	figure_us_if(r, "avg_duration_us", s->nr, samples_mean(s));
	show_us(r, "min_duration_us", s, 0);
	show_us(r, "max_duration_us", s, HIST_P(100));
	show_us(r, "p50_duration_us", s, HIST_P(50));
	show_us(r, "p95_duration_us", s, HIST_P(95));
	show_us(r, "p99_duration_us", s, HIST_P(99));
}

static int show_summary(const struct softirqs *x, struct report *r)
{
	/* Of all vectors; nothing else asks for them after this. */
	struct samples all = { .values = x->vectors.values.values, .nr = x->vectors.values.nr };

	report_begin_object(r, "summary");
	report_u64(r, "total_events", x->total);
	figure_per_sec(r, "event_rate_per_sec", (double)x->total, x->sc.covered_ns);
	show_spread(&all, r);
	report_u64(r, "unique_softirq_types", x->vectors.nr);
	report_end_object(r);
	report_string(r, "note", "rates are over the time observed");
	return 0;
}

static int show_types(const struct softirqs *x, struct report *r)
{
	SCOPED(top_done) struct top top = { .limit = x->vectors.nr };

	buckets_top(&x->vectors, true, &top);
	report_u64(r, "count", top.nr);
	for (uint32_t i = 0; top_row(&top, i, r, "stats"); i++) {
		const struct bucket *b = &x->vectors.at[top.entries[i].id];
		struct samples s = buckets_at(&x->vectors, (uint32_t)top.entries[i].id);

		softirqs_report_vector(r, (uint32_t)b->key);
		report_u64(r, "count", b->count);
		figure_per_sec(r, "rate_per_sec", (double)b->count, x->sc.covered_ns);
		show_spread(&s, r);
	}
	return top.has_failed ? -ENOMEM : 0;
}

/* Those of the vector that was asked for, by count or by time. */
static void choose(const struct softirqs *x, const struct buckets *b, bool is_by_count,
                   struct top *top)
{
	uint32_t vector = x->sc.args->vector;

	for (uint32_t i = 0; i < b->nr; i++)
		if (!vector || bucket_low(b->at[i].key) == vector - 1)
			top_add(top, is_by_count ? b->at[i].count : b->at[i].sum_ns, i);
	top_rank(top);
}

static void show_chosen(const struct softirqs *x, const struct top *top, struct report *r)
{
	report_u64_if(r, "softirq_nr", x->sc.args->vector, x->sc.args->vector - 1);
	report_u64(r, "count", top->nr);
	report_begin_array(r, "stats");
}

static int show_cpus(const struct softirqs *x, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_softirq_analyzer, x->sc.args) };

	choose(x, &x->cpus, true, &top);
	show_chosen(x, &top, r);
	for (uint32_t i = 0; i < top.nr; i++) {
		const struct bucket *b = &x->cpus.at[top.entries[i].id];
		struct samples s = buckets_at(&x->cpus, (uint32_t)top.entries[i].id);

		report_begin_object(r, NULL);
		report_u64(r, "cpu", bucket_high(b->key));
		softirqs_report_vector(r, bucket_low(b->key));
		report_u64(r, "count", b->count);
		figure_per_sec(r, "rate_per_sec", (double)b->count, x->sc.covered_ns);
		figure_us(r, "avg_duration_us", samples_mean(&s));
		show_us(r, "p99_duration_us", &s, HIST_P(99));
		figure_us(r, "max_duration_us", (double)b->max_ns);
		report_end_object(r);
	}
	report_end_array(r);
	return top.has_failed ? -ENOMEM : 0;
}

/* pid 0: the CPU was idle. */
static int show_tasks(const struct softirqs *x, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_softirq_analyzer, x->sc.args) };

	choose(x, &x->tasks, false, &top);
	show_chosen(x, &top, r);
	for (uint32_t i = 0; i < top.nr; i++) {
		const struct bucket *b = &x->tasks.at[top.entries[i].id];

		report_begin_object(r, NULL);
		report_u64(r, "pid", source_tid(x->sc.s, bucket_high(b->key)));
		report_string(r, "comm", tasks_comm(x->sc.s->tasks, bucket_high(b->key)));
		softirqs_report_vector(r, bucket_low(b->key));
		report_u64(r, "count", b->count);
		figure_us(r, "total_time_us", (double)b->sum_ns);
		figure_us(r, "avg_duration_us", (double)b->sum_ns / (double)b->count);
		figure_us(r, "max_duration_us", (double)b->max_ns);
		report_end_object(r);
	}
	report_end_array(r);
	return top.has_failed ? -ENOMEM : 0;
}

static const struct softirq_mode {
	const char *name;
	int (*show)(const struct softirqs *x, struct report *r);
} modes[] = {
	{ "summary", show_summary },
	{ "by_type", show_types },
	{ "by_cpu", show_cpus },
	{ "by_process", show_tasks },
};

static const struct softirq_mode *find_mode(const struct pass_args *args)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!args->category || strcmp(modes[i].name, args->category) == 0)
			return &modes[i];
	return NULL;
}

static int show(void *work, struct report *r)
{
	const struct softirqs *x = work;
	const struct softirq_mode *mode = find_mode(x->sc.args);

	report_string(r, "mode", mode->name);
	return mode->show(x, r);
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	return find_mode(args) ? pass_run_with(&pass_softirq_analyzer.work, s, args, r, d)
	                       : diag_set(d, -EINVAL, "summary, by_type, by_cpu or by_process",
	                                  "there is no mode '%.32s'", args->category);
}

const struct pass pass_softirq_analyzer = {
	.id = "softirq_analyzer",
	.name = "Softirq Analyzer",
	.category = "scxtop",
	.what = "softirqs by type, CPU and interrupted task, as scxtop's live analyzer shows them",
	.needs = EV_BIT(EV_SOFTIRQ_ENTRY) | EV_BIT(EV_SOFTIRQ_EXIT),
	.cost = 2,
	.run = run,
	.work = { sizeof(struct softirqs), .collect = softirqs_collect, .show = show,
	          .done = softirqs_done },
};
