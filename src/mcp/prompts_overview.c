/* Prompts that describe: performance by area, a scheduler, the whole system. */
#include <errno.h>
#include <string.h>

#include "mcp/prompts.h"

#define NAME_MAX_LEN 64U

static const char *const areas[] = { "latency", "throughput", "balance", "general", NULL };

static const struct prompt_arg performance_args[] = {
	{ "focus_area", "latency, throughput, balance, or general", areas },
	{ 0 },
};

/* By place in areas. */
static const char *const area_steps[] = {
	"1. `scheduler://current` and `topology://info`.\n"
	"2. `analyze` type wakeup_latency: median, p99, maximum, and the CPUs that differ.\n"
	"3. `analyze` type latency_breakdown: from waking to the run queue, and from there to the CPU.\n"
	"4. `analyze` type correlation, then `explain` for the worst task.\n"
	"5. `analyze` type preemptions and `analyze` type irq_analysis: what else takes the CPU.\n"
	"6. With sched_ext: `analyze` type dsq_latency, how long tasks stay in a queue.\n\n"
	"On an idle machine a wakeup takes some microseconds. A p99 above a millisecond is worth "
	"investigating unless all CPUs are busy.\n",
	"1. `scheduler://current` and `topology://info`.\n"
	"2. `analyze` type cpu_utilization: is there time left to be used at all?\n"
	"3. `analyze` type process_runtime: which tasks use it, in how many slices; slices far below a millisecond cost switches.\n"
	"4. `analyze` type preemptions: how many of the switches were forced.\n"
	"5. `analyze` type migration_patterns and `analyze` type llc_locality: moves that cost a warm cache.\n"
	"6. `analyze` type cpu_frequency and `analyze` type cpu_idle: do the CPUs run at their speed?\n"
	"7. `analyze` type irq_analysis and `analyze` type block_io: time that goes elsewhere.\n",
	"1. `topology://info`.\n"
	"2. `analyze` type cpu_utilization: per CPU, and summed by cache and node.\n"
	"3. `analyze` type runqueue_depth: waiting here while others idle there.\n"
	"4. `analyze` type migration_patterns: does the balancer move tasks, and which way?\n"
	"5. `analyze` type fairness: do equal tasks get equal time?\n\n"
	"The prompt analyze_cpu_imbalance goes deeper.\n",
	"1. `scheduler://current`, `topology://info`, `stats://system/cpu`.\n"
	"2. `summary`: what stands out, worst first; `explain` and the other next calls of its findings.\n"
	"3. For each of latency, utilization and migrations one sentence: `analyze` type wakeup_latency, "
	"`analyze` type cpu_utilization, `analyze` type migration_patterns.\n"
	"4. Go deeper where a figure is out of line, and only there.\n",
};

/* Anything else than the three is a general question. */
static int write_performance(const struct prompt_values *v, FILE *out, struct diag *d)
{
	const char *area = v->values[0] ? v->values[0] : "";
	size_t i = 0;

	(void)d;
	while (areas[i + 1] && strcmp(areas[i], area) != 0)
		i++;
	fprintf(out, "# How well does the scheduler do? (%s)\n\n", areas[i]);
	prompt_put_sources(out);
	fprintf(out, "## Steps\n%s", area_steps[i]);
	prompt_put_rules(out);
	return 0;
}

const struct prompt prompt_scheduler_performance = {
	.name = "analyze_scheduler_performance",
	.title = "Assess the scheduler's performance",
	.description =
		"a tour through the figures, for latency, throughput, balance or all of them",
	.args = performance_args,
	.write = write_performance,
};

/* Of the scx project; only what completion offers. */
static const char *const schedulers[] = { "bpfland", "central",  "cosmos",   "flash", "flatcg",
	                                  "lavd",    "layered",  "mitosis",  "nest",  "p2dq",
	                                  "pair",    "qmap",     "rustland", "rusty", "sdt",
	                                  "simple",  "tickless", "userland", NULL };

static const struct prompt_arg behavior_args[] = {
	{ "scheduler_name", "such as lavd or bpfland; without it the one that is active",
	  schedulers },
	{ 0 },
};

/* It ends up in a text that an assistant reads: a name, nothing more. */
static int check_name(const char *name, struct diag *d)
{
	size_t len = strlen(name);

	if (len > NAME_MAX_LEN ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") !=
	            len)
		return diag_set(d, -EINVAL, NULL,
		                "\"scheduler_name\" must be a name of letters, digits, _ . -");
	return 0;
}

static int write_behavior(const struct prompt_values *v, FILE *out, struct diag *d)
{
	const char *name = v->values[0] && *v->values[0] ? v->values[0] : NULL;
	int err = name ? check_name(name, d) : 0;

	if (err)
		return err;
	if (name)
		fprintf(out,
		        "# What does the scheduler %s do?\n\n"
		        "Make sure first that it is the active one: `scheduler://current`. If it is not, say so, and go on only "
		        "with a trace that was recorded under it.\n\n",
		        name);
	else
		fputs("# What does the active scheduler do?\n\n`scheduler://current` names it.\n\n",
		      out);
	prompt_put_sources(out);
	fputs("## Steps\n"
	      "1. `stats://scheduler/raw`: what the scheduler itself counts, if it offers statistics; "
	      "`stats://scheduler/scx`: what the kernel knows of it.\n"
	      "2. With sched_ext: `analyze` type dsq_summary and `analyze` type dsq_latency: which queues there are, which tasks use them, how "
	      "long tasks stay. For scx_layered `analyze` type scx_layer_behavior.\n"
	      "3. `analyze` type oncpu_slices: how long tasks run at a time.\n"
	      "4. `analyze` type preemptions: which tasks are interrupted, and by which.\n"
	      "5. `analyze` type migration_patterns and `analyze` type llc_locality: does it keep tasks near their cache?\n"
	      "6. `analyze` type wakeup_latency, `analyze` type fairness: what tasks get out of it.\n"
	      "7. `bpf://programs`: what its own programs cost. That is the run time of BPF code, not scheduling latency.\n\n"
	      "## Questions to answer\n"
	      "- Which tasks does it favour, and by which criterion: wakeups, run time, priority, group?\n"
	      "- Where does it place a task that wakes, and does it search for idle CPUs beyond the cache?\n"
	      "- What happens when there are more tasks than CPUs?\n"
	      "- Another recording under another scheduler: `diff` compares the two.\n",
	      out);
	prompt_put_rules(out);
	return 0;
}

const struct prompt prompt_scheduler_behavior = {
	.name = "investigate_scheduler_behavior",
	.title = "Find out how a scheduler decides",
	.description =
		"queues, slices, placement and preemption of a sched_ext or the kernel's own scheduler",
	.args = behavior_args,
	.write = write_behavior,
};

static int write_summary(const struct prompt_values *v, FILE *out, struct diag *d)
{
	(void)v;
	(void)d;
	fputs("# What is this machine, and what is it doing?\n\n"
	      "## Look\n"
	      "1. `topology://info`: CPUs, cores, caches, nodes.\n"
	      "2. `scheduler://current`: which scheduler is active; with sched_ext also `stats://scheduler/scx`.\n"
	      "3. `stats://system/cpu`, `stats://system/memory`, `stats://system/network`: load, memory, traffic.\n"
	      "4. `record` over a few seconds: what runs, what waits, how long. With --daemon "
	      "`stats://aggregated/process` and `stats://aggregated/cpu` say the same while it goes on.\n"
	      "5. `bpf://programs`: what else watches or schedules here.\n"
	      "6. `doctor`: what can be measured here; `list`: what is loaded already.\n\n"
	      "## Report\n"
	      "One short paragraph each on the machine, the scheduler, the load, and what stands out. End with the "
	      "next step: the prompts debug_high_latency (long waits), analyze_cpu_imbalance (some CPUs busy, "
	      "others idle), analyze_scheduler_performance (a tour by area), investigate_scheduler_behavior (how "
	      "it decides).\n",
	      out);
	prompt_put_rules(out);
	return 0;
}

const struct prompt prompt_summarize_system = {
	.name = "summarize_system",
	.title = "Describe this machine and its load",
	.description = "a short report on topology, scheduler, load and what stands out",
	.write = write_summary,
};
