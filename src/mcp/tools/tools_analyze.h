/* mcp/tools/tools_analyze — tools that are one analysis each: one table over analyze/pass.h. */
#pragma once

#include "mcp/tool.h"

#define ANALYZE_TOOLS(X)      \
	X(CPU_UTILIZATION)    \
	X(PROCESS_RUNTIME)    \
	X(WAKEUP_LATENCY)     \
	X(MIGRATION_PATTERNS) \
	X(DSQ)                \
	X(DSQ_LATENCY)        \
	X(LLC_LOCALITY)       \
	X(RUNQUEUE_DEPTH)     \
	X(FAIRNESS)           \
	X(TASK_STATES)        \
	X(PREEMPTIONS)        \
	X(WAKEUP_CHAINS)      \
	X(LATENCY_BREAKDOWN)  \
	X(IRQ)                \
	X(IPI)                \
	X(BLOCK_IO)           \
	X(NETWORK_IO)         \
	X(MEMORY_PRESSURE)    \
	X(FILE_IO)            \
	X(CPU_FREQUENCY)      \
	X(CPU_IDLE)           \
	X(POWER_STATE)        \
	X(ONCPU_SLICES)       \
	X(SCX_LAYER_BEHAVIOR) \
	X(WAKEUP_RELATIONS)   \
	X(PERF_COUNTERS)      \
	X(COMPOUND_DELAY)     \
	X(LIFECYCLE)          \
	X(REQUESTS)           \
	X(WASTED_CORES)       \
	X(PRESSURE)           \
	X(BLAME)              \
	X(SLEEPS)             \
	X(LOCKS)              \
	X(WORKQUEUE)          \
	X(TRACE_SOFTIRQ)      \
	X(PROCESS_TIMELINE)   \
	X(CPU_TIMELINE)       \
	X(BOTTLENECKS)        \
	X(CORRELATION)        \
	X(OUTLIERS)           \
	X(EXPLAIN)            \
	X(FLAMEGRAPH)         \
	X(DISCOVER)

enum {
#define X(name) ANALYZE_##name,
	ANALYZE_TOOLS(X)
#undef X
		NR_ANALYZE_TOOLS
};

struct analyze_tool {
	struct tool tool; /* first: run() gets a pointer to it */
	const char *pass;
	const char *list; /* whose rows the analysis counts apart, under: */
	const char *total;
	uint32_t most_rows; /* that are worth making; 0 = as many as there are */
};

extern const struct analyze_tool analyze_tools[NR_ANALYZE_TOOLS];

/* The tool of an analysis; NULL = none. */
const struct analyze_tool *analyze_tool_find(const char *pass);
/* read() of such a tool. */
MUST_USE int analyze_tool_read(struct tool_call *call);
/* The answer of that tool to the arguments of another, but for one that chose it; others than it takes are refused. */
MUST_USE int analyze_tool_answer(struct tool_call *call, const struct analyze_tool *t,
                                 const char *chosen_by);
