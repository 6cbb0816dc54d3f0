/*
 * record/record_source — the event stream of a recording, from the kernel into a sink, until something ends it.
 *
 * open() checks all that can be wrong and loads; nothing is recorded yet. run() waits for its time, attaches, reports the names of
 * the tasks that are there, gives up all privileges (sys/rights/privilege), lets the command go, and hands records
 * on until time is up, the command or the process that was asked for has ended, or a signal comes. On which CPUs
 * tasks may run is part of the stream (record/affinity). A command that still runs when the recording ends goes on.
 * One thread; never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"
#include "base/diag.h"
#include "base/loss.h"
#include "collect/probe_spec.h"

struct labels;
struct record_source;
struct record_symbols;
struct topology;

/* How user stacks are walked. */
enum record_unwind {
	RECORD_UNWIND_AUTO,  /* by tables; by frame pointers where that is not possible */
	RECORD_UNWIND_FP,    /* by frame pointers */
	RECORD_UNWIND_TABLE, /* by tables, or not at all: -ENOTSUP with a sentence */
};

struct record_source_cfg {
	uint64_t kinds;            /* EV_BIT() of each */
	uint32_t tgid;             /* 0 = all */
	const char *const *cgroup; /* patterns; none = all */
	size_t nr_cgroup;
	const struct events_probe *probes; /* of the user's choice */
	size_t nr_probes;
	uint32_t one_in; /* record one wakeup in so many, with what follows from it; 0 = all */
	const char *const *pmu; /* events to count per slice, at most EV_PMU_MAX */
	size_t nr_pmu;
	uint32_t stacks;          /* STACK_BIT() of each; 0 = none */
	uint32_t stack_frequency; /* of those of CPUs */
	enum record_unwind unwind;
	bool is_per_cpu_rings;
	bool is_scx_by_kprobe;   /* for tests: collect/scx_part */
	bool is_context_counted; /* for tests: collect/context */
	bool is_quota_by_cpu;    /* for tests: collect/events */
	bool is_deaf;    /* part of a larger program, which obeys signals itself; no command then */
	uint32_t parent; /* it ends with this process, which has started it; 0 = by itself */
	uint32_t ring_bytes;  /* 0 picks */
	uint64_t duration_ns; /* 0 = until stopped */
	uint64_t start_real_ns; /* run() waits for this time of the wall clock, and duration_ns counts from it; 0 = begin at once */
	const struct labels *labels; /* for the trace's attributes; NULL = none */
	char *const *command; /* run meanwhile, and the recording ends with it; NULL = none */
};

enum record_end {
	RECORD_END_TIME,
	RECORD_END_SIGNAL,
	RECORD_END_COMMAND,
	RECORD_END_TARGET, /* the process that was asked for has ended */
	RECORD_END_DONE,   /* round() has had enough */
};

struct record_totals {
	uint64_t elapsed_ns;
	uint64_t events; /* seen by the kernel side, of all kinds */
	uint64_t switches;
	uint64_t wakings;
	uint64_t hits;                 /* of probes */
	uint64_t stacks;               /* taken */
	uint64_t one_in;               /* only one wakeup in so many was recorded; 1 = all */
	uint64_t lost;                 /* for all reasons: */
	uint64_t lost_of[EV_KIND_MAX]; /* no room in a ring, by kind */
	uint64_t skipped;     /* the kernel did not run the program, as one was already running */
	uint64_t damaged;     /* what came out of a ring was not a record */
	uint64_t missing;     /* kinds that this kernel does not have */
	struct losses losses; /* of the filter, of triggers, of names for stacks */
	bool is_filtered;     /* then switches are left out */
	int command_status;   /* as of waitpid(), if there was a command and it has ended */
	uint32_t command_pid; /* of a command that still runs; 0 = it has ended, or there is none */
};

/* What to do after each round of records. */
enum record_next { RECORD_GO_ON, RECORD_AT_ONCE, RECORD_STOP };

struct record_run {
	struct ev_sink sink;
	/* has_asked: SIGUSR2 came. RECORD_AT_ONCE if there is more to do before any waiting. */
	enum record_next (*round)(void *ctx, uint64_t now_ns, bool has_asked);
	void (*ready)(void *ctx); /* all is attached, the command begins next; may be NULL */
	void *ctx;
};

MUST_USE int record_source_open(const struct record_source_cfg *cfg, struct diag *d,
                                struct record_source **out);
void record_source_close(struct record_source *s); /* NULL is fine */
MUST_USE int record_source_run(struct record_source *s, const struct record_run *run,
                               struct diag *d, enum record_end *why);

/* What the addresses of stacks are; NULL without stacks. */
struct record_symbols *record_source_symbols(const struct record_source *s);
/* Why stacks have no names, each reason once; false if there is no further one. */
bool record_source_remark(struct record_source *s, struct diag *out);
/* What stacks of CPUs are sampled by: "cycles", "cpu-clock"; NULL = there are none. */
const char *record_source_stack_event(const struct record_source *s);
const struct topology *record_source_topology(const struct record_source *s);
uint64_t record_source_missing(
	const struct record_source *s); /* kinds that this kernel does not have */
uint8_t record_source_measures(const struct record_source *s); /* EV_MEASURES_* */
void record_source_totals(const struct record_source *s, struct record_totals *out);
