#include "render/live_json.h"

#include <stdio.h>

#include "analyze/live_report.h"
#include "base/json_write.h"

#define MAX_EXACT (1ULL << 53) /* that a double holds */

static void put_u64(struct json_writer *w, const char *key, bool is_known, uint64_t value)
{
	if (is_known)
		jw_u64(w, key, value);
	else
		jw_null(w, key);
}

/* Built-in queues have bit 63 set, which many readers of JSON would round. */
static void put_id(struct json_writer *w, const char *key, uint64_t id)
{
	char text[24];

	if (id <= MAX_EXACT) {
		jw_u64(w, key, id);
		return;
	}
	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)id);
	jw_string(w, key, text);
}

static void put_latency(struct json_writer *w, const struct live_latency *lat)
{
	bool has_any = lat->samples > 0;

	jw_begin_object(w, "latency");
	put_u64(w, "avg_ns", has_any, has_any ? lat->total_ns / lat->samples : 0);
	put_u64(w, "min_ns", has_any, lat->min_ns);
	put_u64(w, "max_ns", has_any, lat->max_ns);
	jw_u64(w, "total_ns", lat->total_ns);
	jw_u64(w, "samples", lat->samples);
	jw_end_object(w);
}

static void put_cpu_counts(struct json_writer *w, const struct live_row *r)
{
	jw_u64(w, "nr_switches", r->nr_switches);
	jw_u64(w, "nr_wakeups", r->nr_wakeups);
	jw_u64(w, "nr_migrations", r->nr_migrations);
	put_latency(w, &r->latency);
}

static void put_dsq(struct json_writer *w, const struct live_row *r)
{
	put_id(w, "dsq_id", r->id);
	jw_u64(w, "nr_enqueues", r->nr_enqueues);
	jw_u64(w, "nr_dispatches", r->nr_dispatches);
	put_u64(w, "queue_depth", r->has_depth, r->queue_depth);
}

static void put_task(struct json_writer *w, enum live_kind kind, const struct live_row *r)
{
	if (kind == LIVE_THREADS) {
		jw_u64(w, "tid", r->id);
		put_u64(w, "pid", r->tgid, r->tgid);
	} else {
		jw_u64(w, "pid", r->id);
	}
	jw_string(w, "comm", r->comm);
	jw_u64(w, "nr_switches", r->nr_switches);
	jw_u64(w, "nr_wakeups", r->nr_wakeups);
	if (kind == LIVE_THREADS)
		jw_u64(w, "runtime_ns", r->runtime_ns);
	put_latency(w, &r->latency);
}

static void put_row(struct json_writer *w, enum live_kind kind, const struct live_row *r)
{
	jw_begin_object(w, NULL);
	switch (kind) {
	case LIVE_CPUS:
		jw_u64(w, "cpu_id", r->id);
		put_cpu_counts(w, r);
		break;
	case LIVE_LLCS:
	case LIVE_NODES:
		jw_u64(w, kind == LIVE_LLCS ? "llc_id" : "node_id", r->id);
		jw_u64(w, "nr_cpus", r->nr_cpus);
		put_cpu_counts(w, r);
		break;
	case LIVE_DSQS:
		put_dsq(w, r);
		break;
	case LIVE_PROCESSES:
	case LIVE_THREADS:
		put_task(w, kind, r);
		break;
	}
	jw_end_object(w);
}

static void put_observed(struct json_writer *w, const struct live_report *r)
{
	jw_begin_object(w, "observed");
	jw_u64(w, "duration_ns", r->observed_ns);
	jw_u64(w, "sampled_one_in", r->one_in);
	jw_string(w, "latency_from", r->from == LIVE_FROM_WAKING ? "waking" : "wakeup");
	jw_u64(w, "lost_records", r->lost);
	jw_end_object(w);
}

void live_json_members(struct json_writer *w, const struct live_report *r)
{
	static const struct {
		const char *list, *total;
		bool is_cut;
	} names[] = {
		[LIVE_CPUS] = { "cpus", "total_cpus", false },
		[LIVE_LLCS] = { "llcs", "total_llcs", false },
		[LIVE_NODES] = { "nodes", "total_nodes", false },
		[LIVE_DSQS] = { "dsqs", "total_dsqs", false },
		[LIVE_PROCESSES] = { "processes", "total_processes", true },
		[LIVE_THREADS] = { "processes", "total_processes", true },
	};

	jw_begin_array(w, names[r->kind].list);
	for (size_t i = 0; i < r->nr; i++)
		put_row(w, r->kind, &r->rows[i]);
	jw_end_array(w);
	jw_u64(w, names[r->kind].total, r->nr_total);
	if (names[r->kind].is_cut)
		jw_u64(w, "shown", r->nr);
	put_observed(w, r);
}

void live_json_put(struct json_writer *w, const char *key, const struct live_report *r)
{
	jw_begin_object(w, key);
	live_json_members(w, r);
	jw_end_object(w);
}
