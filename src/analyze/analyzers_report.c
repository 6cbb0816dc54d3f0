#include "analyze/analyzers_report.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/analyzers_report_priv.h"
#include "base/arena.h"
#include "base/diag.h"
#include "model/tasks.h"

#define DEFAULT_LIMIT 20U

uint32_t report_limit(const struct view *r, uint32_t nr)
{
	uint32_t limit = r->args->limit ? r->args->limit : DEFAULT_LIMIT;

	return nr < limit ? nr : limit;
}

void report_rate(const struct view *r, struct facts *f, const char *key, uint64_t count)
{
	if (r->status.observed_ns)
		facts_double(f, key, (double)count * 1e9 / (double)r->status.observed_ns);
	else
		facts_null(f, key);
}

const char *report_comm(const struct view *r, uint32_t comm_id)
{
	return comm_id ? tasks_string(analyzers_tasks(r->a), comm_id) : NULL;
}

struct ranked *report_rank_new(const struct view *r, uint32_t max)
{
	return ARENA_ARRAY(r->mem, struct ranked, max + 1U);
}

static int by_key(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	if (x->tie != y->tie)
		return x->tie > y->tie ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

void report_rank(struct ranked *rows, uint32_t nr)
{
	qsort(rows, nr, sizeof(*rows), by_key);
}

static void put_status(const struct analyzers_status *s, struct facts *f)
{
	facts_bool(f, "running", s->is_running);
	facts_bool(f, "has_data", s->has_data);
	facts_u64(f, "duration_ns", s->observed_ns);
	facts_u64(f, "sampled_one_in", s->one_in);
	facts_u64(f, "records", s->records);
	facts_u64(f, "lost_records", s->lost);
}

int analyzers_report(const struct analyzers *a, enum analyzer_id id,
                     const struct analyzer_args *args, struct arena *mem, struct diag *d,
                     struct facts **out)
{
	static int (*const make[ANALYZERS])(struct view * r) = {
		[ANALYZER_EVENT_BUFFER] = report_event_buffer,
		[ANALYZER_LATENCY_TRACKER] = report_latency,
		[ANALYZER_CPU_HOTSPOT] = report_hotspots,
		[ANALYZER_MIGRATION] = report_migrations,
		[ANALYZER_PROCESS_HISTORY] = report_history,
		[ANALYZER_DSQ_MONITOR] = report_dsqs,
		[ANALYZER_RATE_MONITOR] = report_rates,
		[ANALYZER_WAKEUP_TRACKER] = report_chains,
		[ANALYZER_WAKER_WAKEE] = report_wakers,
		[ANALYZER_SOFTIRQ] = report_softirq,
	};
	struct view r = { .a = a, .args = args, .mem = mem, .d = d, .out = facts_new(mem) };
	struct facts *observed;
	int err = 0;

	if (!r.out)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	analyzers_status(a, id, &r.status);
	facts_string(r.out, "analyzer", analyzers_name(id));
	if (analyzers_has(a, id))
		err = make[id](&r);
	if (err)
		return diag_set(d, err, NULL, "cannot report of %s", analyzers_name(id));
	observed = facts_object(r.out, "observed");
	put_status(&r.status, observed);
	facts_u64(observed, "left_out", r.left_out);
	if (!facts_is_whole(r.out))
		return diag_set(d, -ENOMEM, "ask for fewer rows", "the report is too large");
	*out = r.out;
	return 0;
}

int analyzers_report_status(const struct analyzers *a, struct arena *mem, struct diag *d,
                            struct facts **out)
{
	struct facts *f = facts_new(mem), *list = facts_list(f, "analyzers"), *row;
	struct analyzers_status s;

	for (uint32_t i = 0; i < ANALYZERS; i++) {
		analyzers_status(a, (enum analyzer_id)i, &s);
		row = facts_object(list, NULL);
		facts_string(row, "name", analyzers_name((enum analyzer_id)i));
		put_status(&s, row);
	}
	if (!facts_is_whole(f))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	*out = f;
	return 0;
}
