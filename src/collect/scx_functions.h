/*
 * collect/scx_functions — which functions of sched_ext the running kernel has, and lets be traced. Reads its type
 * information and its table of symbols: some ten milliseconds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct scx_function;
struct scx_plan;

/* For scx_plan_make(); vmlinux is a struct btf. */
bool scx_functions_find(void *vmlinux, const char *name, struct scx_function *out);
/* scx_plan_make() for this kernel; nothing is in the plan if it has no sched_ext, or tells nothing of its types. */
void scx_functions_plan(uint64_t kinds, struct scx_plan *out);
