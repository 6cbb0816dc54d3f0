/*
 * trace/tracedat/dat_clock — times of a trace.dat file in nanoseconds.
 *
 * The kernel's trace clock decides what a raw time is: most count nanoseconds, x86-tsc cycles, which the file may say how to
 * convert (mult and shift); "counter" and "uptime" are no times that scheduling could be measured in. A file of a guest has corrections to the host's clock, per CPU (TIME_SHIFT).
 * To that a constant is added (OFFSET). The same arithmetic as trace-cmd report, but exact where that would overflow.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "trace/bytes_in.h"

struct reader;

enum dat_clock_kind {
	DAT_CLOCK_NS,
	DAT_CLOCK_TICKS,   /* uptime: of 10 ms */
	DAT_CLOCK_CYCLES,  /* of a CPU; a time only with mult */
	DAT_CLOCK_COUNTER, /* no time at all */
};

/* What to add to the times of a CPU from a moment on. */
struct dat_shift {
	int64_t from;
	int64_t offset;
	int64_t scaling;
	int64_t fraction;
};

struct dat_clock {
	char name[32]; /* "" = not given */
	enum dat_clock_kind kind;
	uint32_t mult, shift; /* 0 = none */
	uint64_t offset_ns;
	bool is_interpolated;
	struct dat_shift *shifts; /* of all CPUs, by CPU and time; in the arena of the info */
	uint32_t *first_shift;    /* by CPU, and one more: where its shifts begin */
	uint32_t nr_shift_cpus;
};

/* The name in brackets of a file trace_clock, or the text itself. */
void dat_clock_name(struct dat_clock *c, const char *text, size_t len);
/* A body of the option TIME_SHIFT: 0, -EBADMSG, -ENOMEM. */
MUST_USE int dat_clock_shifts(struct dat_clock *c, struct reader *r, struct bytes_in in);
/* Perfetto's number of the clock; 0 = it has none. */
uint32_t dat_clock_number(const struct dat_clock *c);
/* The time of a CPU in ns. */
uint64_t dat_clock_ns(const struct dat_clock *c, uint32_t cpu, uint64_t raw);
