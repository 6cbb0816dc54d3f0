/*
 * profile/profile — stacks with weights and names: where time, or another event, went.
 *
 * One form for all that is drawn as a flame graph or listed by function: a live run, a recorded trace, the
 * difference of two. Frames and texts are kept once; equal stacks of the same task are one row. A profile only
 * grows. One thread. Memory is bounded by the number of different frames, tree nodes and rows.
 *
 * Two frames are the same function when name, module and kernel-or-not agree; address and line say
 * where in it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/profile.h"
#include "base/attr.h"
#include "base/cleanup.h"
#include "base/diag.h"

#define PROFILE_NONE      UINT32_MAX
#define PROFILE_NO_LAYER  UINT32_MAX
#define PROFILE_MAX_DEPTH 4096U /* frames of a stack, inlined ones too */

struct profile;

/* A place in code. Texts are copied. */
struct profile_frame {
	const char *symbol; /* "0x..." where the name is unknown; NULL is "unknown" */
	const char *
		module; /* base name of the file, "kernel", a module's name, "bpf"; NULL is "unknown" */
	const char *file; /* of the source; NULL = unknown */
	uint32_t line;    /* 0 = unknown */
	uint64_t address; /* as sampled: of the kernel, or of the process */
	bool is_kernel;
	bool is_inlined; /* it has no frame of its own; the next outer one holds its code */
};

/* The task. */
struct profile_task {
	uint32_t tid;
	uint32_t tgid;
	const char *comm;    /* of the thread */
	const char *process; /* of the leader; NULL = unknown */
	uint32_t layer;      /* of sched_ext; PROFILE_NO_LAYER */
	const char *cgroup;  /* path; NULL = unknown */
};

struct profile_stack {
	const uint32_t *frames; /* numbers of profile_add_frame(), leaf first; kernel before user */
	size_t nr;
	uint32_t task;  /* number of profile_add_task() */
	uint32_t cpu;   /* of the last of them */
	uint64_t count; /* samples */
	uint64_t value; /* in the profile's unit; of samples of equal weight the same as count */
};

struct profile_facts {
	const char *event;  /* what was sampled: cpu-clock, cycles, off-cpu, sched_waking */
	const char *unit;   /* of values: samples, ns, events */
	bool is_wall;       /* values are ns of wall-clock time, by how many ran at the same time */
	uint64_t frequency; /* asked for; 0 = none */
	uint64_t period;    /* asked for; 0 = none */
	uint64_t duration_ns;   /* of the profile */
	uint64_t start_real_ns; /* wall clock; 0 = unknown */
	uint64_t lost;          /* samples that could not be kept */
	uint64_t broken; /* samples whose user stack is not whole; by frame pointers: has no caller */
	uint64_t ends[PROF_NR_ENDS]; /* samples by where the walk of the user stack ended; 0 by frame pointers */
};

MUST_USE int profile_new(const struct profile_facts *facts, struct profile **out);
void profile_free(struct profile *p); /* NULL is fine */
DEFINE_SCOPED(profile, profile_free)
MUST_USE int profile_set_facts(struct profile *p, const struct profile_facts *facts);

/*
 * The number of an equal one that is there already, else a new one. -E2BIG beyond what a profile may hold,
 * -EINVAL for numbers that were never given, -ENOMEM; a call that fails changes no sum.
 */
MUST_USE int profile_add_frame(struct profile *p, const struct profile_frame *frame, uint32_t *out);
MUST_USE int profile_add_task(struct profile *p, const struct profile_task *task, uint32_t *out);
MUST_USE int profile_add_stack(struct profile *p, const struct profile_stack *stack);

const struct profile_facts *profile_facts(const struct profile *p);
uint64_t profile_count(const struct profile *p); /* samples of all rows */
uint64_t profile_value(const struct profile *p);

/* Rows, frames, tasks and functions by number, below these. */
size_t profile_nr_stacks(const struct profile *p);
size_t profile_nr_frames(const struct profile *p);
size_t profile_nr_tasks(const struct profile *p);
size_t profile_nr_functions(const struct profile *p);
/* frames of *out is lent until the next profile_stack_at() or profile_add_stack(). */
void profile_stack_at(const struct profile *p, size_t idx, struct profile_stack *out);
/* Lent until the next profile_add_frame() or profile_add_task(); their texts stay. */
const struct profile_frame *profile_frame_at(const struct profile *p, uint32_t idx);
const struct profile_task *profile_task_at(const struct profile *p, uint32_t idx);
/* Frames of the same function have the same number. */
uint32_t profile_function_of(const struct profile *p, uint32_t frame);
/* False where no frame has a module, as in folded text: then only names are compared. */
bool profile_has_modules(const struct profile *p);
