/*
 * sys/scx/scx_asker — asks a scheduler for its own statistics (sys/scx/scx_stats), in a thread of its own, once a second.
 *
 * One connection as long as it works; a failure is a sentence, and the next request reconnects. A
 * scheduler that hangs or is dead blocks only that thread. All calls come from one thread and
 * return at once.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

struct scx_asker;

MUST_USE int scx_asker_open(const char *path, struct scx_asker **out); /* 0 or -errno */
void scx_asker_close(struct scx_asker *a);                             /* NULL is fine */
void scx_asker_want(struct scx_asker *a, bool is_wanted);              /* not at first */

struct scx_answer {
	const char *text;   /* JSON in lines; NULL = there is none */
	const char *reason; /* why not; NULL = available, or not requested yet */
	uint64_t at_ns;     /* boot time of the answer */
};
/* Lent until the next call. */
struct scx_answer scx_asker_answer(struct scx_asker *a);
