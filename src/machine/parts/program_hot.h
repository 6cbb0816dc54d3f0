/*
 * machine/parts/program_hot — where in one BPF program time goes: all CPUs are sampled, samples
 * outside of its code are only counted.
 *
 * A sample in a function of the kernel that the program called counts to the line that called it. With cpu-clock, programs
 * that run with interrupts off are not seen: docs/profiling.md. Memory is bounded by the program's lines. Reading costs as
 * much as there are samples; call it several times a second, for the rings are short. CPUs that come online are sampled, too,
 * within a second. One thread. Nothing stays open after program_hot_close().
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "machine/machine_program.h"

#define PROGRAM_HOT_HZ (4 * 199.0) /* the usual rate: a program is a small part of all */

struct program_hot;

struct program_hot_cfg {
	uint32_t program; /* its id */
	double hz;
	const char *online; /* the list of CPUs that are; NULL = the kernel's */
};

MUST_USE int program_hot_open(const struct program_hot_cfg *cfg, struct diag *d,
                              struct program_hot **out);
void program_hot_close(struct program_hot *h); /* NULL is fine */
/* Everything so far; lent until the next call. */
const struct machine_hot *program_hot_read(struct program_hot *h);
