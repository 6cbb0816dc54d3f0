/* cli/record/record_flight — `record --keep` and `--trigger`: the flight recorder's options, messages and summary. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "base/opt.h"
#include "record/recorder.h"

struct flight_args {
	uint64_t keep_ns; /* 0 = not given */
	struct opt_list triggers;
	uint64_t after_ns;
	uint64_t cooldown_ns;
	uint64_t max_dumps;
	uint64_t keep_mib;
	bool has_after, has_cooldown, has_max_dumps, has_keep_mib;
};

bool record_flight_is_wanted(const struct flight_args *args);
/* Words that do not fit together: -EINVAL. output as given. */
MUST_USE int record_flight_check(const struct flight_args *args, const char *output,
                                 struct diag *d);
/* cfg->path is the directory or beginning of names, NULL = the default; events as given; *exit_code: cli/record/record_talk. */
MUST_USE int record_flight_run(const struct flight_args *args, const struct recorder_cfg *cfg,
                               const struct opt_list *events, int *exit_code, struct diag *d);
