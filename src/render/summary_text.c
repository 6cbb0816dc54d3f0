#include "render/summary_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "base/text.h"

#define USUAL_WIDTH   80
#define MIN_WIDTH     40
#define MAX_WIDTH     160 /* beyond it lines are hard to follow */
#define THREAD_WIDTH  38  /* of a line about a busy thread */
#define GAP           3
#define MAX_CPU_WIDTH 60
#define LABEL_WIDTH   5 /* of a CPU */
#define RANGE_WIDTH   10
#define SHARE_WIDTH   7
#define LINE_BYTES    1024
#define NAME_GAP      2
#define MANY_CPUS     16
#define MANY_THREADS  10
#define MANY_WAITS    5
#define NAME_WIDTH    15
#define ALL_THE_TIME  0.99
#define LONG_NS       10000000ULL
#define NS_PER_SEC    1000000000ULL
#define DAY_NS        (86400 * NS_PER_SEC)

enum summary_part { PART_LOAD, PART_WAITS, PART_PROBLEMS, PART_ANALYSES, PART_MISSING, NR_PARTS };

struct summary_screen {
	const struct report_node *root;
	const struct summary_text_cfg *cfg;
	FILE *out;
	size_t width;
	size_t cut;            /* lines are never longer */
	size_t rows[NR_PARTS]; /* that each part may use */
};

static uint64_t number(const struct report_node *node, const char *path)
{
	const struct report_node *at = report_at(node, path);

	return at && at->type == REPORT_U64 ? at->u64 : 0;
}

static double real(const struct report_node *node, const char *path)
{
	const struct report_node *at = report_at(node, path);

	return at && at->type == REPORT_DOUBLE ? at->f : 0;
}

/* NULL if it is unknown. */
static const char *text(const struct report_node *node, const char *path)
{
	const struct report_node *at = report_at(node, path);

	return at && at->type == REPORT_STRING ? at->text : NULL;
}

static const struct report_node *list(const struct summary_screen *s, const char *path)
{
	const struct report_node *at = report_at(s->root, path);

	return at && at->type == REPORT_ARRAY ? at : NULL;
}

static size_t len(const struct report_node *node)
{
	return node ? node->nr : 0;
}

static const struct report_node *first(const struct report_node *node)
{
	return node ? node->first : NULL;
}

/* Names come from the system and take more bytes than columns: padded by what they show. */
static char *padded(char *buf, size_t size, const char *raw, size_t width)
{
	size_t used, at;

	text_cut(text_printable(buf, size, raw ? raw : "?", size), width);
	used = text_width(buf);
	for (at = strlen(buf); used < width && at + 1 < size; used++)
		buf[at++] = ' ';
	buf[at] = '\0';
	return buf;
}

/* One line, made safe, cut to the width, without blanks at its end. */
static void PRINTF_LIKE(2, 3) line(const struct summary_screen *s, const char *fmt, ...)
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

/* "-- longest waits ---------------" */
static void rule(const struct summary_screen *s, const char *title)
{
	const char *dash = s->cfg->is_utf8 ? "\u2500" : "-";
	char clean[LINE_BYTES];

	text_printable(clean, sizeof(clean), title, sizeof(clean));
	text_cut(clean, s->width - 5);
	fprintf(s->out, "%s%s %s ", dash, dash, clean);
	for (size_t used = 4 + text_width(clean); used < s->width; used++)
		fputs(dash, s->out);
	fputc('\n', s->out);
}

static char *date(const struct summary_screen *s, char *buf, size_t size)
{
	uint64_t ns = number(s->root, "start_unix_timestamp");
	time_t at = (time_t)(ns / NS_PER_SEC);
	struct tm tm;

	/* If the clock of the machine was not set, the date is meaningless. */
	if (ns < DAY_NS || !(s->cfg->is_utc ? gmtime_r(&at, &tm) : localtime_r(&at, &tm)) ||
	    !strftime(buf, size, ", %Y-%m-%d %H:%M:%S %Z", &tm))
		buf[0] = '\0';
	return buf;
}

/* The end of a long path says more than its beginning. */
static void show_file(const struct summary_screen *s)
{
	const char *file = text(s->root, "file"), *by = text(s->root, "trace_source");
	char span[16], when[64], rest[160];
	size_t room;

	text_duration(span, sizeof(span), (uint64_t)(real(s->root, "trace_duration_ms") * 1e6));
	snprintf(rest, sizeof(rest), ": %s of %" PRIu64 " CPU%s, by %s%s", span,
	         number(s->root, "num_cpus"), number(s->root, "num_cpus") == 1 ? "" : "s",
	         by ? by : "?", date(s, when, sizeof(when)));
	file = file ? file : "?";
	room = s->width > strlen(rest) + 12 ? s->width - strlen(rest) : 12;
	if (s->cfg->width && strlen(file) > room)
		line(s, "...%s%s", file + strlen(file) - room + 3, rest);
	else
		line(s, "%s%s", file, rest);
}

static void show_machine(const struct summary_screen *s)
{
	const char *kernel = text(s->root, "kernel"), *machine = text(s->root, "machine");
	const char *scheduler = text(s->root, "scheduler");
	const struct report_node *scx = report_at(s->root, "is_scx_trace");
	char system[256] = "";

	if (kernel || machine)
		snprintf(system, sizeof(system), "Linux %s%s%s, ", kernel ? kernel : "",
		         kernel && machine ? " " : "", machine ? machine : "");
	line(s, "%s%s%s%" PRIu64 " events of %" PRIu64 " threads (%" PRIu64 " processes)", system,
	     scheduler ? scheduler : "",
	     scheduler                                   ? ", "
	     : scx && scx->type == REPORT_BOOL && scx->b ? "sched_ext, "
	                                                 : "",
	     number(s->root, "total_events"), number(s->root, "num_threads"),
	     number(s->root, "num_processes"));
}

/* Only some tasks; NULL = all. */
static const char *filter_of(const struct summary_screen *s)
{
	const char *tasks = text(s->root, "recorded_tasks");

	return tasks && strcmp(tasks, "all") != 0 ? tasks : NULL;
}

static size_t count_coverage(const struct summary_screen *s)
{
	size_t nr = text(s->root, "incomplete") ? 1 : 0;

	nr += len(list(s, "cpus_that_end_early")) ? 1 : 0;
	return filter_of(s) ? nr + 1 : nr;
}

/* What the file does not hold, where that is known. */
static void show_coverage(const struct summary_screen *s)
{
	const struct report_node *ends = list(s, "cpus_that_end_early");
	const char *why = text(s->root, "incomplete");
	uint64_t most_ns = 0;
	char time[16];

	for (const struct report_node *at = first(ends); at; at = at->next)
		if (number(at, "missing_ns") > most_ns)
			most_ns = number(at, "missing_ns");
	if (why)
		line(s, "incomplete: %s", why);
	if (len(ends))
		line(s, "incomplete: %zu CPU%s end%s up to %s early, and %s unknown from there on",
		     len(ends), len(ends) == 1 ? "" : "s", len(ends) == 1 ? "s" : "",
		     text_duration(time, sizeof(time), most_ns), len(ends) == 1 ? "is" : "are");
	if (filter_of(s))
		line(s, "filtered: %s; other CPU time is unknown", filter_of(s));
}

static void add_kinds(const struct summary_screen *s, char *all, size_t size)
{
	const struct report_node *kinds = report_at(s->root, "lost_by_kind");
	const char *sep = " (";

	for (const struct report_node *at = first(kinds); at; at = at->next, sep = ", ")
		snprintf(all + strlen(all), size - strlen(all), "%s%s %" PRIu64, sep, at->key,
		         at->u64);
	if (first(kinds))
		snprintf(all + strlen(all), size - strlen(all), ")");
}

static void show_losses(const struct summary_screen *s)
{
	const struct report_node *lost = report_at(s->root, "lost_events");
	char all[LINE_BYTES];
	size_t used;

	snprintf(all, sizeof(all), "%.1f MB; ", (double)number(s->root, "file_bytes") / 1e6);
	used = strlen(all);
	if (lost && lost->type == REPORT_NULL)
		snprintf(all + used, sizeof(all) - used, "an unknown number of events was lost");
	else if (lost && lost->u64)
		snprintf(all + used, sizeof(all) - used, "%" PRIu64 " events were lost", lost->u64);
	else if (text(s->root, "incomplete"))
		snprintf(all + used, sizeof(all) - used, "losses are unknown");
	else
		snprintf(all + used, sizeof(all) - used, "no lost events reported");
	add_kinds(s, all, sizeof(all));
	for (const struct report_node *at = first(list(s, "damage")); at; at = at->next) {
		used = strlen(all);
		snprintf(all + used, sizeof(all) - used, "; %" PRIu64 " %s", number(at, "count"),
		         text(at, "what"));
	}
	for (char *c = all; *c; c++)
		if (*c == '_')
			*c = ' ';
	line(s, "%s", all);
	for (const struct report_node *at = first(list(s, "losses")); at; at = at->next)
		line(s, "%" PRIu64 " %s", number(at, "count"), text(at, "meaning"));
}

/* Appends one glyph so many times; what does not fit is left out. */
static void repeat(char *buf, size_t size, const char *glyph, size_t nr)
{
	size_t at = strlen(buf), bytes = strlen(glyph);

	for (; nr > 0 && at + bytes < size; nr--, at += bytes)
		memcpy(buf + at, glyph, bytes + 1);
}

/* Busy and unknown time is never rounded away, so that a CPU that did anything is not shown as idle. */
static size_t cells(double percent, size_t width)
{
	size_t nr = (size_t)(percent * (double)width / 100 + 0.5);

	if (nr == 0 && percent >= 0.5)
		nr = 1;
	return nr < width ? nr : width;
}

static void cpu_bar(const struct summary_screen *s, const struct report_node *cpu, size_t width,
                    char *buf, size_t size)
{
	size_t bar = width - LABEL_WIDTH - SHARE_WIDTH;
	size_t busy = cells(real(cpu, "busy_percent"), bar);
	size_t unknown = cells(real(cpu, "unknown_percent"), bar);

	if (busy + unknown > bar)
		unknown = bar - busy;
	snprintf(buf, size, "%*" PRIu64 " ", LABEL_WIDTH - 1, number(cpu, "cpu_id"));
	repeat(buf, size, s->cfg->is_utf8 ? "\u2588" : "#", busy);
	repeat(buf, size, s->cfg->is_utf8 ? "\u00b7" : ".", bar - busy - unknown);
	repeat(buf, size, "?", unknown);
	snprintf(buf + strlen(buf), size - strlen(buf), " %5.1f%%", real(cpu, "busy_percent"));
}

/* Many CPUs: one character each, as high as it was busy. */
static const struct report_node *cpu_row(const struct summary_screen *s,
                                         const struct report_node *cpu, size_t width, char *buf,
                                         size_t size)
{
	static const char *const levels[] = { "\u2581", "\u2582", "\u2583", "\u2584",
		                              "\u2585", "\u2586", "\u2587", "\u2588" };

	snprintf(buf, size, "%*" PRIu64 " ", LABEL_WIDTH - 1, number(cpu, "cpu_id"));
	for (size_t i = LABEL_WIDTH; i < width && cpu; i++, cpu = cpu->next) {
		double busy = real(cpu, "busy_percent");
		char digit[2] = { (char)('0' + (busy >= 99.5 ? 9 : (int)(busy / 10))), '\0' };

		repeat(buf, size,
		       s->cfg->is_utf8 ? levels[busy >= 99.5 ? 7 : (int)(busy / 12.5)] : digit, 1);
	}
	return cpu;
}

static void thread_row(const struct report_node *task, char *buf, size_t size)
{
	char name[64], time[16];

	snprintf(buf, size, "%s %7" PRIu64 " %7s %5.1f%%",
	         padded(name, sizeof(name), text(task, "comm"), NAME_WIDTH), number(task, "tid"),
	         text_duration(time, sizeof(time), number(task, "runtime_ns")),
	         real(task, "of_one_cpu_percent"));
}

static size_t cpu_width(const struct summary_screen *s)
{
	size_t width = s->width - THREAD_WIDTH - GAP;

	return s->width < THREAD_WIDTH + GAP + 30 ? s->width
	       : width < MAX_CPU_WIDTH            ? width
	                                          : MAX_CPU_WIDTH;
}

static bool is_side_by_side(const struct summary_screen *s)
{
	return cpu_width(s) < s->width;
}

static const char *cpu_title(const struct summary_screen *s, bool is_many)
{
	if (is_many)
		return s->cfg->is_utf8 ? "CPUs, the higher the busier"
		                       : "CPUs: busy, 9 = 90 % and more";
	return s->cfg->is_utf8 ? "CPU  \u2588 busy  \u00b7 idle  ? unknown"
	                       : "CPU  # busy  . idle  ? unknown";
}

static const struct report_node *next_cpu(const struct summary_screen *s,
                                          const struct report_node *cpu, bool is_many, char *buf,
                                          size_t size)
{
	buf[0] = '\0';
	if (!cpu)
		return NULL;
	if (is_many)
		return cpu_row(s, cpu, cpu_width(s), buf, size);
	cpu_bar(s, cpu, cpu_width(s), buf, size);
	return cpu->next;
}

static void show_load(const struct summary_screen *s)
{
	const struct report_node *cpu = first(list(s, "cpus"));
	const struct report_node *task = first(list(s, "busiest_tasks"));
	bool is_many = len(list(s, "cpus")) > s->rows[PART_LOAD], is_beside = is_side_by_side(s);
	char left[LINE_BYTES], right[128], cell[LINE_BYTES];

	if (!cpu)
		return;
	snprintf(left, sizeof(left), "%s",
	         padded(cell, sizeof(cell), cpu_title(s, is_many), cpu_width(s) - 3));
	if (is_beside)
		snprintf(left + strlen(left), sizeof(left) - strlen(left),
		         "   busiest threads, %% of one CPU");
	rule(s, left);
	for (size_t i = 0; i < s->rows[PART_LOAD] && (cpu || (is_beside && task)); i++) {
		cpu = next_cpu(s, cpu, is_many, left, sizeof(left));
		right[0] = '\0';
		if (is_beside && task) {
			thread_row(task, right, sizeof(right));
			task = task->next;
		}
		line(s, "%s%*s%s", padded(cell, sizeof(cell), left, cpu_width(s)), GAP, "", right);
	}
	if (is_beside || !task)
		return;
	rule(s, "busiest threads, % of one CPU");
	for (size_t i = 0; i < s->rows[PART_LOAD] && task; i++, task = task->next) {
		thread_row(task, right, sizeof(right));
		line(s, "%s", right);
	}
}

/* After the start, rounded up, so that it lies within what begins there and is as long as that. */
static char *moment(char *buf, size_t size, uint64_t ns, uint64_t length_ns)
{
	uint64_t us = (ns + 999) / 1000, ms = (ns + 999999) / 1000000;

	if (length_ns >= LONG_NS)
		snprintf(buf, size, "%" PRIu64 ".%03" PRIu64 "s", ms / 1000, ms % 1000);
	else
		snprintf(buf, size, "%" PRIu64 ".%06" PRIu64 "s", us / 1000000, us % 1000000);
	return buf;
}

static void show_waits(const struct summary_screen *s)
{
	const struct report_node *at = first(list(s, "longest_waits"));
	char name[64], wait[16], start[32];

	rule(s, at ? "longest waits for a CPU; 'schedscope explain FILE' says why"
	           : "longest waits for a CPU: none");
	for (size_t i = 0; i < s->rows[PART_WAITS] && at; i++, at = at->next) {
		uint64_t ns = number(at, "wait_ns");

		line(s, "%s %7" PRIu64 " %7s  at %s, CPU %" PRIu64 ", %s%s%s",
		     padded(name, sizeof(name), text(at, "comm"), NAME_WIDTH), number(at, "tid"),
		     text_duration(wait, sizeof(wait), ns),
		     moment(start, sizeof(start), number(at, "after_start_ns"), ns),
		     number(at, "cpu"), text(at, "cause"), text(at, "by") ? " by " : "",
		     text(at, "by") ? text(at, "by") : "");
	}
}

static void show_problems(const struct summary_screen *s)
{
	uint64_t start = number(s->root, "start_timestamp");
	const struct report_node *at = first(list(s, "bottlenecks"));
	double span_ns = real(s->root, "trace_duration_ms") * 1e6;
	char from[32], to[32];

	if (!list(s, "bottlenecks"))
		return;
	rule(s, at ? "bottlenecks, the worst first" : "bottlenecks: none found");
	for (size_t i = 0; i < s->rows[PART_PROBLEMS] && at; i++, at = at->next) {
		uint64_t begin = number(at, "time_range.0"), end = number(at, "time_range.1");

		if ((double)(end - begin) > span_ns * ALL_THE_TIME)
			line(s, "%s, all the time", text(at, "description"));
		else
			line(s, "%s, %s to %s", text(at, "description"),
			     moment(from, sizeof(from), begin - start, end - begin),
			     moment(to, sizeof(to), end - start, end - begin));
	}
}

static size_t name_width(const struct report_node *names)
{
	size_t most = 1;

	for (const struct report_node *at = first(names); at; at = at->next)
		if (at->type == REPORT_STRING && strlen(at->text) > most)
			most = strlen(at->text);
	return most + NAME_GAP;
}

static size_t name_columns(const struct summary_screen *s)
{
	size_t nr = (s->width + NAME_GAP) / name_width(list(s, "applicable_analyses"));

	return nr ? nr : 1;
}

static size_t name_rows(const struct summary_screen *s)
{
	size_t cols = name_columns(s);

	return (len(list(s, "applicable_analyses")) + cols - 1) / cols;
}

static void show_analyses(const struct summary_screen *s)
{
	const struct report_node *names = list(s, "applicable_analyses"), *at = first(names);
	size_t cols = name_columns(s), width = name_width(names), shown = 0;
	char all[LINE_BYTES], cell[128];

	rule(s, "analyses that apply: 'schedscope analyze FILE NAME'");
	for (size_t row = 0; row < s->rows[PART_ANALYSES] && at; row++) {
		all[0] = '\0';
		for (size_t i = 0; i < cols && at; i++, at = at->next, shown++) {
			/* The last place counts those that did not fit. */
			if (row + 1 == s->rows[PART_ANALYSES] && i + 1 == cols && at->next)
				snprintf(cell, sizeof(cell), "+ %zu (--list)", len(names) - shown);
			else
				padded(cell, sizeof(cell), at->text, width);
			repeat(all, sizeof(all), cell, 1);
		}
		line(s, "%s", all);
	}
}

/* Why others do not apply: as many as one line holds, or one each where there is room. */
static void show_missing(const struct summary_screen *s)
{
	const struct report_node *missing = list(s, "inapplicable_analyses"), *at = first(missing);
	size_t nr = len(missing), room = s->rows[PART_MISSING];

	for (size_t i = 0; i + 1 < room && at; i++, at = at->next, nr--)
		line(s, "not %s, which %s", text(at, "id"), text(at, "missing"));
	if (nr == 1)
		line(s, "not %s, which %s", text(at, "id"), text(at, "missing"));
	else if (nr)
		line(s, "%zu %s do not apply; 'schedscope analyze FILE --list' says why", nr,
		     room > 1 ? "others" : "analyses");
}

static size_t at_most(size_t value, size_t most)
{
	return value < most ? value : most;
}

/* Lines that each part would fill. */
static void want(const struct summary_screen *s, size_t *wants)
{
	size_t cpus = at_most(len(list(s, "cpus")), MANY_CPUS);
	size_t tasks = at_most(len(list(s, "busiest_tasks")), MANY_THREADS);

	wants[PART_LOAD] = cpus > tasks ? cpus : tasks;
	wants[PART_WAITS] = at_most(len(list(s, "longest_waits")), MANY_WAITS);
	wants[PART_PROBLEMS] = len(list(s, "bottlenecks"));
	wants[PART_ANALYSES] = name_rows(s);
	wants[PART_MISSING] = len(list(s, "inapplicable_analyses"));
}

/* A row for each in turn, as long as there are rows; each part that has something gets one at least. */
static void share_rows(struct summary_screen *s)
{
	size_t wants[NR_PARTS], left;
	/* What it is, what it does not hold, rules, the prompt. */
	size_t fixed = 3 + count_coverage(s) + 4 + 1;
	bool has_changed = true;

	want(s, wants);
	memcpy(s->rows, wants, sizeof(wants));
	if (!s->cfg->height)
		return;
	if (!is_side_by_side(s))
		fixed++;
	left = s->cfg->height > fixed ? s->cfg->height - fixed : 0;
	memset(s->rows, 0, sizeof(s->rows));
	for (size_t round = 0; has_changed; round++) {
		has_changed = false;
		for (int i = 0; i < NR_PARTS; i++) {
			size_t cost = i == PART_LOAD && !is_side_by_side(s) ? 2 : 1;

			if (s->rows[i] >= wants[i] ||
			    (round && (left < cost || (i == PART_MISSING && round < 4))))
				continue;
			s->rows[i]++;
			left -= at_most(cost, left);
			has_changed = true;
		}
	}
}

int summary_text(const struct report_node *root, const struct summary_text_cfg *cfg, FILE *out)
{
	struct summary_screen s = { .root = root, .cfg = cfg, .out = out };

	s.width = cfg->width ? cfg->width : USUAL_WIDTH;
	s.width = s.width < MIN_WIDTH ? MIN_WIDTH : at_most(s.width, MAX_WIDTH);
	s.cut = cfg->width ? s.width : LINE_BYTES;
	share_rows(&s);
	show_file(&s);
	show_machine(&s);
	show_losses(&s);
	show_coverage(&s);
	show_load(&s);
	show_waits(&s);
	show_problems(&s);
	show_analyses(&s);
	show_missing(&s);
	return ferror(out) ? -EIO : 0;
}
