/*
 * cli/serve_keep — the flight recorder beside `serve`: a process that runs `record --keep`, and removes dumps that are too many.
 *
 * It is forked before serve gives up its rights, and ends with it. What it records, and where to, is fixed then: it takes no
 * requests. A recorder that ends is started again after a while.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/diag.h"
#include "base/opt.h"
#include "serve/dumps.h"

struct serve_keep {
	const char *dir;
	const struct opt_list *triggers;
	uint64_t keep_ms;
	struct dumps_limits limits;
	pid_t pid; /* 0 = there is none */
	int fd;    /* closed to end it */
};

/* -EINVAL for a trigger that is none. */
MUST_USE int serve_keep_check(const struct serve_keep *k, struct diag *d);
MUST_USE int serve_keep_start(struct serve_keep *k, struct diag *d);
void serve_keep_stop(struct serve_keep *k);
