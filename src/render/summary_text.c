#include "render/summary_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "render/bottlenecks_text.h"
#include "render/summary_priv.h"
#include "render/wrap.h"

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
#define ANSWERS       2 /* victims before everything else */
#define LONG_NS       10000000ULL

static const char *words(const struct report_node *node, const char *path)
{
	const char *found = summary_text_at(node, path);

	return found ? found : "?";
}

static size_t at_most(size_t value, size_t most)
{
	return value < most ? value : most;
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
	size_t busy = cells(summary_real(cpu, "busy_percent"), bar);
	size_t unknown = cells(summary_real(cpu, "unknown_percent"), bar);

	if (busy + unknown > bar)
		unknown = bar - busy;
	snprintf(buf, size, "%*" PRIu64 " ", LABEL_WIDTH - 1, summary_number(cpu, "cpu_id"));
	repeat(buf, size, s->cfg->is_utf8 ? "\u2588" : "#", busy);
	repeat(buf, size, s->cfg->is_utf8 ? "\u00b7" : ".", bar - busy - unknown);
	repeat(buf, size, "?", unknown);
	snprintf(buf + strlen(buf), size - strlen(buf), " %5.1f%%",
	         summary_real(cpu, "busy_percent"));
}

/* Many CPUs: one character each, as high as it was busy. */
static const struct report_node *cpu_row(const struct summary_screen *s,
                                         const struct report_node *cpu, size_t width, char *buf,
                                         size_t size)
{
	static const char *const levels[] = { "\u2581", "\u2582", "\u2583", "\u2584",
		                              "\u2585", "\u2586", "\u2587", "\u2588" };

	snprintf(buf, size, "%*" PRIu64 " ", LABEL_WIDTH - 1, summary_number(cpu, "cpu_id"));
	for (size_t i = LABEL_WIDTH; i < width && cpu; i++, cpu = cpu->next) {
		double busy = summary_real(cpu, "busy_percent");
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
	         padded(name, sizeof(name), summary_text_at(task, "comm"), NAME_WIDTH),
	         summary_number(task, "tid"),
	         text_duration(time, sizeof(time), summary_number(task, "runtime_ns")),
	         summary_real(task, "of_one_cpu_percent"));
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
	const struct report_node *cpu = summary_first(summary_list(s, "cpus"));
	const struct report_node *task = summary_first(summary_list(s, "busiest_tasks"));
	bool is_many = summary_len(summary_list(s, "cpus")) > s->rows[PART_LOAD],
	     is_beside = is_side_by_side(s);
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
		summary_line(s, "%s%*s%s", padded(cell, sizeof(cell), left, cpu_width(s)), GAP, "",
		             right);
	}
	if (is_beside || !task)
		return;
	rule(s, "busiest threads, % of one CPU");
	for (size_t i = 0; i < s->rows[PART_LOAD] && task; i++, task = task->next) {
		thread_row(task, right, sizeof(right));
		summary_line(s, "%s", right);
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
	const struct report_node *at = summary_first(summary_list(s, "longest_waits"));
	char name[64], wait[16], start[32];

	rule(s, at ? "longest waits for a CPU; 'schedscope explain FILE' says why"
	           : "longest waits for a CPU: none");
	for (size_t i = 0; i < s->rows[PART_WAITS] && at; i++, at = at->next) {
		const struct report_node *open = report_at(at, "is_open");
		bool is_open = open && open->type == REPORT_BOOL && open->b;
		uint64_t ns = summary_number(at, "wait_ns");

		summary_line(s, "%s %7" PRIu64 " %7s  at %s, CPU %" PRIu64 ", %s%s%s%s",
		             padded(name, sizeof(name), summary_text_at(at, "comm"), NAME_WIDTH),
		             summary_number(at, "tid"), text_duration(wait, sizeof(wait), ns),
		             moment(start, sizeof(start), summary_number(at, "after_start_ns"), ns),
		             summary_number(at, "cpu"), summary_text_at(at, "cause"),
		             summary_text_at(at, "by") ? " by " : "",
		             summary_text_at(at, "by") ? summary_text_at(at, "by") : "",
		             is_open ? ", not over" : "");
	}
}

static bool applies(const struct summary_screen *s, const char *id)
{
	for (const struct report_node *at = summary_first(summary_list(s, "applicable_analyses"));
	     at; at = at->next)
		if (at->type == REPORT_STRING && strcmp(at->text, id) == 0)
			return true;
	return false;
}

/* What does not wait for a CPU and is slow, sleeps too long, or computes. */
static void show_no_loss(const struct summary_screen *s, const char *file, size_t room)
{
	char time[16], next[COMMAND_TEXT_BYTES];
	bool has_sleeps = applies(s, "sleeps");

	fputs(wrap_on(WRAP_ANSWER, s->cfg->is_colored), s->out);
	summary_line(s, "no task lost much time; waits for a CPU: %s in all",
	             text_duration(time, sizeof(time), summary_number(s->root, "total_lost_ns")));
	fputs(wrap_off(s->cfg->is_colored), s->out);
	if (has_sleeps)
		command_text("analyze FILE sleeps", file, s->cfg->clock, room, next);
	fputs(wrap_on(WRAP_COMMAND, s->cfg->is_colored), s->out);
	summary_line(
		s, "next: %s",
		has_sleeps
			? next
			: "schedscope record --events default,sleep  # what do tasks sleep for?");
	fputs(wrap_off(s->cfg->is_colored), s->out);
}

/* The answer before everything else: who lost most time, to what, and how to see it. */
static void show_answer(const struct summary_screen *s)
{
	const struct report_node *at = summary_first(summary_list(s, "bottlenecks"));
	const char *file = summary_text_at(s->root, "file");
	size_t room = s->cfg->width ? s->width - strlen("next: ") : 0;
	char next[COMMAND_TEXT_BYTES], remedy[LINE_BYTES];

	if (!summary_list(s, "bottlenecks"))
		return;
	if (!at) {
		show_no_loss(s, file ? file : "", room);
		return;
	}
	fputs(wrap_on(WRAP_ANSWER, s->cfg->is_colored), s->out);
	summary_headline(s, words(at, "description"));
	if (at->next)
		summary_causes(s, words(at->next, "description"));
	fputs(wrap_off(s->cfg->is_colored), s->out);
	snprintf(remedy, sizeof(remedy), "try:  %s", words(at, "remedy"));
	summary_causes(s, remedy);
	bottleneck_next(at, file ? file : "", s->cfg->clock, room, next);
	fputs(wrap_on(WRAP_COMMAND, s->cfg->is_colored), s->out);
	summary_line(s, "next: %s", next);
	fputs(wrap_off(s->cfg->is_colored), s->out);
}

static size_t count_answer(const struct summary_screen *s)
{
	const struct report_node *list = summary_list(s, "bottlenecks");
	size_t nr = summary_len(list);

	if (!nr)
		return list ? 2 : 0;
	return summary_count_headline(s, words(summary_first(list), "description")) +
	       at_most(nr, ANSWERS) - 1 + 2;
}

/* Those that are not in the answer, then what happened often. */
static void show_problems(const struct summary_screen *s)
{
	const struct report_node *at = summary_first(summary_list(s, "bottlenecks"));
	const struct report_node *rate = summary_first(summary_list(s, "high_rates"));

	for (size_t i = 0; i < ANSWERS && at; i++)
		at = at->next;
	if (!at && !rate)
		return;
	rule(s, "more bottlenecks: 'schedscope analyze FILE bottlenecks'");
	for (size_t i = 0; i < s->rows[PART_PROBLEMS] && (at || rate); i++) {
		summary_causes(s, words(at ? at : rate, "description"));
		if (at)
			at = at->next;
		else
			rate = rate->next;
	}
}

static size_t count_problems(const struct summary_screen *s)
{
	size_t nr = summary_len(summary_list(s, "bottlenecks"));

	return (nr > ANSWERS ? nr - ANSWERS : 0) + summary_len(summary_list(s, "high_rates"));
}

static size_t name_width(const struct report_node *names)
{
	size_t most = 1;

	for (const struct report_node *at = summary_first(names); at; at = at->next)
		if (at->type == REPORT_STRING && strlen(at->text) > most)
			most = strlen(at->text);
	return most + NAME_GAP;
}

static size_t name_columns(const struct summary_screen *s)
{
	size_t nr = (s->width + NAME_GAP) / name_width(summary_list(s, "applicable_analyses"));

	return nr ? nr : 1;
}

static size_t name_rows(const struct summary_screen *s)
{
	size_t cols = name_columns(s);

	return (summary_len(summary_list(s, "applicable_analyses")) + cols - 1) / cols;
}

/* The place of an analysis: those that answer most questions first, as there is room for few. */
static size_t rank_of(const char *id)
{
	static const char *const most_used[] = {
		"blame",       "wakeup_latency",  "task_states",        "sleeps",
		"locks",       "process_runtime", "preemptions",        "pressure",
		"requests",    "runqueue_depth",  "migration_patterns", "wasted_cores",
		"dsq_latency", "block_io",        "flamegraph",         "cpu_utilization",
	};
	size_t nr = sizeof(most_used) / sizeof(most_used[0]);

	for (size_t i = 0; i < nr; i++)
		if (strcmp(most_used[i], id) == 0)
			return i;
	return strcmp(id, "summary") == 0 ? nr + 1 : nr;
}

/* The next one of the same place or a later one; NULL: that was the last. */
static const struct report_node *next_name(const struct report_node *names,
                                           const struct report_node *at)
{
	size_t rank = at ? rank_of(at->text) : 0, best = SIZE_MAX;
	const struct report_node *found = NULL;
	bool is_behind = !at;

	for (const struct report_node *one = summary_first(names); one; one = one->next) {
		size_t other = rank_of(one->text);

		if ((other > rank || (other == rank && is_behind)) && other < best) {
			best = other;
			found = one;
		}
		is_behind |= one == at;
	}
	return found;
}

static void show_analyses(const struct summary_screen *s)
{
	const struct report_node *names = summary_list(s, "applicable_analyses"),
				 *at = next_name(names, NULL);
	size_t cols = name_columns(s), width = name_width(names), shown = 0;
	char all[LINE_BYTES], cell[128];

	rule(s, "analyses that apply: 'schedscope analyze FILE NAME'");
	for (size_t row = 0; row < s->rows[PART_ANALYSES] && at; row++) {
		all[0] = '\0';
		for (size_t i = 0; i < cols && at; i++, at = next_name(names, at), shown++) {
			/* The last place counts those that did not fit. */
			if (row + 1 == s->rows[PART_ANALYSES] && i + 1 == cols &&
			    next_name(names, at))
				snprintf(cell, sizeof(cell), "+ %zu (--list)",
				         summary_len(names) - shown);
			else
				padded(cell, sizeof(cell), at->text, width);
			repeat(all, sizeof(all), cell, 1);
		}
		summary_line(s, "%s", all);
	}
}

/* Why others do not apply: as many as one line holds, or one each where there is room. */
static void show_missing(const struct summary_screen *s)
{
	const struct report_node *missing = summary_list(s, "inapplicable_analyses"),
				 *at = summary_first(missing);
	size_t nr = summary_len(missing), room = s->rows[PART_MISSING];

	for (size_t i = 0; i + 1 < room && at; i++, at = at->next, nr--)
		summary_line(s, "not %s, which %s", summary_text_at(at, "id"),
		             summary_text_at(at, "missing"));
	if (nr == 1)
		summary_line(s, "not %s, which %s", summary_text_at(at, "id"),
		             summary_text_at(at, "missing"));
	else if (nr)
		summary_line(s, "%zu %s do not apply; 'schedscope analyze FILE --list' says why",
		             nr, room > 1 ? "others" : "analyses");
}

/* Lines that each part would fill. */
static void want(const struct summary_screen *s, size_t *wants)
{
	size_t cpus = at_most(summary_len(summary_list(s, "cpus")), MANY_CPUS);
	size_t tasks = at_most(summary_len(summary_list(s, "busiest_tasks")), MANY_THREADS);

	wants[PART_LOAD] = cpus > tasks ? cpus : tasks;
	wants[PART_WAITS] = at_most(summary_len(summary_list(s, "longest_waits")), MANY_WAITS);
	wants[PART_PROBLEMS] = count_problems(s);
	wants[PART_ANALYSES] = name_rows(s);
	wants[PART_MISSING] = summary_len(summary_list(s, "inapplicable_analyses"));
}

/* A row for each in turn, as long as there are rows; each part that has something gets one at least. */
static void share_rows(struct summary_screen *s)
{
	size_t wants[NR_PARTS], left;
	/* The answer, what it is, what it does not hold, rules, the prompt. */
	size_t fixed = count_answer(s) + 3 + summary_count_coverage(s) + 4 + 1;
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
	show_answer(&s);
	summary_show_file(&s);
	summary_show_machine(&s);
	summary_show_losses(&s);
	summary_show_coverage(&s);
	show_load(&s);
	show_waits(&s);
	show_problems(&s);
	show_analyses(&s);
	show_missing(&s);
	return ferror(out) ? -EIO : 0;
}
