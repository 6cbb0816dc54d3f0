/*
 * analyze/pass — an analysis: one entry of one table, used alike by the command line, the MCP server and the screen.
 *
 * An analysis is a function over the tables of a source that builds one report. It pairs nothing itself and keeps
 * nothing between calls. To add one, write a file with a `const struct pass` and name it in analyses/passes.c; from
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

struct match;

/* What a row adds up. */
enum pass_by {
	PASS_BY_DEFAULT, /* default_by of the analysis, else by thread */
	PASS_BY_THREAD,
	PASS_BY_PROCESS,
	PASS_BY_COMM,   /* tasks of the same name */
	PASS_BY_CGROUP, /* that they were in at the time */
	PASS_BY_CLASS,  /* of the scheduler: deadline, real-time, fair, idle, ext */
	PASS_BYS
};

/* Which rows count. Zeroed, and with cpu set to PASS_ANY_CPU, it takes all. */
struct pass_args {
	uint32_t pid;     /* process; 0 = all */
	uint32_t tid;     /* thread; 0 = all */
	const char *comm; /* pattern with * and ?; NULL = all */
	const char *
		cgroup; /* that the task was in when the row began: a pattern of analyze/cgroups; NULL = all */
	struct match *comm_match; /* regular expressions instead, as `stat` has them; NULL = all */
	uint32_t cpu;
	uint64_t from_ns; /* rows that overlap [from_ns, to_ns); 0 and 0 = all */
	uint64_t to_ns;
	uint32_t limit;     /* rows of each list; 0 = the analysis's own default */
	enum pass_by by;    /* what rows are about, where an analysis has the choice */
	const char *method; /* of outliers: IQR, MAD, StdDev, Percentile; NULL = the default */
	/* Of outliers: latency, runtime, cpu, all; of flamegraph: cpu, off-cpu, waker; of explain: waits, sleeps; of others,
	 * their mode; NULL = the default. */
	const char *category;
	uint32_t layer;    /* of sched_ext layers; EV_NO_LAYER = all */
	uint64_t at_ns;    /* the moment that is asked for; 0 = none */
	double percentile; /* of cpu_hotspot_analyzer: a CPU is hot from there on; 0 = the default */
	uint32_t vector;   /* of softirq_analyzer: 1 + the softirq; 0 = all */
	bool is_drawn;     /* of explain: with what a picture of sleeps takes */
};

/*
 * The usual way to run: a struct of the analysis's own, which begins with its struct scope, is zeroed; scope and units
 * are worked out, rows collected, the report shown. Both functions fail only without memory.
 */
struct pass_work {
	size_t size;                /* of the struct */
	size_t units_at;            /* the offset of its struct units; 0 = it has none */
	int (*collect)(void *work); /* NULL = nothing to do before show() */
	int (*show)(void *work, struct report *r);
	void (*done)(
		void *work); /* frees what the struct holds but scope and units; NULL = nothing */
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
	bool uses_ledger;     /* of all of the time: explain_ledger() */
	bool uses_sums;       /* of all waits: analyses/blame_sums */
	bool needs_all_tasks; /* says nothing right where only some tasks were recorded */
	bool is_single; /* about one CPU or task that the arguments name: no part of a batch */
	uint8_t cost;   /* 1 to 5 */
	/* Bits of the tables that it queries with timeline_find(): a batch has only these indexes. */
	uint32_t finds_by_task;
	uint32_t finds_by_cpu;
	uint32_t default_limit;  /* of lists; 0 = 20 */
	enum pass_by default_by; /* tasks of one name, say, are what people know; a thread is not */
	/* Adds members to the object that is open. NULL: pass_run_with() and work. */
	int (*run)(const struct source *s, const struct pass_args *args, struct report *r,
	           struct diag *d);
	struct pass_work work;
};

/* Whether the source holds what the analysis needs. */
bool pass_applies(const struct pass *p, const struct source *s);
/* "needs sched_switch and sched_waking; the trace has neither" into buf. */
char *pass_missing(const struct pass *p, const struct source *s, char *buf, size_t size);
/* One report {"analysis_type": id, ...}; -ENODATA with a sentence where it does not apply. */
MUST_USE int pass_run(const struct pass *p, const struct source *s, const struct pass_args *args,
                      struct diag *d, struct report **out);

/* The members of an analysis alone, for one that is part of another, and for a run() that has checked the arguments. */
MUST_USE int pass_run_with(const struct pass_work *w, const struct source *s,
                           const struct pass_args *args, struct report *r, struct diag *d);

/* "thread", "process", ..., as the command line has them; NULL for the default. */
const char *pass_by_name(enum pass_by by);
/* What arguments leave of the rows, but for the cgroup: analyze/scope. */
bool pass_takes_task(const struct source *s, const struct pass_args *args, uint32_t task);
bool pass_takes_cpu(const struct pass_args *args, uint32_t cpu);
/* [from, to) cut to what was asked for and to the source; false if nothing is left. */
bool pass_cut(const struct source *s, const struct pass_args *args, uint64_t *from_ns,
              uint64_t *to_ns);
uint32_t pass_limit(const struct pass *p, const struct pass_args *args);
