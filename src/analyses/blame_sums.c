#include "analyses/blame_sums.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/grow.h"

#define FIRST_FAIR 100 /* priorities below are of real time or deadline; 0 is unknown */

struct blame_share {
	pthread_mutex_t lock;
	bool is_made;
	struct pass_args args; /* that it was made for */
	struct blame_sums sums;
};

void blame_sums_done(struct blame_sums *b)
{
	if (b->is_lent)
		return;
	free(b->victims);
	free(b->task_ns);
	free(b->caused_ns);
	free(b->urgent_ns);
	free(b->urgent);
	free(b->policy);
	free(b->stays);
	free(b->throttled);
	edges_done(&b->edges);
}

/* The part of it that was asked for. */
static bool cut(const struct blame_sums *b, struct ledger_part *p)
{
	if (p->start_ns < b->sc->from_ns)
		p->start_ns = b->sc->from_ns;
	if (p->end_ns > b->sc->to_ns)
		p->end_ns = b->sc->to_ns;
	return p->start_ns < p->end_ns;
}

static int add(void *ctx, uint32_t unit, uint32_t nr, const struct ledger_part *p)
{
	struct blame_sums *b = ctx;
	struct blame_victim *v = &b->victims[unit];
	uint64_t ns = nr * (p->end_ns - p->start_ns);
	uint32_t culprit;

	v->ns[p->kind] += ns;
	b->all.ns[p->kind] += ns;
	if (p->kind == LEDGER_THROTTLED && ns > v->throttle_ns) {
		v->throttle = p->what;
		v->throttle_ns = ns;
	}
	if (p->kind != LEDGER_TASK)
		return 0;
	culprit = units_at(b->units, (uint32_t)p->what, p->start_ns);
	b->caused_ns[culprit] += ns;
	if (p->prio < FIRST_FAIR && (p->prio || p->policy)) {
		if (!b->urgent_ns[culprit] || p->prio < b->urgent[culprit]) {
			b->urgent[culprit] = p->prio;
			b->policy[culprit] = p->policy;
		}
		b->urgent_ns[culprit] += ns;
	}
	return edges_add(&b->edges, unit, culprit, ns);
}

static void count_wait(struct blame_victim *v, const struct pair_wait *w, uint64_t ns,
                       const struct ledger_part *span)
{
	v->wait_ns += ns;
	v->nr_waits++;
	v->nr_new += w->cause == PAIR_NEW;
	if (ns > v->max_ns) {
		v->max_ns = ns;
		v->longest = *w;
	}
	if (ns && (!v->last_ns || span->start_ns < v->first_ns))
		v->first_ns = span->start_ns;
	if (ns && span->end_ns > v->last_ns)
		v->last_ns = span->end_ns;
}

static int keep_stay(struct blame_sums *b, uint32_t unit, const struct ledger_part *p)
{
	struct sweep_stay stay = { p->start_ns, p->end_ns, unit, p->cpu };

	if (p->kind == LEDGER_STAY) {
		if (GROW(b->stays, b->room_stays, b->nr_stays))
			return -ENOMEM;
		b->stays[b->nr_stays++] = stay;
	} else if (p->kind == LEDGER_THROTTLED && p->cpu != PAIR_NO_CPU) {
		if (GROW(b->throttled, b->room_throttled, b->nr_throttled))
			return -ENOMEM;
		b->throttled[b->nr_throttled++] = stay;
	}
	return 0;
}

/* Each has the same chance to be in the sample, which is always the same one. */
static void sample_wait(struct blame_victim *v, uint64_t id)
{
	uint32_t n = v->nr_long++;
	uint32_t at = n < BLAME_LONG ? n : (uint32_t)(n * 0x9e3779b97f4a7c15ULL >> 32) % (n + 1);

	if (at < BLAME_LONG)
		v->long_ids[at] = id;
}

static int take_wait(struct blame_sums *b, struct ledger *l, const struct pair_wait *w, uint64_t id)
{
	uint32_t unit = units_at(b->units, w->task, pair_wait_woken_ns(w));
	struct ledger_part p, span = { .start_ns = pair_wait_woken_ns(w), .end_ns = w->end_ns };
	uint64_t wait_ns = cut(b, &span) ? span.end_ns - span.start_ns : 0;
	struct ledger_walk walk;
	int err = ledger_begin(l, w, &walk);

	while (!err && ledger_next_stay(&walk, &p)) {
		if (!cut(b, &p))
			continue;
		if (p.kind != LEDGER_STAY)
			err = add(b, unit, 1, &p);
		if (!err)
			err = keep_stay(b, unit, &p);
	}
	b->victims[unit].nr_tasks += wait_ns && !b->task_ns[w->task];
	b->task_ns[w->task] += wait_ns;
	count_wait(&b->victims[unit], w, wait_ns, &span);
	if (wait_ns && wait_ns >= b->victims[unit].max_ns / 2)
		sample_wait(&b->victims[unit], id);
	return err;
}

static int allocate(struct blame_sums *b)
{
	size_t nr = b->units->nr ? b->units->nr : 1;

	b->victims = calloc(nr, sizeof(*b->victims));
	b->task_ns = calloc(b->sc->nr_tasks + 1UL, sizeof(*b->task_ns));
	b->caused_ns = calloc(nr, sizeof(*b->caused_ns));
	b->urgent_ns = calloc(nr, sizeof(*b->urgent_ns));
	b->urgent = calloc(nr, sizeof(*b->urgent));
	b->policy = calloc(nr, sizeof(*b->policy));
	if (!b->victims || !b->task_ns || !b->caused_ns || !b->urgent_ns || !b->urgent ||
	    !b->policy)
		return -ENOMEM;
	return edges_init(&b->edges);
}

static int collect(struct blame_sums *b, const struct scope *sc, const struct units *units,
                   struct ledger *l)
{
	struct rows it = { .sc = sc };
	struct pair_wait w;
	int err;

	b->sc = sc;
	b->units = units;
	err = allocate(b);
	while (!err && rows_wait(&it, &w))
		if (w.task != TASKS_NONE)
			err = take_wait(b, l, &w, rows_id(&it));
	for (uint32_t i = 0; i < units->nr && !err; i++) {
		b->all.wait_ns += b->victims[i].wait_ns;
		b->all.nr_waits += b->victims[i].nr_waits;
		if (b->victims[i].max_ns > b->all.max_ns)
			b->all.max_ns = b->victims[i].max_ns;
	}
	if (!err)
		err = sweep_run(l, b->stays, b->nr_stays, units->nr,
		                &(struct sweep_out){ .ctx = b, .part = add });
	edges_sort(&b->edges);
	return err;
}

struct blame_share *blame_share_new(void)
{
	struct blame_share *share = calloc(1, sizeof(*share));

	if (share)
		pthread_mutex_init(&share->lock, NULL);
	return share;
}

void blame_share_free(struct blame_share *share)
{
	if (!share)
		return;
	blame_sums_done(&share->sums);
	pthread_mutex_destroy(&share->lock);
	free(share);
}

/* Whether they ask for the same waits and units. */
static bool is_same(const struct pass_args *a, const struct pass_args *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->comm == b->comm &&
	       a->cgroup == b->cgroup && a->cpu == b->cpu && a->from_ns == b->from_ns &&
	       a->to_ns == b->to_ns && a->by == b->by;
}

/* Makes the shared sums unless they are there. */
static int make_shared(struct blame_share *share, const struct scope *sc, const struct units *units,
                       struct ledger *l)
{
	int err = 0;

	pthread_mutex_lock(&share->lock);
	if (!share->is_made) {
		err = collect(&share->sums, sc, units, l);
		share->args = *sc->args;
		share->is_made = !err;
		if (err) {
			blame_sums_done(&share->sums);
			share->sums = (struct blame_sums){ 0 };
		}
	}
	pthread_mutex_unlock(&share->lock);
	return err;
}

int blame_sums_collect(struct blame_sums *b, const struct scope *sc, const struct units *units,
                       struct ledger *l)
{
	struct blame_share *share = sc->s->blame;
	int err = share ? make_shared(share, sc, units, l) : 0;

	if (err)
		return err;
	if (!share || !is_same(&share->args, sc->args))
		return collect(b, sc, units, l);
	*b = share->sums;
	b->sc = sc;
	b->units = units;
	b->is_lent = true;
	return 0;
}

uint32_t blame_sums_culprits(const struct blame_sums *b, uint32_t victim, const struct edge **out)
{
	return edges_of(&b->edges, victim, out);
}
