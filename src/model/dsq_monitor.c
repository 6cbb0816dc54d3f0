#include "model/dsq_monitor.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/map.h"

#define DEFAULT_DSQS 1024U
#define MAX_DSQS     (1U << 20)

struct key {
	uint64_t dsq_id;
	uint64_t is_cut;
};

struct dsq_monitor {
	uint32_t max;
	uint32_t nr;
	uint64_t left_out;
	struct dsq_row *rows;
	struct map *row_of;
};

void dsq_monitor_free(struct dsq_monitor *m)
{
	if (!m)
		return;
	map_free(m->row_of);
	free(m->rows);
	free(m);
}

static void scoped_dsq_monitor(struct dsq_monitor *const *m)
{
	dsq_monitor_free(*m);
}

int dsq_monitor_new(uint32_t max_dsqs, struct dsq_monitor **out)
{
	SCOPED(scoped_dsq_monitor) struct dsq_monitor *m = NULL;
	int err;

	if (max_dsqs > MAX_DSQS)
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->max = max_dsqs ? max_dsqs : DEFAULT_DSQS;
	m->rows = calloc(m->max, sizeof(*m->rows));
	if (!m->rows)
		return -ENOMEM;
	err = map_new(sizeof(struct key), m->max, &m->row_of);
	if (err)
		return err;
	*out = TAKE_PTR(m);
	return 0;
}

static struct dsq_row *row_for(struct dsq_monitor *m, uint64_t dsq_id, bool is_cut)
{
	struct key key = { dsq_id, is_cut };
	uint32_t i;

	if (dsq_id == EV_DSQ_INVALID)
		return NULL;
	if (map_find(m->row_of, &key, &i))
		return &m->rows[i];
	if (m->nr == m->max || map_insert(m->row_of, &key, m->nr) < 0) {
		m->left_out++;
		return NULL;
	}
	m->rows[m->nr] = (struct dsq_row){ .dsq_id = dsq_id, .is_cut = is_cut };
	return &m->rows[m->nr++];
}

static void push_leave(struct dsq_monitor *m, const struct ev_dsq_leave *ev)
{
	struct dsq_row *r = row_for(m, ev->dsq_id, ev->flags & EV_SCX_DSQ_CUT);

	if (!r)
		return;
	r->nr_left++;
	r->nr_moved += ev->is_moved != 0;
	if (!ev->start_ns || ev->start_ns > ev->hdr.ts_ns)
		return;
	r->nr_inserted++;
	live_latency_add(&r->stay, ev->hdr.ts_ns - ev->start_ns, ev->hdr.ts_ns);
	small_hist_add(&r->hist, ev->hdr.ts_ns - ev->start_ns);
}

static void push_run(struct dsq_monitor *m, const struct ev_scx_run *ev)
{
	struct dsq_row *r = row_for(m, ev->dsq_id, ev->flags & EV_SCX_DSQ_CUT);

	if (r)
		r->nr_runs++;
}

static void push_depth(struct dsq_monitor *m, const struct ev_dsq_depth *ev)
{
	struct dsq_row *r = row_for(m, ev->dsq_id, false);

	if (!r)
		return;
	r->has_length = true;
	r->length = ev->depth;
	if (ev->depth > r->max_length)
		r->max_length = ev->depth;
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	if (rec->kind == EV_DSQ_LEAVE)
		push_leave(ctx, (const struct ev_dsq_leave *)rec);
	else if (rec->kind == EV_SCX_RUN)
		push_run(ctx, (const struct ev_scx_run *)rec);
	else if (rec->kind == EV_DSQ_DEPTH)
		push_depth(ctx, (const struct ev_dsq_depth *)rec);
	return 0;
}

struct ev_sink dsq_monitor_sink(struct dsq_monitor *m)
{
	return (struct ev_sink){ .push = push, .ctx = m };
}

void dsq_monitor_reset(struct dsq_monitor *m)
{
	map_clear(m->row_of);
	m->nr = 0;
	m->left_out = 0;
}

uint32_t dsq_monitor_nr(const struct dsq_monitor *m)
{
	return m->nr;
}

const struct dsq_row *dsq_monitor_at(const struct dsq_monitor *m, uint32_t i)
{
	return i < m->nr ? &m->rows[i] : NULL;
}

uint64_t dsq_monitor_percentile_ns(const struct dsq_row *r, uint32_t p10000)
{
	return small_hist_percentile_ns(&r->hist, p10000, r->stay.min_ns, r->stay.max_ns);
}

uint64_t dsq_monitor_left_out(const struct dsq_monitor *m)
{
	return m->left_out;
}

static int push_live(void *ctx, const struct ev_hdr *rec)
{
	const struct ev_dsq_leave *leave = (const struct ev_dsq_leave *)rec;
	const struct ev_dsq_depth *depth = (const struct ev_dsq_depth *)rec;

	if (rec->kind == EV_DSQ_LEAVE) {
		if (leave->start_ns)
			live_dsq_enqueue(ctx, leave->dsq_id);
		live_dsq_dispatch(ctx, leave->dsq_id);
	} else if (rec->kind == EV_DSQ_DEPTH) {
		live_dsq_depth(ctx, depth->dsq_id, depth->depth);
	}
	return 0;
}

struct ev_sink dsq_live_sink(struct live *l)
{
	return (struct ev_sink){ .push = push_live, .ctx = l };
}
