/*
 * collect/scx_functions — which functions of sched_ext the running kernel has, and lets be traced. Reads its type
 * information and, once, its table of symbols: some ten milliseconds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collect/scx_plan.h"

struct btf;

/* Zeroed but for vmlinux before the first question. */
struct scx_functions {
	const struct btf *vmlinux;
	bool is_read;
	char *symbols; /* NULL: unknown */
};

/* For scx_plan_make(); ctx is a struct scx_functions. */
bool scx_functions_find(void *ctx, const char *name, struct scx_function *out);
void scx_functions_done(struct scx_functions *f);
/* scx_plan_make() for this kernel; nothing is in the plan if it has no sched_ext, or no type information. */
void scx_functions_plan(uint64_t kinds, enum scx_way way, struct scx_plan *out);
