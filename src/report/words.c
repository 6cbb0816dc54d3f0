#include "report/words.h"

#include <string.h>

#include "report/html.h"

/* In the order of the page. The definitions are those of docs/definitions.md, short. */
static const struct word {
	const char *key, *title, *meaning;
} words[] = {
	{ "confidence", "proved, likely, unknown",
	  "Proved: the cause was recorded. Likely: it was inferred, or a part of the events is missing. Unknown: the loss of time "
	  "was recorded, its cause was not." },
	{ "wait", "wait",
	  "From the moment a task could run (it was woken, started, or lost its CPU while still runnable) to the moment it ran." },
	{ "sleep", "sleep",
	  "From the moment a task left its CPU because it had to wait for something to its wakeup." },
	{ "slice", "slice",
	  "Time on a CPU without a break: from the switch to a task to the switch away from it." },
	{ "wait_ns", "waited",
	  "Time of all waits within the time shown, also of those that had not ended when the recording did." },
	{ "waits", "waits", "How many waits there were, also those that had not ended." },
	{ "max_wait_ns", "longest wait", "The longest single wait." },
	{ "task_ns", "behind tasks",
	  "Time of waits in which another task ran on the CPU that the task waited for." },
	{ "throttled_ns", "throttled",
	  "Time of waits in which a limit, such as the CPU quota of a cgroup, kept the task from running." },
	{ "stolen_ns", "stolen",
	  "Time of waits in which the hypervisor gave the CPU to another virtual machine." },
	{ "irq_ns", "interrupts", "Time of waits in which the CPU handled hardware interrupts." },
	{ "softirq_ns", "softirqs", "Time of waits in which the CPU handled softirqs." },
	{ "idle_ns", "CPU idle",
	  "Time of waits in which the CPU was idle although the task waited there: it had to be woken, or did not take the task." },
	{ "queue_ns", "dispatch queue",
	  "Time of waits in a dispatch queue of sched_ext that is not of one CPU." },
	{ "waking_ns", "waking",
	  "Time from the waking to the wakeup: the task is in no queue yet." },
	{ "unknown_ns", "unknown",
	  "Time of waits of which the recording does not say what had the CPU." },
	{ "others_ns", "other tasks", "Time behind tasks that have no column of their own here." },
	{ "total_runtime_ns", "ran", "Time on CPUs within the time shown." },
	{ "cpu_time_percent", "of one CPU",
	  "Time on CPUs, divided by the time shown: 100 % is one CPU all of the time." },
	{ "num_switches", "slices", "How often it was switched to." },
	{ "total_wakeups", "wakeups",
	  "Waits that began with a wakeup or the start of the task, and ended." },
	{ "p50_latency_ns", "median latency",
	  "Wakeup latency, from the waking to the switch: half of the wakeups took at most this long." },
	{ "p99_latency_ns", "99th percentile", "99 of 100 wakeups took at most this long." },
	{ "max_latency_ns", "longest latency", "The longest wakeup latency." },
	{ "wakeup_count", "wakeups", "How often the one woke the other." },
	{ "same_cpu_count", "same CPU", "Wakeups after which it ran on the CPU of its waker." },
	{ "cross_llc_count", "other cache",
	  "Wakeups after which it ran on a CPU with another last-level cache than its waker's." },
	{ "busy_percent", "busy",
	  "Share of the time in which the CPU ran a task, interrupts included." },
	{ "idle_percent", "idle", "Share of the time in which the CPU ran no task." },
	{ "unknown_percent", "unknown",
	  "Share of the time for which the recording does not say what the CPU did." },
	{ "depth", "run queue", "Tasks that wait for the CPU, without the one that runs." },
};

const char *words_meaning(const char *key)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].key, key) == 0)
			return words[i].meaning;
	return NULL;
}

void words_write(FILE *out)
{
	fputs("<section id=\"words\" aria-labelledby=\"h-words\"><h2 id=\"h-words\">Words</h2>\n<dl class=\"words\">\n",
	      out);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		fprintf(out, "<div id=\"word-%s\"><dt>", words[i].key);
		html_text(out, words[i].title);
		fputs("</dt><dd>", out);
		html_text(out, words[i].meaning);
		fputs("</dd></div>\n", out);
	}
	fputs("</dl></section>\n", out);
}
