#include "tui/task_metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analyze/dsq_name.h"
#include "tui/format.h"

/* Waits from here on are worth a colour. */
#define WAIT_FAIR_NS 1e6
#define WAIT_HIGH_NS 1e7
#define WAIT_BAD_NS  1e8

/* The CPU of that number; NULL = unknown. */
static const struct machine_cpu *find_cpu(const struct machine *m, int32_t cpu)
{
	if (cpu < 0)
		return NULL;
	/* Nearly always in its place. */
	if ((size_t)cpu < m->nr_cpus && m->cpus[cpu].cpu == (uint32_t)cpu)
		return &m->cpus[cpu];
	for (size_t i = 0; i < m->nr_cpus; i++)
		if (m->cpus[i].cpu == (uint32_t)cpu)
			return &m->cpus[i];
	return NULL;
}

/* Functions that take a number from a task: one line each. */
#define NUMBER(name, expression)                                                       \
	static double name##_of(const struct machine *m, const struct machine_task *t) \
	{                                                                              \
		(void)m;                                                               \
		return expression;                                                     \
	}
#define DURATION(name, dist, member) NUMBER(name, t->dist.count ? (double)t->dist.member : NAN)
#define TEXT(member)                                                 \
	static const char *member##_of(const struct machine_task *t) \
	{                                                            \
		return t->member;                                    \
	}

NUMBER(tid, t->tid)
NUMBER(state, t->state == '?' ? NAN : (double)t->state)
NUMBER(cpu, t->last_cpu)
NUMBER(run, t->run)
NUMBER(wait, t->wait)
NUMBER(nice, t->prio == MACHINE_NO_PRIO ? NAN : (double)t->prio)
NUMBER(wanted, t->run + t->wait)
NUMBER(stall, t->stall_ns ? (double)t->stall_ns : NAN)
DURATION(p50, latency, p50_ns)
DURATION(p99, latency, p99_ns)
DURATION(max, latency, max_ns)
DURATION(preempted_p50, preempted, p50_ns)
DURATION(preempted_p99, preempted, p99_ns)
DURATION(preempted_max, preempted, max_ns)
DURATION(slice, slice, p50_ns)
NUMBER(slices, (double)t->slice.count)
DURATION(sleep, sleep, p50_ns)
NUMBER(switches, t->voluntary_per_s + t->involuntary_per_s)
NUMBER(voluntary, t->voluntary_per_s)
NUMBER(involuntary, t->involuntary_per_s)
NUMBER(migrations, t->migrations_per_s)
NUMBER(llc_migrations, t->llc_migrations_per_s)
NUMBER(node_migrations, t->node_migrations_per_s)
NUMBER(threads, t->nr_threads)
NUMBER(processes, t->nr_processes)
NUMBER(memory, t->memory_bytes)
NUMBER(layer, (double)t->layer)
NUMBER(dsq, t->has_dsq ? (double)t->dsq : NAN)
TEXT(comm)
TEXT(class_name)
TEXT(cgroup)
TEXT(cmdline)

static double llc_of(const struct machine *m, const struct machine_task *t)
{
	const struct machine_cpu *cpu = find_cpu(m, t->last_cpu);

	return cpu ? (double)cpu->llc : NAN;
}

static double node_of(const struct machine *m, const struct machine_task *t)
{
	const struct machine_cpu *cpu = find_cpu(m, t->last_cpu);

	return cpu ? (double)cpu->node : NAN;
}

#define WAKEUP "wakeup wait"
#define AFTER  "preempted wait"

/* As they stand on the screen. */
/* clang-format off */
static const struct task_metric metrics[] = {
	{ "PID", "number of the process", METRIC_ID, SORT_TID, .width = 7, .rank = 2, .needs = METRIC_HAS_PIDS, .number = tid_of },
	{ "PROCS", "processes of the group", METRIC_COUNT, SORT_OWN, .width = 5, .rank = 2, .is_standing = true, .needs = METRIC_OF_GROUPS, .number = processes_of },
	{ "TID", "number of the thread", METRIC_ID, SORT_TID, .width = 7, .rank = 2, .needs = METRIC_OF_THREADS, .number = tid_of },
	{ "NAME", "its name, as the kernel has it", METRIC_TEXT, SORT_NAME, .width = 9, .most = 15, .rank = 0, .text = comm_of },
	{ "S", "R runs or waits, S and D sleep, T is stopped, Z has ended, X ended in the interval", METRIC_STATE, SORT_STATE, .width = 1, .rank = 7, .number = state_of },
	{ "CLASS", "the scheduling class", METRIC_TEXT, SORT_CLASS, .width = 5, .rank = 9, .text = class_name_of },
	{ "NI", "nice value; rt and dl: the real-time priority, deadline", METRIC_NICE, SORT_OWN, .width = 4, .rank = 9, .number = nice_of },
	{ "CPU", "where it ran last", METRIC_ID, SORT_CPU, .width = 3, .rank = 8, .needs = METRIC_HAS_CPUS, .number = cpu_of },
	{ "LLC", "the last-level cache of that CPU", METRIC_ID, SORT_LLC, .width = 3, .rank = 25, .needs = METRIC_HAS_LLCS | METRIC_HAS_CPUS, .number = llc_of },
	{ "NUMA", "the node of that CPU", METRIC_ID, SORT_NODE, .width = 4, .rank = 26, .needs = METRIC_HAS_NODES | METRIC_HAS_CPUS, .number = node_of },
	{ "RUN%", "time on a CPU, of the interval", METRIC_SHARE, SORT_RUN, .width = 6, .rank = 1, .number = run_of },
	{ "WAIT%", "time runnable without a CPU, of the interval", METRIC_SHARE, SORT_WAIT, .width = 6, .rank = 4, .number = wait_of },
	{ "RUN:WAIT", "shares of running (full), waiting (shaded) and sleeping (dots)", METRIC_SPLIT, SORT_OWN, .width = 10, .rank = 10, .number = wanted_of },
	{ "WAITED", "WAIT% of the last intervals, the newest at the right", METRIC_PAST, SORT_OWN, .width = 8, .most = 24, .rank = 10, .needs = METRIC_HAS_PAST, .number = wait_of },
	{ "STALLED", "for how long it has been waiting for a CPU, if that is 250 ms or more", METRIC_WAIT_NS, SORT_OWN, .width = 7, .rank = 1, .needs = METRIC_HAS_STALLS, .number = stall_of },
	{ "P50", "median of the latency: from sched_waking, or the birth, to the switch-in", METRIC_WAIT_NS, SORT_P50, .heading = WAKEUP, .width = 6, .rank = 6, .needs = METRIC_HAS_LATENCY, .number = p50_of },
	{ "P99", "99th percentile of the latency", METRIC_WAIT_NS, SORT_P99, .heading = WAKEUP, .width = 6, .rank = 3, .needs = METRIC_HAS_LATENCY, .number = p99_of },
	{ "MAX", "longest latency", METRIC_WAIT_NS, SORT_MAX, .heading = WAKEUP, .width = 6, .rank = 5, .needs = METRIC_HAS_LATENCY, .number = max_of },
	{ "PREEMPT P50", "median of waits after preemption", METRIC_WAIT_NS, SORT_PREEMPTED_P50, .short_title = "P50", .heading = AFTER, .width = 6, .rank = 22, .needs = METRIC_HAS_LATENCY, .number = preempted_p50_of },
	{ "PREEMPT P99", "99th percentile of waits after preemption", METRIC_WAIT_NS, SORT_PREEMPTED_P99, .short_title = "P99", .heading = AFTER, .width = 6, .rank = 13, .needs = METRIC_HAS_LATENCY, .number = preempted_p99_of },
	{ "PREEMPT MAX", "longest wait after preemption", METRIC_WAIT_NS, SORT_PREEMPTED_MAX, .short_title = "MAX", .heading = AFTER, .width = 6, .rank = 17, .needs = METRIC_HAS_LATENCY, .number = preempted_max_of },
	{ "SLICE", "median of times on a CPU, from switch-in to switch-out", METRIC_NS, SORT_SLICE, .width = 6, .rank = 14, .needs = METRIC_HAS_LATENCY, .number = slice_of },
	{ "SLICES", "times on a CPU that ended in the interval", METRIC_COUNT, SORT_SLICES, .width = 6, .rank = 23, .needs = METRIC_HAS_LATENCY, .number = slices_of },
	{ "SLEEP", "median of sleeps, from the switch-out to sched_waking", METRIC_NS, SORT_SLEEP, .width = 6, .rank = 16, .needs = METRIC_HAS_LATENCY, .number = sleep_of },
	{ "SW/s", "switches away from it", METRIC_COUNT, SORT_SWITCHES, .width = 5, .rank = 21, .number = switches_of },
	{ "VOL/s", "switches away because it slept", METRIC_COUNT, SORT_VOLUNTARY, .width = 5, .rank = 11, .number = voluntary_of },
	{ "INV/s", "switches away while it was runnable", METRIC_COUNT, SORT_INVOLUNTARY, .width = 5, .rank = 10, .number = involuntary_of },
	{ "MIG/s", "moves to another CPU", METRIC_COUNT, SORT_MIGRATIONS, .width = 5, .rank = 12, .number = migrations_of },
	{ "LLC/s", "moves to another last-level cache of the same node", METRIC_COUNT, SORT_LLC_MIGRATIONS, .width = 5, .rank = 18, .needs = METRIC_HAS_LATENCY, .number = llc_migrations_of },
	{ "NODE/s", "moves to another node", METRIC_COUNT, SORT_NODE_MIGRATIONS, .width = 6, .rank = 20, .needs = METRIC_HAS_LATENCY, .number = node_migrations_of },
	{ "THR", "threads of the process", METRIC_COUNT, SORT_THREADS, .width = 4, .rank = 15, .is_standing = true, .needs = METRIC_OF_PROCESSES, .number = threads_of },
	{ "MEM", "resident memory, as of when it ran last", METRIC_BYTES, SORT_OWN, .width = 5, .rank = 10, .is_standing = true, .needs = METRIC_HAS_MEMORY, .number = memory_of },
	{ "LAYER", "its layer of scx_layered", METRIC_ID, SORT_LAYER, .width = 5, .rank = 14, .needs = METRIC_HAS_LAYERS, .number = layer_of },
	{ "DSQ", "the dispatch queue that it came from last", METRIC_DSQ, SORT_DSQ, .width = 10, .most = 18, .rank = 13, .needs = METRIC_HAS_EXT, .number = dsq_of },
	{ "CGROUP", "its cgroup", METRIC_LONG_TEXT, SORT_CGROUP, .width = 12, .most = 40, .rank = 19, .needs = METRIC_HAS_CGROUPS, .text = cgroup_of },
	{ "COMMAND", "its command line", METRIC_LONG_TEXT, SORT_COMMAND, .width = 24, .most = 255, .rank = 11, .text = cmdline_of },
};
/* clang-format on */

const struct task_metrics task_metrics = { metrics, sizeof(metrics) / sizeof(metrics[0]) };

const struct task_metrics *task_metrics_of(const struct screen *s)
{
	return s->metrics ? s->metrics : &task_metrics;
}

enum view_sort task_metric_sort(const struct task_metrics *of, size_t i)
{
	enum view_sort sort = of->items[i].sort;

	return sort == SORT_OWN ? (enum view_sort)(SORT_OWN + 1 + i) : sort;
}

const struct task_metric *task_metric_sorted(const struct screen *s)
{
	const struct task_metrics *of = task_metrics_of(s);

	for (size_t i = 0; i < of->nr; i++)
		if (task_metric_sort(of, i) == s->sort)
			return &of->items[i];
	return NULL;
}

static bool is_amount(enum metric_unit unit)
{
	return unit <= METRIC_SPLIT;
}

bool task_metric_is_measured(const struct task_metric *x)
{
	return is_amount(x->unit) && !x->is_standing;
}

bool task_metric_is_ascending(const struct task_metric *x)
{
	return !is_amount(x->unit);
}

static void put_text(struct table_view_cell *out, const char *text)
{
	if (!text || !text[0]) {
		out->style = STYLE_DIM;
		text = "-";
	}
	snprintf(out->text, sizeof(out->text), "%s", text);
}

static void put_state(struct table_view_cell *out, char state)
{
	snprintf(out->text, sizeof(out->text), "%c", state);
	out->style = state == 'R' ? STYLE_GOOD : state == 'D' ? STYLE_WARNING : STYLE_DIM;
}

static void put_ns(struct table_view_cell *out, double ns, bool is_wait)
{
	format_ns(out->text, ns);
	out->style = isnan(ns) ? STYLE_DIM : STYLE_TEXT;
	if (is_wait && ns >= WAIT_FAIR_NS)
		out->style = ns >= WAIT_BAD_NS    ? STYLE_BAD
		             : ns >= WAIT_HIGH_NS ? STYLE_HIGH
		                                  : STYLE_MIDDLE;
}

static void put_id(struct table_view_cell *out, double id)
{
	if (isnan(id) || id < 0)
		put_text(out, NULL);
	else
		snprintf(out->text, sizeof(out->text), "%" PRId64, (int64_t)id);
}

/* The kernel's priorities: 100 to 139 are nice values, below 100 real time, the highest 0; deadline tasks have -1. */
static void put_nice(struct table_view_cell *out, double prio)
{
	if (isnan(prio))
		put_text(out, NULL);
	else if (prio < 0)
		snprintf(out->text, sizeof(out->text), "dl");
	else if (prio < 100)
		snprintf(out->text, sizeof(out->text), "rt%.0f", 99 - prio);
	else
		snprintf(out->text, sizeof(out->text), "%.0f", prio - 120);
	if (prio == 120)
		out->style = STYLE_DIM;
	else if (prio < 100)
		out->style = STYLE_HIGH;
}

void task_metric_cell(const struct task_metric *x, const struct machine *m,
                      const struct machine_task *t, const struct screen *s,
                      struct table_view_cell *out)
{
	double number = x->number ? x->number(m, t) : NAN;

	switch (x->unit) {
	case METRIC_SHARE:
		format_percent(out->text, number);
		out->style = number > 0 ? grid_band(number) : STYLE_DIM;
		break;
	case METRIC_COUNT:
		format_count(out->text, number, s->is_localized);
		out->style = number > 0 ? STYLE_TEXT : STYLE_DIM;
		break;
	case METRIC_NS:
	case METRIC_WAIT_NS:
		put_ns(out, number, x->unit == METRIC_WAIT_NS);
		break;
	case METRIC_BYTES:
		format_bytes(out->text, number);
		out->style = number > 0 ? STYLE_TEXT : STYLE_DIM;
		break;
	case METRIC_PAST:
		out->spark = t->wait_history;
		break;
	case METRIC_SPLIT:
		out->split = (struct table_view_split){ t->run, t->wait };
		break;
	case METRIC_NICE:
		put_nice(out, number);
		break;
	case METRIC_ID:
		put_id(out, number);
		break;
	case METRIC_STATE:
		put_state(out, t->state);
		break;
	case METRIC_DSQ:
		if (t->has_dsq)
			dsq_name(t->dsq, out->text);
		else
			put_text(out, NULL);
		break;
	case METRIC_TEXT:
	case METRIC_LONG_TEXT:
		put_text(out, x->text(t));
		if (x->unit == METRIC_LONG_TEXT)
			out->style = STYLE_DIM;
		break;
	}
}
