/*
 * collect/stack_part — the programs that take stacks, for the event stream: EV_SAMPLE records.
 *
 * Where CPUs are is sampled by one perf event per online CPU at a steady rate: hardware cycles where every CPU
 * counts them, else cpu-clock, which every machine has. CPUs that go offline meanwhile are left out. Idle is not
 * sampled. Off-CPU and waker stacks come with the tracepoints of switches and wakings. User stacks are walked by frame pointers,
 * or by tables (collect/sample/unwind_maps), which take 32 MiB of kernel memory. No descriptor is left open after close. Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/event_cfg.h"
#include "base/attr.h"
#include "base/diag.h"

#define STACK_BIT(event) (1U << (event)) /* of EV_SAMPLE_CPU, ... */

struct loaded;
struct bpf_log;
struct context_cfg;
struct cpulist;
struct stack_part;
struct unwind_maps;

/* How user stacks are walked. */
enum stack_unwind {
	STACK_UNWIND_FP,    /* by frame pointers */
	STACK_UNWIND_TABLE, /* by tables, or not at all */
	STACK_UNWIND_TRY,   /* by tables; by frame pointers where the kernel refuses its programs */
};

struct stack_part_cfg {
	enum stack_unwind unwind;
	uint32_t events;                    /* STACK_BIT() of each */
	uint32_t frequency;                 /* of EV_SAMPLE_CPU, per second and CPU */
	const struct cpulist *online;       /* not kept */
	const struct ev_cfg *ev;            /* the configuration of the event stream's programs */
	const struct context_cfg *context;  /* likewise */
	const struct loaded *events_object; /* loaded */
	const struct bpf_log *log;
};

/* *out is NULL if no stacks are asked for. -EACCES where CPUs may not be sampled. */
MUST_USE int stack_part_open(const struct stack_part_cfg *cfg, struct diag *d,
                             struct stack_part **out);
/* What EV_SAMPLE_CPU samples: "cycles" or "cpu-clock"; NULL = nothing. NULL is fine, here and below. */
const char *stack_part_event(const struct stack_part *p);
/* What user stacks are walked by; NULL = by frame pointers. Lent. */
struct unwind_maps *stack_part_unwind(const struct stack_part *p);
/* Why not by tables, though STACK_UNWIND_TRY was asked for; empty = they are. NULL without stacks. */
const struct diag *stack_part_why_fp(const struct stack_part *p);
/* What has to be there before processes are read for stack_part_unwind(). */
MUST_USE int stack_part_follow_processes(struct stack_part *p, struct diag *d);
/* After the event stream: a sleeper's stack comes behind its switch. */
MUST_USE int stack_part_attach(struct stack_part *p, struct diag *d);
/* CPUs have gone online or offline: clocks of those. 0, or the first -errno of a CPU that stays without. */
MUST_USE int stack_part_follow(struct stack_part *p, const struct cpulist *online);
void stack_part_listen(struct stack_part *p, bool is_open);
void stack_part_detach(struct stack_part *p);
uint64_t stack_part_missed(const struct stack_part *p);
void stack_part_close(struct stack_part *p);
