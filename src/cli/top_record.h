/*
 * cli/top_record — traces from the screen: 'schedscope record' beside it, in a process of its own.
 *
 * With keep_ms it runs from the start and keeps the last seconds in memory; a key then writes them and the duration_ms
 * after it, so the file begins before the key. Without, or where it cannot run, a key starts a recording of duration_ms.
 * If nobody asked for the keeping and it takes more than a tenth of a CPU, it ends, and says so. What the recorder says,
 * where the file went and why not, is told as news. Never prints; waits only in close.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/diag.h"

struct top_record {
	const char *prefix; /* of files; lent */
	uint32_t duration_ms;
	uint32_t keep_ms; /* 0 = record when asked only */
	bool is_asked; /* for the keeping: what it costs and that it cannot run is the user's business */
	const char *trigger; /* that writes without a key, as record takes it; NULL = none; lent */
	bool is_waited_for;  /* a key was pressed */
	pid_t pid;           /* that records; 0 = nobody */
	uint64_t checked_ns, cpu_ns; /* when its cost was last looked at, and what it was */
	int said;                    /* what it says; counts while pid does */
	char line[1024];             /* not told yet */
	size_t len;
	char result[200]; /* of a recording that has not ended */
	unsigned int nr;  /* of the next file */
	char path[PATH_MAX];
};

/* With keep_ms: starts keeping. */
MUST_USE int top_record_open(struct top_record *r, struct diag *d);
/* A key: text says what happens now. */
MUST_USE int top_record_start(struct top_record *r, char *text, size_t size, struct diag *d);
/* True with the next line that the recorder said; false = nothing new. */
MUST_USE bool top_record_news(struct top_record *r, char *text, size_t size);
void top_record_close(struct top_record *r); /* ends it, with what it has so far */
