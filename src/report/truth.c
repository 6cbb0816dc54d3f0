#include "report/truth.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "render/report_value.h"
#include "report/html.h"
#include "report/table.h"

#define NS_PER_SEC  1000000000ULL
#define DAY_NS      (86400 * NS_PER_SEC)
#define VALUE_BYTES 512
#define OWN_NAME    "schedscope"

/* What a recording may lack, and what records it. */
static const struct absence {
	const char *what;
	uint8_t kinds[4]; /* one of them is enough; 0 ends them */
	const char *command;
} absences[] = {
	{ "wakeups", { EV_WAKING, EV_WAKEUP, EV_WAKEUP_NEW }, "schedscope record" },
	{ "migrations", { EV_MIGRATE }, "schedscope record" },
	{ "cgroups of tasks", { EV_CGROUP }, "schedscope record" },
	{ "interrupts", { EV_IRQ_ENTRY, EV_SOFTIRQ_ENTRY }, "schedscope record" },
	{ "idle states", { EV_CPU_IDLE }, "schedscope record" },
	{ "frequencies", { EV_CPU_FREQ }, "schedscope record" },
	{ "stacks", { EV_SAMPLE }, "schedscope record --stacks=cpu,off-cpu,waker" },
	{ "calls in which tasks sleep", { EV_SLEEP }, "schedscope record --events default,sleep" },
	{ "requests to disks", { EV_BLOCK }, "schedscope record --events default,block" },
	{ "locks of the kernel", { EV_LOCK }, "schedscope record --events default,lock" },
	{ "counters of the CPUs", { EV_PMU }, "schedscope record --pmu cycles,instructions" },
};

static void add_absent(const struct content *c, struct report *r)
{
	const uint64_t *nr = c->source.facts->kinds;

	report_begin_array(r, "not_recorded");
	for (size_t i = 0; i < sizeof(absences) / sizeof(absences[0]); i++) {
		const struct absence *a = &absences[i];
		bool is_there = false;

		for (size_t k = 0; k < sizeof(a->kinds) && a->kinds[k]; k++)
			is_there |= nr[a->kinds[k]] != 0;
		if (is_there)
			continue;
		report_begin_object(r, NULL);
		report_string(r, "what", a->what);
		report_string(r, "command", a->command);
		report_end_object(r);
	}
	report_end_array(r);
}

static const char *date_of(uint64_t unix_ns, struct report *r)
{
	time_t at = (time_t)(unix_ns / NS_PER_SEC);
	struct tm tm;
	char text[64];

	/* If the clock of the machine was not set, the date is meaningless. */
	if (unix_ns < DAY_NS || !gmtime_r(&at, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		return NULL;
	return report_printf(r, "%s", text);
}

/* What the user left out, as options; "none" */
static const char *filters_of(const struct content *c, struct report *r)
{
	const struct pass_args *a = c->args;
	const char *all = "";

	if (a->from_ns)
		all = report_printf(r, "%s --from @%" PRIu64, all, a->from_ns);
	if (a->to_ns)
		all = report_printf(r, "%s --to @%" PRIu64, all, a->to_ns);
	if (a->pid)
		all = report_printf(r, "%s -p %" PRIu32, all, a->pid);
	if (a->tid)
		all = report_printf(r, "%s --tid %" PRIu32, all, a->tid);
	if (a->comm)
		all = report_printf(r, "%s -c %s", all, a->comm);
	if (a->cgroup)
		all = report_printf(r, "%s --cgroup %s", all, a->cgroup);
	if (a->cpu != PASS_ANY_CPU)
		all = report_printf(r, "%s --cpu %" PRIu32, all, a->cpu);
	return *all ? all + 1 : "none";
}

/* The mean of the CPUs; of those without any data nothing is known. */
static void add_unknown(const struct content *c, struct report *r)
{
	const struct report_node *cpus = report_at(c->parts[CONTENT_SUMMARY], "cpus"),
				 *blame = c->parts[CONTENT_BLAME_COMM];
	double sum = 0, value;
	uint32_t nr = 0;

	for (const struct report_node *n = cpus ? cpus->first : NULL; n; n = n->next)
		if (report_number(report_at(n, "unknown_percent"), &value)) {
			sum += value;
			nr++;
		}
	report_double_if(r, "unknown_cpu_time_percent", nr, nr ? sum / nr : 0, 2);
	if (blame)
		report_percent(r, "unknown_wait_percent", report_u64_at(blame, "unknown_ns"),
		               report_u64_at(blame, "wait_ns"));
	else
		report_null(r, "unknown_wait_percent");
}

/* Tasks of our own name, as far as they are among the busiest. */
static void add_cost(const struct content *c, struct report *r)
{
	const struct report_node *root = c->parts[CONTENT_RUNTIME],
				 *list = report_at(root, "processes");
	const char *producer = c->source.facts->producer;
	uint64_t ns = 0;

	for (const struct report_node *n = list->first; n; n = n->next) {
		const char *comm = report_text_at(n, "comm");

		if (comm && strncmp(comm, OWN_NAME, strlen(OWN_NAME)) == 0)
			ns += report_u64_at(n, "total_runtime_ns");
	}
	report_u64_if(r, "recorder_cpu_time_ns", ns && producer && strcmp(producer, OWN_NAME) == 0,
	              ns);
}

static void add_machine(const struct content *c, struct report *r)
{
	const struct source_facts *f = c->source.facts;

	report_string(r, "kernel", f->release);
	report_string(r, "machine", f->machine);
	report_string(r, "scheduler", f->scheduler);
	report_string(r, "producer", f->producer);
	report_string(r, "clock", f->clock);
	report_string(r, "recorded_at", f->unix_ns ? date_of(f->unix_ns, r) : NULL);
}

static void copy_list(struct report *r, const struct report_node *root, const char *key,
                      const char *const keys[], const char *name)
{
	const struct report_node *list = report_at(root, key), *at;

	report_begin_array(r, name);
	for (const struct report_node *n = list ? list->first : NULL; n; n = n->next) {
		report_begin_object(r, NULL);
		for (size_t i = 0; keys[i]; i++) {
			at = report_at(n, keys[i]);
			if (at && at->type == REPORT_U64)
				report_u64(r, keys[i], at->u64);
			else if (at && at->type == REPORT_DOUBLE)
				report_double(r, keys[i], at->f, at->decimals);
			else if (at && at->type == REPORT_STRING)
				report_string(r, keys[i], at->text);
			else
				report_null(r, keys[i]);
		}
		report_end_object(r);
	}
	report_end_array(r);
}

static void add_lists(const struct content *c, struct report *r)
{
	static const char *const coverage[] = { "cpu_id", "busy_percent", "idle_percent",
		                                "unknown_percent", NULL };
	static const char *const losses[] = { "count", "meaning", NULL };
	static const char *const damage[] = { "count", "what", NULL };
	static const char *const ends[] = { "cpu_id", "missing_ns", NULL };
	const struct report_node *summary = c->parts[CONTENT_SUMMARY];

	copy_list(r, summary, "losses", losses, "losses");
	copy_list(r, summary, "damage", damage, "damage");
	copy_list(r, summary, "cpus_that_end_early", ends, "cpus_that_end_early");
	add_absent(c, r);
	copy_list(r, summary, "cpus", coverage, "coverage");
}

int truth_make(const struct content *c, const char *command, struct report **out)
{
	SCOPED(scoped_report) struct report *r = report_new(0);
	const struct report_node *summary = c->parts[CONTENT_SUMMARY];
	const struct source_facts *f = c->source.facts;
	int err;

	if (!r)
		return -ENOMEM;
	report_begin_object(r, NULL);
	report_u64(r, "duration_ns", c->source.end_ns - c->source.start_ns);
	report_u64(r, "cpus", f->nr_cpus);
	report_u64(r, "events", f->nr_events);
	report_u64_if(r, "lost_events", f->lost || !f->kinds[EV_LOST], f->lost);
	add_unknown(c, r);
	report_u64(r, "threads", report_u64_at(summary, "num_threads"));
	report_u64(r, "processes", report_u64_at(summary, "num_processes"));
	report_string(r, "filters", filters_of(c, r));
	report_string(r, "recorded_tasks", f->filter ? f->filter : "all");
	report_string(r, "incomplete", f->incomplete);
	add_cost(c, r);
	add_machine(c, r);
	report_u64(r, "file_bytes", f->bytes);
	report_string(r, "command", command);
	add_lists(c, r);
	report_end_object(r);
	err = report_error(r);
	if (!err)
		*out = TAKE_PTR(r);
	return err;
}

/* Of what is unknown nothing is shown, but for losses: not to know them is worth saying. */
static bool is_shown(const struct report_node *n)
{
	return report_is_scalar(n) && (n->type != REPORT_NULL || !strcmp(n->key, "lost_events"));
}

static const char *title_of(const char *key, char *buf, size_t size)
{
	static const struct {
		const char *key, *title;
	} titles[] = {
		{ "cpus", "CPUs" },
		{ "unknown_cpu_time_percent", "CPU time that is unknown" },
		{ "unknown_wait_percent", "time of waits that is unknown" },
		{ "recorder_cpu_time_ns", "CPU time of the recorder" },
		{ "file_bytes", "file size" },
	};

	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		if (strcmp(titles[i].key, key) == 0)
			return titles[i].title;
	return report_title(key, true, buf, size);
}

/* "157 kB" */
static void put_size(uint64_t bytes, FILE *out)
{
	static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB" };
	double value = (double)bytes;
	size_t unit = 0;

	for (; value >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		value /= 1000;
	fprintf(out, unit && value < 10 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

static void put_fact(const struct report_node *n, FILE *out)
{
	char title[64], text[VALUE_BYTES];

	fputs("<div><dt>", out);
	html_text(out, title_of(n->key, title, sizeof(title)));
	fputs("</dt><dd", out);
	html_attr(out, "data-key", n->key);
	if (n->type == REPORT_U64)
		html_attr_u64(out, "data-value", n->u64);
	else if (n->type == REPORT_DOUBLE)
		fprintf(out, " data-value=\"%.*f\"", n->decimals, n->f);
	fputc('>', out);
	if (n->type == REPORT_NULL)
		fputs("some, how many is unknown", out);
	else if (strcmp(n->key, "file_bytes") == 0)
		put_size(n->u64, out);
	else if (n->type == REPORT_STRING)
		html_text(out, n->text);
	else
		html_text(out, report_value(n, (struct report_place){ 0 }, text, sizeof(text)));
	fputs("</dd></div>\n", out);
}

static void put_word(const struct report_node *root, const char *key, const char *before, FILE *out)
{
	const char *text = report_text_at(root, key);

	if (!text)
		return;
	fputs(before, out);
	html_text(out, text);
}

void truth_line(const struct report *truth, FILE *out)
{
	const struct report_node *root = report_root(truth);
	const char *filters = report_text_at(root, "filters");
	uint64_t cpus = report_u64_at(root, "cpus");
	char t[HTML_TIME_BYTES];

	fprintf(out, "<p class=\"note about\">%s of %" PRIu64 " CPU%s",
	        text_duration(t, sizeof(t), report_u64_at(root, "duration_ns")), cpus,
	        cpus == 1 ? "" : "s");
	put_word(root, "kernel", ", Linux ", out);
	put_word(root, "machine", ", ", out);
	put_word(root, "recorded_at", ", ", out);
	if (filters && strcmp(filters, "none") != 0)
		put_word(root, "filters", "; only ", out);
	fputs("</p>\n", out);
}

void truth_write(const struct report *truth, FILE *out)
{
	static const struct {
		const char *key, *title;
	} lists[] = {
		{ "losses", "What was lost on the way" },
		{ "damage", "What of the file could not be read" },
		{ "cpus_that_end_early", "CPUs whose last records are missing" },
		{ "not_recorded", "What was not recorded, and what records it" },
		{ "coverage", "How much of each CPU's time is known" },
	};
	const struct report_node *root = report_root(truth);

	fputs("<section id=\"truth\" aria-labelledby=\"h-truth\"><h2 id=\"h-truth\">What this rests on</h2>\n<dl>\n",
	      out);
	for (const struct report_node *n = root->first; n; n = n->next)
		if (is_shown(n))
			put_fact(n, out);
	fputs("</dl>\n", out);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (report_at(root, lists[i].key)->first)
			table_write(out,
			            &(struct table_cfg){ .id = lists[i].key,
			                                 .caption = lists[i].title,
			                                 .is_folded = true },
			            report_at(root, lists[i].key));
	fputs("</section>\n", out);
}
