/*
 * tests/tui/synthetic — a machine that does not exist, whose every number follows from a formula.
 *
 * So a test can recompute what a view must show: synthetic_cpu() and synthetic_thread() are the formulas, for any index,
 * and a process is the sum of its threads. look is the number of the look: numbers move with it. No clock, no chance.
 */
#pragma once

#include "analyze/machine.h"

#define SYNTHETIC_CPUS_MAX    512U
#define SYNTHETIC_THREADS_MAX 50000U
#define SYNTHETIC_PER_PROCESS 8U /* threads of a process; the last one may have fewer */
#define SYNTHETIC_FIRST_TID \
	1000U                 /* threads count up from here; a process has the id of its first */
#define SYNTHETIC_PER_LLC  8U /* CPUs */
#define SYNTHETIC_PER_NODE 64U

struct synthetic_cfg {
	unsigned int nr_cpus;    /* 1 to SYNTHETIC_CPUS_MAX */
	unsigned int nr_threads; /* 0 to SYNTHETIC_THREADS_MAX */
	unsigned int nr_dsqs;    /* 0: without sched_ext */
	bool is_proc;            /* as without BPF: no latencies, with a notice */
	bool has_hostile_names; /* control bytes, escapes, broken UTF-8, in names of every third thread */
};

struct synthetic;

struct synthetic *synthetic_new(
	const struct synthetic_cfg *cfg); /* ends the program without memory */
void synthetic_free(struct synthetic *s); /* NULL is fine */
const struct machine *synthetic_look(struct synthetic *s, unsigned int look);

/*
 * The formulas. Of thread i: run is (i * 7 + look) % 101 / 100, wait (i * 3) % 50 / 100; latency has i % 1000 + 1
 * samples with p50 (i % 1000 + 1) us, p99 ten and max a hundred times that. Every seventh one sleeps (S), the others run
 * (R). CPU n: busy is (n * 13 + look * 5) % 101 / 100; three fifths of it user, the rest system.
 */
double synthetic_run(unsigned int thread, unsigned int look);
double synthetic_wait(unsigned int thread);
double synthetic_busy(unsigned int cpu, unsigned int look);
