#include "render/report_text.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "render/bars.h"
#include "render/report_value.h"
#include "render/sheet.h"
#include "render/sheet_text.h"
#include "render/table.h"
#include "render/wrap.h"

#define VALUE_BYTES    192
#define TITLE_BYTES    128
#define LIST_BYTES     4096 /* of a list in one cell; what does not fit is cut */
#define MEM_BYTES      ((size_t)256 << 20)
#define NAME_WIDTH     30
#define BAR_WIDTH      40
#define MAX_DEPTH      8
#define STEP           2 /* columns that each level is moved to the right */
#define MAX_NESTED     2 /* lists in the rows of a list */
#define MIN_WRAP       20
#define NEXT_LINES     3  /* with the prompt that follows */
#define MIN_NOTE_WIDTH 60 /* of its lines, to know how many there are */
#define EVENT_FIELDS   "fields"

struct text {
	const struct report_text_cfg *cfg;
	struct arena *mem;
	FILE *out;
	char title[TITLE_BYTES];
};

/* A column: a key of the rows, or of an object in them. */
struct text_column {
	const char *outer; /* NULL = the row itself */
	const char *key;
	bool is_tagged; /* the key wherever in the row it is; NULL: what the row is called */
};

/*
 * A list as a table; lists within its rows are tables of their own, whose rows are below the row
 * they belong to.
 */
struct text_listing {
	struct table table;
	struct text_column cols[TABLE_MAX_COLS];
	uint32_t nr_cols;
	bool has_bars;
};

/* Blanks for a level. */
static const char *indent_of(int depth)
{
	static const char blanks[] = "                    ";

	return blanks + sizeof(blanks) - 1 -
	       (size_t)STEP * (size_t)(depth < MAX_DEPTH ? depth : MAX_DEPTH);
}

/* Lists of plain values are in one cell. */
static char *list_cell(const struct report_node *node, char *buf, size_t size)
{
	char value[VALUE_BYTES];
	size_t used = 0;

	buf[0] = '\0';
	for (const struct report_node *at = node->first; at && used + 3 < size; at = at->next) {
		int len = snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
		                   report_is_scalar(at)
		                           ? report_value(at, (struct report_place){ 0 }, value,
		                                          sizeof(value))
		                           : "...");

		used += len > 0 ? (size_t)len : 0;
	}
	return buf;
}

/* The innermost object of a row that is called by what it is: {"Woken": {...}}. NULL for another row. */
static const struct report_node *tagged(const struct report_node *row)
{
	const struct report_node *at = NULL, *found = row->nr == 1 ? row->first : NULL;

	if (!found)
		found = report_at(row, "event_type");
	while (found && found->type == REPORT_OBJECT) {
		at = found;
		found = found->nr == 1 && found->first->type == REPORT_OBJECT ? found->first : NULL;
	}
	return at;
}

static const struct report_node *cell_of(const struct report_node *row, const struct text_column *c)
{
	const struct report_node *at = row, *inner = c->is_tagged ? tagged(row) : NULL;

	if (c->is_tagged && !c->key)
		return NULL;
	if (inner && (at = report_at(inner, c->key)))
		return at;
	at = row;
	if (c->outer)
		at = report_at(row, c->outer);
	return at && at->type == REPORT_OBJECT ? report_at(at, c->key) : NULL;
}

static void add_tagged(struct text_listing *l, const char *key)
{
	for (uint32_t i = 0; i < l->nr_cols; i++)
		if (l->cols[i].key && !strcmp(l->cols[i].key, key))
			return;
	if (l->nr_cols < TABLE_MAX_COLS)
		l->cols[l->nr_cols++] = (struct text_column){ .key = key, .is_tagged = true };
}

/* Rows of several kinds: when, what, and whatever any of them has. */
static void find_tagged(const struct report_node *list, struct text_listing *l)
{
	add_tagged(l, "timestamp");
	l->cols[l->nr_cols++] = (struct text_column){ .is_tagged = true };
	for (const struct report_node *row = list->first; row; row = row->next) {
		const struct report_node *inner = tagged(row);

		for (const struct report_node *at = inner ? inner->first : NULL; at; at = at->next)
			if (report_is_scalar(at))
				add_tagged(l, at->key);
	}
}

static void add_plain(struct text_listing *l, const char *outer, const char *key)
{
	bool is_event = outer && !strcmp(outer, EVENT_FIELDS);

	for (uint32_t i = 0; i < l->nr_cols; i++) {
		const char *other = l->cols[i].outer;

		/* What an event has of its own may be the same as what all events have. */
		if (!strcmp(l->cols[i].key, key) &&
		    (outer == other || (outer && other && !strcmp(outer, other)) ||
		     (is_event && !other)))
			return;
	}
	if (l->nr_cols < TABLE_MAX_COLS)
		l->cols[l->nr_cols++] = (struct text_column){ .outer = outer, .key = key };
}

/* The columns are what any row has; rows inside rows are shown below, not as columns. */
static void find_columns(const struct report_node *list, struct text_listing *l)
{
	for (const struct report_node *row = list->first; row; row = row->next)
		for (const struct report_node *at = row->first; at; at = at->next) {
			if (at->type == REPORT_OBJECT) {
				for (const struct report_node *in = at->first; in; in = in->next)
					if (report_is_scalar(in))
						add_plain(l, at->key, in->key);
			} else if (!report_is_rows(at)) {
				add_plain(l, NULL, at->key);
			}
		}
}

/* A known value of the column, which gives the type of all. */
static const struct report_node *sample_of(const struct report_node *list,
                                           const struct text_column *c)
{
	const struct report_node *cell = NULL;

	for (const struct report_node *row = list->first; row; row = row->next) {
		const struct report_node *at = cell_of(row, c);

		cell = at ? at : cell;
		if (at && at->type != REPORT_NULL)
			break;
	}
	return cell;
}

static void add_column(struct text_listing *l, const struct report_node *list,
                       const struct text_column *c)
{
	const struct report_node *sample = c->key ? sample_of(list, c) : NULL;
	bool has_unit = report_is_number(sample) && !report_is_moment(c->key);
	char outer[TITLE_BYTES] = "", name[TITLE_BYTES], all[2 * TITLE_BYTES];

	report_title(c->key ? c->key : "event", has_unit, name, sizeof(name));
	/* Of these the names within say enough. */
	if (c->outer && strcmp(c->outer, EVENT_FIELDS) != 0 && strcmp(c->outer, "percentiles") != 0)
		report_title(c->outer, false, outer, sizeof(outer));
	snprintf(all, sizeof(all), "%s%s%s", outer, outer[0] ? " " : "", name);
	if (report_is_number(sample))
		table_col_right(&l->table, all, 0);
	else
		table_col(&l->table, all, 0);
}

static double amount(const struct report_node *node)
{
	if (!node)
		return 0;
	return node->type == REPORT_U64      ? (double)node->u64
	       : node->type == REPORT_DOUBLE ? node->f
	                                     : 0;
}

static double largest_count(const struct report_node *list)
{
	double most = 0;

	for (const struct report_node *row = list->first; row; row = row->next) {
		double count = amount(report_at(row, "count"));

		most = count > most ? count : most;
	}
	return most;
}

static void add_bar(struct text *t, struct table *table, const struct report_node *row, double most)
{
	double count = amount(report_at(row, "count"));
	char bar[BAR_WIDTH * 3 + 4];

	table_cell(table, "%s",
	           bars_text(most > 0 ? count / most : 0, BAR_WIDTH, t->cfg->is_utf8, bar));
}

static void add_row(struct text *t, struct text_listing *l, const struct report_node *row,
                    double most)
{
	char value[VALUE_BYTES], all[LIST_BYTES];

	for (uint32_t i = 0; i < l->nr_cols; i++) {
		const struct report_node *cell = cell_of(row, &l->cols[i]);

		if (l->cols[i].is_tagged && !l->cols[i].key)
			table_cell(&l->table, "%s", tagged(row) ? tagged(row)->key : "-");
		else if (!cell)
			table_cell(&l->table, "-");
		else if (cell->type == REPORT_ARRAY)
			table_cell(&l->table, "%s", list_cell(cell, all, sizeof(all)));
		else
			table_cell(&l->table, "%s",
			           report_value(cell,
			                        (struct report_place){ row, l->cols[i].outer,
			                                               t->cfg->clock },
			                        value, sizeof(value)));
	}
	if (l->has_bars)
		add_bar(t, &l->table, row, most);
}

/* like has the rows from which the columns are known. */
static void begin_listing(struct text *t, struct text_listing *l, const struct report_node *like)
{
	*l = (struct text_listing){ .has_bars = like->key && !strcmp(like->key, "histogram") };
	table_init(&l->table, t->mem);
	l->table.wraps_titles = true;
	if (tagged(like->first))
		find_tagged(like, l);
	else
		find_columns(like, l);
	if (l->has_bars && l->nr_cols == TABLE_MAX_COLS)
		l->nr_cols--;
	for (uint32_t i = 0; i < l->nr_cols; i++)
		add_column(l, like, &l->cols[i]);
	if (l->has_bars)
		table_col(&l->table, "", 0);
}

static void fit(struct text *t, struct text_listing *l, const char *indent)
{
	size_t width = t->cfg->width, used = strlen(indent);

	if (width)
		table_fit(&l->table, width > used ? width - used : 1);
}

static void name_hidden(struct text *t, const struct table *table, const char *indent)
{
	char all[LIST_BYTES];
	size_t len = 0;

	if (table->nr_shown == table->nr_cols)
		return;
	for (uint32_t i = table->nr_shown; i < table->nr_cols && len < sizeof(all); i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", len ? ", " : "",
		                        table->cols[i].title);
	if (len + 32 < sizeof(all))
		(void)stpcpy(all + len, "; --json has all)");
	snprintf(t->title, sizeof(t->title), "%s(no room for: ", indent);
	wrap_print(t->out, t->title, all, t->cfg->width);
}

/* The lists that rows have, by the first row that has one. */
static uint32_t find_nested(const struct report_node *list, const struct report_node **out)
{
	uint32_t nr = 0;

	for (const struct report_node *row = list->first; row && !nr; row = row->next)
		for (const struct report_node *at = row->first; at && nr < MAX_NESTED;
		     at = at->next)
			if (report_is_rows(at))
				out[nr++] = at;
	return nr;
}

/* Rows with lists of their own: each list below its row, in columns that all of them share. */
static int print_nested(struct text *t, const struct report_node *list, struct text_listing *l,
                        const struct report_node *const *nested, uint32_t nr, int depth)
{
	struct text_listing inner[MAX_NESTED];
	const char *indent = indent_of(depth), *deeper = indent_of(depth + 2);
	size_t at[MAX_NESTED] = { 0 }, index = 0;
	int err = 0;

	for (uint32_t i = 0; i < nr; i++) {
		begin_listing(t, &inner[i], nested[i]);
		for (const struct report_node *row = list->first; row; row = row->next) {
			const struct report_node *rows = report_at(row, nested[i]->key);

			for (rows = rows && report_is_rows(rows) ? rows->first : NULL; rows;
			     rows = rows->next)
				add_row(t, &inner[i], rows, 0);
		}
		fit(t, &inner[i], deeper);
	}
	for (const struct report_node *row = list->first; row && !err; row = row->next) {
		err = table_print_row(&l->table, index++, indent, t->out);
		for (uint32_t i = 0; i < nr && !err; i++) {
			const struct report_node *rows = report_at(row, nested[i]->key);
			char name[TITLE_BYTES];

			if (!rows || !report_is_rows(rows))
				continue;
			fprintf(t->out, "%s%s:\n", indent_of(depth + 1),
			        report_title(nested[i]->key, false, name, sizeof(name)));
			err = table_print(&inner[i].table, at[i], rows->nr, deeper, t->out);
			at[i] += rows->nr;
		}
	}
	return err;
}

static int print_table(struct text *t, const struct report_node *list, int depth)
{
	const struct report_node *nested[MAX_NESTED];
	const char *indent = indent_of(depth);
	struct text_listing l;
	uint32_t nr;
	double most;
	int err;

	begin_listing(t, &l, list);
	if (!l.nr_cols)
		return 0;
	most = l.has_bars ? largest_count(list) : 0;
	for (const struct report_node *row = list->first; row; row = row->next)
		add_row(t, &l, row, most);
	fit(t, &l, indent);
	nr = find_nested(list, nested);
	if (!nr) {
		err = table_print(&l.table, 0, table_nr_rows(&l.table), indent, t->out);
	} else {
		err = table_print_titles(&l.table, indent, t->out);
		if (!err)
			err = print_nested(t, list, &l, nested, nr, depth);
	}
	if (!err)
		name_hidden(t, &l.table, indent);
	return err;
}

/* A name and its value, continued on the next line where it is too long. */
static void print_pair(struct text *t, const char *indent, const char *name, char *value)
{
	size_t used = strlen(indent) + NAME_WIDTH + 1, room = t->cfg->width, len;

	room = room > used + MIN_WRAP ? room - used : room ? MIN_WRAP : SIZE_MAX;
	fprintf(t->out, "%s%-*s ", indent, NAME_WIDTH, name);
	while (text_width(value) > room) {
		for (len = strlen(value); len > 0; len--)
			if (value[len] == ' ') {
				value[len] = '\0';
				if (text_width(value) <= room)
					break;
				value[len] = ' ';
			}
		if (!len)
			break;
		fprintf(t->out, "%s\n%*s", value, (int)used, "");
		value += len + 1;
	}
	fprintf(t->out, "%s\n", value);
}

static void print_scalar(struct text *t, const struct report_node *node, struct report_place place,
                         const char *indent)
{
	char value[LIST_BYTES], clean[LIST_BYTES], name[TITLE_BYTES];
	bool has_unit = report_is_number(node) && !report_is_moment(node->key);

	report_value(node, place, value, sizeof(value));
	print_pair(t, indent, report_title(node->key, has_unit, name, sizeof(name)),
	           text_printable(clean, sizeof(clean), value, sizeof(value)));
}

static int print_list(struct text *t, const struct report_node *node, int depth)
{
	char all[LIST_BYTES], clean[LIST_BYTES], name[TITLE_BYTES];

	report_title(node->key, false, name, sizeof(name));
	if (report_is_rows(node)) {
		fprintf(t->out, "\n%s%s:\n", indent_of(depth), name);
		return print_table(t, node, depth + 1);
	}
	list_cell(node, all, sizeof(all));
	text_printable(clean, sizeof(clean), all[0] ? all : "none", sizeof(all));
	print_pair(t, indent_of(depth), name, clean);
	return 0;
}

static int print_object(struct text *t, const struct report_node *node, struct report_place place,
                        int depth);

/* What the reader knows already, or has not asked for; the note comes last. */
static bool is_hidden(const struct report_node *node)
{
	static const char *const keys[] = { "analysis_type", "description", "note" };
	size_t len = strlen(node->key);

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(node->key, keys[i]))
			return true;
	return node->type == REPORT_NULL && len > 7 && !strcmp(node->key + len - 7, "_filter");
}

static int print_member(struct text *t, const struct report_node *node, struct report_place place,
                        int depth)
{
	char name[TITLE_BYTES];

	if (depth == 0 && is_hidden(node))
		return 0;
	if (report_is_scalar(node)) {
		print_scalar(t, node, place, indent_of(depth));
		return 0;
	}
	if (node->type == REPORT_ARRAY)
		return print_list(t, node, depth);
	fprintf(t->out, "%s%s:\n", indent_of(depth),
	        report_title(node->key, false, name, sizeof(name)));
	return print_object(t, node, place, depth + 1);
}

/* Single values first, then what is large. */
static int print_object(struct text *t, const struct report_node *node, struct report_place place,
                        int depth)
{
	int err = 0;

	if (report_at(node, "metric"))
		place.measured = node;
	place.of = node->key;
	place.clock = t->cfg->clock;
	for (const struct report_node *at = node->first; at && !err; at = at->next)
		if (!report_is_rows(at))
			err = print_member(t, at, place, depth);
	for (const struct report_node *at = node->first; at && !err; at = at->next)
		if (report_is_rows(at))
			err = print_member(t, at, place, depth);
	return err;
}

/* Names of members within are written as the tables write them. */
static void print_note(struct text *t, const struct report_node *root)
{
	const char *note = report_text_at(root, "note");
	char all[LIST_BYTES], clean[LIST_BYTES];
	size_t len = 0;

	if (!note)
		return;
	while (*note && len + TITLE_BYTES < sizeof(all)) {
		size_t word = strcspn(note, " ,;:");
		char key[TITLE_BYTES];

		snprintf(key, sizeof(key), "%.*s", (int)word, note);
		report_title(key, memchr(note, '_', word) != NULL, all + len, TITLE_BYTES);
		len += strlen(all + len);
		note += word;
		if (*note)
			all[len++] = *note++;
	}
	all[len] = '\0';
	fprintf(t->out, "\n%s", wrap_on(WRAP_ASIDE, t->cfg->is_colored));
	wrap_print(t->out, "note: ", text_printable(clean, sizeof(clean), all, sizeof(all)),
	           t->cfg->width);
	fputs(wrap_off(t->cfg->is_colored), t->out);
}

/* The lists of a report whose sheet has chosen none. */
static int print_lists(struct text *t, const struct report_node *root)
{
	int err = 0;

	for (const struct report_node *at = root->first; at && !err; at = at->next)
		if (report_is_rows(at))
			err = print_member(t, at, (struct report_place){ .clock = t->cfg->clock },
			                   0);
	return err;
}

static int print_sheet(struct text *t, const struct sheet *v, const struct report_node *root)
{
	const char *note = report_text_at(root, "note");
	size_t left = t->cfg->height > NEXT_LINES ? t->cfg->height - NEXT_LINES : 0;
	int err;

	left = t->cfg->height ? left : SIZE_MAX;
	err = sheet_text_answer(v, root, t->cfg, &left, t->out);
	if (!err)
		err = v->lists[0].list ? sheet_text_lists(v, root, t->cfg, &left, t->out)
		                       : print_lists(t, root);
	if (!err && note && (left == SIZE_MAX || left > 2 + strlen(note) / MIN_NOTE_WIDTH))
		print_note(t, root);
	if (!err)
		sheet_text_next(v, root, t->cfg, t->out);
	return err;
}

int report_text(const struct report_node *root, const struct report_text_cfg *cfg, FILE *out)
{
	SCOPED(scoped_arena) struct arena *mem = arena_new(MEM_BYTES);
	struct text t = { .cfg = cfg, .mem = mem, .out = out };
	const char *id = report_text_at(root, "analysis_type");
	const struct sheet *v = id ? sheet_find(id) : NULL;
	int err;

	if (!mem)
		return -ENOMEM;
	if (v) {
		err = print_sheet(&t, v, root);
	} else {
		err = print_object(&t, root, (struct report_place){ 0 }, 0);
		if (!err)
			print_note(&t, root);
	}
	if (!err && ferror(out))
		err = -EIO;
	return err;
}
