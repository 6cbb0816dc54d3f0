/*
 * analyze/source — the input of an analysis: the tables of a recording, or of a live window, and
 * facts about both.
 *
 * Everything is lent by the owner of the recording. Rows hold indices of tasks; times are those of
 * the trace. Of a fact that is unknown the number is 0, -1 or NULL as said, and the analysis says
 * null.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/event.h"
#include "base/loss.h"
#include "model/interrupt.h"
#include "model/timeline.h"

struct allowed;
struct ledger;
struct match;
struct event_log;
struct task_lives;

/* Where a CPU sits; -1 is unknown. */
struct live_place {
	int32_t llc;
	int32_t node;
	int32_t core;
	bool is_isolated; /* from load balancing */
};

/* A name with a number: a category and its events. */
struct source_count {
	const char *name;
	uint64_t count;
};

/* What its user wrote into a recording. */
struct source_label {
	const char *key, *value;
};

/* What of a recording could not be read, or is odd. */
struct source_damage {
	const char *name;
	uint64_t count;
	uint64_t of; /* so many that are in the file; 0 = not counted */
};

/* A function that a recording knows by name: the number that represents it in its events. */
struct source_symbol {
	uint64_t value;
	const char *name;
};

/* A place in code; texts are never NULL, "" is unknown. */
struct source_frame {
	const char *name;
	const char *module; /* base name of the file, or the part of the kernel */
	const char *file;   /* of the source */
	uint64_t address;   /* in its file, or as the recorder gives it */
	uint32_t line;      /* 0 = unknown */
	bool is_kernel;
	bool is_inlined;
};

/* What a stack is of. */
enum source_stack_kind {
	SOURCE_STACK_CPU,     /* where a CPU was */
	SOURCE_STACK_OFF_CPU, /* where a task went to sleep: at its switch, or behind it */
	SOURCE_STACK_WAKER,   /* from where a task was woken: the waker's */
	SOURCE_STACK_OTHER,   /* and above: of source_stacks.events[kind - SOURCE_STACK_OTHER] */
	SOURCE_STACK_WALL = 1 << 16, /* no kind of samples: those of CPUs, by wall clock */
};

struct source_sample {
	uint64_t ts_ns;
	uint32_t tid;   /* 0 = idle */
	uint32_t cpu;   /* ~0 = unknown */
	uint32_t stack; /* ~0 = none */
	uint32_t kind;  /* enum source_stack_kind */
	uint32_t end; /* enum prof_end: why the user stack is not whole; 0 = it is, or that is not known */
};

/* Frames leaf first, from stack_frames[first] on. */
struct source_stack {
	uint32_t first;
	uint32_t nr;
};

struct source_stacks {
	const struct source_sample *samples; /* by time */
	size_t nr_samples;
	uint64_t nr_of[SOURCE_STACK_OTHER];
	const struct source_count *events; /* other ones at which stacks were taken: names, samples */
	size_t nr_events;
	const struct source_stack *stacks;
	size_t nr_stacks;
	const uint32_t *stack_frames;
	const struct source_frame *frames;
	size_t nr_frames;
	const char *event;  /* by which CPUs are sampled; "" = unknown */
	uint64_t frequency; /* asked for; 0 = unknown */
};

/* After that time a CPU is unknown. */
struct source_end {
	uint32_t cpu;
	uint64_t ts_ns;
};

/* A time in which nothing was recorded, on any CPU. */
struct source_hole {
	uint64_t from_ns;
	uint64_t to_ns;
};

struct source_facts {
	const char *name;     /* of the file; "live" */
	const char *producer; /* schedscope, wprof, scxtop, systing, perfetto, unknown */
	const char *clock;    /* of all times: boottime, relative, ... */
	uint64_t unix_ns;     /* wall clock at the start; 0 = unknown */
	const char *release;  /* of the kernel; NULL = unknown */
	const char *machine;  /* its architecture */
	const char *host;     /* its name; NULL = unknown */
	const char *boot_id;  /* which run of it; NULL = unknown */
	const struct source_label *labels; /* record --metadata */
	size_t nr_labels;
	const char *scheduler; /* of sched_ext; NULL = none or unknown */
	bool has_scx;
	bool is_live;   /* a window of a stream that goes on */
	uint64_t bytes; /* of the file */
	uint32_t nr_cpus;
	const struct live_place *places; /* by CPU; NULL = unknown */
	uint32_t nr_places;
	uint64_t kinds[EV_KIND_MAX]; /* events of each kind */
	uint64_t nr_events; /* of all kinds that are events; descriptions of tasks are not */
	uint64_t lost;      /* reported */
	const struct source_count *lost_by; /* by kind, where the recorder counted so */
	size_t nr_lost_by;
	struct losses recorder; /* LOSSES_OF_RUN, as its recorder counted them */
	const char *filter;     /* which tasks were recorded; NULL = all, or it is not known */
	const char *incomplete; /* why the end is missing; NULL = nothing says so */
	const struct source_end *ends; /* CPUs whose remaining records are missing */
	size_t nr_ends;
	const struct source_hole *holes; /* by time */
	size_t nr_holes;
	const struct source_count *events; /* by name as the producer calls them */
	size_t nr_events_names;
	const struct source_count *categories; /* of track events */
	size_t nr_categories;
	const struct source_damage *damage; /* by cause */
	size_t nr_damage;
	const struct source_symbol *probes; /* names by number, sorted */
	size_t nr_probes;
	const struct source_symbol *symbols; /* by value */
	size_t nr_symbols;
	const char *const *pmu_names; /* of the index in rows of TIMELINE_PMU */
	size_t nr_pmu_names;
};

struct source {
	struct timeline *timeline;
	struct tasks *tasks;
	const struct pair *pair;
	struct event_log *log;          /* raw events; NULL where none are kept */
	const struct task_lives *lives; /* the owners of tids over time; NULL with the log */
	const struct allowed *affinity; /* where tasks may run; NULL = unknown */
	const struct source_facts *facts;
	const struct source_stacks *stacks; /* NULL = none */
	struct ledger *
		ledger; /* of all of the time, where analyses run together; NULL = each makes one */
	struct blame_share *blame;             /* likewise: the sums of all waits */
	struct bottlenecks_share *bottlenecks; /* likewise: what is shown of them */
	uint64_t start_ns;                     /* extent of all that was seen */
	uint64_t end_ns;
};

/* The name of a probe; NULL = unknown. */
const char *source_probe(const struct source *s, uint32_t probe);
/* The name of a function; NULL = unknown. */
const char *source_symbol(const struct source *s, uint64_t value);
/* -1 for a CPU whose topology is unknown. */
int32_t source_llc(const struct source *s, uint32_t cpu);
int32_t source_node(const struct source *s, uint32_t cpu);
int32_t source_core(const struct source *s, uint32_t cpu);
/* "?" while unknown, so that a table has something to show. */
const char *source_comm(const struct source *s, uint32_t task);
/* The name that it had then: one that has called exec since has another now. */
const char *source_comm_at(const struct source *s, uint32_t task, uint64_t ts_ns);
/* Whether it ever had a name that fits a pattern of base/name_pattern; a task without a name is called "?". */
bool source_has_name(const struct source *s, uint32_t task, const char *pattern);
bool source_matches_name(const struct source *s, uint32_t task, struct match *m);
/* Fills in what handles a device's interrupt, if recorded. */
void source_name_device(const struct source *s, struct interrupt *i);
/* tid of a task index, 0 for TASKS_NONE. */
uint32_t source_tid(const struct source *s, uint32_t task);
uint32_t source_tgid(const struct source *s, uint32_t task); /* 0 = unknown */
/* Of what the recording says then about the CPUs that a task may use (allowed_word()); 0 = all, or nothing is said. */
uint32_t source_bound_to(const struct source *s, uint32_t task, uint64_t at_ns);
/* Whether a task may use a CPU, as far as recorded; true if unknown. */
bool source_may_use(const struct source *s, uint32_t task, uint32_t cpu, uint64_t at_ns);
bool source_knows_cpus(const struct source *s, uint32_t task); /* it is recorded of the task */
/* Whether the scheduler moves no task to a CPU by itself: it is isolated from load balancing. */
bool source_is_isolated(const struct source *s, uint32_t cpu);

/* Which host a recording is of: its label "host", else the name of its machine; NULL = unknown. */
const char *source_host(const struct source_facts *f);
