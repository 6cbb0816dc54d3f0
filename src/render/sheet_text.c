#include "render/sheet_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "render/bars.h"
#include "render/command_text.h"
#include "render/report_value.h"
#include "render/table.h"
#include "render/wrap.h"

#define MEM_BYTES   ((size_t)64 << 20)
#define CELL_BYTES  1024
#define SHARE_BYTES 320
#define MOST_SHARES 32U
#define LEAST_BAR   12 /* columns of what takes what is left; else others go */
#define LEAST_WORDS 28
#define MOST_BAR    40
#define BAR_CELLS   10
#define STATE_CELLS 20
#define MIN_PERCENT 0.5 /* less would be shown as 0 */
#define LEAST_ROWS  5   /* of the first table, however small the screen; of others 3 */
#define FEW_ROWS    3

/* A table as it is made: its columns that are shown, and what is left for the one that takes the rest. */
struct sheet_table {
	const struct sheet_list *list;
	const struct report_text_cfg *cfg;
	const struct report_node *rows;
	uint32_t nr_cols;
	size_t room; /* 0 = any */
	double most; /* of what has a scale */
};

static bool is_elastic(const struct sheet_column *c)
{
	return c->show == SHEET_TEXT || c->show == SHEET_SHARES || c->show == SHEET_SCALE;
}

static double amount(const struct report_node *node)
{
	double value = 0;

	return report_number(node, &value) ? value : 0;
}

/* What one of several took: its part of the whole, else how long, else how often. */
static char *share_value(const struct report_node *of, char *buf, size_t size)
{
	static const char *const times[] = { "latency_ns", "delay_ns", "wait_ns", "runtime_ns",
		                             "sleep_ns" };
	const struct report_node *percent = report_at(of, "percent");
	uint64_t count = report_u64_at(of, "count");
	char t[32];

	if (percent) {
		snprintf(buf, size, "%.0f%%", amount(percent));
		return buf;
	}
	if (count) {
		snprintf(buf, size, "%" PRIu64 "x", count);
		return buf;
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (report_at(of, times[i])) {
			snprintf(buf, size, "%s",
			         text_duration(t, sizeof(t), report_u64_at(of, times[i])));
			return buf;
		}
	buf[0] = '\0';
	return buf;
}

static const char *share_name(const struct report_node *of, char *buf, size_t size)
{
	static const char *const prefixes[] = { "", "wakee_", "waker_" };
	const char *name = report_text_at(of, "for");

	if (!name)
		name = report_text_at(of, "dsq_name");
	if (name) {
		snprintf(buf, size, "%s", name);
		return buf;
	}
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strcmp(sheet_task(of, prefixes[i], false, buf, size), "-") != 0)
			return buf;
	snprintf(buf, size, "unknown");
	return buf;
}

/* One of several that made up a wait, or anything else. */
struct sheet_share {
	char text[SHARE_BYTES];
	double percent; /* 100 where the list has none: it stays in its order */
};

/* What a wait was for besides tasks, where a row has it. */
static uint32_t gather_parts(const struct report_node *row, struct sheet_share *out)
{
	static const struct {
		const char *key, *name;
	} parts[] = {
		{ "throttled_ns", "quota" },    { "stolen_ns", "stolen" },
		{ "queue_ns", "sched_ext" },    { "waking_ns", "waking" },
		{ "irq_ns", "interrupts" },     { "softirq_ns", "softirqs" },
		{ "idle_ns", "with CPU idle" }, { "unknown_ns", "unknown" },
	};
	double whole = amount(report_at(row, "wait_ns"));
	uint32_t nr = 0;

	if (!report_at(row, parts[0].key) || whole <= 0)
		return 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		double percent = 100 * amount(report_at(row, parts[i].key)) / whole;

		if (percent < MIN_PERCENT)
			continue;
		snprintf(out[nr].text, SHARE_BYTES, "%s %.0f%%", parts[i].name, percent);
		out[nr++].percent = percent;
	}
	return nr;
}

static uint32_t gather_shares(const struct report_node *row, const struct report_node *list,
                              struct sheet_share *out)
{
	char name[SHARE_BYTES / 2], value[32];
	uint32_t nr = gather_parts(row, out);

	for (const struct report_node *at = list && list->type == REPORT_ARRAY ? list->first : NULL;
	     at && nr < MOST_SHARES; at = at->next) {
		const struct report_node *percent = report_at(at, "percent");

		out[nr].percent = percent ? amount(percent) : 100;
		if (out[nr].percent < MIN_PERCENT)
			continue;
		share_name(at, name, sizeof(name));
		snprintf(out[nr++].text, SHARE_BYTES, "%s %s", name,
		         share_value(at, value, sizeof(value)));
	}
	return nr;
}

/* The largest first, equal ones as they were; as many as fit, one at least. */
static void put_shares(struct table *t, const struct report_node *row,
                       const struct report_node *list, size_t room)
{
	struct sheet_share shares[MOST_SHARES];
	uint32_t nr = gather_shares(row, list, shares);
	char all[CELL_BYTES] = "";
	size_t len = 0;

	while (nr) {
		uint32_t best = 0;
		const char *text;

		for (uint32_t i = 1; i < nr; i++)
			if (shares[i].percent > shares[best].percent)
				best = i;
		text = shares[best].text;
		if (len + strlen(text) + 3 > sizeof(all) ||
		    (len && room && text_width(all) + 2 + text_width(text) > room))
			break;
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", len ? ", " : "",
		                        text);
		nr--;
		memmove(&shares[best], &shares[best + 1], (nr - best) * sizeof(shares[0]));
	}
	table_cell(t, "%s", room ? text_cut(all, room) : all);
}

static void put_states(struct table *t, const struct report_node *row, bool is_utf8)
{
	static const struct {
		const char *key, *glyph, *plain;
	} states[] = {
		{ "running_percent", "\u2588", "#" },
		{ "runnable_percent", "\u2592", "=" },
		{ "blocked_percent", "x", "x" },
		{ "sleeping_percent", "\u00b7", "." },
	};
	char bar[STATE_CELLS * 3 + 1] = "", *end = bar;
	double sum = 0;
	size_t used = 0;

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		sum += amount(report_at(row, states[i].key));
		for (; used < (size_t)(sum / 100 * STATE_CELLS + 0.5) && used < STATE_CELLS; used++)
			end = stpcpy(end, is_utf8 ? states[i].glyph : states[i].plain);
	}
	table_cell(t, "%s", bar);
}

static void put_bar(struct table *t, double part, size_t cells, bool is_utf8)
{
	char bar[MOST_BAR * 3 + 4];

	table_cell(t, "%s", bars_text(part, cells < MOST_BAR ? cells : MOST_BAR, is_utf8, bar));
}

/* No line ends in a blank. */
static char *cut(char *text, size_t width)
{
	text_cut(text, width);
	text_chomp(text);
	return text;
}

static void put_cell(const struct sheet_table *v, struct table *t, const struct report_node *row,
                     const struct sheet_column *c)
{
	const struct report_node *at = sheet_at(row, c->key);
	size_t last = strlen(c->key);
	char text[CELL_BYTES], clean[CELL_BYTES];

	if (c->show == SHEET_TASK) {
		if (last && c->key[last - 1] == '_')
			sheet_task(row, c->key, false, text, sizeof(text));
		else
			sheet_task(at, "", false, text, sizeof(text));
		table_cell(t, "%s", text);
	} else if (c->show == SHEET_NAME) {
		table_cell(t, "%s",
		           row->key ? report_title(row->key, true, text, sizeof(text)) : "-");
	} else if (c->show == SHEET_SHARES) {
		put_shares(t, row, at, v->room);
	} else if (c->show == SHEET_STATES) {
		put_states(t, row, v->cfg->is_utf8);
	} else if (c->show == SHEET_BAR) {
		put_bar(t, amount(at) / 100, BAR_CELLS, v->cfg->is_utf8);
	} else if (c->show == SHEET_SCALE) {
		put_bar(t, v->most > 0 ? amount(at) / v->most : 0, v->room ? v->room : MOST_BAR,
		        v->cfg->is_utf8);
	} else if (!at) {
		table_cell(t, "-");
	} else {
		sheet_value(at, sheet_place(row, c->key, v->cfg->clock), text, sizeof(text));
		text_printable(clean, sizeof(clean), text, sizeof(text));
		table_cell(t, "%s", c->show == SHEET_TEXT && v->room ? cut(clean, v->room) : clean);
	}
}

/* Numbers are at the right; a column of which nothing is known has no numbers. */
static bool is_right(const struct sheet_table *v, const struct sheet_column *c)
{
	bool is_number = false;

	if (c->show != SHEET_VALUE)
		return false;
	for (const struct report_node *row = v->rows->first; row; row = row->next) {
		const struct report_node *at = sheet_at(row, c->key);

		if (at && at->type == REPORT_STRING)
			return false;
		is_number |= report_is_number(at);
	}
	return is_number;
}

static void make_table(const struct sheet_table *v, uint32_t nr_rows, struct table *t,
                       struct arena *mem)
{
	uint32_t nr = 0;

	table_init(t, mem);
	for (uint32_t i = 0; i < v->nr_cols; i++) {
		const struct sheet_column *c = &v->list->columns[i];

		if (is_right(v, c))
			table_col_right(t, c->title, 0);
		else
			table_col(t, c->title, 0);
	}
	for (const struct report_node *row = v->rows->first; row && nr < nr_rows; row = row->next)
		if (row->type == REPORT_OBJECT) {
			for (uint32_t i = 0; i < v->nr_cols; i++)
				put_cell(v, t, row, &v->list->columns[i]);
			nr++;
		}
}

static uint32_t count_columns(const struct sheet_list *list, const struct sheet_column **elastic)
{
	uint32_t nr = 0;

	for (*elastic = NULL; nr < SHEET_COLUMNS && list->columns[nr].title; nr++)
		if (is_elastic(&list->columns[nr]))
			*elastic = &list->columns[nr];
	return nr;
}

/* Columns go, from the last, until the elastic one has room. */
static void fit_columns(struct sheet_table *v, const struct table *whole,
                        const struct sheet_column *elastic)
{
	size_t width = v->cfg->width, used, title = strlen(elastic->title);
	size_t least = elastic->show == SHEET_SCALE ? LEAST_BAR : LEAST_WORDS;
	uint32_t at = (uint32_t)(elastic - v->list->columns);

	for (;;) {
		used = 0;
		for (uint32_t i = 0; i < v->nr_cols; i++)
			used += (i > 0) + (i == at ? 0 : whole->cols[i].width);
		if (used + least <= width || v->nr_cols <= at + 1)
			break;
		v->nr_cols--;
	}
	v->room = width > used + LEAST_BAR ? width - used : LEAST_BAR;
	if (v->room < title)
		v->room = title;
}

static double largest_of(const struct report_node *rows, const char *key)
{
	double most = 0;

	for (const struct report_node *row = rows->first; row; row = row->next)
		most = amount(sheet_at(row, key)) > most ? amount(sheet_at(row, key)) : most;
	return most;
}

static uint32_t nr_objects(const struct report_node *rows)
{
	uint32_t nr = 0;

	for (const struct report_node *row = rows->first; row; row = row->next)
		nr += row->type == REPORT_OBJECT;
	return nr;
}

static bool has_states(const struct sheet_table *v)
{
	for (uint32_t i = 0; i < v->nr_cols; i++)
		if (v->list->columns[i].show == SHEET_STATES)
			return true;
	return false;
}

static void print_aside(const struct report_text_cfg *cfg, FILE *out, const char *text)
{
	fprintf(out, "%s%s%s\n", wrap_on(WRAP_ASIDE, cfg->is_colored), text,
	        wrap_off(cfg->is_colored));
}

static void print_title(const struct sheet_table *v, FILE *out)
{
	fputc('\n', out);
	if (v->list->title)
		print_aside(v->cfg, out, v->list->title);
	if (has_states(v))
		print_aside(v->cfg, out,
		            v->cfg->is_utf8
		                    ? "\u2588 ran  \u2592 waited for a CPU  x blocked  \u00b7 slept"
		                    : "# ran  = waited for a CPU  x blocked  . slept");
}

static void print_rest(const struct sheet_table *v, const struct report_node *root, uint32_t shown,
                       FILE *out)
{
	uint64_t total = nr_objects(v->rows);
	char text[CELL_BYTES];

	if (v->list->total)
		total = (uint64_t)amount(report_at(root, v->list->total));
	if (total <= shown)
		return;
	snprintf(text, sizeof(text), "and %" PRIu64 " more; -n %" PRIu64 " shows them",
	         total - shown, total);
	print_aside(v->cfg, out, text);
}

/* What the elastic column gets is known once the others are made. */
static void make_fitting(struct sheet_table *v, uint32_t shown, struct table *t, struct arena *mem)
{
	const struct sheet_column *elastic;

	v->nr_cols = count_columns(v->list, &elastic);
	if (elastic && elastic->show == SHEET_SCALE)
		v->most = largest_of(v->rows, elastic->key);
	if (elastic && v->cfg->width) {
		struct sheet_table fixed = *v;

		fixed.room = 1;
		make_table(&fixed, shown, t, mem);
		fit_columns(v, t, elastic);
	}
	make_table(v, shown, t, mem);
	if (v->cfg->width)
		table_fit(t, v->cfg->width);
}

/* A distribution is whole, or it would hide its slow end. */
static uint32_t rows_shown(const struct sheet_table *v, size_t lines, bool is_first, size_t left)
{
	uint32_t nr = nr_objects(v->rows);
	size_t least = is_first ? LEAST_ROWS : FEW_ROWS;

	if (!strcmp(v->list->list, "histogram") || lines + nr <= left)
		return nr;
	lines++; /* how many more there are */
	left = left > lines + least ? left - lines : least;
	return nr < left ? nr : (uint32_t)left;
}

/* Blank line, titles. */
static size_t head_lines(const struct sheet_table *v)
{
	return 2U + (v->list->title ? 1U : 0U) + (has_states(v) ? 1U : 0U);
}

static int print_list(struct sheet_table *v, const struct report_node *root, uint32_t shown,
                      FILE *out)
{
	SCOPED(scoped_arena) struct arena *mem = arena_new(MEM_BYTES);
	struct table t;
	int err;

	if (!mem)
		return -ENOMEM;
	make_fitting(v, shown, &t, mem);
	print_title(v, out);
	err = table_print(&t, 0, shown, "", out);
	if (!err)
		print_rest(v, root, shown, out);
	return err;
}

int sheet_text_answer(const struct sheet *v, const struct report_node *root,
                      const struct report_text_cfg *cfg, size_t *left, FILE *out)
{
	const struct sheet_words w = { .clock = cfg->clock };
	char text[SHEET_BYTES];
	size_t lines = 0;

	if (sheet_say_first(root, v->answers, &w, text, sizeof(text))) {
		fputs(wrap_on(WRAP_ANSWER, cfg->is_colored), out);
		lines += wrap_print(out, "", text, cfg->width);
		fputs(wrap_off(cfg->is_colored), out);
	}
	if (v->more && sheet_say(root, v->more, &w, text, sizeof(text)) && text[0])
		lines += wrap_print(out, "", text, cfg->width);
	*left -= lines < *left ? lines : *left;
	return ferror(out) ? -EIO : 0;
}

/* The names of the tables that did not fit. */
static void name_skipped(const struct report_text_cfg *cfg, const char *names, FILE *out)
{
	if (!names[0])
		return;
	fprintf(out, "\n%s", wrap_on(WRAP_ASIDE, cfg->is_colored));
	wrap_print(out, "-n 20 shows also: ", names, cfg->width);
	fputs(wrap_off(cfg->is_colored), out);
}

int sheet_text_lists(const struct sheet *v, const struct report_node *root,
                     const struct report_text_cfg *cfg, size_t *left, FILE *out)
{
	char names[CELL_BYTES] = "";
	size_t len = 0;
	int err = 0;

	*left -= *left > 2 && v->lists[1].list ? 2 : 0; /* for names of tables */
	for (size_t i = 0; i < SHEET_LISTS && v->lists[i].list && !err; i++) {
		struct sheet_table t = { .list = &v->lists[i],
			                 .cfg = cfg,
			                 .rows = sheet_at(root, v->lists[i].list) };
		const struct sheet_column *elastic;
		uint32_t nr, shown;
		size_t lines;

		if (!t.rows || report_is_scalar(t.rows) || !nr_objects(t.rows))
			continue;
		t.nr_cols = count_columns(t.list, &elastic);
		nr = nr_objects(t.rows);
		lines = head_lines(&t);
		if (i && lines + (nr < FEW_ROWS ? nr : FEW_ROWS + 1) > *left) {
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
			                        len ? "; " : "",
			                        t.list->title ? t.list->title : t.list->list);
			continue;
		}
		shown = rows_shown(&t, lines, i == 0, *left);
		lines += shown + (shown < nr);
		*left -= lines < *left ? lines : *left;
		err = print_list(&t, root, shown, out);
	}
	name_skipped(cfg, names, out);
	return err;
}

void sheet_text_next(const struct sheet *v, const struct report_node *root,
                     const struct report_text_cfg *cfg, FILE *out)
{
	static const char title[] = "next: ";
	const struct sheet_words w = { .clock = cfg->clock, .is_for_shell = true };
	char text[SHEET_BYTES], command[COMMAND_TEXT_BYTES];
	size_t room = cfg->width > sizeof(title) ? cfg->width - (sizeof(title) - 1) : 0;

	for (size_t i = 0; i < SHEET_ANSWERS && v->next[i]; i++) {
		if (!sheet_say(root, v->next[i], &w, text, sizeof(text)))
			continue;
		command_text(text, cfg->file ? cfg->file : "", cfg->clock, room, command);
		if (room && text_width(command) > room)
			continue;
		fprintf(out, "\n%s%s%s%s\n", title, wrap_on(WRAP_COMMAND, cfg->is_colored), command,
		        wrap_off(cfg->is_colored));
		return;
	}
}
