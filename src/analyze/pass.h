/*
 * analyze/pass — an analysis: one entry of one table, used alike by the command line, the MCP server and the screen.
 *
 * An analysis is a function over the tables of a source that builds one report. It pairs nothing itself and keeps
 * nothing between calls. To add one, write a file with a `const struct pass` and name it in analyze/passes.c; from
 * outside the tree, hand it to pass_run(). What it needs (kinds of records) decides whether it applies to a trace:
 * the kinds of `needs` all, and one of `needs_any` unless that is empty.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/report.h"
#include "analyze/source.h"
#include "base/attr.h"
#include "base/diag.h"

#define PASS_ANY_CPU UINT32_MAX

/* Which rows count. Zeroed, and with cpu set to PASS_ANY_CPU, it takes all. */
struct pass_args {
	uint32_t pid;     /* process; 0 = all */
	uint32_t tid;     /* thread; 0 = all */
	const char *comm; /* pattern with * and ?; NULL = all */
	uint32_t cpu;
	uint64_t from_ns; /* rows that overlap [from_ns, to_ns); 0 and 0 = all */
	uint64_t to_ns;
	uint32_t limit;      /* rows of each list; 0 = the analysis's own default */
	bool is_per_process; /* else per thread, where an analysis knows both */
	const char *method;  /* of outliers: IQR, MAD, StdDev, Percentile; NULL = the default */
	/* Of outliers: latency, runtime, cpu, all; of flamegraph: cpu, off-cpu, waker; NULL = the default. */
	const char *category;
	uint32_t layer; /* of sched_ext layers; EV_NO_LAYER = all */
	uint64_t at_ns; /* the moment that is asked for; 0 = none */
};

struct pass {
	const char *id;       /* cpu_utilization */
	const char *name;     /* CPU Utilization */
	const char *category; /* scheduling, interrupt, io, power, extended, query */
	const char *what;     /* one sentence: which question it answers */
	uint64_t needs;       /* EV_BIT() of each */
	uint64_t needs_any;
	uint64_t uses; /* more that it can make use of */
	bool needs_scx;
	bool is_single; /* about one CPU or task that the arguments name: no part of a batch */
	uint8_t cost;   /* 1 to 5 */
	/* Bits of the tables that it asks timeline_find() about: in a batch there are no other indexes than these. */
	uint32_t finds_by_task;
	uint32_t finds_by_cpu;
	uint32_t default_limit; /* of lists; 0 = 20 */
	/* Adds members to the object that is open. */
	int (*run)(const struct source *s, const struct pass_args *args, struct report *r,
	           struct diag *d);
};

extern const struct pass *const passes[]; /* in the order of presentation */
extern const size_t nr_passes;

/* By id, or by scxtop's name for it; NULL if there is none. */
const struct pass *pass_find(const char *id);
/* Whether the source holds what the analysis needs. */
bool pass_applies(const struct pass *p, const struct source *s);
/* "needs sched_switch and sched_waking; the trace has neither" into buf. */
char *pass_missing(const struct pass *p, const struct source *s, char *buf, size_t size);
/* One report {"analysis_type": id, ...}; -ENODATA with a sentence where it does not apply. */
MUST_USE int pass_run(const struct pass *p, const struct source *s, const struct pass_args *args,
                      struct diag *d, struct report **out);

/* What arguments leave of the rows. */
bool pass_takes_task(const struct source *s, const struct pass_args *args, uint32_t task);
bool pass_takes_cpu(const struct pass_args *args, uint32_t cpu);
/* [from, to) cut to what was asked for and to the source; false if nothing is left. */
bool pass_cut(const struct source *s, const struct pass_args *args, uint64_t *from_ns,
              uint64_t *to_ns);
uint32_t pass_limit(const struct pass *p, const struct pass_args *args);
/* The time that was asked for. */
uint64_t pass_span_ns(const struct source *s, const struct pass_args *args);
