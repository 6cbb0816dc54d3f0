/*
 * cli/top_record — traces from the screen: 'schedscope record' beside it, in a process of its own.
 *
 * A key starts a recording of duration_ms, which holds nothing from before the key. While the flight recorder is armed, by
 * --keep or by its own key, the last keep_ms are in memory, and the same key writes them and the duration_ms that follow.
 * Only one of the two runs at a time. What the recorder says, where the file went and why not, is reported as messages.
 * Never prints; waits only in close. One thread.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/diag.h"
#include "cli/top_helper.h"

enum top_record_run {
	TOP_RECORD_NONE,
	TOP_RECORD_ONCE, /* a recording of duration_ms */
	TOP_RECORD_KEEP, /* the flight recorder */
	TOP_RECORD_END,  /* the flight recorder, which was asked to end */
};

struct top_record {
	bool is_armed_at_start;
	struct top_helper helper; /* prefix, duration_ms, keep_ms and trigger are set before open */
	/* The rest is its own. */
	enum top_record_run run;
	pid_t pid;       /* of what runs */
	int said;        /* its messages */
	int signal;      /* that it could not be sent yet; 0 = none */
	char line[1024]; /* of them, not reported yet */
	size_t len;
	char result[200]; /* of a recording that has not ended */
	char path[PATH_MAX];
	uint64_t checked_ns, cpu_ns; /* when its CPU time was last read, and what it was */
	double cpu;
};

/* Before rights are given up. Arms the flight recorder if is_armed_at_start. */
MUST_USE int top_record_open(struct top_record *r, struct diag *d);
/* The key that records: text says what happens now. */
MUST_USE int top_record_start(struct top_record *r, char *text, size_t size, struct diag *d);
/* The key of the flight recorder: arms it, or ends it. */
MUST_USE int top_record_arm(struct top_record *r, char *text, size_t size, struct diag *d);
/* True with the next line that the recorder said; false = nothing new. */
MUST_USE bool top_record_message(struct top_record *r, char *text, size_t size);
/* Seconds that the flight recorder keeps, and its share of a CPU over the last second (NAN = not known yet); 0 = not armed. */
double top_record_kept(struct top_record *r, double *cpu);
void top_record_close(struct top_record *r); /* ends what runs, with what it has so far */
