#include "model/wakers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"

#define DEFAULT_EDGES 10000U
#define MAX_EDGES     (1U << 20)
#define FIRST_TASKS   1024U

/* An index of a task means another one after each task_begin(). */
struct key {
	uint32_t waker;
	uint32_t wakee;
	uint32_t waker_life;
	uint32_t wakee_life;
};

struct wakers {
	struct wakers_cfg cfg;
	struct live_place *places;
	struct wakers_total total;
	uint32_t *lives;  /* by task */
	bool *is_pending; /* by task: woken, and has not run since */
	uint32_t max_tasks;
	struct wakers_edge *edges;
	struct key *keys;
	uint32_t *order; /* room to choose whom to keep */
	bool *is_kept;
	uint32_t nr;
	struct map *edge_of;
};

void wakers_free(struct wakers *w)
{
	if (!w)
		return;
	map_free(w->edge_of);
	free(w->places);
	free(w->lives);
	free(w->is_pending);
	free(w->edges);
	free(w->keys);
	free(w->order);
	free(w->is_kept);
	free(w);
}

static void scoped_wakers(struct wakers *const *w)
{
	wakers_free(*w);
}

int wakers_new(const struct wakers_cfg *cfg, struct wakers **out)
{
	SCOPED(scoped_wakers) struct wakers *w = NULL;
	int err;

	if (!cfg->tasks || cfg->nr_places > PAIR_MAX_CPUS || cfg->max_edges > MAX_EDGES)
		return -EINVAL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->cfg = *cfg;
	if (!w->cfg.max_edges)
		w->cfg.max_edges = DEFAULT_EDGES;
	if (!cfg->places)
		w->cfg.nr_places = 0;
	w->places = calloc(w->cfg.nr_places + 1, sizeof(*w->places));
	w->edges = calloc(w->cfg.max_edges, sizeof(*w->edges));
	w->keys = calloc(w->cfg.max_edges, sizeof(*w->keys));
	w->order = calloc(w->cfg.max_edges, sizeof(*w->order));
	w->is_kept = calloc(w->cfg.max_edges, sizeof(*w->is_kept));
	if (!w->places || !w->edges || !w->keys || !w->order || !w->is_kept)
		return -ENOMEM;
	if (w->cfg.nr_places)
		memcpy(w->places, cfg->places, w->cfg.nr_places * sizeof(*w->places));
	err = map_new(sizeof(struct key), w->cfg.max_edges, &w->edge_of);
	if (err)
		return err;
	*out = TAKE_PTR(w);
	return 0;
}

static bool has_task(struct wakers *w, uint32_t task)
{
	uint32_t max = w->max_tasks ? w->max_tasks : FIRST_TASKS, *lives;
	bool *pending;

	if (task < w->max_tasks)
		return true;
	if (task >= TASKS_MAX)
		return false;
	while (max <= task)
		max *= 2;
	lives = realloc(w->lives, max * sizeof(*lives));
	if (!lives)
		return false;
	w->lives = lives;
	pending = realloc(w->is_pending, max * sizeof(*pending));
	if (!pending)
		return false;
	w->is_pending = pending;
	memset(lives + w->max_tasks, 0, (max - w->max_tasks) * sizeof(*lives));
	memset(pending + w->max_tasks, 0, (max - w->max_tasks) * sizeof(*pending));
	w->max_tasks = max;
	return true;
}

static void set_pending(struct wakers *w, uint32_t task, bool is_pending)
{
	if (!has_task(w, task) || w->is_pending[task] == is_pending)
		return;
	w->is_pending[task] = is_pending;
	if (is_pending)
		w->total.pending++;
	else
		w->total.pending--;
}

static void on_task_begin(void *ctx, uint32_t task, uint64_t ts_ns)
{
	struct wakers *w = ctx;

	(void)ts_ns;
	set_pending(w, task, false);
	if (has_task(w, task))
		w->lives[task]++;
}

static void on_task_end(void *ctx, uint32_t task, uint64_t ts_ns)
{
	(void)ts_ns;
	set_pending(ctx, task, false);
}

static void on_wakeup(void *ctx, const struct pair_wakeup *r)
{
	if (!r->is_running)
		set_pending(ctx, r->task, true);
}

static void on_switched(void *ctx, const struct pair_switch *r)
{
	set_pending(ctx, r->next, false);
}

/* What became of it was not seen, or an exec or exit made it meaningless. */
static void on_gap(void *ctx, const struct pair_gap *r)
{
	if (r->reason == PAIR_GAP_LOST || r->reason == PAIR_GAP_MISSING ||
	    r->reason == PAIR_GAP_DROPPED)
		set_pending(ctx, r->task, false);
}

static uint32_t life_of(const struct wakers *w, uint32_t task)
{
	return task < w->max_tasks ? w->lives[task] : 0;
}

/* Whether edge a is worth more than b. */
static bool is_above(const struct wakers *w, enum wakers_by by, uint32_t a, uint32_t b)
{
	const struct live_latency *x = &w->edges[a].latency, *y = &w->edges[b].latency;
	uint64_t p = x->samples, q = y->samples;

	if (by == WAKERS_BY_SCORE) {
		p = x->total_ns;
		q = y->total_ns;
	} else if (by == WAKERS_BY_LATENCY) {
		p = x->total_ns / x->samples;
		q = y->total_ns / y->samples;
	}
	if (p != q)
		return p > q;
	if (w->edges[a].last_seen_ns != w->edges[b].last_seen_ns)
		return w->edges[a].last_seen_ns > w->edges[b].last_seen_ns;
	return a < b;
}

/* Lets order[i] sink in a heap of nr whose top is the least. */
static void sink(const struct wakers *w, enum wakers_by by, uint32_t *order, uint32_t nr,
                 uint32_t i)
{
	for (;;) {
		uint32_t least = i, swap;

		for (uint32_t k = 2 * i + 1; k <= 2 * i + 2 && k < nr; k++)
			if (is_above(w, by, order[least], order[k]))
				least = k;
		if (least == i)
			return;
		swap = order[i];
		order[i] = order[least];
		order[least] = swap;
		i = least;
	}
}

/* A heap keeps the best max so far; then its least goes to the end, one after the other. */
uint32_t wakers_top(const struct wakers *w, enum wakers_by by, uint32_t *out, uint32_t max)
{
	uint32_t nr = 0, swap;

	for (uint32_t i = 0; i < w->nr && max; i++) {
		if (nr < max) {
			out[nr++] = i;
			for (uint32_t k = nr / 2; nr == max && k-- > 0;)
				sink(w, by, out, nr, k);
		} else if (is_above(w, by, i, out[0])) {
			out[0] = i;
			sink(w, by, out, nr, 0);
		}
	}
	for (uint32_t k = nr / 2; nr < max && k-- > 0;)
		sink(w, by, out, nr, k);
	for (uint32_t end = nr; end > 1; end--) {
		swap = out[0];
		out[0] = out[end - 1];
		out[end - 1] = swap;
		sink(w, by, out, end - 1, 0);
	}
	return nr;
}

static void forget_half(struct wakers *w)
{
	uint32_t nr_kept = wakers_top(w, WAKERS_BY_COUNT, w->order, w->cfg.max_edges / 2);
	uint32_t nr = w->nr;

	memset(w->is_kept, 0, nr * sizeof(*w->is_kept));
	for (uint32_t i = 0; i < nr_kept; i++)
		w->is_kept[w->order[i]] = true;
	w->total.forgotten += nr - nr_kept;
	map_clear(w->edge_of);
	w->nr = 0;
	for (uint32_t i = 0; i < nr; i++) {
		if (!w->is_kept[i])
			continue;
		w->edges[w->nr] = w->edges[i];
		w->keys[w->nr] = w->keys[i];
		if (map_insert(w->edge_of, &w->keys[w->nr], w->nr) == 0)
			w->nr++;
	}
}

static struct wakers_edge *edge_for(struct wakers *w, uint32_t waker, uint32_t wakee)
{
	struct key key = { waker, wakee, life_of(w, waker), life_of(w, wakee) };
	uint32_t i;

	if (map_find(w->edge_of, &key, &i))
		return &w->edges[i];
	if (w->nr == w->cfg.max_edges)
		forget_half(w);
	if (w->nr == w->cfg.max_edges || map_insert(w->edge_of, &key, w->nr) < 0)
		return NULL;
	w->keys[w->nr] = key;
	w->edges[w->nr] = (struct wakers_edge){ .waker = waker, .wakee = wakee };
	return &w->edges[w->nr++];
}

static void note_names(const struct wakers *w, struct wakers_edge *e)
{
	const struct task *waker = tasks_at(w->cfg.tasks, e->waker);
	const struct task *wakee = tasks_at(w->cfg.tasks, e->wakee);

	if (waker) {
		e->waker_tid = waker->tid;
		e->waker_comm_id = waker->comm_id;
	}
	if (wakee) {
		e->wakee_tid = wakee->tid;
		e->wakee_comm_id = wakee->comm_id;
	}
}

static void note_cpus(struct wakers_edge *e, uint16_t from, uint16_t to)
{
	for (uint32_t i = 0; i < WAKERS_CPU_PAIRS; i++) {
		struct wakers_cpus *c = &e->cpus[i];

		if (c->count && (c->waker_cpu != from || c->run_cpu != to))
			continue;
		*c = (struct wakers_cpus){ from, to, c->count + (c->count < UINT32_MAX) };
		return;
	}
	e->other_cpus++;
}

static void note_places(const struct wakers *w, struct wakers_edge *e, uint16_t from, uint16_t to)
{
	const struct live_place *a, *b;

	if (from == PAIR_NO_CPU || to == PAIR_NO_CPU)
		return;
	*(from == to ? &e->same_cpu : &e->cross_cpu) += 1;
	note_cpus(e, from, to);
	if (from >= w->cfg.nr_places || to >= w->cfg.nr_places)
		return;
	a = &w->places[from];
	b = &w->places[to];
	if (a->llc >= 0 && b->llc >= 0)
		*(a->llc == b->llc ? &e->same_llc : &e->cross_llc) += 1;
	if (a->node >= 0 && b->node >= 0)
		*(a->node == b->node ? &e->same_node : &e->cross_node) += 1;
}

static void on_wait(void *ctx, const struct pair_wait *r)
{
	struct wakers *w = ctx;
	bool is_irq = r->flags & (EV_FLAG_HARDIRQ | EV_FLAG_SOFTIRQ);
	uint64_t start_ns = r->waking_ns ? r->waking_ns : r->wakeup_ns;
	struct wakers_edge *e;

	if (r->is_open || r->cause == PAIR_PREEMPTED)
		return;
	w->total.nr_wakeups++;
	e = edge_for(w, is_irq ? TASKS_NONE : r->waker, r->task);
	if (!e) {
		w->total.no_memory++;
		return;
	}
	if (!e->latency.samples)
		e->first_seen_ns = start_ns;
	e->last_seen_ns = start_ns;
	note_names(w, e);
	live_latency_add(&e->latency, r->end_ns - start_ns, r->end_ns);
	small_hist_add(&e->hist, r->end_ns - start_ns);
	note_places(w, e, r->waker_cpu, r->cpu);
}

struct pair_out wakers_out(struct wakers *w)
{
	return (struct pair_out){ .ctx = w,
		                  .task_begin = on_task_begin,
		                  .task_end = on_task_end,
		                  .switched = on_switched,
		                  .wakeup = on_wakeup,
		                  .gap = on_gap,
		                  .wait = on_wait };
}

void wakers_reset(struct wakers *w)
{
	map_clear(w->edge_of);
	w->nr = 0;
	w->total = (struct wakers_total){ 0 };
	if (w->max_tasks)
		memset(w->is_pending, 0, w->max_tasks * sizeof(*w->is_pending));
}

uint32_t wakers_nr(const struct wakers *w)
{
	return w->nr;
}

const struct wakers_edge *wakers_at(const struct wakers *w, uint32_t i)
{
	return i < w->nr ? &w->edges[i] : NULL;
}

bool wakers_find(const struct wakers *w, uint32_t waker, uint32_t wakee, uint32_t *out)
{
	struct key key = { waker, wakee, life_of(w, waker), life_of(w, wakee) };

	return map_find(w->edge_of, &key, out);
}

bool wakers_reverse(const struct wakers *w, uint32_t i, uint32_t *out)
{
	const struct key *k = i < w->nr ? &w->keys[i] : NULL;

	return k &&
	       map_find(w->edge_of,
	                &(struct key){ k->wakee, k->waker, k->wakee_life, k->waker_life }, out);
}

uint64_t wakers_percentile_ns(const struct wakers_edge *e, uint32_t p10000)
{
	return small_hist_percentile_ns(&e->hist, p10000, e->latency.min_ns, e->latency.max_ns);
}

void wakers_total(const struct wakers *w, struct wakers_total *out)
{
	*out = w->total;
}
