/*
 * machine/machine_verdict — the worst wait of the last seconds, in a sentence that the data prove.
 *
 * Live: which thread has been waiting longest, and which task had that CPU meanwhile; a task is named only if it did not move
 * within the interval, so that all it ran was there. Of a recording: the longest wait of the interval, by the ledger.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct machine_verdict {
	const char *text; /* untrusted names; no full stop at the end */
	uint32_t tid;     /* which thread it is about; 0 = none */
	uint64_t wait_ns; /* of it */
	bool is_open;     /* the wait has not ended */
};
