#include "noisy_world.h"

#include <math.h>
#include <stdio.h>

#define CPUS     2U
#define NAMES    20U /* on each CPU */
#define FIRST    100U
#define OTHER    50U /* on each CPU one that preempts */
#define US       1000.0
#define PHASE_NS 40000000.0 /* how long a CPU stays calm or busy */

static double uniform(struct noisy_world *w)
{
	w->seed = w->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((double)(w->seed >> 33) + 0.5) / 2147483648.0;
}

static double exponential(struct noisy_world *w, double mean)
{
	return -mean * log(uniform(w));
}

/* What happens next on each CPU is put together here, and pushed in order of time. */
struct cpu {
	double now, phase_ends;
	bool is_busy;
	uint32_t tid;
	int step;
	bool is_preempted;
};

static void begin_cycle(struct noisy_world *w, struct cpu *c, uint32_t cpu)
{
	c->now += exponential(w, 60 * US);
	/* Some names are frequent, others rare. */
	c->tid = FIRST + cpu * NAMES + (uint32_t)(uniform(w) * uniform(w) * NAMES);
	c->is_preempted = uniform(w) < 0.1;
	if (c->now > c->phase_ends) {
		c->is_busy = !c->is_busy;
		c->phase_ends = c->now + exponential(w, PHASE_NS);
	}
	c->step = 0;
}

static double wait_of(struct noisy_world *w, const struct cpu *c)
{
	double mean = (5 + 3 * (c->tid % 7)) * US * w->factor_of_all;

	if (c->tid == FIRST)
		mean *= w->factor_of_first;
	if (c->is_busy)
		mean *= 2;
	return exponential(w, uniform(w) < 0.02 ? 20 * mean : mean);
}

static void do_step(struct noisy_world *w, struct cpu *c, uint32_t cpu, struct pass_fixture *p)
{
	uint64_t ts = (uint64_t)c->now;
	double slice = (20 + 10 * (c->tid % 5)) * US;

	switch (c->step++) {
	case 0:
		if (uniform(w) < 0.02)
			migrate(&p->f, ts, c->tid, 1 - cpu, cpu);
		waking(&p->f, ts, cpu, c->tid, 0);
		c->now += 1 + wait_of(w, c);
		break;
	case 1:
		sw(&p->f, ts, cpu, 0, c->tid, EV_STATE_RUNNABLE);
		c->now += 1 + exponential(w, slice);
		c->step += c->is_preempted ? 0 : 2;
		break;
	case 2:
		sw(&p->f, ts, cpu, c->tid, OTHER + cpu, EV_STATE_PREEMPTED);
		c->now += 1 + exponential(w, 10 * US);
		break;
	case 3:
		sw(&p->f, ts, cpu, OTHER + cpu, c->tid, EV_STATE_S);
		c->now += 1 + exponential(w, slice);
		break;
	default:
		sw(&p->f, ts, cpu, c->tid, 0, EV_STATE_S);
		begin_cycle(w, c, cpu);
		break;
	}
}

void noisy_world_make(struct pass_fixture *p, struct noisy_world w)
{
	struct cpu cpus[CPUS] = { 0 };
	double end_ns = w.end_ns > 0 ? w.end_ns : NOISY_WORLD_NS;
	char name[16];

	for (uint32_t i = 0; i < CPUS * NAMES; i++) {
		snprintf(name, sizeof(name), "task-%u", i);
		forked(&p->f, 1, 1, FIRST + i, name);
	}
	for (uint32_t i = 0; i < CPUS; i++) {
		snprintf(name, sizeof(name), "other-%u", i);
		forked(&p->f, 1, 1, OTHER + i, name);
		sw(&p->f, 2, i, 5, 0, EV_STATE_S);
		cpus[i] = (struct cpu){ .now = 3, .is_busy = i };
		begin_cycle(&w, &cpus[i], i);
	}
	for (;;) {
		uint32_t i = cpus[0].now <= cpus[1].now ? 0 : 1;

		if (cpus[i].now >= end_ns)
			break;
		do_step(&w, &cpus[i], i, p);
	}
	finish(p, (uint64_t)end_ns);
}
