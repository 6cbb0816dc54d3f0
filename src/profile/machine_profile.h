/*
 * profile/machine_profile — which functions the CPUs are in: all samples since the view was opened,
 * or cleared.
 *
 * A function is a symbol: inlined code counts for the symbol that contains it, and its line says where. Percents are of
 * the samples that were kept: those of idle CPUs and those that were lost are in no row. Lent until the next refresh.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile_frame;

#define MACHINE_PROFILE_HZ     199.0 /* the usual rate: in step with no timer */
#define MACHINE_PROFILE_HZ_MIN (MACHINE_PROFILE_HZ / 64)
#define MACHINE_PROFILE_HZ_MAX (MACHINE_PROFILE_HZ * 32)
#define MACHINE_PROFILE_ROWS   5000U
#define MACHINE_PROFILE_STACKS 4U /* the heaviest of a function */

/* Equal calls, from any caller. */
struct machine_profile_stack {
	uint64_t samples;
	const struct profile_frame *const
		*frames; /* leaf first, what was inlined before what holds it */
	uint32_t nr;
};

struct machine_profile_row {
	uint32_t key; /* of the function, never 0; the same in every refresh */
	const char *symbol;
	const char *module;
	bool is_kernel;
	uint64_t samples;  /* in its own code */
	uint64_t total;    /* including callees */
	const char *file;  /* of the place in it with the most samples; NULL = unknown */
	uint32_t line;     /* 0 = unknown */
	uint64_t address;  /* of that place */
	uint32_t tgid;     /* of the process with the most of its samples */
	const char *comm;  /* of that process, or of a thread of it */
	uint32_t nr_tgids; /* processes that were in it */
	uint32_t cpu;      /* of its heaviest stack */
	int64_t layer;     /* of the task there; -1 = none */
	struct machine_profile_stack stacks[MACHINE_PROFILE_STACKS]; /* the heaviest first */
	uint32_t nr_stacks;
};

struct machine_profile {
	const char *refusal; /* why nothing is sampled; NULL = something is */
	bool is_starting;
	const char *event;     /* cycles, cpu-clock; NULL while it starts */
	const char *why_event; /* why it is not cycles; NULL */
	double hz;             /* per CPU, as asked for */
	double seconds;        /* that it has lasted */
	uint64_t samples;      /* in rows, or left out of them */
	uint64_t lost;         /* samples without room */
	uint64_t idle;         /* of idle CPUs */
	uint64_t throttled;    /* times that the kernel slowed it down */
	uint64_t broken;       /* samples whose user stack is not whole */
	const char *
		why_broken; /* most of them: "without a table"; NULL = not known: by frame pointers */
	bool has_layers;
	const struct machine_profile_row *rows; /* the most samples first */
	size_t nr_rows;
	size_t nr_functions; /* with samples of their own: those beyond MACHINE_PROFILE_ROWS are in no row */
};
