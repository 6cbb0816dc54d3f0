/* collect/run_losses — what a run lost where it chooses what to show or to keep (filters, triggers), and of names for stacks. */
#pragma once

#include "base/loss.h"

struct stat_filter;

struct run_losses_of {
	const struct stat_filter *filter; /* NULL = none */
	uint64_t trigger_calls;           /* trigger_eval_no_room() of the run's triggers */
	uint64_t mapped_files;            /* record_symbols_lost() of the run's stacks */
};

void run_losses(const struct run_losses_of *of, struct losses *out);
