/* Prompts that search for the cause of something: latency, imbalance. */
#include <errno.h>
#include <stdlib.h>

#include "mcp/prompts.h"

#define PID_MAX 4194304UL

static const struct prompt_arg latency_args[] = {
	{ "pid", "the process or thread that waits; without it the worst one is searched for",
	  NULL },
	{ 0 },
};

static int take_pid(const char *text, unsigned long *pid, struct diag *d)
{
	char *end;

	*pid = 0;
	if (!text || !*text)
		return 0;
	errno = 0;
	*pid = strtoul(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || !*pid || *pid > PID_MAX)
		return diag_set(d, -EINVAL, NULL, "\"pid\" must be a number from 1 to %lu",
		                PID_MAX);
	return 0;
}

static void put_latency_of_one(FILE *out, unsigned long pid)
{
	fprintf(out,
	        "1. `analyze` type wakeup_latency for the whole picture: are all tasks late, or only %lu?\n"
	        "2. `analyze` type task_states with pid %lu: how much of its time did it run, wait for a CPU, sleep, or wait for "
	        "something else? Only waiting for a CPU is caused by the scheduler.\n"
	        "3. `analyze` type correlation with pid %lu: its worst waits, each with the time and the CPU.\n"
	        "4. `explain` with pid %lu: what ran on that CPU meanwhile, and whether others were idle.\n"
	        "5. `timeline` with pid %lu around the worst wait.\n"
	        "6. `analyze` type preemptions with pid %lu: which tasks take the CPU away from it, and how often.\n",
	        pid, pid, pid, pid, pid, pid);
}

static void put_latency_of_all(FILE *out)
{
	fputs("1. `summary`: who lost most time to what, and the next call of each finding.\n"
	      "2. `analyze` type wakeup_latency: median, p99 and maximum; a large maximum with a small p99 is a rare event, a large "
	      "median is load.\n"
	      "3. `analyze` type outliers with category latency: which tasks and when.\n"
	      "4. `analyze` type correlation: the worst single waits. Choose one task and go on with it.\n"
	      "5. `explain` with its pid: what ran on that CPU meanwhile, and whether others were idle.\n"
	      "6. `analyze` type latency_breakdown: is the time lost before the wakeup reaches the CPU, or after?\n"
	      "7. `analyze` type runqueue_depth: how many wait at the same time, and on which CPUs.\n",
	      out);
}

static int write_latency(const struct prompt_values *v, FILE *out, struct diag *d)
{
	unsigned long pid;
	int err = take_pid(v->values[0], &pid, d);

	if (err)
		return err;
	if (pid)
		fprintf(out, "# Why does %lu wait so long for a CPU?\n\n", pid);
	else
		fputs("# Which tasks wait long for a CPU, and why?\n\n", out);
	prompt_put_sources(out);
	fputs("## Steps\n", out);
	if (pid)
		put_latency_of_one(out, pid);
	else
		put_latency_of_all(out);
	fputs("\n## Distinguish the causes\n"
	      "- Too much work: every CPU busy in `analyze` type cpu_utilization, deep run queues.\n"
	      "- Bad placement: a wait on one CPU while others idle; `analyze` type migration_patterns "
	      "and `topology://info` say what a move would have cost.\n"
	      "- Pinning: the task may run on few CPUs, and these are busy.\n"
	      "- Interrupts: `analyze` type irq_analysis shows time on the CPU that no task accounts for.\n"
	      "- Sleeping CPUs and clocks: `analyze` type cpu_idle and `analyze` type cpu_frequency.\n"
	      "- A lock or I/O, not the scheduler: the task sleeps and is woken late; "
	      "`analyze` type wakeup_chains finds by what.\n",
	      out);
	prompt_put_rules(out);
	return 0;
}

const struct prompt prompt_high_latency = {
	.name = "debug_high_latency",
	.title = "Find out why a task waits for a CPU",
	.description =
		"steps from the symptom to the cause of long waits, for one process or for the worst",
	.args = latency_args,
	.write = write_latency,
};

static int write_imbalance(const struct prompt_values *v, FILE *out, struct diag *d)
{
	(void)v;
	(void)d;
	fputs("# Is the load spread well over the CPUs?\n\n", out);
	prompt_put_sources(out);
	fputs("## Steps\n"
	      "1. `topology://info`: which CPUs share a core, a cache, a node.\n"
	      "2. `analyze` type cpu_utilization: the busiest and the idlest CPU, and how far they are apart.\n"
	      "3. `analyze` type runqueue_depth: do tasks wait on some CPUs while others are idle at the same time? Only that is "
	      "a fault; different utilization alone is not.\n"
	      "4. `analyze` type migration_patterns: between which CPUs tasks move, and whether some go to and fro.\n"
	      "5. `analyze` type llc_locality: how many moves leave the cache.\n"
	      "6. `analyze` type process_runtime and `analyze` type fairness: is one task the load of a busy CPU? Then the load "
	      "cannot be spread.\n"
	      "7. `analyze` type irq_analysis: do interrupts keep one CPU busy?\n"
	      "8. `scheduler://current`: which scheduler decides; with sched_ext also `analyze` type dsq_summary.\n\n"
	      "## Usual causes\n"
	      "- affinity masks or cpusets that leave too few CPUs\n"
	      "- memory of one node, which keeps tasks there\n"
	      "- interrupts that are bound to one CPU\n"
	      "- many short tasks, woken next to their waker: `analyze` type wakeup_chains\n"
	      "- fewer runnable tasks than CPUs: no fault at all\n",
	      out);
	prompt_put_rules(out);
	return 0;
}

const struct prompt prompt_cpu_imbalance = {
	.name = "analyze_cpu_imbalance",
	.title = "Find CPUs that idle while others have queues",
	.description = "how load, migrations and caches are compared, and what counts as a fault",
	.write = write_imbalance,
};
