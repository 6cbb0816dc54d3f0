#include "report/sections.h"

#include <inttypes.h>

#include "report/html.h"
#include "report/table.h"

void sections_latency(const struct content *c, FILE *out)
{
	static const struct table_column percentiles[] = {
		{ "min_latency_ns", "shortest", NULL },  { "p50_latency_ns", "median", NULL },
		{ "avg_latency_ns", "mean", NULL },      { "p95_latency_ns", "95 of 100", NULL },
		{ "p99_latency_ns", "99 of 100", NULL }, { "p999_latency_ns", "999 of 1000", NULL },
		{ "max_latency_ns", "longest", NULL },   { 0 },
	};
	const struct report_node *root = c->parts[CONTENT_LATENCY];
	const struct report_node *stats = root ? report_at(root, "global_stats") : NULL;
	struct report_node row, rows = { .type = REPORT_ARRAY, .first = &row, .nr = 1 };

	if (root && !stats)
		stats = report_at(root, "cpu_stats"); /* of the one CPU that was asked for */
	if (!stats)
		return;
	row = *stats;
	row.next = NULL;
	table_write(out,
	            &(struct table_cfg){ .id = "latency-percentiles",
	                                 .caption = "Wakeup latency of all tasks",
	                                 .analysis = "wakeup_latency",
	                                 .columns = percentiles },
	            &rows);
	table_write(out,
	            &(struct table_cfg){ .id = "latency-slots",
	                                 .caption = "Wakeups by latency",
	                                 .analysis = "wakeup_latency",
	                                 .is_folded = true },
	            report_at(root, "histogram"));
}

void sections_cpus(const struct content *c, FILE *out)
{
	const struct report_node *root = c->parts[CONTENT_CPUS];

	if (root)
		table_write(out,
		            &(struct table_cfg){ .id = "cpu-table",
		                                 .caption = "CPUs, the busiest first",
		                                 .analysis = "cpu_utilization",
		                                 .is_folded = true },
		            report_at(root, "top_utilized_cpus"));
}

static const char *waker_of(const struct report_node *row)
{
	const char *comm = report_text_at(row, "waker_comm"),
		   *interrupt = report_text_at(row, "waker_interrupt");

	return comm ? comm : interrupt ? interrupt : "unknown or idle";
}

static void put_pair(const struct report_node *row, FILE *out)
{
	static const char *const numbers[] = { "count", "total_latency_ns", "avg_latency_ns",
		                               "max_latency_ns" };

	fputs("<tr", out);
	if (report_at(row, "waker_pid") && report_at(row, "waker_pid")->type == REPORT_U64)
		html_attr_u64(out, "data-waker", report_u64_at(row, "waker_pid"));
	html_attr_u64(out, "data-tid", report_u64_at(row, "wakee_pid"));
	fputs("><td data-key=\"waker_comm\">", out);
	html_text(out, waker_of(row));
	if (report_text_at(row, "waker_comm"))
		fprintf(out, " (%" PRIu64 ")", report_u64_at(row, "waker_pid"));
	fputs("</td><td data-key=\"wakee_comm\">", out);
	html_text(out, report_text_at(row, "wakee_comm"));
	fprintf(out, " (%" PRIu64 ")</td>", report_u64_at(row, "wakee_pid"));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		html_cell(out, report_at(row, numbers[i]));
	fputs("</tr>\n", out);
}

void sections_wakers(const struct content *c, FILE *out)
{
	const struct report_node *root = c->parts[CONTENT_LATENCY];
	const struct report_node *list = root ? report_at(root, "top_pairs_by_total_latency")
	                                      : NULL;
	struct table_cfg cfg = { .id = "waker-table",
		                 .caption = "Wakings, those after which most time was waited first",
		                 .analysis = "wakeup_latency" };

	if (!list || !list->first)
		return;
	fputs("<section id=\"wakers\" aria-labelledby=\"h-wakers\"><h2 id=\"h-wakers\">Who wakes whom</h2>\n",
	      out);
	table_begin(out, &cfg);
	fputs("<thead><tr>", out);
	table_head(out, "waker_comm", "woken by", false);
	table_head(out, "wakee_comm", "task", false);
	table_head(out, "count", "times", true);
	table_head(out, "total_latency_ns", "waited in all", true);
	table_head(out, "avg_latency_ns", "mean", true);
	table_head(out, "max_latency_ns", "longest", true);
	fputs("</tr></thead>\n<tbody>\n", out);
	for (const struct report_node *n = list->first; n; n = n->next)
		put_pair(n, out);
	fputs("</tbody>", out);
	table_end(out, &cfg);
	fputs("</section>\n", out);
}

void sections_tasks(const struct report *rows, FILE *out)
{
	static const struct table_column columns[] = {
		{ "comm", "task", NULL },
		{ "pid", "thread", NULL },
		{ "tgid", "process", NULL },
		{ "cgroup", NULL, NULL },
		{ "total_runtime_ns", "ran", "process_runtime" },
		{ "cpu_time_percent", "of one CPU", "process_runtime" },
		{ "num_switches", "slices", "process_runtime" },
		{ "waits", NULL, "blame" },
		{ "wait_ns", "waited", "blame" },
		{ "max_wait_ns", "longest wait", "blame" },
		{ "total_wakeups", "wakeups", "wakeup_latency" },
		{ "p50_latency_ns", "median latency", "wakeup_latency" },
		{ "p99_latency_ns", "99 of 100", "wakeup_latency" },
		{ "max_latency_ns", "longest", "wakeup_latency" },
		{ 0 },
	};
	const struct report_node *root = report_root(rows), *list = report_at(root, "tasks");

	if (!list->first)
		return;
	fputs("<section id=\"tasks\" aria-labelledby=\"h-tasks\"><h2 id=\"h-tasks\">Tasks</h2>\n",
	      out);
	if (report_u64_at(root, "total_tasks") > list->nr)
		fprintf(out,
		        "<p class=\"note\">%" PRIu32 " of %" PRIu64
		        " threads: those that ran longest, and those that waited longest.</p>\n",
		        list->nr, report_u64_at(root, "total_tasks"));
	table_write(out,
	            &(struct table_cfg){ .id = "task-table",
	                                 .caption = "Threads",
	                                 .by = PASS_BY_THREAD,
	                                 .columns = columns },
	            list);
	fputs("</section>\n", out);
}

static const struct device_table {
	enum content_part part;
	const char *list, *id, *caption;
} device_tables[] = {
	{ CONTENT_IRQS, "top_irqs", "irq-table", "Interrupts, those that took most time first" },
	{ CONTENT_SOFTIRQS, "by_type", "softirq-table", "Softirqs" },
	{ CONTENT_IPIS, "top_reasons", "ipi-table", "Interrupts between CPUs" },
	{ CONTENT_IDLE, "cpu_stats", "idle-table", "Idle states" },
	{ CONTENT_FREQUENCIES, "cpu_stats", "frequency-table", "Frequencies" },
	{ CONTENT_QUEUES, "per_dsq", "queue-table", "Dispatch queues of sched_ext" },
};

#define DEVICE_TABLES (sizeof(device_tables) / sizeof(device_tables[0]))

/* NULL where nothing of it was recorded. */
static const struct report_node *rows_of(const struct content *c, const struct device_table *t)
{
	const struct report_node *root = c->parts[t->part];
	const struct report_node *list = root ? report_at(root, t->list) : NULL;

	return list && list->first ? list : NULL;
}

bool sections_has_devices(const struct content *c)
{
	for (size_t i = 0; i < DEVICE_TABLES; i++)
		if (rows_of(c, &device_tables[i]))
			return true;
	return false;
}

void sections_devices(const struct content *c, FILE *out)
{
	if (!sections_has_devices(c))
		return;
	fputs("<section id=\"devices\" aria-labelledby=\"h-devices\"><h2 id=\"h-devices\">Interrupts, power, queues</h2>\n",
	      out);
	for (size_t i = 0; i < DEVICE_TABLES; i++) {
		const struct device_table *t = &device_tables[i];
		const struct report_node *list = rows_of(c, t);

		if (list)
			table_write(out,
			            &(struct table_cfg){ .id = t->id,
			                                 .caption = t->caption,
			                                 .analysis = content_key(t->part) },
			            list);
	}
	fputs("</section>\n", out);
}
