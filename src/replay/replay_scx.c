#include "replay/replay_scx.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/buckets.h"
#include "analyze/dsq_rows.h"
#include "analyze/walk.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "replay/replay_sums.h"

/* A scheduler is loaded or unloaded. */
struct scx_change {
	uint64_t ts_ns;
	bool is_on;
	uint32_t name_id;
};

struct queue_sum {
	uint64_t depth;    /* at the last moment */
	uint64_t given_ns; /* to run, */
	uint64_t nr_given;
	uint64_t inserts;
};

struct replay_scx {
	const struct source *s;
	const char *name; /* of the scheduler, if there is only one */
	struct scx_change *changes;
	size_t nr_changes, room;
	struct machine_dsq *rows;
	struct queue_sum *queues; /* by number of the bucket */
	size_t nr_room;
};

DEFINE_SCOPED(replay_scx, replay_scx_free)

static int add_change(struct replay_scx *x, const struct pair_mark *mark)
{
	if (GROW(x->changes, x->room, x->nr_changes))
		return -ENOMEM;
	x->changes[x->nr_changes++] = (struct scx_change){ mark->ts_ns, mark->value == EV_SCX_ON,
		                                           mark->name_id };
	return 0;
}

int replay_scx_new(const struct source *s, struct replay_scx **out)
{
	SCOPED(scoped_replay_scx) struct replay_scx *x = calloc(1, sizeof(*x));
	const struct pass_args all = { .cpu = PASS_ANY_CPU };
	const struct scope sc = { .s = s, .args = &all };
	struct walk w = {
		.sc = &sc, .table = TIMELINE_MARK, .kinds = EV_BIT(EV_SCX_STATE), .is_all = true
	};
	const union timeline_row *row;
	int err = x ? 0 : -ENOMEM;

	while (!err && (row = walk_next(&w)))
		err = add_change(x, &row->mark);
	if (err)
		return err;
	x->s = s;
	x->name = dsq_scheduler(s);
	*out = TAKE_PTR(x);
	return 0;
}

void replay_scx_free(struct replay_scx *x)
{
	if (!x)
		return;
	free(x->changes);
	free(x->rows);
	free(x->queues);
	free(x);
}

/* Before the first change things were the other way round; without any, as at the end. */
static bool is_on(const struct replay_scx *x, uint64_t ts_ns)
{
	if (!x->nr_changes)
		return true;
	for (size_t i = x->nr_changes; i-- > 0;)
		if (x->changes[i].ts_ns <= ts_ns)
			return x->changes[i].is_on;
	return !x->changes[0].is_on;
}

const char *replay_scx_state(const struct replay_scx *x, uint64_t ts_ns, const char **name)
{
	*name = NULL;
	if (!x->s->facts->has_scx && !x->nr_changes)
		return NULL;
	if (!is_on(x, ts_ns))
		return "disabled";
	for (size_t i = x->nr_changes; i-- > 0 && !*name;)
		if (x->changes[i].ts_ns <= ts_ns && x->changes[i].name_id)
			*name = tasks_string(x->s->tasks, x->changes[i].name_id);
	if (!*name)
		*name = x->name;
	/* That there could be its events is not yet that it runs; a queue that is used is. */
	if (!*name && (x->nr_changes || x->s->facts->kinds[EV_DSQ_LEAVE]))
		*name = "?";
	return *name ? "enabled" : NULL;
}

bool replay_scx_of_task(const struct replay_scx *x, uint32_t task, uint64_t ts_ns,
                        struct pair_run *out)
{
	const struct timeline_whose runs = { TIMELINE_RUN, task, TIMELINE_ANY_CPU },
				    queues = { TIMELINE_DSQ, task, TIMELINE_ANY_CPU };
	const uint64_t *kinds = x->s->facts->kinds;
	union timeline_row row;

	if (kinds[EV_SCX_RUN] && timeline_before(x->s->timeline, &runs, ts_ns, &row)) {
		*out = row.run;
		return true;
	}
	if (!kinds[EV_DSQ_LEAVE] || !timeline_before(x->s->timeline, &queues, ts_ns, &row))
		return false;
	*out = (struct pair_run){ .ts_ns = row.dsq.end_ns,
		                  .dsq_id = row.dsq.dsq_id,
		                  .vtime = row.dsq.vtime,
		                  .task = task,
		                  .layer = row.dsq.layer,
		                  .cpu = row.dsq.cpu,
		                  .flags = row.dsq.flags };
	return true;
}

struct cell_queues {
	struct replay_scx *x;
	const struct replay_cell *c;
	struct buckets waits;        /* all by id */
	struct buckets starts, ends; /* of those that are or were in it, as times */
	struct buckets used;
};

static void done(struct cell_queues *q)
{
	buckets_done(&q->waits);
	buckets_done(&q->starts);
	buckets_done(&q->ends);
	buckets_done(&q->used);
}

static bool has_room(struct replay_scx *x, uint32_t nr)
{
	return GROW(x->queues, x->nr_room, nr) == 0;
}

/* The queue of that id, with no wait more; NULL without memory. */
static struct queue_sum *queue_of(struct cell_queues *q, uint64_t id)
{
	uint32_t nr = q->waits.nr, i = buckets_count(&q->waits, id);

	if (i == BUCKETS_NONE || !has_room(q->x, i))
		return NULL;
	if (q->waits.nr > nr)
		q->x->queues[i] = (struct queue_sum){ 0 };
	q->waits.at[i].count--;
	return &q->x->queues[i];
}

static int add_wait(struct cell_queues *q, const struct pair_dsq *row)
{
	struct queue_sum *queue = queue_of(q, row->dsq_id);
	uint32_t i = 0;

	if (!queue)
		return -ENOMEM;
	if (row->has_start) {
		uint64_t moment = replay_cell_moment(q->c);

		queue->depth += row->start_ns <= moment && row->end_ns > moment;
		queue->inserts += replay_cell_has(q->c, row->start_ns);
		(void)buckets_add(&q->starts, row->dsq_id, row->start_ns);
		(void)buckets_add(&q->ends, row->dsq_id, row->end_ns);
	}
	if (!replay_cell_has(q->c, row->end_ns))
		return 0;
	i = row->has_start ? buckets_add(&q->waits, row->dsq_id, row->end_ns - row->start_ns)
	                   : buckets_count(&q->waits, row->dsq_id);
	return i == BUCKETS_NONE ? -ENOMEM : 0;
}

static int collect_waits(struct cell_queues *q)
{
	const struct timeline_query all = replay_cell_query(q->c, TIMELINE_DSQ, TASKS_NONE);
	struct timeline_iter it;
	union timeline_row row;
	int err = timeline_find(q->x->s->timeline, &all, &it);

	while (!err && timeline_next(&it, NULL, &row))
		if (row.dsq.end_ns >= q->c->from_ns)
			err = add_wait(q, &row.dsq);
	return err;
}

/* How much of what was given was used: the slice that began then on that CPU, if it is over. */
static void add_used(struct cell_queues *q, const struct pair_run *run)
{
	const struct timeline_whose slices = { TIMELINE_SLICE, TASKS_NONE, run->cpu };
	union timeline_row row;

	if (!timeline_after(q->x->s->timeline, &slices, run->ts_ns, &row) ||
	    row.slice.start_ns != run->ts_ns || row.slice.task != run->task ||
	    !replay_cell_has(q->c, row.slice.end_ns) || row.slice.end == PAIR_END_OPEN)
		return;
	(void)buckets_add(&q->used, run->dsq_id, row.slice.end_ns - row.slice.start_ns);
}

static int collect_runs(struct cell_queues *q)
{
	struct timeline_ended it = replay_cell_ended(q->c, q->x->s->timeline, TIMELINE_RUN);
	union timeline_row row;

	while (timeline_ended_next(&it, &row)) {
		struct queue_sum *queue;

		if (row.run.dsq_id == EV_DSQ_INVALID)
			continue;
		queue = queue_of(q, row.run.dsq_id);
		if (!queue)
			return -ENOMEM;
		queue->given_ns += row.run.slice_ns;
		queue->nr_given++;
		add_used(q, &row.run);
	}
	return 0;
}

static double mean(uint64_t sum, uint64_t nr)
{
	return nr ? (double)sum / (double)nr : NAN;
}

/* The durations of a queue; none if it has no bucket. */
static struct samples samples_of(const struct buckets *b, uint64_t id)
{
	for (uint32_t i = 0; i < b->nr; i++)
		if (b->at[i].key == id)
			return buckets_at(b, i);
	return (struct samples){ 0 };
}

/* The most that were in it at an insertion, itself included: at one moment departures count before arrivals. */
static uint64_t most_at_once(const struct cell_queues *q, uint64_t id)
{
	struct samples starts = samples_of(&q->starts, id), ends = samples_of(&q->ends, id);
	uint64_t most = 0;
	size_t out = 0;

	if (!starts.nr)
		return 0;
	(void)samples_percentile(&starts, 0); /* sorts */
	(void)samples_percentile(&ends, 0);
	for (size_t in = 0; in < starts.nr; in++) {
		while (out < in && ends.values[out] <= starts.values[in])
			out++;
		if (replay_cell_has(q->c, starts.values[in]) && in + 1 - out > most)
			most = in + 1 - out;
	}
	return most;
}

static void show(const struct cell_queues *q, uint32_t i, struct machine_dsq *to)
{
	const struct queue_sum *queue = &q->x->queues[i];
	uint64_t id = q->waits.at[i].key;
	struct samples waits = buckets_at(&q->waits, i), used = samples_of(&q->used, id);
	double seconds = replay_cell_seconds(q->c);

	*to = (struct machine_dsq){
		.id = id,
		.latency = replay_sums_dist(&waits),
		.used = replay_sums_dist(&used),
		.depth = (double)queue->depth,
		.depth_max = most_at_once(q, id),
		.slice_ns = mean(queue->given_ns, queue->nr_given),
		.used_ns = used.nr ? samples_mean(&used) : NAN,
		.vtime_delta = NAN,
		.behind = NAN,
		.inserts = queue->inserts,
		.inserts_per_s = seconds > 0 ? (double)queue->inserts / seconds : NAN,
		.dispatches_per_s = seconds > 0 ? (double)q->waits.at[i].count / seconds : NAN,
	};
}

int replay_scx_queues(struct replay_scx *x, const struct replay_cell *c,
                      const struct machine_dsq **out, size_t *nr)
{
	SCOPED(done) struct cell_queues q = { .x = x, .c = c };
	struct machine_dsq *rows;
	int err = collect_waits(&q);

	if (!err)
		err = collect_runs(&q);
	if (!err)
		err = buckets_order(&q.waits);
	if (!err)
		err = buckets_order(&q.starts);
	if (!err)
		err = buckets_order(&q.ends);
	if (!err)
		err = buckets_order(&q.used);
	if (err)
		return err;
	rows = reallocarray(x->rows, q.waits.nr ? q.waits.nr : 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	x->rows = rows;
	for (uint32_t i = 0; i < q.waits.nr; i++)
		show(&q, i, &rows[i]);
	*out = rows;
	*nr = q.waits.nr;
	return 0;
}
