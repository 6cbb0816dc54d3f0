/*
 * Requests, and whatever else a recording gives a name and a length: how long they took, by name. Where the thread
 * is known, how much of that it ran, waited for a CPU and slept; what is left is unknown.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/buckets.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/units.h"
#include "analyze/walk.h"
#include "base/cleanup.h"
#include "base/grow.h"

struct request_parts {
	uint64_t known_ns; /* of requests whose thread is known */
	uint64_t running_ns;
	uint64_t waiting_ns;
	uint64_t sleeping_ns;
	uint64_t nr;
};

struct requests {
	struct scope sc;
	struct buckets names;        /* pairs of category and name */
	struct request_parts *parts; /* by number of the name's bucket */
	uint32_t nr, capacity;
	struct samples all;
	struct top slowest;
};

static void done(void *work)
{
	struct requests *x = work;

	buckets_done(&x->names);
	free(x->parts);
	samples_done(&x->all);
	top_done(&x->slowest);
}

static uint64_t overlap(const struct pair_span *span, uint64_t start, uint64_t end)
{
	start = start > span->start_ns ? start : span->start_ns;
	end = end < span->end_ns ? end : span->end_ns;
	return start < end ? end - start : 0;
}

/* Time of a thread's rows in one table within a request. */
static int time_in(const struct requests *x, const struct pair_span *span,
                   enum timeline_table table, uint64_t *ns)
{
	struct timeline_query q = { .table = table,
		                    .task = span->task,
		                    .cpu = TIMELINE_ANY_CPU,
		                    .from_ns = span->start_ns,
		                    .to_ns = span->end_ns };
	struct timeline_iter it;
	union timeline_row row;
	int err = timeline_find(x->sc.s->timeline, &q, &it);

	while (!err && timeline_next(&it, NULL, &row))
		*ns += table == TIMELINE_WAIT
		               ? overlap(span, pair_wait_start_ns(&row.wait), row.wait.end_ns)
		               : overlap(span, row.slice.start_ns, row.slice.end_ns);
	return err;
}

static int add_parts(const struct requests *x, const struct pair_span *span,
                     struct request_parts *to)
{
	int err;

	if (span->task == TASKS_NONE)
		return 0;
	to->nr++;
	to->known_ns += span->end_ns - span->start_ns;
	err = time_in(x, span, TIMELINE_SLICE, &to->running_ns);
	if (!err)
		err = time_in(x, span, TIMELINE_WAIT, &to->waiting_ns);
	return err ? err : time_in(x, span, TIMELINE_SLEEP, &to->sleeping_ns);
}

static struct request_parts *parts_of(struct requests *x, uint32_t i)
{
	if (i == BUCKETS_NONE)
		return NULL;
	if (GROW(x->parts, x->capacity, i))
		return NULL;
	if (i >= x->nr)
		x->parts[x->nr++] = (struct request_parts){ 0 };
	return &x->parts[i];
}

static int collect(void *work)
{
	struct requests *x = work;
	struct walk w = { .sc = &x->sc, .table = TIMELINE_SPAN, .kinds = 1ULL << PAIR_NAMED };
	const union timeline_row *row;
	int err = 0;

	x->slowest.limit = pass_limit(&pass_requests, x->sc.args);
	while (!err && (row = walk_next(&w))) {
		uint64_t ns = row->span.end_ns - row->span.start_ns;
		uint64_t key = bucket_pair(row->span.category_id, row->span.name_id);
		struct request_parts *parts = parts_of(x, buckets_add(&x->names, key, ns));

		samples_add(&x->all, ns);
		top_add(&x->slowest, ns, w.id - 1);
		err = parts ? add_parts(x, &row->span, parts) : -ENOMEM;
	}
	if (x->all.has_failed || x->slowest.has_failed)
		return -ENOMEM;
	return err ? err : buckets_order(&x->names);
}

/* Members running_ns, waiting_ns, sleeping_ns, unknown_ns; null without a thread. */
static void show_parts(const struct request_parts *p, struct report *r)
{
	uint64_t known = p->running_ns + p->waiting_ns + p->sleeping_ns;
	const uint64_t values[] = { p->running_ns, p->waiting_ns, p->sleeping_ns,
		                    p->known_ns > known ? p->known_ns - known : 0 };
	static const char *const keys[] = { "running_ns", "waiting_ns", "sleeping_ns",
		                            "unknown_ns" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		report_u64_if(r, keys[i], p->nr, values[i]);
}

static int show_names(const struct requests *x, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_requests, x->sc.args) };

	buckets_top(&x->names, false, &top);
	for (uint32_t i = 0; top_row(&top, i, r, "by_name"); i++) {
		uint32_t at = (uint32_t)top.entries[i].id;
		uint64_t key = x->names.at[at].key;

		figure_text(r, "name", x->sc.s, bucket_low(key));
		figure_text(r, "category", x->sc.s, bucket_high(key));
		buckets_report(&x->names, at, r);
		figure_per_sec(r, "rate_per_sec", (double)x->names.at[at].count, x->sc.covered_ns);
		report_u64(r, "with_thread", x->parts[at].nr);
		show_parts(&x->parts[at], r);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show_slowest(struct requests *x, struct report *r)
{
	int err = 0;

	top_rank(&x->slowest);
	report_begin_array(r, "slowest");
	for (uint32_t i = 0; !err && i < x->slowest.nr; i++) {
		struct request_parts parts = { 0 };
		union timeline_row row;

		(void)timeline_row(x->sc.s->timeline, TIMELINE_SPAN, x->slowest.entries[i].id,
		                   &row);
		err = add_parts(x, &row.span, &parts);
		report_begin_object(r, NULL);
		figure_text(r, "name", x->sc.s, row.span.name_id);
		report_id(r, "id", row.span.id);
		task_report(x->sc.s, r, row.span.task);
		report_u64(r, "timestamp", row.span.start_ns);
		report_u64(r, "duration_ns", x->slowest.entries[i].score);
		show_parts(&parts, r);
		report_end_object(r);
	}
	report_end_array(r);
	return err;
}

static int show(void *work, struct report *r)
{
	struct requests *x = work;
	int err;

	report_u64(r, "total_requests", x->all.nr);
	samples_report_object(&x->all, r, "latency");
	err = show_names(x, r);
	if (!err)
		err = show_slowest(x, r);
	report_string(
		r, "note",
		"running, waiting for a CPU and sleeping are those of the thread of the request "
		"while it lasted; null where no thread is known");
	return err;
}

const struct pass pass_requests = {
	.id = "requests",
	.name = "Requests",
	.category = "extended",
	.what = "how long requests took, by name, and what their threads did meanwhile",
	.needs = EV_BIT(EV_SPAN),
	.uses = EV_BIT(EV_SWITCH) | EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP),
	.cost = 3,
	.finds_by_task = TIMELINE_BIT(SLICE) | TIMELINE_BIT(WAIT),
	.work = { .size = sizeof(struct requests), .collect = collect, .show = show, .done = done },
};
