#include "render/diff_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyze/diff_judge.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "render/table.h"
#include "render/wrap.h"

#define MEM_BYTES     ((size_t)16 << 20)
#define LINE_BYTES    1024
#define VALUE_BYTES   64
#define SIDE_BYTES    ((size_t)128) /* a value and its interval */
#define NAME_COLS     16U           /* in a table that has to fit */
#define MAX_SENTENCES 8             /* about single names; the table has all */
#define AROUND_TABLE \
	9 /* lines that are neither sentences nor rows, the prompt of the shell among them */
#define LEAST_ROWS 3
#define SHORT_NOTE "proved: 2 % or more, beyond noise (diff --help); not why they differ"

/* In the table; the sentences have the whole words. */
static const char *const titles[DIFF_METRICS] = {
	[DIFF_WAKE_MEAN] = "wakeup, mean", [DIFF_WAKE_P50] = "wakeup, median",
	[DIFF_WAKE_P99] = "wakeup, p99",   [DIFF_PREEMPTED_MEAN] = "preempted, mean",
	[DIFF_SLICE_MEAN] = "slice, mean", [DIFF_RUNTIME] = "CPU time",
	[DIFF_SWITCHES] = "switches",      [DIFF_MIGRATIONS] = "migrations",
};

struct diff_counts {
	uint32_t better, worse, other;
};

static enum diff_metric metric_of(const struct report_node *row)
{
	const char *name = report_text_at(row, "metric");
	enum diff_metric m = 0;

	while (m + 1 < DIFF_METRICS && (!name || strcmp(diff_metric_of(m)->name, name) != 0))
		m++;
	return m;
}

static bool is_verdict(const struct report_node *row, const char *verdict)
{
	const char *is = report_text_at(row, "verdict");

	return is && strcmp(is, verdict) == 0;
}

static struct diff_counts count(const struct report_node *rows)
{
	struct diff_counts c = { 0 };

	for (const struct report_node *at = rows ? rows->first : NULL; at; at = at->next) {
		c.better += is_verdict(at, "better");
		c.worse += is_verdict(at, "worse");
		c.other += is_verdict(at, "more") || is_verdict(at, "less");
	}
	return c;
}

static bool is_change(const struct report_node *row)
{
	return is_verdict(row, "better") || is_verdict(row, "worse") || is_verdict(row, "more") ||
	       is_verdict(row, "less");
}

/* Of a metric in microseconds, percent of a CPU, or a rate. */
static char *show_number(enum diff_metric m, double value, char buf[VALUE_BYTES])
{
	const char *unit = diff_metric_of(m)->unit;

	if (strcmp(unit, " us") == 0)
		text_duration(buf, VALUE_BYTES, (uint64_t)(fabs(value) * 1000 + 0.5));
	else
		snprintf(buf, VALUE_BYTES, "%.*f%s", value < 100 ? 1 : 0, value,
		         strchr(unit, '%') ? "%" : "/s");
	return buf;
}

/* "20.0us ±1.82us"; "-" without a value. */
static char *show_side(const struct report_node *row, const char *key, bool is_utf8,
                       char buf[SIDE_BYTES])
{
	char path[VALUE_BYTES], value[VALUE_BYTES], around[VALUE_BYTES];
	enum diff_metric m = metric_of(row);
	double mean, interval;

	snprintf(buf, SIDE_BYTES, "-");
	if (!report_number(report_at(row, key), &mean))
		return buf;
	snprintf(path, sizeof(path), "%s_interval", key);
	if (report_number(report_at(row, path), &interval))
		snprintf(buf, SIDE_BYTES, "%s %s%s", show_number(m, mean, value),
		         is_utf8 ? "\u00b1" : "+-", show_number(m, interval, around));
	else
		snprintf(buf, SIDE_BYTES, "%s", show_number(m, mean, value));
	return buf;
}

/* The first member is the name of what the row is about. */
static const char *name_of(const struct report_node *row, char buf[LINE_BYTES])
{
	const char *name = row->first && row->first->type == REPORT_STRING ? row->first->text : "?";

	return text_printable(buf, LINE_BYTES, name, strlen(name));
}

/* "nginx: mean wakeup latency fell 68.5 %, from 63.5us ±8.20us to 20.0us ±1.82us: better." */
static size_t say_change(const struct report_node *row, const struct report_text_cfg *cfg,
                         FILE *out)
{
	char name[LINE_BYTES], text[2 * LINE_BYTES], a[SIDE_BYTES], b[SIDE_BYTES];
	double percent, of_a = 0, of_b = 0;
	char by[VALUE_BYTES] = "";

	if (report_number(report_at(row, "change_percent"), &percent))
		snprintf(by, sizeof(by), " %.1f %%", fabs(percent));
	(void)report_number(report_at(row, "a"), &of_a);
	(void)report_number(report_at(row, "b"), &of_b);
	name_of(row, name);
	snprintf(text, sizeof(text), "%s: %s %s%s, from %s to %s%s.",
	         strcmp(name, DIFF_ALL) == 0 ? "all tasks" : name,
	         diff_metric_of(metric_of(row))->words, of_b < of_a ? "fell" : "rose", by,
	         show_side(row, "a", cfg->is_utf8, a), show_side(row, "b", cfg->is_utf8, b),
	         is_verdict(row, "better")  ? ": better"
	         : is_verdict(row, "worse") ? ": worse"
	                                    : "");
	return wrap_print(out, "  ", text, cfg->width);
}

static const char *verdict_of(struct diff_counts all, struct diff_counts names)
{
	if (all.better && all.worse)
		return "B is better and worse: some waits for a CPU are shorter, others longer.";
	if (all.better)
		return "B is better: tasks wait less for a CPU.";
	if (all.worse)
		return "B is worse: tasks wait longer for a CPU.";
	if (names.better && names.worse)
		return "No change proved of all waits together; some tasks wait less in B, others longer.";
	if (names.better)
		return "No change proved of all waits together; some tasks wait less in B.";
	if (names.worse)
		return "No change proved of all waits together; some tasks wait longer in B.";
	if (all.other || names.other)
		return "No change of waits proved; what ran differs.";
	return "No change proved: A and B differ no more than parts of the same recording do.";
}

/* The first of them, until so many lines are used; returns how many are by now. */
static size_t say_changes(const struct report_node *rows, uint32_t most, size_t used, size_t room,
                          const struct report_text_cfg *cfg, FILE *out)
{
	uint32_t nr = 0;

	for (const struct report_node *at = rows ? rows->first : NULL; at; at = at->next) {
		if (!is_change(at))
			continue;
		if (nr < most && used < room)
			used += say_change(at, cfg, out);
		else
			most = most < nr ? most : nr;
		nr++;
	}
	if (nr <= most)
		return used;
	fprintf(out, "  and %" PRIu32 " more change%s, below\n", nr - most,
	        nr - most == 1 ? "" : "s");
	return used + 1;
}

static void add_rows(struct table *t, const struct report_node *rows,
                     const struct report_text_cfg *cfg)
{
	char name[LINE_BYTES], a[SIDE_BYTES], b[SIDE_BYTES];
	double percent;

	for (const struct report_node *at = rows ? rows->first : NULL; at; at = at->next) {
		name_of(at, name);
		table_cell(t, "%s", cfg->width ? text_cut(name, NAME_COLS) : name);
		table_cell(t, "%s", titles[metric_of(at)]);
		table_cell(t, "%s", show_side(at, "a", cfg->is_utf8, a));
		table_cell(t, "%s", show_side(at, "b", cfg->is_utf8, b));
		if (report_number(report_at(at, "change_percent"), &percent))
			table_cell(t, "%+.1f%%", percent);
		else
			table_cell(t, "-");
		table_cell(t, "%s", report_text_at(at, "verdict"));
	}
}

static void put_left_out(const struct report_node *root, size_t nr_hidden, FILE *out)
{
	struct diff_counts c = count(report_at(root, "changes"));
	uint64_t found = report_u64_at(root, "changes_found"), shown = c.better + c.worse + c.other;
	uint64_t more = found > shown ? found - shown : 0;

	if (nr_hidden)
		fprintf(out, "and %" PRIu64 " more rows; -n %" PRIu64 " shows them\n",
		        nr_hidden + more, found > MAX_SENTENCES ? found : MAX_SENTENCES);
	else if (more)
		fprintf(out, "and %" PRIu64 " more changes; -n %" PRIu64 " shows them\n", more,
		        found);
}

/* So many rows, and how many more there are. */
static int put_table(const struct report_node *root, size_t room, const struct report_text_cfg *cfg,
                     FILE *out)
{
	SCOPED(scoped_arena) struct arena *mem = arena_new(MEM_BYTES);
	struct table t;
	size_t nr;
	int err;

	if (!mem)
		return -ENOMEM;
	table_init(&t, mem);
	table_col(&t, "tasks", 0);
	table_col(&t, "what", 0);
	table_col_right(&t, "A", 0);
	table_col_right(&t, "B", 0);
	table_col_right(&t, "change", 0);
	table_col(&t, "verdict", 0);
	add_rows(&t, report_at(root, "overall"), cfg);
	add_rows(&t, report_at(root, "changes"), cfg);
	if (cfg->width)
		table_fit(&t, cfg->width);
	fputc('\n', out);
	nr = table_nr_rows(&t) < room ? table_nr_rows(&t) : room;
	err = table_print(&t, 0, nr, "", out);
	if (!err)
		put_left_out(root, table_nr_rows(&t) - nr, out);
	return err;
}

/* "A: before.pftrace, 3.00s of 2 CPUs" */
static void put_side(const struct report_node *root, const char *key,
                     const struct report_text_cfg *cfg, FILE *out)
{
	const struct report_node *side = report_at(root, key);
	const char *file = report_text_at(side, "file"),
		   *scheduler = report_text_at(side, "scheduler");
	uint64_t nr = report_u64_at(side, "recordings"), lost = report_u64_at(side, "lost_events");
	char text[LINE_BYTES], clean[LINE_BYTES], time[VALUE_BYTES], title[8];
	size_t len;

	text_duration(time, sizeof(time), report_u64_at(side, "duration_ns"));
	if (file)
		snprintf(text, sizeof(text), "%.512s, %s of %" PRIu64 " CPUs%s%.64s", file, time,
		         report_u64_at(side, "cpus"), scheduler ? ", scheduler " : "",
		         scheduler ? scheduler : "");
	else
		snprintf(text, sizeof(text),
		         "%" PRIu64 " recordings of %" PRIu64 " hosts, %s in all", nr,
		         report_u64_at(side, "hosts"), time);
	len = strlen(text);
	if (lost)
		snprintf(text + len, sizeof(text) - len, "; %" PRIu64 " events lost", lost);
	snprintf(title, sizeof(title), "%c: ", toupper((unsigned char)*key));
	wrap_print(out, title, text_printable(clean, sizeof(clean), text, sizeof(text)),
	           cfg->width);
}

static void put_only(const struct report_node *root, const char *key, const char *title,
                     const struct report_text_cfg *cfg, FILE *out)
{
	const struct report_node *list = report_at(root, key);
	char all[LINE_BYTES] = "", clean[LINE_BYTES];
	size_t len = 0;

	for (const struct report_node *at = list ? list->first : NULL; at && len < sizeof(all);
	     at = at->next)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", len ? ", " : "",
		                        at->type == REPORT_STRING ? at->text : "?");
	if (len)
		wrap_print(out, title, text_printable(clean, sizeof(clean), all, sizeof(all)),
		           cfg->width);
}

static void put_tail(const struct report_node *root, const struct report_text_cfg *cfg, FILE *out)
{
	const char *note = cfg->height ? SHORT_NOTE : report_text_at(root, "note");

	fputc('\n', out);
	put_side(root, "a", cfg, out);
	put_side(root, "b", cfg, out);
	if (!cfg->height) {
		put_only(root, "only_in_a", "only in A: ", cfg, out);
		put_only(root, "only_in_b", "only in B: ", cfg, out);
	}
	if (note) {
		fputs(wrap_on(WRAP_ASIDE, cfg->is_colored), out);
		wrap_print(out, "note: ", note, cfg->width);
		fputs(wrap_off(cfg->is_colored), out);
	}
}

int diff_text(const struct report_node *root, const struct report_text_cfg *cfg, FILE *out)
{
	const struct report_node *overall = report_at(root, "overall"),
				 *names = report_at(root, "changes");
	size_t height = cfg->height > AROUND_TABLE + LEAST_ROWS ? cfg->height : 0;
	size_t room = height ? (height - AROUND_TABLE) / 2 : SIZE_MAX, used;
	int err;

	fputs(wrap_on(WRAP_ANSWER, cfg->is_colored), out);
	used = wrap_print(out, "", verdict_of(count(overall), count(names)), cfg->width);
	fputs(wrap_off(cfg->is_colored), out);
	used = say_changes(overall, DIFF_METRICS, used, room, cfg, out);
	used = say_changes(names, MAX_SENTENCES, used, room, cfg, out);
	room = height > used + AROUND_TABLE + LEAST_ROWS ? height - used - AROUND_TABLE
	                                                 : LEAST_ROWS;
	err = put_table(root, height ? room : SIZE_MAX, cfg, out);
	if (err)
		return err;
	put_tail(root, cfg, out);
	return ferror(out) ? -EIO : 0;
}
