#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "profile/profile_list.h"
#include "render/profile_export.h"
#include "render/profile_words.h"
#include "render/table.h"

#define TABLE_BYTES  ((size_t)64 << 20)
#define MIN_NAME     20U
#define LEAST_NAME   8U /* of a narrow table */
#define NARROW       60U /* columns: below it a table has the figures that it is sorted by, and names */
#define MAX_NAME     4096U
#define LINE_BYTES   80U /* file and line of a source */
#define RED          "\033[31m"
#define BLUE         "\033[34m"
#define YELLOW       "\033[33m"
#define PLAIN        "\033[0m"
#define INLINED      " (inlined)"
#define SMALL_CHANGE 0.0005 /* half of the last digit that is shown */

struct list_view {
	const struct profile *p;
	const struct profile_top_cfg *cfg;
	const struct profile_list *list;
	uint32_t nr;
	size_t name_width;
};

static double share_of(const struct list_view *v, const struct profile_function *f,
                       enum profile_side side, bool is_total)
{
	const struct profile *p = side == PROFILE_NOW ? v->p : v->cfg->before;
	const struct profile_weight *w = &f->w[side];

	return profile_share(is_total ? w->total_value : w->self_value, profile_value(p));
}

static double change_of(const struct list_view *v, const struct profile_function *f, bool is_total)
{
	return share_of(v, f, PROFILE_NOW, is_total) - share_of(v, f, PROFILE_BEFORE, is_total);
}

static bool is_narrow(const struct list_view *v)
{
	return v->cfg->width && v->cfg->width < NARROW;
}

static void add_narrow_cols(const struct list_view *v, struct table *t)
{
	table_col_right(t, v->cfg->is_by_total ? "TOTAL%" : "SELF%", 7);
	if (v->cfg->before)
		table_col_right(t, "CHANGE", 7);
	table_col(t, "FUNCTION", LEAST_NAME);
	table_col(t, "MODULE", 0);
}

static void add_cols(const struct list_view *v, struct table *t)
{
	table_col_right(t, "SELF%", 7);
	if (v->cfg->before) {
		table_col_right(t, "BEFORE", 7);
		table_col_right(t, "CHANGE", 7);
	} else {
		table_col_right(t, "SELF", 8);
	}
	table_col_right(t, "TOTAL%", 7);
	if (v->cfg->before)
		table_col_right(t, "CHANGE", 7);
	else
		table_col_right(t, "TOTAL", 8);
	table_col(t, "FUNCTION", 8);
	if (v->cfg->is_by_line)
		table_col(t, "LINE", 0);
	table_col(t, "MODULE", 0);
}

static void add_amount(const struct list_view *v, uint64_t value, struct table *t)
{
	char text[PROFILE_AMOUNT_BYTES];

	if (profile_is_time(v->p))
		table_cell(t, "%s", text_duration(text, sizeof(text), value));
	else
		table_u64(t, value);
}

/* Names may be longer than any terminal; what is cut ends in an ellipsis of dots. */
static void add_name(const struct list_view *v, const struct profile_frame *frame, struct table *t)
{
	char name[MAX_NAME];

	text_printable(name, sizeof(name), frame->symbol, strlen(frame->symbol));
	if (text_width(name) > v->name_width) {
		text_cut(name, v->name_width - 2);
		table_cell(t, "%s..", name);
	} else {
		table_cell(t, "%s", name);
	}
}

static void add_narrow_row(const struct list_view *v, const struct profile_function *f,
                           struct table *t)
{
	bool is_total = v->cfg->is_by_total;

	table_cell(t, "%.2f%%", 100 * share_of(v, f, PROFILE_NOW, is_total));
	if (v->cfg->before)
		table_cell(t, "%+.2f", 100 * change_of(v, f, is_total));
	add_name(v, f->frame, t);
	table_cell(t, "%s", f->frame->module);
}

/* "main.c:12"; empty where it is not known. */
static char *line_of(const struct profile_frame *frame, char buf[static LINE_BYTES])
{
	const char *name = frame->file ? strrchr(frame->file, '/') : NULL;
	char safe[LINE_BYTES - 12];

	buf[0] = '\0';
	if (!frame->file)
		return buf;
	name = name ? name + 1 : frame->file;
	text_printable(safe, sizeof(safe), name, strlen(name));
	snprintf(buf, LINE_BYTES, frame->line ? "%s:%u" : "%s", safe, frame->line);
	return buf;
}

static void add_row(const struct list_view *v, const struct profile_function *f, struct table *t)
{
	char line[LINE_BYTES];

	table_cell(t, "%.2f%%", 100 * share_of(v, f, PROFILE_NOW, false));
	if (v->cfg->before) {
		table_cell(t, "%.2f%%", 100 * share_of(v, f, PROFILE_BEFORE, false));
		table_cell(t, "%+.2f", 100 * change_of(v, f, false));
	} else {
		add_amount(v, f->w[PROFILE_NOW].self_value, t);
	}
	table_cell(t, "%.2f%%", 100 * share_of(v, f, PROFILE_NOW, true));
	if (v->cfg->before)
		table_cell(t, "%+.2f", 100 * change_of(v, f, true));
	else
		add_amount(v, f->w[PROFILE_NOW].total_value, t);
	add_name(v, f->frame, t);
	if (v->cfg->is_by_line)
		table_cell(t, "%s", line_of(f->frame, line));
	table_cell(t, "%s%s", f->frame->module, f->frame->is_inlined ? INLINED : "");
}

static const char *colour_of(const struct list_view *v, const struct profile_function *f)
{
	double change;

	if (!v->cfg->is_colored)
		return "";
	if (!v->cfg->before)
		return f->frame->is_kernel ? YELLOW : "";
	change = change_of(v, f, v->cfg->is_by_total);
	if (change > -SMALL_CHANGE && change < SMALL_CHANGE)
		return "";
	return change > 0 ? RED : BLUE;
}

/* The module is left out where it would take the place of the name. */
static size_t narrow_name_width(const struct list_view *v)
{
	size_t figures = v->cfg->before ? 2 * 8 : 8;

	return v->cfg->width > figures + LEAST_NAME ? v->cfg->width - figures : LEAST_NAME;
}

/* Beside the figures and the module, as far as the terminal is wide; never less than can be read. */
static size_t name_width(const struct list_view *v)
{
	size_t figures = v->cfg->before ? 5 * 8 : 2 * 8 + 2 * 9, module = strlen("MODULE"),
	       where = strlen("LINE");
	char line[LINE_BYTES];

	if (!v->cfg->width)
		return MAX_NAME - 1;
	if (is_narrow(v))
		return narrow_name_width(v);
	for (uint32_t i = 0; i < v->nr; i++) {
		const struct profile_frame *frame = profile_list_at(v->list, i)->frame;
		size_t len = strlen(frame->module) + (frame->is_inlined ? strlen(INLINED) : 0);

		module = len > module ? len : module;
		len = strlen(line_of(frame, line));
		where = len > where ? len : where;
	}
	figures += module + 1 + (v->cfg->is_by_line ? where + 1 : 0);
	return v->cfg->width > figures + MIN_NAME ? v->cfg->width - figures : MIN_NAME;
}

static int print_rows(const struct list_view *v, FILE *out)
{
	SCOPED(scoped_arena) struct arena *mem = arena_new(TABLE_BYTES);
	struct table t;
	int err;

	if (!mem)
		return -ENOMEM;
	table_init(&t, mem);
	if (is_narrow(v))
		add_narrow_cols(v, &t);
	else
		add_cols(v, &t);
	for (uint32_t i = 0; i < v->nr; i++)
		(is_narrow(v) ? add_narrow_row : add_row)(v, profile_list_at(v->list, i), &t);
	if (v->cfg->width)
		table_fit(&t, v->cfg->width);
	err = table_print_titles(&t, "", out);
	for (uint32_t i = 0; i < v->nr && !err; i++) {
		const char *colour = colour_of(v, profile_list_at(v->list, i));

		fputs(colour, out);
		err = table_print_row(&t, i, "", out);
		fputs(*colour ? PLAIN : "", out);
	}
	return err;
}

static void print_heading(const struct list_view *v, FILE *out)
{
	char words[PROFILE_WORDS_BYTES];

	fprintf(out, "%s\n", profile_words(v->p, words));
	if (v->cfg->before)
		fprintf(out, "before: %s; changes are in points of each whole\n",
		        profile_words(v->cfg->before, words));
}

int profile_top(const struct profile *p, const struct profile_top_cfg *cfg, FILE *out)
{
	SCOPED(scoped_profile_list) struct profile_list *list = NULL;
	struct list_view v = { .p = p, .cfg = cfg };
	enum profile_order order = cfg->is_by_total ? PROFILE_BY_TOTAL
	                           : cfg->before    ? PROFILE_BY_CHANGE
	                                            : PROFILE_BY_SELF;
	const struct profile_list_cfg list_cfg = { .before = cfg->before,
		                                   .order = order,
		                                   .is_by_line = cfg->is_by_line };
	int err = profile_list_new(p, &list_cfg, &list);

	if (err)
		return err;
	v.list = list;
	v.nr = profile_list_nr(list);
	print_heading(&v, out);
	if (v.nr == 0) {
		fputs("No samples.\n", out);
		return profile_written(out);
	}
	if (cfg->limit && cfg->limit < v.nr)
		v.nr = cfg->limit;
	v.name_width = name_width(&v);
	err = print_rows(&v, out);
	if (v.nr < profile_list_nr(list))
		fprintf(out, "%u more %s\n", profile_list_nr(list) - v.nr,
		        cfg->is_by_line ? "lines" : "functions");
	return err ? err : profile_written(out);
}
