#include "analyses/bottlenecks/ranking.h"

#include <errno.h>
#include <stdlib.h>

#include "analyses/bottlenecks/lost_waits.h"
#include "model/tasks.h"

#define MUCH_LOST    10 /* a 10th of the time */
#define MAX_CULPRITS 8
#define BUSY_SHARE   10 /* slept for less than a 10th of the time that it ran */

struct ranking {
	const struct blame_sums *b;
	uint64_t *ran_ns, *slept_ns; /* by task */
	/* By unit: what its tasks waited that are always busy, and that sleep most of the time. */
	uint64_t *busy_ns, *sleeper_ns;
};

static bool is_much(const struct blame_sums *b, uint64_t ns)
{
	return ns && ns >= b->sc->span_ns / MUCH_LOST;
}

/* One that may be made late. What threads of the kernel lose, the tasks lose for whom they work. */
static bool may_be_late(const struct blame_sums *b, uint32_t unit)
{
	const struct blame_victim *v = &b->victims[unit];
	const struct task *t = is_much(b, v->wait_ns) ? tasks_at(b->sc->s->tasks, v->longest.task)
	                                              : NULL;

	return t && !t->is_kthread;
}

/* One that shares CPUs with others, none of which has a right to go first. */
static bool shares_its_cpu(const struct blame_sums *b, uint32_t unit)
{
	struct bottleneck_cause main = bottleneck_main_cause(b, unit);

	return main.kind == LEDGER_TASK && !bottleneck_is_urgent(b, main.culprit);
}

/*
 * The culprits behind which a victim lost much, and who lost at least as much themselves, the one that cost it most first; how many.
 * A name of very many tasks may lose so much behind more of them: those stay where they are.
 */
static uint32_t above(const struct blame_sums *b, uint32_t victim, uint32_t out[MAX_CULPRITS])
{
	struct blame_culprit most[MAX_CULPRITS];
	uint32_t nr = blame_pairs_most(&b->pairs, victim, MAX_CULPRITS, most), nr_above = 0;

	for (uint32_t i = 0; i < nr && is_much(b, most[i].ns); i++) {
		uint32_t unit = most[i].unit;

		if (unit != victim && b->victims[unit].wait_ns >= b->victims[victim].wait_ns &&
		    shares_its_cpu(b, unit))
			out[nr_above++] = unit;
	}
	return nr_above;
}

static bool has_late(const struct blame_sums *b)
{
	uint32_t culprits[MAX_CULPRITS];

	for (uint32_t i = 0; i < b->units->nr; i++)
		if (may_be_late(b, i) && above(b, i, culprits))
			return true;
	return false;
}

static void add_up_tasks(struct ranking *x)
{
	const struct scope *sc = x->b->sc;
	struct rows slices = { .sc = sc }, sleeps = { .sc = sc };
	struct pair_slice slice;
	struct pair_sleep sleep;

	while (rows_slice(&slices, &slice))
		if (slice.task < sc->nr_tasks)
			x->ran_ns[slice.task] += scope_cut(sc, slice.start_ns, slice.end_ns);
	while (rows_sleep(&sleeps, &sleep))
		if (sleep.task < sc->nr_tasks)
			x->slept_ns[sleep.task] += scope_cut(sc, sleep.start_ns, sleep.end_ns);
	for (uint32_t i = 0; i < sc->nr_tasks; i++) {
		uint32_t unit = units_of(x->b->units, i);

		if (x->slept_ns[i] < x->ran_ns[i] / BUSY_SHARE)
			x->busy_ns[unit] += x->b->task_ns[i];
		else if (x->slept_ns[i] > x->ran_ns[i])
			x->sleeper_ns[unit] += x->b->task_ns[i];
	}
}

/* By most of what it waited, both. */
static bool is_busy(const struct ranking *x, uint32_t unit)
{
	return x->busy_ns[unit] > x->b->victims[unit].wait_ns / 2;
}

static bool is_sleeper(const struct ranking *x, uint32_t unit)
{
	return x->sleeper_ns[unit] > x->b->victims[unit].wait_ns / 2;
}

static void place(const struct ranking *x, uint64_t *counts_ns)
{
	const struct blame_sums *b = x->b;
	uint32_t culprits[MAX_CULPRITS];

	/* Sleepers keep their own time, as they are not busy. Those that cost one most come first after it. */
	for (uint32_t i = 0; i < b->units->nr; i++) {
		uint32_t nr = may_be_late(b, i) && is_sleeper(x, i) ? above(b, i, culprits) : 0;

		for (uint32_t k = 0; k < nr; k++) {
			uint32_t busy = culprits[k];
			uint64_t after_ns = b->victims[i].wait_ns - 1 - k;

			if (is_busy(x, busy) && (counts_ns[busy] == b->victims[busy].wait_ns ||
			                         counts_ns[busy] < after_ns))
				counts_ns[busy] = after_ns;
		}
	}
}

int ranking_find(const struct blame_sums *b, uint64_t *counts_ns)
{
	struct ranking x = { .b = b };
	int err = 0;

	for (uint32_t i = 0; i < b->units->nr; i++)
		counts_ns[i] = b->victims[i].wait_ns;
	if (!has_late(b))
		return 0;
	x.ran_ns = calloc(b->sc->nr_tasks + 1UL, sizeof(*x.ran_ns));
	x.slept_ns = calloc(b->sc->nr_tasks + 1UL, sizeof(*x.slept_ns));
	x.busy_ns = calloc(b->units->nr + 1UL, sizeof(*x.busy_ns));
	x.sleeper_ns = calloc(b->units->nr + 1UL, sizeof(*x.sleeper_ns));
	if (x.ran_ns && x.slept_ns && x.busy_ns && x.sleeper_ns) {
		add_up_tasks(&x);
		place(&x, counts_ns);
	} else {
		err = -ENOMEM;
	}
	free(x.ran_ns);
	free(x.slept_ns);
	free(x.busy_ns);
	free(x.sleeper_ns);
	return err;
}
