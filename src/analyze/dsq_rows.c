#include "analyze/dsq_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/slice_facts.h"
#include "analyze/walk.h"
#include "base/grow.h"

/* The queue's number; its bucket is there, though it may count nothing. */
static struct dsq *queue_of(struct dsq_rows *q, uint32_t i)
{
	if (i == BUCKETS_NONE)
		return NULL;
	if (i >= q->nr) {
		if (GROW(q->at, q->room, i))
			return NULL;
		q->at[q->nr++] = (struct dsq){ 0 };
	}
	return &q->at[i];
}

static int collect_waits(struct dsq_rows *q)
{
	struct walk w = { .sc = q->sc, .table = TIMELINE_DSQ };
	const union timeline_row *row;

	while ((row = walk_next(&w))) {
		uint64_t ns = row->dsq.end_ns - row->dsq.start_ns;
		uint32_t i = row->dsq.has_start ? buckets_add(&q->waits, row->dsq.dsq_id, ns)
		                                : buckets_count(&q->waits, row->dsq.dsq_id);
		struct dsq *queue = queue_of(q, i);

		if (!queue)
			return -ENOMEM;
		q->total++;
		queue->moved += row->dsq.is_moved;
		if (!row->dsq.has_start)
			continue;
		grouped_add(&q->starts, i, row->dsq.start_ns);
		grouped_add(&q->ends, i, row->dsq.end_ns);
	}
	return 0;
}

/* Runs belong to queues that a task has left: no others are added here. */
static struct dsq *queue_of_run(struct dsq_rows *q, const struct pair_run *run)
{
	if (run->dsq_id == EV_DSQ_INVALID || run->flags & EV_SCX_DSQ_CUT)
		return NULL;
	for (uint32_t i = 0; i < q->nr; i++)
		if (q->waits.at[i].key == run->dsq_id)
			return &q->at[i];
	return NULL;
}

static int collect_runs(struct dsq_rows *q)
{
	struct walk w = { .sc = q->sc, .table = TIMELINE_SLICE };
	const union timeline_row *row;
	struct slice_facts facts = { 0 };
	int err = slice_facts_init(&facts, q->sc);

	while (!err && (row = walk_next(&w))) {
		const struct pair_run *run = slice_run(&facts, &row->slice);
		struct dsq *queue = run ? queue_of_run(q, run) : NULL;

		if (!queue || row->slice.end == PAIR_END_OPEN)
			continue;
		queue->used++;
		queue->used_ns += row->slice.end_ns - row->slice.start_ns;
		if (!(run->flags & EV_SCX_HAS_SLICE))
			continue;
		queue->given++;
		queue->given_ns += run->slice_ns;
	}
	slice_facts_done(&facts);
	return err;
}

static void close_depth(const struct dsq_rows *q, struct dsq *queue, uint64_t until_ns)
{
	uint64_t ns = queue->has_depth ? scope_cut(q->sc, queue->depth_since_ns, until_ns) : 0;

	if (!ns)
		return;
	queue->known_ns += ns;
	queue->weighted += (double)queue->depth * (double)ns;
	if (queue->depth > queue->max_depth)
		queue->max_depth = queue->depth;
}

static int collect_depths(struct dsq_rows *q)
{
	struct walk w = { .sc = q->sc,
		          .table = TIMELINE_COUNTER,
		          .kinds = 1ULL << PAIR_DSQ_DEPTH,
		          .is_all = true };
	const union timeline_row *row;

	while ((row = walk_next(&w))) {
		uint32_t i = buckets_count(&q->waits, row->counter.id);
		struct dsq *queue = queue_of(q, i);

		if (!queue)
			return -ENOMEM;
		q->waits.at[i].count--; /* a depth is not a wait */
		close_depth(q, queue, row->counter.ts_ns);
		queue->has_depth = true;
		queue->depth = row->counter.value;
		queue->depth_since_ns = row->counter.ts_ns;
	}
	for (uint32_t i = 0; i < q->nr; i++)
		close_depth(q, &q->at[i], UINT64_MAX);
	return 0;
}

/* How many were in the queue at a time, from the waits: at one moment departures count before arrivals. */
static void derive_depth(const struct dsq_rows *q, uint32_t i)
{
	struct samples starts = grouped_at(&q->starts, i), ends = grouped_at(&q->ends, i);
	struct dsq *queue = &q->at[i];
	uint64_t depth = 0, since = 0, held_ns;
	size_t in = 0, out = 0;

	(void)samples_percentile(&starts, 0); /* sorts */
	(void)samples_percentile(&ends, 0);
	while (out < ends.nr) {
		bool is_in = in < starts.nr && starts.values[in] < ends.values[out];
		uint64_t now = is_in ? starts.values[in] : ends.values[out];

		held_ns = scope_cut(q->sc, since, now);
		queue->weighted += (double)depth * (double)held_ns;
		if (held_ns && depth > queue->max_depth)
			queue->max_depth = depth;
		since = now;
		/* A wait of no length enters and leaves at once. */
		if (is_in || in == out) {
			depth++;
			in++;
		}
		if (!is_in) {
			depth--;
			out++;
		}
	}
	queue->known_ns = q->sc->span_ns;
}

int dsq_rows_collect(struct dsq_rows *q, const struct scope *sc)
{
	int err;

	*q = (struct dsq_rows){ .sc = sc };
	err = collect_waits(q);
	if (!err)
		err = collect_runs(q);
	if (!err)
		err = collect_depths(q);
	if (!err)
		err = buckets_order(&q->waits);
	if (!err)
		err = grouped_order(&q->starts, q->nr);
	if (!err)
		err = grouped_order(&q->ends, q->nr);
	for (uint32_t i = 0; !err && i < q->nr; i++)
		if (!q->at[i].has_depth)
			derive_depth(q, i);
	return err;
}

void dsq_rows_done(struct dsq_rows *q)
{
	buckets_done(&q->waits);
	grouped_done(&q->starts);
	grouped_done(&q->ends);
	free(q->at);
	*q = (struct dsq_rows){ 0 };
}

int dsq_work_collect(void *work)
{
	struct dsq_work *x = work;

	return dsq_rows_collect(&x->rows, &x->sc);
}

void dsq_work_done(void *work)
{
	struct dsq_work *x = work;

	dsq_rows_done(&x->rows);
}

const char *dsq_scheduler(const struct source *s)
{
	struct pass_args all = { .cpu = PASS_ANY_CPU };
	struct scope sc = { .s = s, .args = &all };
	struct walk w = {
		.sc = &sc, .table = TIMELINE_MARK, .kinds = EV_BIT(EV_SCX_STATE), .is_all = true
	};
	const char *name = s->facts->scheduler;
	const union timeline_row *row;

	while (!name && (row = walk_next(&w)))
		if (row->mark.name_id)
			name = tasks_string(s->tasks, row->mark.name_id);
	return name;
}
