/*
 * model/waiting — tasks that wait for a CPU now, the longest waiting first. Memory per task that was ever seen to wait.
 * Pure; one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

#define WAITING_NONE UINT32_MAX

struct waiting_task {
	uint64_t since_ns; /* 0 = it does not wait */
	uint32_t before, after;
	uint32_t marks; /* the caller's, as the next; 0 when a wait begins */
	uint64_t throttled_ns;
};

struct waiting {
	struct waiting_task *tasks; /* by index of the task */
	uint32_t nr;
	uint32_t first, last;
};

void waiting_init(struct waiting *w);
void waiting_done(struct waiting *w);
/* Nothing if it waits already. Times do not go back. -ENOMEM. */
MUST_USE int waiting_begin(struct waiting *w, uint32_t task, uint64_t ts_ns);
bool waiting_has(const struct waiting *w, uint32_t task);
/* Nothing if it does not wait. */
void waiting_end(struct waiting *w, uint32_t task);
