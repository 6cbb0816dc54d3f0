/*
 * record/convert — a trace of any format that we read becomes a Perfetto trace of ours.
 *
 * The file is read twice: first for the facts about it (names of functions, command lines, stacks, the machine), then for its
 * records, which are written as they come. What is not a file that can be read again is copied into memory first. Memory is
 * bounded as of loading a recording. Attributes say what it was converted from, what was lost and damaged, and when CPUs
 * ended early, so that a reader knows as much as of the original. One thread of the caller's; blocks on both files only.
 * Never prints. A failure may leave an output that is cut, which is a trace.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

struct convert_cfg {
	const char *from; /* "-" = standard input */
	const char *
		to; /* "-" = standard output; a file that has the name is replaced, the input refused */
	bool is_compressed;
	/* Called now and then with how much is done of all. May be NULL. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
	/* Called when all is written, for each kind of thing of which some could not be read: so many of all. May be NULL. */
	void (*unread)(const char *what, uint64_t count, uint64_t of);
};

struct convert_stats {
	uint64_t nr_records; /* written */
	uint64_t nr_stacks;
	uint64_t nr_skipped; /* that a trace cannot hold */
	uint64_t nr_bytes;
};

MUST_USE int convert_file(const struct convert_cfg *cfg, struct diag *d, struct convert_stats *out);
