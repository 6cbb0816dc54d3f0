/*
 * analyze/live_report — model/live as lists to be shown: ranked, cut, names turned into text.
 *
 * All kinds share one row; which fields mean something follows from the kind. Lists and names live in the
 * caller's arena, -ENOMEM when it is full.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "model/live.h"

struct arena;

enum live_kind { LIVE_CPUS, LIVE_LLCS, LIVE_NODES, LIVE_DSQS, LIVE_PROCESSES, LIVE_THREADS };

struct live_row {
	uint64_t id;      /* CPU, LLC, node, queue, tgid or tid */
	uint32_t tgid;    /* of a thread; 0 = unknown */
	uint32_t nr_cpus; /* of a group, with anything to tell */
	const char *comm; /* NULL = unknown */
	uint64_t nr_switches;
	uint64_t nr_wakeups;
	uint64_t nr_migrations;
	uint64_t runtime_ns;
	uint64_t nr_enqueues;
	uint64_t nr_dispatches;
	uint64_t queue_depth;
	bool has_depth;
	struct live_latency latency;
};

struct live_report {
	enum live_kind kind;
	struct live_row *rows; /* threads and processes by switches, the others by id */
	size_t nr;
	size_t nr_total; /* before the cut */
	enum live_from from;
	uint64_t observed_ns;
	uint64_t one_in; /* one wakeup in so many is recorded */
	uint64_t lost;   /* records that were reported lost */
};

/* At most limit threads or processes; the other kinds are never cut. 0 picks 100. */
MUST_USE int live_report_make(const struct live *l, enum live_kind kind, size_t limit,
                              struct arena *mem, struct live_report *out);
