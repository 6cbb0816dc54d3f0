#include <errno.h>

#include "analyze/analyzers_report_priv.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/hist.h"
#include "model/dsq_monitor.h"
#include "model/hotspots.h"
#include "model/latency.h"

#define DEFAULT_PERCENTILE 90.0

/* All in microseconds, as the names without units have it. */
static void put_stats(struct facts *out, const struct hist *h)
{
	struct facts *f = facts_object(out, "stats");
	bool has = h->count > 0;

	facts_u64(f, "count", h->count);
	facts_us(f, "min", has, h->min_ns);
	facts_us(f, "max", has, h->max_ns);
	if (has)
		facts_double(f, "mean", hist_mean_ns(h) / 1000);
	else
		facts_null(f, "mean");
	facts_us(f, "p50", has, hist_percentile_ns(h, HIST_P(50)));
	facts_us(f, "p95", has, hist_percentile_ns(h, HIST_P(95)));
	facts_us(f, "p99", has, hist_percentile_ns(h, HIST_P(99)));
}

static const char *label(struct arena *mem, const uint64_t *us, uint32_t nr, uint32_t i)
{
	if (i == nr)
		return arena_printf(mem, ">%lluus", (unsigned long long)us[nr - 1]);
	return arena_printf(mem, "%llu-%lluus", i ? (unsigned long long)us[i - 1] : 0ULL,
	                    (unsigned long long)us[i]);
}

static int put_histogram(struct view *r, enum latency_kind kind, struct facts *out)
{
	static const uint64_t usual[] = { 10, 100, 1000, 10000 };
	const uint64_t *us = r->args->nr_buckets ? r->args->buckets_us : usual;
	uint32_t nr = r->args->nr_buckets ? r->args->nr_buckets : 4;
	uint64_t bounds[LATENCY_MAX_BUCKETS], counts[LATENCY_MAX_BUCKETS + 1];
	struct facts *list, *row;
	int64_t samples = -EINVAL;

	for (uint32_t i = 0; i < nr && i < LATENCY_MAX_BUCKETS; i++)
		bounds[i] = us[i] > UINT64_MAX / 1000 ? UINT64_MAX : us[i] * 1000;
	if (nr <= LATENCY_MAX_BUCKETS)
		samples = latency_histogram(analyzers_latency(r->a), kind, bounds, nr, counts);
	if (samples < 0)
		return diag_set(r->d, -EINVAL, "give 1 to 64 microseconds, ascending",
		                "the buckets are not in order, or too many");
	list = facts_list(out, "histogram");
	for (uint32_t i = 0; i <= nr; i++) {
		row = facts_object(list, NULL);
		facts_string(row, "bucket", label(r->mem, us, nr, i));
		facts_u64(row, "count", counts[i]);
	}
	facts_u64(out, "histogram_samples", (uint64_t)samples); /* the most recent ones */
	return 0;
}

static void put_row(const struct view *r, enum latency_by by, const struct latency_row *row,
                    struct facts *list)
{
	struct facts *f = facts_object(list, NULL);

	facts_u64(f, by == LATENCY_BY_CPU ? "cpu" : "pid", row->id);
	if (by == LATENCY_BY_TASK)
		facts_string(f, "comm", report_comm(r, row->comm_id));
	facts_u64(f, "count", row->time.samples);
	facts_double(f, "mean", (double)row->time.total_ns / (double)row->time.samples / 1000);
	facts_us(f, "p99", true, latency_percentile_ns(row, HIST_P(99)));
	facts_us(f, "max", true, row->time.max_ns);
}

/* By the 99th percentile. */
static int put_rows(const struct view *r, enum latency_kind kind, enum latency_by by,
                    struct facts *out)
{
	const struct latency *l = analyzers_latency(r->a);
	struct ranked *rows = report_rank_new(r, latency_nr(l, kind, by));
	struct facts *list;
	uint32_t nr = 0;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < latency_nr(l, kind, by); i++) {
		const struct latency_row *row = latency_at(l, kind, by, i);

		if (row && (by == LATENCY_BY_CPU || !r->args->has_pid || row->id == r->args->pid))
			rows[nr++] = (struct ranked){
				(double)latency_percentile_ns(row, HIST_P(99)), row->time.max_ns, i
			};
	}
	report_rank(rows, nr);
	list = facts_list(out, by == LATENCY_BY_CPU ? "by_cpu" : "by_pid");
	for (uint32_t i = 0; i < report_limit(r, nr); i++)
		put_row(r, by, latency_at(l, kind, by, rows[i].i), list);
	return 0;
}

int report_latency(struct view *r)
{
	const struct latency *l = analyzers_latency(r->a);
	struct facts *list = facts_list(r->out, "latencies"), *f;
	int err = 0;

	for (int k = 0; k < LATENCY_KINDS && !err; k++) {
		enum latency_kind kind = (enum latency_kind)k;

		f = facts_object(list, NULL);
		facts_string(f, "kind", latency_name(kind));
		put_stats(f, latency_all(l, kind));
		err = put_histogram(r, kind, f);
		if (!err)
			err = put_rows(r, kind, LATENCY_BY_CPU, f);
		if (!err)
			err = put_rows(r, kind, LATENCY_BY_TASK, f);
	}
	r->left_out = latency_forgotten(l);
	return err;
}

static void put_hotspot(const struct view *r, struct facts *list, uint32_t cpu)
{
	const struct hotspots *h = analyzers_hotspots(r->a);
	const struct hotspots_cpu *c = hotspots_cpu_at(h, cpu);
	uint32_t rank = hotspots_rank(h, cpu);
	struct facts *f = facts_object(list, NULL);
	bool has = c->latency.samples > 0;

	facts_u64(f, "cpu", cpu);
	report_rate(r, f, "context_switch_rate", c->nr_switches);
	report_rate(r, f, "ipi_rate", c->nr_ipis);
	report_rate(r, f, "migration_rate", c->nr_migrations);
	facts_us(f, "avg_latency", has, has ? c->latency.total_ns / c->latency.samples : 0);
	facts_double(f, "percentile", rank / 100.0);
	facts_string(f, "concern_level",
	             rank > 9900   ? "critical"
	             : rank > 9500 ? "high"
	                           : "medium");
}

/* Averages over the CPUs where anything happened. */
static void put_averages(const struct view *r, uint32_t nr, const uint64_t sums[3])
{
	static const char *const keys[3] = { "avg_context_switch_rate", "avg_ipi_rate",
		                             "avg_migration_rate" };
	struct facts *f = facts_object(r->out, "system_averages");

	for (int i = 0; i < 3; i++) {
		if (nr && r->status.observed_ns)
			facts_double(f, keys[i],
			             (double)sums[i] * 1e9 / (double)r->status.observed_ns / nr);
		else
			facts_null(f, keys[i]);
	}
}

int report_hotspots(struct view *r)
{
	const struct hotspots *h = analyzers_hotspots(r->a);
	double least = (r->args->percentile > 0 ? r->args->percentile : DEFAULT_PERCENTILE) * 100;
	struct ranked *rows = report_rank_new(r, hotspots_nr_cpus(h));
	uint32_t nr = 0, nr_cpus = 0;
	uint64_t sums[3] = { 0 };
	struct facts *list;

	if (!rows)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < hotspots_nr_cpus(h); cpu++) {
		const struct hotspots_cpu *c = hotspots_cpu_at(h, cpu);

		if (!c)
			continue;
		nr_cpus++;
		sums[0] += c->nr_switches;
		sums[1] += c->nr_ipis;
		sums[2] += c->nr_migrations;
		if (c->nr_switches && hotspots_rank(h, cpu) >= least)
			rows[nr++] = (struct ranked){ .key = (double)c->nr_switches, .i = cpu };
	}
	report_rank(rows, nr);
	list = facts_list(r->out, "hotspots");
	for (uint32_t i = 0; i < report_limit(r, nr); i++)
		put_hotspot(r, list, rows[i].i);
	facts_u64(r->out, "count", report_limit(r, nr));
	put_averages(r, nr_cpus, sums);
	facts_string(r->out, "latency_from", "waking");
	r->left_out = hotspots_left_out(h);
	return 0;
}

static void put_dsq(const struct view *r, struct facts *list, uint32_t i)
{
	const struct dsq_row *row = dsq_monitor_at(analyzers_dsqs(r->a), i);
	struct facts *f = facts_object(list, NULL);
	bool has = row->stay.samples > 0;

	facts_id(f, "dsq_id", row->dsq_id);
	facts_bool(f, "is_id_partial", row->is_cut);
	facts_u64(f, "enqueue_count", row->nr_inserted);
	facts_u64(f, "dequeue_count", row->nr_left);
	facts_u64(f, "moved_count", row->nr_moved);
	facts_u64(f, "run_count", row->nr_runs);
	facts_us(f, "avg_latency_us", has, has ? row->stay.total_ns / row->stay.samples : 0);
	facts_us(f, "p99_latency_us", has, dsq_monitor_percentile_ns(row, HIST_P(99)));
	facts_us(f, "max_latency_us", has, row->stay.max_ns);
	facts_known_u64(f, "max_queue_length", row->has_length, row->max_length);
	facts_known_u64(f, "current_queue_length", row->has_length, row->length);
}

int report_dsqs(struct view *r)
{
	const struct dsq_monitor *m = analyzers_dsqs(r->a);
	struct ranked *rows = report_rank_new(r, dsq_monitor_nr(m));
	uint32_t nr = dsq_monitor_nr(m);
	struct facts *list;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		const struct dsq_row *row = dsq_monitor_at(m, i);

		rows[i] = (struct ranked){ (double)row->nr_left, row->nr_runs, i };
	}
	report_rank(rows, nr);
	list = facts_list(r->out, "dsqs");
	for (uint32_t i = 0; i < report_limit(r, nr); i++)
		put_dsq(r, list, rows[i].i);
	facts_u64(r->out, "total_dsqs", nr);
	r->left_out = dsq_monitor_left_out(m);
	return 0;
}
