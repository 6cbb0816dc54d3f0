/*
 * cli/stat_blame — `stat --blame`: per interval, which tasks kept which others waiting.
 *
 * Not sums of the kernel's, as all other tables of `stat`: events are recorded into a rolling timeline (live/live_run),
 * and the analysis blame runs over the last interval of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/pass.h"
#include "base/attr.h"
#include "base/diag.h"
#include "base/opt.h"

struct stat_blame_cfg {
	uint64_t interval_ns;
	uint64_t run_time_ns; /* 0 = until stopped */
	struct pass_args which;
	bool is_json;
	bool is_terminal; /* stdout is, and each report replaces the one before */
	size_t width;     /* of it; 0 = any */
};

/* Until its time is over, a signal comes, or the reader of stdout has gone. */
MUST_USE int stat_blame_run(const struct stat_blame_cfg *cfg, struct diag *d);
/* The command line that does it for the same tasks (0 = any); NULL if their names would need quotes. */
const char *stat_blame_command(uint32_t pid, uint32_t tid, const struct opt_list *comm, char *buf,
                               size_t size);
