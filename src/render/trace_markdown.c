#include "render/trace_markdown.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/text.h"

#define ROWS       10U
#define TIME_BYTES 24
#define CULPRITS   3U

static void put(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (iscntrl((unsigned char)*text))
			fputc('?', out);
		else if (strchr("\\`*_[]<>|#&", *text))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

static const char *text_at(const struct report_node *n, const char *path)
{
	const struct report_node *at = n ? report_at(n, path) : NULL;

	return at && at->type == REPORT_STRING ? at->text : NULL;
}

static const struct report_node *list_at(const struct report_node *n, const char *path)
{
	const struct report_node *at = n ? report_at(n, path) : NULL;

	return at && at->type == REPORT_ARRAY ? at->first : NULL;
}

static double number_at(const struct report_node *n, const char *path)
{
	double value = 0;

	return n && report_number(report_at(n, path), &value) ? value : 0;
}

static const char *time_at(const struct report_node *n, const char *path, char buf[TIME_BYTES])
{
	return text_duration(buf, TIME_BYTES, (uint64_t)number_at(n, path));
}

static void put_line(FILE *out, const char *title, const char *text)
{
	if (!text)
		return;
	fputs(title, out);
	put(out, text);
	fputc('\n', out);
}

static void put_evidence(const struct report_node *n, FILE *out)
{
	const struct report_node *tids = list_at(n, "affected_pids");
	char t[TIME_BYTES];

	fputs("   - evidence: ", out);
	if (report_at(n, "lost_ns") && report_at(n, "lost_ns")->type == REPORT_U64)
		fprintf(out, "lost %s; ", time_at(n, "lost_ns", t));
	if (report_at(n, "bottleneck_type.LostTime"))
		fprintf(out, "%.0f waits; ", number_at(n, "bottleneck_type.LostTime.waits"));
	fputs("threads", out);
	if (!tids)
		fputs(" none", out);
	for (; tids; tids = tids->next)
		fprintf(out, " %llu", (unsigned long long)tids->u64);
	fputc('\n', out);
}

static void put_findings(const struct trace_markdown *m, FILE *out)
{
	const struct report_node *n = list_at(m->summary, "bottlenecks");
	unsigned int nr = 0;

	fputs("## Findings\n\n", out);
	if (!n)
		fputs("No task lost 1 % of the time waiting for a CPU, a lock or a disk, or waited 10 ms at once.\n",
		      out);
	for (; n; n = n->next) {
		fprintf(out, "%u. ", ++nr);
		put_line(out, "", text_at(n, "description"));
		put_line(out, "   - cause: ", text_at(n, "cause"));
		put_line(out, "   - confidence: ", text_at(n, "confidence"));
		put_evidence(n, out);
		put_line(out, "   - remedy: ", text_at(n, "remedy"));
		put_line(out, "   - more: schedscope ", text_at(n, "next"));
	}
	n = list_at(m->summary, "high_rates");
	if (n)
		fputs("\nHigh rates, which lose no time by themselves:\n\n", out);
	for (; n; n = n->next)
		put_line(out, "- ", text_at(n, "description"));
	fputc('\n', out);
}

/* Sentences of explain, one paragraph each. */
static void put_explained(const struct report_node *root, const char *title, const char *list,
                          FILE *out)
{
	const struct report_node *n = list_at(root, list);

	fprintf(out, "## %s\n\n", title);
	if (!root)
		fputs("The recording does not have what this takes.\n\n", out);
	else if (!n)
		fputs("None.\n\n", out);
	for (; n; n = n->next) {
		const struct report_node *s = list_at(n, "sentences");

		fputs("- ", out);
		for (; s; s = s->next) {
			put(out, s->text);
			fputc(s->next ? ' ' : '\n', out);
		}
	}
	fputc('\n', out);
}

static void put_blames(const struct report_node *victim, FILE *out)
{
	const struct report_node *n = list_at(victim, "blames");
	unsigned int nr = 0;
	char t[TIME_BYTES];

	for (; n && nr < CULPRITS; n = n->next, nr++) {
		fputs(nr ? ", " : "", out);
		put(out, text_at(n, "comm") ? text_at(n, "comm") : "?");
		fprintf(out, " %s", time_at(n, "wait_ns", t));
	}
}

static void put_blame(const struct trace_markdown *m, FILE *out)
{
	const struct report_node *n = list_at(m->blame, "victims");
	char t[TIME_BYTES];

	fputs("## Who kept whom waiting\n\n| victim | waited | longest | throttled | behind |\n|---|---|---|---|---|\n",
	      out);
	for (unsigned int nr = 0; n && nr < ROWS; n = n->next, nr++) {
		fputs("| ", out);
		put(out, text_at(n, "comm") ? text_at(n, "comm") : "?");
		fprintf(out, " | %s", time_at(n, "wait_ns", t));
		fprintf(out, " | %s", time_at(n, "max_wait_ns", t));
		fprintf(out, " | %s | ",
		        report_at(n, "throttled_ns") &&
		                        report_at(n, "throttled_ns")->type == REPORT_NULL
		                ? "unknown"
		                : time_at(n, "throttled_ns", t));
		put_blames(n, out);
		fputs(" |\n", out);
	}
	fputc('\n', out);
}

static void put_tasks(const struct trace_markdown *m, FILE *out)
{
	const struct report_node *n = list_at(m->tasks, "processes");
	char t[TIME_BYTES];

	fputs("## Tasks\n\n| name | threads | CPU time | of one CPU | switches |\n|---|---|---|---|---|\n",
	      out);
	for (unsigned int nr = 0; n && nr < ROWS; n = n->next, nr++) {
		fputs("| ", out);
		put(out, text_at(n, "comm") ? text_at(n, "comm") : "?");
		fprintf(out, " | %.0f | %s | %.1f %% | %.0f |\n", number_at(n, "thread_count"),
		        time_at(n, "total_runtime_ns", t), number_at(n, "cpu_time_percent"),
		        number_at(n, "num_switches"));
	}
	fputc('\n', out);
}

static void put_bounds(const struct trace_markdown *m, FILE *out)
{
	const struct report_node *s = m->summary, *n;
	const struct report_node *lost = report_at(s, "lost_events");

	fputs("## What was lost or is unknown\n\n", out);
	if (lost && lost->type == REPORT_U64)
		fprintf(out, "- %llu events lost\n", (unsigned long long)lost->u64);
	else
		fputs("- events were lost, how many is unknown\n", out);
	put_line(out, "- tasks that were recorded: ", text_at(s, "recorded_tasks"));
	put_line(out, "- incomplete: ", text_at(s, "incomplete"));
	put_line(out, "- not in the file: ", text_at(s, "not_in_file"));
	for (n = list_at(s, "damage"); n; n = n->next)
		fprintf(out, "- damage: %s, %.0f times\n", text_at(n, "what"),
		        number_at(n, "count"));
	for (n = list_at(s, "losses"); n; n = n->next)
		fprintf(out, "- %.0f of: %s\n", number_at(n, "count"), text_at(n, "meaning"));
	for (n = list_at(s, "inapplicable_analyses"); n; n = n->next)
		fprintf(out, "- no %s, which %s\n", text_at(n, "id"), text_at(n, "missing"));
}

static void put_head(const struct trace_markdown *m, FILE *out)
{
	const struct report_node *s = m->summary;
	const char *worst = text_at(s, "bottlenecks.0.description");

	put_line(out, "# What the scheduler did: ", m->name);
	fputc('\n', out);
	put_line(out, "**Verdict:** ", worst ? worst : "nothing lost much time");
	fprintf(out, "\n%.3f s of %.0f CPUs, %.0f events of %.0f threads",
	        number_at(s, "trace_duration_ms") / 1e3, number_at(s, "num_cpus"),
	        number_at(s, "total_events"), number_at(s, "num_threads"));
	put_line(out, ", by ", text_at(s, "trace_source"));
	put_line(out, "Kernel ", text_at(s, "kernel"));
	fputc('\n', out);
}

int trace_markdown(const struct trace_markdown *m, FILE *out)
{
	put_head(m, out);
	put_findings(m, out);
	put_explained(m->waits, "Longest waits for a CPU", "waits", out);
	put_explained(m->sleeps, "Longest sleeps", "sleeps", out);
	put_blame(m, out);
	put_tasks(m, out);
	put_bounds(m, out);
	return ferror(out) ? -EIO : 0;
}
