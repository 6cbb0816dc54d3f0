/* model/live_priv — the tables of the live model, for live.c which fills them and live_read.c which shows them. */
#pragma once

#include "model/live.h"

#define LIVE_NONE UINT32_MAX

struct live_thread_row {
	uint64_t nr_switches;
	uint64_t nr_wakeups;
	uint64_t run_ns;
	struct live_latency latency;
	uint64_t end_ns;  /* 0 = lives */
	uint32_t process; /* LIVE_NONE = unknown yet */
	bool is_used;
};

struct live_process_row {
	struct live_process pub;
	uint64_t end_ns; /* of the last thread; 0 = lives */
	uint32_t next_dead;
	bool is_listed; /* among the dead; it may have come back since */
	bool is_used;
};

struct live {
	struct live_cfg cfg;
	struct live_place *places;
	struct live_loss loss;
	uint64_t since_ns;
	bool has_since;
	struct live_cpu *cpus; /* PAIR_MAX_CPUS; untouched ones cost no memory */
	uint32_t nr_cpus;
	struct live_thread_row *threads; /* by task index */
	uint32_t nr_threads;
	uint32_t max_threads;
	struct live_process_row *processes;
	uint32_t nr_processes;
	uint32_t max_processes;
	uint32_t dead_first; /* processes that are gone, in that order */
	uint32_t dead_last;
	struct map *process_of; /* tgid -> index */
	struct live_dsq *dsqs;
	uint32_t nr_dsqs;
	struct map *dsq_of;
};

static inline bool live_is_old(const struct live *l, uint64_t end_ns, uint64_t now_ns)
{
	return end_ns && now_ns > end_ns && now_ns - end_ns > l->cfg.keep_dead_ns;
}
