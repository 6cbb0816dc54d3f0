/*
 * cli/top_record — traces from the screen: 'schedscope record' beside it, in a process of its own.
 *
 * With keep_ms it runs from the start and keeps the last seconds in memory; a key then writes them, so the file begins
 * before the key. Without, a key starts a recording of duration_ms. What the recorder says, where the file went and why
 * not, is told as news. Never prints; waits only in close.
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
	pid_t pid;        /* that records; 0 = nobody */
	int said;         /* what it says; counts while pid does */
	char line[1024];  /* not told yet */
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
