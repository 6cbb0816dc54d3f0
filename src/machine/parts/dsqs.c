#include "machine/parts/dsqs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/hist.h"
#include "base/map.h"
#include "base/worker.h"
#include "machine/machine_interval.h"
#include "machine/machine_past.h"
#include "stat/stat_session.h"

#define PROCESSES_MAX (1U << 16)

enum { PAST_LATENCY, PAST_USED, PAST_VTIME, PAST_DEPTH, PASTS };

/* What is remembered of a queue. */
struct past {
	uint64_t id;
	struct machine_past of[PASTS];
	uint32_t step; /* when it was last seen */
};

struct dsq_process {
	struct machine_scx_task pub;
	struct hist latency;
	struct tally_runs runs;
};

struct machine_dsqs {
	uint32_t tgid;
	bool is_by_kprobe;
	struct worker *opening; /* once it is done, all else is the caller's */
	struct diag why;
	struct stat_session *session;
	uint32_t step;
	uint64_t lost;
	struct machine_dsq *queues;
	size_t nr_queues, queues_cap;
	struct past **pasts; /* of queues that are or were there */
	size_t nr_pasts, pasts_cap;
	struct map *past_of;
	struct machine_dsqs_thread *threads;
	size_t nr_threads, threads_cap;
	struct dsq_process *sums;
	struct machine_scx_task *processes;
	size_t nr_processes, processes_cap;
	struct map *process_of;
};

static void free_past(struct past *p)
{
	for (int i = 0; i < PASTS; i++)
		machine_past_done(&p->of[i]);
	free(p);
}

static int first_step(void *ctx, struct stat_report_in *in, bool is_final)
{
	(void)ctx;
	(void)in;
	(void)is_final;
	return 0;
}

static void run(struct worker *w, void *state)
{
	struct machine_dsqs *q = state;
	struct stat_session_cfg cfg = {
		.groups = { .asked = STAT_GROUP_DSQ },
		.tgid = q->tgid,
		.display = TALLY_BY_TID,
		.interval_ns = 1000000000ULL,
		.view = TALLY_INTERVAL,
		.output_fd = -1,
		.is_stepped = true,
		.is_scx_by_kprobe = q->is_by_kprobe,
	};

	(void)w;
	if (stat_session_open(&cfg, &q->why, &q->session) ||
	    stat_session_step(q->session, first_step, NULL, &q->why)) {
		stat_session_close(q->session);
		q->session = NULL;
	}
}

static int start(struct machine_dsqs *q)
{
	const struct worker_job job = { .run = run };
	int err = map_new(sizeof(uint64_t), 2 * STAT_DSQ_MAX, &q->past_of);

	if (!err)
		err = map_new(sizeof(uint32_t), PROCESSES_MAX, &q->process_of);
	return err ? err : worker_start(&job, q, &q->opening);
}

int machine_dsqs_open(uint32_t tgid, bool is_by_kprobe, struct machine_dsqs **out)
{
	struct machine_dsqs *q = calloc(1, sizeof(*q));
	int err;

	if (!q)
		return -ENOMEM;
	q->tgid = tgid;
	q->is_by_kprobe = is_by_kprobe;
	err = start(q);
	if (err) {
		machine_dsqs_close(q);
		return err;
	}
	*out = q;
	return 0;
}

void machine_dsqs_close(struct machine_dsqs *q)
{
	if (!q)
		return;
	worker_end(q->opening);
	stat_session_close(q->session);
	for (size_t i = 0; i < q->nr_pasts; i++)
		free_past(q->pasts[i]);
	map_free(q->past_of);
	map_free(q->process_of);
	free(q->pasts);
	free(q->queues);
	free(q->threads);
	free(q->sums);
	free(q->processes);
	free(q);
}

static double mean_of(uint64_t nr, uint64_t sum)
{
	return nr ? (double)sum / (double)nr : NAN;
}

static void show_queue(const struct dsq_row *row, double seconds, struct machine_dsq *out)
{
	const struct dsq_view *v = &row->view[TALLY_INTERVAL];

	*out = (struct machine_dsq){
		.id = row->id,
		.latency = machine_dist_of(&v->latency),
		.used = machine_dist_of(&v->used),
		.depth = row->id == STAT_DSQ_LOCAL ? NAN : (double)row->nr_now,
		.depth_max = v->depth.max,
		.slice_ns = mean_of(v->given.count, v->given.sum_ns),
		.used_ns = mean_of(v->used.count, v->used.sum_ns),
		.vtime_delta = v->vtime.count ? (double)v->vtime.sum / (double)v->vtime.count : NAN,
		.behind = mean_of(v->vtime.count, v->vtime.nr_behind),
		.inserts = v->inserts,
		.inserts_per_s = seconds > 0 ? (double)v->inserts / seconds : NAN,
		.dispatches_per_s = seconds > 0 ? (double)v->runs / seconds : NAN,
	};
}

static struct past *past_of(struct machine_dsqs *q, uint64_t id)
{
	struct past *p;
	uint32_t i;

	if (map_find(q->past_of, &id, &i))
		return q->pasts[i];
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	if (GROW(q->pasts, q->pasts_cap, q->nr_pasts) ||
	    map_insert(q->past_of, &id, (uint32_t)q->nr_pasts)) {
		free(p);
		return NULL;
	}
	p->id = id;
	q->pasts[q->nr_pasts++] = p;
	return p;
}

static void remember(struct past *p, const struct machine_dsq *d)
{
	const double now[PASTS] = {
		[PAST_LATENCY] = d->latency.count ? d->latency.mean_ns : NAN,
		[PAST_USED] = d->used_ns,
		[PAST_VTIME] = d->vtime_delta,
		[PAST_DEPTH] = isnan(d->depth) || (double)d->depth_max > d->depth
		                       ? (double)d->depth_max
		                       : d->depth,
	};

	for (int i = 0; i < PASTS; i++)
		if (machine_past_add(&p->of[i], now[i]))
			return; /* without memory the past has a gap */
}

static void show_past(const struct past *p, struct machine_dsq *d)
{
	d->latency_history = machine_past_show(&p->of[PAST_LATENCY]);
	d->used_history = machine_past_show(&p->of[PAST_USED]);
	d->vtime_history = machine_past_show(&p->of[PAST_VTIME]);
	d->depth_history = machine_past_show(&p->of[PAST_DEPTH]);
}

/* Those of the scheduler before. */
static void forget_pasts(struct machine_dsqs *q)
{
	size_t nr = 0;

	for (size_t i = 0; i < q->nr_pasts; i++) {
		if (q->pasts[i]->step == q->step)
			q->pasts[nr++] = q->pasts[i];
		else
			free_past(q->pasts[i]);
	}
	if (nr == q->nr_pasts)
		return;
	q->nr_pasts = nr;
	map_clear(q->past_of);
	for (size_t i = 0; i < nr; i++)
		if (map_insert(q->past_of, &q->pasts[i]->id, (uint32_t)i))
			return; /* cannot be: it had more before */
}

static int add_queues(struct machine_dsqs *q, const struct stat_report_in *in)
{
	q->nr_queues = 0;
	if (GROW(q->queues, q->queues_cap, in->nr_dsqs))
		return -ENOMEM;
	for (size_t i = 0; i < in->nr_dsqs; i++) {
		const struct dsq_view *v = &in->dsqs[i]->view[TALLY_INTERVAL];
		struct machine_dsq *d;
		struct past *p;

		/* What the last scheduler left is of no interest any more. */
		if (!in->scx.scheduler && !v->inserts && !v->runs)
			continue;
		d = &q->queues[q->nr_queues++];
		p = past_of(q, in->dsqs[i]->id);
		show_queue(in->dsqs[i], in->interval_s, d);
		if (!p)
			continue;
		remember(p, d);
		show_past(p, d);
		p->step = q->step;
	}
	forget_pasts(q);
	return 0;
}

static int add_process(struct machine_dsqs *q, const struct tally_row *row,
                       const struct tally_view *v)
{
	struct dsq_process *p;
	uint32_t i;

	if (!map_find(q->process_of, &row->tgid, &i)) {
		size_t cap = q->processes_cap;

		i = (uint32_t)q->nr_processes;
		if (GROW(q->sums, cap, i) || GROW(q->processes, q->processes_cap, i) ||
		    map_insert(q->process_of, &row->tgid, i))
			return -ENOMEM;
		q->sums[i] = (struct dsq_process){ .pub = { .tid = row->tgid, .last_cpu = -1 } };
		memcpy(q->sums[i].pub.comm, row->process, sizeof(q->sums[i].pub.comm));
		q->nr_processes++;
	}
	p = &q->sums[i];
	p->pub.dsq = row->dsq_id;
	hist_merge(&p->latency, v->hist[STAT_DSQ_LATENCY]);
	p->runs.nr_given += v->runs.nr_given;
	p->runs.given_ns += v->runs.given_ns;
	p->runs.nr_used += v->runs.nr_used;
	p->runs.used_ns += v->runs.used_ns;
	return 0;
}

static int add_tasks(struct machine_dsqs *q, const struct stat_report_in *in)
{
	int err = 0;

	q->nr_threads = q->nr_processes = 0;
	map_clear(q->process_of);
	for (size_t i = 0; !err && i < in->nr_rows; i++) {
		const struct tally_row *row = in->rows[i];
		const struct tally_view *v = &row->view[TALLY_INTERVAL];

		if (!row->tid || !row->has_dsq || !v->hist[STAT_DSQ_LATENCY])
			continue;
		err = GROW(q->threads, q->threads_cap, q->nr_threads);
		if (err)
			break;
		q->threads[q->nr_threads++] = (struct machine_dsqs_thread){ row->tid, row->tgid,
			                                                    row->dsq_id };
		err = add_process(q, row, v);
	}
	for (size_t i = 0; i < q->nr_processes; i++) {
		struct dsq_process *p = &q->sums[i];

		p->pub.latency = machine_dist_of(&p->latency);
		p->pub.slice_ns = mean_of(p->runs.nr_given, p->runs.given_ns);
		p->pub.used_ns = mean_of(p->runs.nr_used, p->runs.used_ns);
		q->processes[i] = p->pub;
	}
	return err;
}

static int take(void *ctx, struct stat_report_in *in, bool is_final)
{
	struct machine_dsqs *q = ctx;
	int err;

	(void)is_final;
	q->step++;
	err = add_queues(q, in);
	if (!err)
		err = add_tasks(q, in);
	q->lost = stat_pairs_total(&in->own.lost);
	return err;
}

int machine_dsqs_step(struct machine_dsqs *q, struct diag *d)
{
	int err;

	if (q->opening && !worker_poll(q->opening, 0))
		return 0;
	worker_end(TAKE_PTR(q->opening));
	if (!q->session) {
		*d = q->why;
		return d->code ? d->code : -EIO;
	}
	err = stat_session_step(q->session, take, q, d);
	if (err)
		return d->code ? err : diag_set(d, err, NULL, "out of memory");
	return 1;
}

const struct machine_dsq *machine_dsqs_queues(const struct machine_dsqs *q, size_t *nr)
{
	*nr = q->nr_queues;
	return q->queues;
}

const struct machine_dsqs_thread *machine_dsqs_threads(const struct machine_dsqs *q, size_t *nr)
{
	*nr = q->nr_threads;
	return q->threads;
}

struct machine_scx_task *machine_dsqs_processes(struct machine_dsqs *q, size_t *nr)
{
	*nr = q->nr_processes;
	return q->processes;
}

uint64_t machine_dsqs_lost(const struct machine_dsqs *q)
{
	return q->lost;
}
