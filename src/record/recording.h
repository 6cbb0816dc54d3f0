/*
 * record/recording — a trace file, loaded: the tables that analyses read, and facts about the file.
 *
 * Loading needs no privilege. What is damaged is counted in the facts; only a file that is not a
 * trace at all is an error. Everything is read once; then the file is not needed any more. One
 * thread; never prints.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/source.h"
#include "base/attr.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "record/frame_names.h"

struct recording;
struct trace_info;

#define RECORDING_PARTS_MAX 65536U

struct recording_cfg {
	unsigned int nr_workers; /* 0 = as many as there are CPUs */
	const char *name;        /* of the trace, for people; NULL = its path */
	int fd;                  /* of the file, lent; 0 = the path is opened */
	/* With fd, which is the file "data" of a folder of perf: opens "data.NR", -ENOENT behind the last. NULL = it is no folder. */
	int (*open_part)(void *ctx, unsigned int nr);
	void *part_ctx;
	struct frame_namer namer; /* of functions that the file does not name */
	/*
	 * Of memory, while it loads and for what stays; 0 = what the machine can spare, which is never exceeded. With
	 * the hint what to do if it is too little.
	 */
	uint64_t max_bytes;
	const char *max_hint;
	/* Called now and then while loading, with how much is done of all: false ends it (-ECANCELED). May be NULL. */
	bool (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
};

/* The limit that loading has with that max_bytes: also of what the machine can spare now. */
uint64_t recording_limit(uint64_t max_bytes);
/* path "-" is standard input. */
MUST_USE int recording_open(const char *path, const struct recording_cfg *cfg, struct diag *d,
                            struct recording **out);
void recording_close(struct recording *r); /* NULL is fine */
DEFINE_SCOPED(recording, recording_close)

/* Valid until the recording is closed. */
const struct source *recording_source(const struct recording *r);
const struct trace_info *recording_info(const struct recording *r);
/* Of tables, log and indexes. */
size_t recording_bytes(const struct recording *r);
