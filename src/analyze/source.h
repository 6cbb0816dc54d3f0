/*
 * analyze/source — what an analysis looks at: the tables of a recording, or of a live window, and facts about both.
 *
 * Everything is lent by whoever opened the recording. Rows hold indices of tasks; times are those of the
 * trace. Of a fact that is unknown the number is 0, -1 or NULL as said, and the analysis says null.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/event.h"
#include "model/live.h"
#include "model/timeline.h"

struct allowed;
struct event_log;
struct task_lives;

/* A name with a number: what was damaged and how often, a category and its events. */
struct source_count {
	const char *name;
	uint64_t count;
};

/* A function that a recording knows by name: the number that stands for it in its events. */
struct source_symbol {
	uint64_t value;
	const char *name;
};

/* A place in code; texts are never NULL, "" is unknown. */
struct source_frame {
	const char *name;
	const char *module; /* base name of the file, or the part of the kernel */
	const char *file;   /* of the source */
	uint64_t address;   /* in its file, or as the recorder tells it */
	uint32_t line;      /* 0 = unknown */
	bool is_kernel;
	bool is_inlined;
};

/* What a stack is of. */
enum source_stack_kind {
	SOURCE_STACK_CPU,     /* where a CPU was */
	SOURCE_STACK_OFF_CPU, /* where a task went to sleep: at its switch, or behind it */
	SOURCE_STACK_WAKER,   /* from where a task was woken: the waker's */
	SOURCE_STACK_OTHER,
	SOURCE_STACK_KINDS,
};

struct source_sample {
	uint64_t ts_ns;
	uint32_t tid;   /* 0 = idle */
	uint32_t cpu;   /* ~0 = unknown */
	uint32_t stack; /* ~0 = none */
	uint32_t kind;  /* enum source_stack_kind */
};

/* Frames leaf first, from stack_frames[first] on. */
struct source_stack {
	uint32_t first;
	uint32_t nr;
};

struct source_stacks {
	const struct source_sample *samples; /* by time */
	size_t nr_samples;
	uint64_t nr_of[SOURCE_STACK_KINDS];
	const struct source_stack *stacks;
	size_t nr_stacks;
	const uint32_t *stack_frames;
	const struct source_frame *frames;
	size_t nr_frames;
	const char *event;  /* by which CPUs are sampled; "" = unknown */
	uint64_t frequency; /* asked for; 0 = unknown */
};

struct source_facts {
	const char *name;     /* of the file; "live" */
	const char *producer; /* schedscope, wprof, scxtop, systing, perfetto, unknown */
	const char *clock;    /* of all times: boottime, relative, ... */
	uint64_t unix_ns;     /* wall clock at the start; 0 = unknown */
	const char *release;  /* of the kernel; NULL = unknown */
	const char *machine;
	const char *scheduler; /* of sched_ext; NULL = none or unknown */
	bool has_scx;
	bool is_live;
	uint64_t bytes; /* of the file */
	uint32_t nr_cpus;
	const struct live_place *places; /* by CPU; NULL = unknown */
	uint32_t nr_places;
	uint64_t kinds[EV_KIND_MAX]; /* events of each kind */
	uint64_t nr_events;          /* of all kinds that are events; who a task is, is none */
	uint64_t lost;               /* reported */
	const struct source_count *events; /* by name as the producer calls them */
	size_t nr_events_names;
	const struct source_count *categories; /* of track events */
	size_t nr_categories;
	const struct source_count *damage; /* by cause */
	size_t nr_damage;
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
	const struct task_lives *lives; /* who had a tid when; NULL with the log */
	const struct allowed *affinity; /* where tasks may run; NULL = unknown */
	const struct source_facts *facts;
	const struct source_stacks *stacks; /* NULL = none */
	uint64_t start_ns;                  /* extent of all that was seen */
	uint64_t end_ns;
};

/* The name of a function; NULL = unknown. */
const char *source_symbol(const struct source *s, uint64_t value);
/* -1 for a CPU whose place is not known. */
int32_t source_llc(const struct source *s, uint32_t cpu);
int32_t source_node(const struct source *s, uint32_t cpu);
/* "?" while unknown, so that a table has something to show. */
const char *source_comm(const struct source *s, uint32_t task);
/* tid of a task index, 0 for TASKS_NONE. */
uint32_t source_tid(const struct source *s, uint32_t task);
uint32_t source_tgid(const struct source *s, uint32_t task); /* 0 = unknown */
/* Whether a task may use a CPU, as far as the recording tells; true where it does not. */
/* Whether the recording tells on which CPUs it may run. */
bool source_is_bound(const struct source *s, uint32_t task);
bool source_may_use(const struct source *s, uint32_t task, uint32_t cpu, uint64_t at_ns);
