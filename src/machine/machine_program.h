/*
 * machine/machine_program — the BPF programs of a machine: what each costs, what it is for, and where in one of them time
 * goes.
 *
 * Run times and counts are the kernel's, since counting was first enabled. A rate is of the last interval
 * between two refreshes; percentiles are of the means of such intervals, not of single runs. Whether a
 * program is one of sched_ext is what the kernel says of it, never its name. Lent until the next refresh;
 * unknown is NAN, NULL or 0 as said.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/machine.h"

struct machine_bpf {
	uint32_t id;
	const char *type;
	const char *name;
	double cpu;        /* of one CPU; NAN = not measured, here and below */
	double ns_per_run; /* of the last interval */
	double runs_per_s;
	double p50_ns, p99_ns, min_ns, max_ns; /* of the means of intervals with runs */
	uint32_t nr_intervals;                 /* that these are of */
	uint64_t run_ns, runs;                 /* counted so far */
	uint64_t misses; /* runs left out, for it was already running on that CPU */
	uint32_t insns;  /* that were verified */
	uint32_t uid, btf_id, nr_maps, jited_bytes;
	bool is_gpl;
	uint64_t loaded_ns;      /* boot time; 0 = unknown */
	const char *struct_name; /* that it is an operation of: sched_ext_ops; NULL = none */
	const char *op;          /* which one; NULL = unknown */
	const char *owner;       /* what that struct calls itself: a scheduler; NULL = unknown */
	uint32_t owner_id;       /* the same for all operations of one; 0 = unknown */
	bool is_sched_ext;
};

/* A line of a program's source, or a function of it where lines are not known. */
struct machine_hot_line {
	const char *function, *file, *text; /* NULL = unknown */
	uint32_t line;                      /* 0 = unknown */
	uint64_t address;                   /* of the first sample */
	uint64_t samples;                   /* in its own code */
	uint64_t total; /* with those in functions of the kernel that it called */
};

/* Samples of one program. */
struct machine_hot {
	const char *refusal;   /* why there are none; NULL = it is sampled */
	const char *event;     /* cycles, cpu-clock */
	const char *why_event; /* why it is not cycles; NULL */
	double hz, seconds;
	uint64_t seen;    /* samples of all CPUs, whatever they did */
	uint64_t samples; /* in the program */
	uint64_t total;   /* with the functions that it called */
	uint64_t lost;
	bool has_lines;
	const struct machine_hot_line *lines; /* the largest total first */
	size_t nr_lines;
};

struct machine_programs {
	const char *refusal; /* why nothing is counted; NULL = it is */
	double cost;         /* of all programs, of the time of all CPUs */
	struct machine_history cost_history;
	/* Of the program shown in detail (machine_wish.program): of each interval, NAN = no runs. */
	uint32_t program; /* 0 = none, or it is gone */
	struct machine_history ns_history, runs_history, cpu_history;
	const struct machine_hot *hot; /* NULL = it is not sampled */
};
