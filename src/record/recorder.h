/*
 * record/recorder — a recording: from the event stream to a Perfetto trace on disk.
 *
 * open() checks everything that can be wrong before anything is attached, and creates the file; run() writes
 * until time is up, the command has ended, a signal comes, or the disk is full. What is on disk loads at any
 * moment. Memory is bounded: nothing of the stream is kept. One thread; never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "record/record_source.h"

struct recorder;

struct recorder_cfg {
	struct record_source_cfg source;
	const char *path;  /* NULL: fd counts */
	int fd;            /* lent, open for writing */
	bool is_real_path; /* no part of it may be a link */
	bool wants_system_stats;
	bool is_compressed;
	const char *command_line; /* for the trace's attributes */
	/* Called when all is attached, before the command begins; may be NULL. */
	void (*ready)(void *ctx);
	void *ready_ctx;
};

struct recorder_stats {
	struct record_totals totals;
	uint64_t written; /* records */
	uint64_t bytes;
	/* Switches that do not follow from the one before; if filtered, tasks that become wanted make some, too. */
	uint64_t breaks;
};

/* False ends the recording as if its time were up. */
typedef bool recorder_progress_fn(void *ctx, const struct recorder_stats *stats);

MUST_USE int recorder_open(const struct recorder_cfg *cfg, struct diag *d, struct recorder **out);
uint64_t recorder_missing(const struct recorder *r); /* kinds that this kernel does not have */
bool recorder_remark(struct recorder *r, struct diag *out); /* as record_source_remark() */
/* progress, which may be NULL, is called about four times a second. */
MUST_USE int recorder_run(struct recorder *r, recorder_progress_fn *progress, void *ctx,
                          struct diag *d, enum record_end *why);
/* Ends the trace; its totals are in stats, which may be NULL. */
MUST_USE int recorder_close(struct recorder *r, struct recorder_stats *stats, struct diag *d);
