/* render/summary_text — its head: what the recording is, and what it does not hold. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "render/summary_priv.h"

#define LINE_BYTES 1024
#define NS_PER_SEC 1000000000ULL
#define DAY_NS     (86400 * NS_PER_SEC)

uint64_t summary_number(const struct report_node *node, const char *path)
{
	const struct report_node *at = report_at(node, path);

	return at && at->type == REPORT_U64 ? at->u64 : 0;
}

double summary_real(const struct report_node *node, const char *path)
{
	const struct report_node *at = report_at(node, path);

	return at && at->type == REPORT_DOUBLE ? at->f : 0;
}

/* NULL if it is unknown. */
const char *summary_text_at(const struct report_node *node, const char *path)
{
	const struct report_node *at = report_at(node, path);

	return at && at->type == REPORT_STRING ? at->text : NULL;
}

const struct report_node *summary_list(const struct summary_screen *s, const char *path)
{
	const struct report_node *at = report_at(s->root, path);

	return at && at->type == REPORT_ARRAY ? at : NULL;
}

size_t summary_len(const struct report_node *node)
{
	return node ? node->nr : 0;
}

const struct report_node *summary_first(const struct report_node *node)
{
	return node ? node->first : NULL;
}

/* One line, made safe, cut to the width, without blanks at its end. */
void summary_line(const struct summary_screen *s, const char *fmt, ...)
{
	char raw[LINE_BYTES], clean[LINE_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(raw, sizeof(raw), fmt, args);
	va_end(args);
	text_cut(text_printable(clean, sizeof(clean), raw, sizeof(raw)), s->cut);
	text_chomp(clean);
	fprintf(s->out, "%s\n", clean);
}

/* At its last comma if there is one, else at a blank: what is left out is marked. */
void summary_causes(const struct summary_screen *s, const char *text)
{
	static const char more[] = ", ...";
	char clean[LINE_BYTES], fitting[LINE_BYTES], *end;

	text_printable(clean, sizeof(clean), text, sizeof(clean));
	if (text_width(clean) <= s->cut || s->cut <= strlen(more)) {
		summary_line(s, "%s", clean);
		return;
	}
	memcpy(fitting, clean, sizeof(fitting));
	text_cut(fitting, s->cut - strlen(more) + 1); /* with the comma */
	end = strrchr(fitting, ',');
	if (end) {
		*end = '\0';
		summary_line(s, "%s%s", fitting, more);
		return;
	}
	end = strrchr(fitting, ' ');
	if (end)
		*end = '\0';
	summary_line(s, "%s%s", fitting, more + 1);
}

size_t summary_count_headline(const struct summary_screen *s, const char *text)
{
	char clean[LINE_BYTES];

	return text_width(text_printable(clean, sizeof(clean), text, sizeof(clean))) > s->cut ? 2
	                                                                                      : 1;
}

void summary_headline(const struct summary_screen *s, const char *text)
{
	char clean[LINE_BYTES], first[LINE_BYTES], rest[LINE_BYTES + 2], *end;

	text_printable(clean, sizeof(clean), text, sizeof(clean));
	memcpy(first, clean, sizeof(first));
	text_cut(first, s->cut + 1); /* with the blank after the last word */
	end = text_width(clean) > s->cut ? strrchr(first, ' ') : NULL;
	if (!end) {
		summary_line(s, "%s", clean);
		return;
	}
	*end = '\0';
	summary_line(s, "%s", first);
	snprintf(rest, sizeof(rest), "  %s", clean + strlen(first) + 1);
	summary_causes(s, rest);
}

static char *date(const struct summary_screen *s, char *buf, size_t size)
{
	uint64_t ns = summary_number(s->root, "start_unix_timestamp");
	time_t at = (time_t)(ns / NS_PER_SEC);
	struct tm tm;

	/* If the clock of the machine was not set, the date is meaningless. */
	if (ns < DAY_NS || !(s->cfg->is_utc ? gmtime_r(&at, &tm) : localtime_r(&at, &tm)) ||
	    !strftime(buf, size, ", %Y-%m-%d %H:%M:%S %Z", &tm))
		buf[0] = '\0';
	return buf;
}

/* The end of a long path says more than its beginning. */
void summary_show_file(const struct summary_screen *s)
{
	const char *file = summary_text_at(s->root, "file"),
		   *by = summary_text_at(s->root, "trace_source");
	char span[16], when[64], rest[160];
	size_t room;

	text_duration(span, sizeof(span),
	              (uint64_t)(summary_real(s->root, "trace_duration_ms") * 1e6));
	snprintf(rest, sizeof(rest), ": %s of %" PRIu64 " CPU%s, by %s%s", span,
	         summary_number(s->root, "num_cpus"),
	         summary_number(s->root, "num_cpus") == 1 ? "" : "s", by ? by : "?",
	         date(s, when, sizeof(when)));
	file = file ? file : "?";
	room = s->width > strlen(rest) + 12 ? s->width - strlen(rest) : 12;
	if (s->cfg->width && strlen(file) > room)
		summary_line(s, "...%s%s", file + strlen(file) - room + 3, rest);
	else
		summary_line(s, "%s%s", file, rest);
}

void summary_show_machine(const struct summary_screen *s)
{
	const char *kernel = summary_text_at(s->root, "kernel"),
		   *machine = summary_text_at(s->root, "machine");
	const char *scheduler = summary_text_at(s->root, "scheduler");
	const struct report_node *scx = report_at(s->root, "is_scx_trace");
	char system[256] = "";

	if (kernel || machine)
		snprintf(system, sizeof(system), "Linux %s%s%s, ", kernel ? kernel : "",
		         kernel && machine ? " " : "", machine ? machine : "");
	summary_line(s, "%s%s%s%" PRIu64 " events of %" PRIu64 " threads (%" PRIu64 " processes)",
	             system, scheduler ? scheduler : "",
	             scheduler                                   ? ", "
	             : scx && scx->type == REPORT_BOOL && scx->b ? "sched_ext, "
	                                                         : "",
	             summary_number(s->root, "total_events"),
	             summary_number(s->root, "num_threads"),
	             summary_number(s->root, "num_processes"));
}

/* Only some tasks; NULL = all. */
static const char *filter_of(const struct summary_screen *s)
{
	const char *tasks = summary_text_at(s->root, "recorded_tasks");

	return tasks && strcmp(tasks, "all") != 0 ? tasks : NULL;
}

static size_t nr_labels(const struct summary_screen *s)
{
	const struct report_node *labels = report_at(s->root, "metadata");

	return labels && labels->type == REPORT_OBJECT ? labels->nr : 0;
}

/* "metadata: host vm1, role=web, build=12" */
static void show_labels(const struct summary_screen *s)
{
	const char *host = summary_text_at(s->root, "host");
	char line[LINE_BYTES];
	size_t len;

	len = (size_t)snprintf(line, sizeof(line), "metadata: host %.64s", host ? host : "unknown");
	for (const struct report_node *at = report_at(s->root, "metadata")->first;
	     at && len < sizeof(line); at = at->next)
		if (at->type == REPORT_STRING)
			len += (size_t)snprintf(line + len, sizeof(line) - len, ", %s=%s", at->key,
			                        at->text);
	summary_line(s, "%s", line);
}

size_t summary_count_coverage(const struct summary_screen *s)
{
	size_t nr = summary_text_at(s->root, "incomplete") ? 1 : 0;

	nr += summary_len(summary_list(s, "cpus_that_end_early")) ? 1 : 0;
	nr += summary_text_at(s->root, "not_in_file") ? 1 : 0;
	nr += nr_labels(s) ? 1 : 0;
	return filter_of(s) ? nr + 1 : nr;
}

/* What the file does not hold, where that is known. */
void summary_show_coverage(const struct summary_screen *s)
{
	const struct report_node *ends = summary_list(s, "cpus_that_end_early");
	const char *why = summary_text_at(s->root, "incomplete");
	const char *absent = summary_text_at(s->root, "not_in_file");
	uint64_t most_ns = 0;
	char time[16];

	for (const struct report_node *at = summary_first(ends); at; at = at->next)
		if (summary_number(at, "missing_ns") > most_ns)
			most_ns = summary_number(at, "missing_ns");
	if (nr_labels(s))
		show_labels(s);
	if (why)
		summary_line(s, "incomplete: %s", why);
	if (summary_len(ends))
		summary_line(
			s,
			"incomplete: %zu CPU%s end%s up to %s early, and %s unknown from there on",
			summary_len(ends), summary_len(ends) == 1 ? "" : "s",
			summary_len(ends) == 1 ? "s" : "",
			text_duration(time, sizeof(time), most_ns),
			summary_len(ends) == 1 ? "is" : "are");
	if (filter_of(s))
		summary_line(s, "filtered: %s; other CPU time is unknown", filter_of(s));
	if (absent)
		summary_line(s, "not in the file: %s", absent);
}

static void add_kinds(const struct summary_screen *s, char *all, size_t size)
{
	const struct report_node *kinds = report_at(s->root, "lost_by_kind");
	const char *sep = " (";

	for (const struct report_node *at = summary_first(kinds); at; at = at->next, sep = ", ")
		snprintf(all + strlen(all), size - strlen(all), "%s%s %" PRIu64, sep, at->key,
		         at->u64);
	if (summary_first(kinds))
		snprintf(all + strlen(all), size - strlen(all), ")");
}

void summary_show_losses(const struct summary_screen *s)
{
	const struct report_node *lost = report_at(s->root, "lost_events");
	char all[LINE_BYTES];
	size_t used;

	snprintf(all, sizeof(all), "%.1f MB; ",
	         (double)summary_number(s->root, "file_bytes") / 1e6);
	used = strlen(all);
	if (lost && lost->type == REPORT_NULL)
		snprintf(all + used, sizeof(all) - used, "an unknown number of events was lost");
	else if (lost && lost->u64)
		snprintf(all + used, sizeof(all) - used, "%" PRIu64 " %s lost", lost->u64,
		         lost->u64 == 1 ? "event was" : "events were");
	else if (summary_text_at(s->root, "incomplete"))
		snprintf(all + used, sizeof(all) - used, "losses are unknown");
	else
		snprintf(all + used, sizeof(all) - used, "no lost events reported");
	add_kinds(s, all, sizeof(all));
	for (const struct report_node *at = summary_first(summary_list(s, "damage")); at;
	     at = at->next) {
		uint64_t of = summary_number(at, "of");
		char part[32] = "";

		if (of)
			snprintf(part, sizeof(part), " of %" PRIu64, of);
		used = strlen(all);
		snprintf(all + used, sizeof(all) - used, "; %" PRIu64 "%s %s",
		         summary_number(at, "count"), part, summary_text_at(at, "what"));
	}
	for (char *c = all; *c; c++)
		if (*c == '_')
			*c = ' ';
	summary_line(s, "%s", all);
	for (const struct report_node *at = summary_first(summary_list(s, "losses")); at;
	     at = at->next)
		summary_line(s, "%" PRIu64 " %s", summary_number(at, "count"),
		             summary_text_at(at, "meaning"));
}
