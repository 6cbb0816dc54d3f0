/*
 * tests/tui/fixture — a synthetic machine of any size whose numbers follow from their place, so that tests recompute them.
 *
 * Processes have FIXTURE_THREADS threads each, the last one what is left. Tids count from FIXTURE_TID on; the first thread
 * of a process has its id.
 */
#pragma once

#include "machine/machine_program.h"
#include "machine/machine_scx.h"
#include "profile/machine_profile.h"
#include "profile/profile.h"
#include "tui/view.h"

#define FIXTURE_TID     1000U
#define FIXTURE_THREADS 4U

struct fixture_cfg {
	uint32_t nr_cpus, cpus_per_llc, cpus_per_node; /* 0 = unknown */
	uint32_t nr_threads;
	uint32_t nr_dsqs, nr_nets, nr_programs;
	uint32_t nr_symbols; /* of the profile; 0 = there is none */
	bool is_proc;        /* nothing that BPF measures */
	bool is_hostile;     /* names that try to reach the terminal */
};

struct fixture {
	struct machine m;
	struct machine_cpu *cpus;
	struct machine_task *threads, *processes;
	struct machine_dsq *dsqs;
	struct machine_scx scx;
	struct machine_scx_task *scx_tasks; /* one per process */
	double *dsq_history;                /* of all queues */
	struct machine_net *nets;
	struct machine_bpf *programs;
	uint32_t (*heat)[MACHINE_HEAT_ROWS];
	double *history;         /* of all CPUs and tasks */
	struct fixture_hot *hot; /* profile, and what there is of BPF programs besides rows */
	struct fixture_sensors *sensors;
	struct fixture_order {
		uint32_t *by_id, *place_of, *active;
		struct machine_order pub;
	} thread_order, process_order;
};

extern const struct fixture_cfg fixture_small; /* 8 CPUs, 40 threads */
extern const char *const fixture_hostile_names[];
extern const size_t fixture_nr_hostile_names;

void fixture_init(struct fixture *f, const struct fixture_cfg *cfg); /* aborts without memory */
void fixture_done(struct fixture *f);
/*
 * What a live source tells: rows stand in an order of their own, only every nth does anything, the machine says which do
 * and where which id is.
 */
void fixture_make_order(struct fixture *f, uint32_t nth);

double fixture_busy(uint32_t cpu);
double fixture_run(uint32_t thread); /* of one CPU */
uint64_t fixture_p99_ns(uint32_t thread);
uint64_t fixture_dsq_p90_ns(uint32_t process); /* of what it waited in queues */
extern const char fixture_stats[];             /* of the scheduler, 40 lines and more */
uint64_t fixture_samples(uint32_t symbol);

/* Of the machine: parts that tests change. */
struct fixture_hot {
	struct machine_profile profile;
	struct machine_profile_row *rows;
	struct profile_frame *frames; /* of each symbol its own, then its two callers */
	const struct profile_frame **stacks;
	char (*names)[32];
	struct machine_programs programs;
	struct machine_hot hot;
	struct machine_hot_line lines[3];
};
void fixture_hot_init(struct fixture *f, const struct fixture_cfg *cfg);
void fixture_hot_done(struct fixture *f);
