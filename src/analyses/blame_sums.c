#include "analyses/blame_sums.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"

struct blame_share {
	pthread_mutex_t lock;
	bool is_made, is_of_many;
	struct pass_args args; /* that it was made for */
	struct blame_sums sums;
	struct blame_sums
		threads; /* the same by thread, from which others are folded; empty where they are not needed */
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
	blame_pairs_done(&b->pairs);
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

static void throttle(struct blame_victim *v, const struct ledger_part *p, uint64_t ns)
{
	if (ns > v->throttle_ns) {
		v->throttle = p->what;
		v->throttle_ns = ns;
	}
}

static void count_urgent(struct blame_sums *b, uint32_t culprit, const struct ledger_part *p,
                         uint64_t ns)
{
	if (!divide_is_urgent(p))
		return;
	if (!b->urgent_ns[culprit] || p->prio < b->urgent[culprit]) {
		b->urgent[culprit] = p->prio;
		b->policy[culprit] = p->policy;
	}
	b->urgent_ns[culprit] += ns;
}

/* A task had the CPU: of the unit that it is in when the part begins. */
static int blame_task(struct blame_sums *b, uint32_t victim, const struct ledger_part *p)
{
	uint32_t culprit = units_at(b->units, (uint32_t)p->what, p->start_ns);
	uint64_t ns = p->end_ns - p->start_ns;

	count_urgent(b, culprit, p, ns);
	if (!b->pairs.ns) { /* otherwise add_matrix() does it */
		b->victims[victim].ns[LEDGER_TASK] += ns;
		b->caused_ns[culprit] += ns;
	}
	return blame_pairs_add(&b->pairs, victim, culprit, ns);
}

static int add_part(void *ctx, uint32_t victim, const struct ledger_part *p)
{
	struct blame_sums *b = ctx;
	uint64_t ns = p->end_ns - p->start_ns;

	if (p->kind == LEDGER_TASK)
		return blame_task(b, victim, p);
	b->victims[victim].ns[p->kind] += ns;
	if (p->kind == LEDGER_THROTTLED)
		throttle(&b->victims[victim], p, ns);
	return 0;
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

/* Where tasks that have the CPU are added up. */
static struct divide_column *columns_new(const struct blame_sums *b)
{
	struct divide_column *columns = calloc(b->sc->nr_tasks + 1UL, sizeof(*columns));

	for (uint32_t i = 0; columns && i < b->sc->nr_tasks; i++)
		columns[i].column = units_last(b->units, i, &columns[i].since_ns);
	return columns;
}

/* What the matrix of pairs has, by victim, kind and culprit. */
static void add_matrix(struct blame_sums *b)
{
	const struct blame_pairs *p = &b->pairs;

	for (uint32_t i = 0; p->ns && i < p->nr_units; i++) {
		const uint64_t *row = p->ns + i * p->width;
		uint64_t *ns = b->victims[i].ns;

		for (uint32_t k = 0; k < p->nr_units; k++) {
			ns[LEDGER_TASK] += row[k];
			b->caused_ns[k] += row[k];
		}
		for (int kind = 0; kind < LEDGER_KINDS; kind++)
			ns[kind] += row[p->nr_units + (uint32_t)kind];
	}
}

static int keep_stay(struct blame_sums *b, const struct ledger_stay *stay, uint8_t kind)
{
	if (kind == LEDGER_STAY) {
		if (GROW(b->stays, b->room_stays, b->nr_stays))
			return -ENOMEM;
		b->stays[b->nr_stays++] = *stay;
	} else if (kind == LEDGER_THROTTLED && stay->cpu != PAIR_NO_CPU) {
		if (GROW(b->throttled, b->room_throttled, b->nr_throttled))
			return -ENOMEM;
		b->throttled[b->nr_throttled++] = *stay;
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

/* That there was one, whatever its parts. */
static void take_wait(struct blame_sums *b, uint32_t unit, const struct pair_wait *w, uint64_t id)
{
	struct ledger_part span = { .start_ns = pair_wait_woken_ns(w), .end_ns = w->end_ns };
	uint64_t wait_ns = cut(b, &span) ? span.end_ns - span.start_ns : 0;
	struct blame_victim *v = &b->victims[unit];

	v->nr_tasks += wait_ns && !b->task_ns[w->task];
	b->task_ns[w->task] += wait_ns;
	count_wait(v, w, wait_ns, &span);
	if (wait_ns && wait_ns >= v->max_ns / 2)
		sample_wait(v, id);
}

static int divide_part(struct blame_sums *b, struct divide *d, struct ledger_part *p, uint32_t unit)
{
	struct ledger_stay stay;
	int err;

	if (!cut(b, p))
		return 0;
	stay = (struct ledger_stay){ p->start_ns, p->end_ns, unit, p->cpu };
	err = p->kind == LEDGER_STAY ? divide_stay(d, &stay) : add_part(b, unit, p);
	return !err && b->keeps_stays ? keep_stay(b, &stay, p->kind) : err;
}

static int divide_wait(struct blame_sums *b, struct ledger *l, struct divide *d,
                       const struct pair_wait *w, uint32_t unit)
{
	struct ledger_walk walk;
	struct ledger_part p;
	int err;

	if (ledger_is_stay(l, w, &p))
		return divide_part(b, d, &p, unit);
	err = ledger_begin(l, w, &walk);
	while (!err && ledger_next_stay(&walk, &p))
		err = divide_part(b, d, &p, unit);
	return err;
}

static int allocate(struct blame_sums *b, const struct scope *sc, const struct units *units)
{
	size_t nr = units->nr ? units->nr : 1;

	b->sc = sc;
	b->units = units;
	b->victims = calloc(nr, sizeof(*b->victims));
	b->task_ns = calloc(b->sc->nr_tasks + 1UL, sizeof(*b->task_ns));
	b->caused_ns = calloc(nr, sizeof(*b->caused_ns));
	b->urgent_ns = calloc(nr, sizeof(*b->urgent_ns));
	b->urgent = calloc(nr, sizeof(*b->urgent));
	b->policy = calloc(nr, sizeof(*b->policy));
	if (!b->victims || !b->task_ns || !b->caused_ns || !b->urgent_ns || !b->urgent ||
	    !b->policy)
		return -ENOMEM;
	return blame_pairs_init(&b->pairs, b->units->nr);
}

static void add_up(struct blame_sums *b)
{
	for (uint32_t i = 0; b->victims && i < b->units->nr; i++) {
		b->all.wait_ns += b->victims[i].wait_ns;
		b->all.nr_waits += b->victims[i].nr_waits;
		if (b->victims[i].max_ns > b->all.max_ns)
			b->all.max_ns = b->victims[i].max_ns;
		for (int kind = 0; kind < LEDGER_KINDS; kind++)
			b->all.ns[kind] += b->victims[i].ns[kind];
	}
}

/* In `also`, unless it is NULL, waits are counted by its units, and nothing else: fold() adds the rest. */
static int collect(struct blame_sums *b, const struct scope *sc, const struct units *units,
                   struct ledger *l, struct blame_sums *also)
{
	SCOPED(scoped_free) struct divide_column *columns = NULL;
	SCOPED(scoped_divide_map) struct divide_map *map = NULL;
	SCOPED(divide_done) struct divide divide = { .l = l, .part = add_part, .ctx = b };
	struct rows it = { .sc = sc };
	struct pair_wait w;
	int err = allocate(b, sc, units);

	divide.kinds = units->nr;
	divide.sums = b->pairs.ns;
	divide.width = b->pairs.width;
	divide.is_urgent_apart = true;
	divide.columns = columns = columns_new(b);
	if (!err)
		err = columns ? divide_init(&divide) : -ENOMEM;
	if (!err && divide.sums)
		divide.map = map = divide_map_new(&divide);
	if (!err && divide.sums && !map)
		err = -ENOMEM;
	while (!err && rows_wait(&it, &w)) {
		uint32_t unit;

		if (w.task == TASKS_NONE)
			continue;
		unit = units_at(units, w.task, pair_wait_woken_ns(&w));
		err = divide_wait(b, l, &divide, &w, unit);
		take_wait(b, unit, &w, rows_id(&it));
		if (also)
			take_wait(also, units_of(also->units, w.task), &w, rows_id(&it));
	}
	if (!err)
		add_matrix(b);
	add_up(b);
	blame_pairs_end(&b->pairs);
	return err;
}

/* Whether a task is of one unit all of the time, so that sums of threads are all that is needed. */
static bool is_foldable(const struct units *u)
{
	return u->of_task && (u->by == PASS_BY_COMM || u->by == PASS_BY_PROCESS);
}

/* What a thread waited for, and made others wait. */
static void fold_thread(struct blame_sums *b, const struct blame_sums *from, uint32_t task)
{
	uint32_t unit = units_of(b->units, task);
	const struct blame_victim *v = &from->victims[task];

	for (int kind = 0; kind < LEDGER_KINDS; kind++)
		b->victims[unit].ns[kind] += v->ns[kind];
	if (v->throttle_ns > b->victims[unit].throttle_ns) {
		b->victims[unit].throttle = v->throttle;
		b->victims[unit].throttle_ns = v->throttle_ns;
	}
	b->caused_ns[unit] += from->caused_ns[task];
	if (!from->urgent_ns[task])
		return;
	if (!b->urgent_ns[unit] || from->urgent[task] < b->urgent[unit]) {
		b->urgent[unit] = from->urgent[task];
		b->policy[unit] = from->policy[task];
	}
	b->urgent_ns[unit] += from->urgent_ns[task];
}

/* Its waits: how many and how long, but not which one was the longest. */
static void fold_waits(struct blame_sums *b, const struct blame_sums *from, uint32_t task)
{
	struct blame_victim *v = &b->victims[units_of(b->units, task)];
	const struct blame_victim *of = &from->victims[task];

	v->wait_ns += of->wait_ns;
	v->nr_waits += of->nr_waits;
	v->nr_new += of->nr_new;
	v->nr_tasks += of->nr_tasks;
	v->max_ns = of->max_ns > v->max_ns ? of->max_ns : v->max_ns;
	if (of->last_ns && (!v->last_ns || of->first_ns < v->first_ns))
		v->first_ns = of->first_ns;
	v->last_ns = of->last_ns > v->last_ns ? of->last_ns : v->last_ns;
	b->task_ns[task] = from->task_ns[task];
}

/* The sums by units of which each thread is in one, from those by thread: no wait is divided again. */
static int fold(struct blame_sums *b, const struct blame_sums *from)
{
	int err;

	for (uint32_t task = 0; task < b->sc->nr_tasks; task++)
		fold_thread(b, from, task);
	add_up(b);
	err = blame_pairs_fold(&b->pairs, &from->pairs, b->units->of_task);
	blame_pairs_end(&b->pairs);
	return err;
}

/* Those of a share that has them by thread. */
static int fold_brief(struct blame_sums *b, const struct scope *sc, const struct units *units,
                      const struct blame_sums *from)
{
	int err = allocate(b, sc, units);

	for (uint32_t task = 0; task < sc->nr_tasks && !err; task++)
		fold_waits(b, from, task);
	return err ? err : fold(b, from);
}

struct blame_share *blame_share_new(bool is_of_many)
{
	struct blame_share *share = calloc(1, sizeof(*share));

	if (!share)
		return NULL;
	share->is_of_many = is_of_many;
	pthread_mutex_init(&share->lock, NULL);
	return share;
}

void blame_share_free(struct blame_share *share)
{
	if (!share)
		return;
	blame_sums_done(&share->sums);
	blame_sums_done(&share->threads);
	pthread_mutex_destroy(&share->lock);
	free(share);
}

/* Whether they ask for the same waits. */
static bool has_same_waits(const struct pass_args *a, const struct pass_args *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->comm == b->comm &&
	       a->cgroup == b->cgroup && a->cpu == b->cpu && a->from_ns == b->from_ns &&
	       a->to_ns == b->to_ns;
}

static int make_first(struct blame_share *share, const struct scope *sc, const struct units *units,
                      struct ledger *l)
{
	struct units threads = { .s = sc->s, .by = PASS_BY_THREAD, .nr = sc->nr_tasks };
	int err;

	share->sums.keeps_stays = !share->is_of_many;
	if (!share->is_of_many || !is_foldable(units) || !blame_pairs_is_small(threads.nr))
		return collect(&share->sums, sc, units, l, NULL);
	err = allocate(&share->sums, sc, units);
	if (!err)
		err = collect(&share->threads, sc, &threads, l, &share->sums);
	share->threads.units = NULL;
	return err ? err : fold(&share->sums, &share->threads);
}

/* Makes the shared sums unless they are there. */
static int make_shared(struct blame_share *share, const struct scope *sc, const struct units *units,
                       struct ledger *l)
{
	int err = 0;

	pthread_mutex_lock(&share->lock);
	if (!share->is_made) {
		err = make_first(share, sc, units, l);
		share->args = *sc->args;
		share->is_made = !err;
		if (err) {
			blame_sums_done(&share->sums);
			blame_sums_done(&share->threads);
			share->sums = share->threads = (struct blame_sums){ 0 };
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
	if (!share || !has_same_waits(&share->args, sc->args) ||
	    b->keeps_stays > share->sums.keeps_stays)
		return collect(b, sc, units, l, NULL);
	if (share->args.by != sc->args->by)
		return b->is_brief && share->threads.victims && is_foldable(units)
		               ? fold_brief(b, sc, units, &share->threads)
		               : collect(b, sc, units, l, NULL);
	*b = share->sums;
	b->sc = sc;
	b->units = units;
	b->is_lent = true;
	return 0;
}
