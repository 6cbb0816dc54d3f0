/*
 * collect/scx_plan — which programs watch sched_ext on a kernel, and where they attach. Pure: a table of ours
 * against the functions of that kernel, which change names and arguments from release to release.
 *
 * A function counts only if its parameters have the names that the program relies on, in that
 * order: a program that takes one argument for another would silently read wrong data.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCX_PLAN_PROGRAMS   8
#define SCX_FUNCTION_PARAMS 8

#define SCX_KINDS                                                                                  \
	(EV_BIT(EV_SCX_RUN) | EV_BIT(EV_DSQ_LEAVE) | EV_BIT(EV_DSQ_DEPTH) | EV_BIT(EV_SCX_STATE) | \
	 EV_BIT(EV_SCX_COUNTER))

/* A function of the kernel. */
struct scx_function {
	unsigned int nr_params;
	const char *params[SCX_FUNCTION_PARAMS];
};

/* Fills *out and returns true if there is such a function, and it can be traced. */
typedef bool scx_function_fn(void *ctx, const char *name, struct scx_function *out);

/*
 * How programs attach to functions: some kernels support only one of the ways (fentry on arm64:
 * since Linux 6.4).
 */
enum scx_way { SCX_BY_FENTRY, SCX_BY_KPROBE };

struct scx_plan_program {
	const char *program;  /* of bpf/scx.bpf.c; by kprobe, the one of this name with _k */
	const char *function; /* NULL: the tracepoint that its section names, and no _k */
	bool is_return;       /* by kprobe: when the function returns */
};

struct scx_plan {
	uint64_t kinds; /* that are available, of those requested */
	enum scx_way way;
	size_t nr;
	struct scx_plan_program programs[SCX_PLAN_PROGRAMS];
	uint32_t dsq_at; /* which parameter of dispatch_enqueue is the queue */
};

void scx_plan_make(uint64_t kinds, enum scx_way way, scx_function_fn *find, void *ctx,
                   struct scx_plan *out);
