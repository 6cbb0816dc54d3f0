#include "render/table.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

#define CELL_BYTES      4096 /* what does not fit is cut */
#define TITLE_BYTES     256
#define MAX_TITLE_LINES 3 /* the last one takes what is left */

void table_init(struct table *t, struct arena *mem)
{
	memset(t, 0, sizeof(*t));
	t->mem = mem;
}

/* Columns of the longest word. */
static size_t word_width(const char *title)
{
	size_t most = 0;

	while (*title) {
		size_t len = strcspn(title, " ");
		char word[TITLE_BYTES];

		snprintf(word, sizeof(word), "%.*s", (int)len, title);
		most = text_width(word) > most ? text_width(word) : most;
		title += len;
		title += *title == ' ';
	}
	return most;
}

static void add_col(struct table *t, const char *title, size_t min_width, bool is_right)
{
	char clean[TITLE_BYTES];
	size_t width;

	if (t->nr_cols == TABLE_MAX_COLS || t->nr_cells) {
		t->error = -EINVAL;
		return;
	}
	title = arena_strdup(t->mem, text_printable(clean, sizeof(clean), title, strlen(title)));
	if (!title) {
		t->error = -ENOMEM;
		return;
	}
	width = t->wraps_titles ? word_width(title) : text_width(title);
	t->cols[t->nr_cols++] = (struct table_col){
		.title = title,
		.width = width > min_width ? width : min_width,
		.is_right = is_right,
	};
	t->nr_shown = t->nr_cols;
}

void table_col(struct table *t, const char *title, size_t min_width)
{
	add_col(t, title, min_width, false);
}

void table_col_right(struct table *t, const char *title, size_t min_width)
{
	add_col(t, title, min_width, true);
}

static bool reserve(struct table *t)
{
	size_t capacity = t->capacity ? t->capacity * 2 : 256;
	const char **cells;

	if (t->nr_cells < t->capacity)
		return true;
	cells = ARENA_ARRAY(t->mem, const char *, capacity);
	if (!cells)
		return false;
	if (t->nr_cells)
		memcpy(cells, t->cells, t->nr_cells * sizeof(cells[0]));
	t->cells = cells;
	t->capacity = capacity;
	return true;
}

static void add_cell(struct table *t, const char *text)
{
	uint32_t col;
	char *copy;
	size_t width;

	if (t->error)
		return;
	if (!t->nr_cols) {
		t->error = -EINVAL;
		return;
	}
	copy = arena_strdup(t->mem, text);
	if (!copy || !reserve(t)) {
		t->error = -ENOMEM;
		return;
	}
	col = (uint32_t)(t->nr_cells % t->nr_cols);
	width = text_width(copy);
	if (width > t->cols[col].width)
		t->cols[col].width = width;
	t->cells[t->nr_cells++] = copy;
}

void table_cell(struct table *t, const char *fmt, ...)
{
	char raw[CELL_BYTES], clean[CELL_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(raw, sizeof(raw), fmt, args);
	va_end(args);
	add_cell(t, text_printable(clean, sizeof(clean), raw, sizeof(raw)));
}

void table_u64(struct table *t, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	add_cell(t, text);
}

size_t table_nr_rows(const struct table *t)
{
	return t->nr_cols ? t->nr_cells / t->nr_cols : 0;
}

void table_fit(struct table *t, size_t width)
{
	size_t used = 0;

	t->nr_shown = 0;
	while (t->nr_shown < t->nr_cols) {
		used += t->cols[t->nr_shown].width + (t->nr_shown > 0);
		if (t->nr_shown > 0 && used > width)
			break;
		t->nr_shown++;
	}
}

/* Blanks are owed, not written, until something follows them: no line ends in one. */
static void print_cell(const struct table *t, uint32_t col, const char *text, size_t *owed,
                       FILE *out)
{
	size_t used = text_width(text);
	size_t pad = used < t->cols[col].width ? t->cols[col].width - used : 0;

	if (t->cols[col].is_right)
		*owed += pad;
	if (text[0])
		fprintf(out, "%*s%s", (int)*owed, "", text);
	*owed = text[0] ? 0 : *owed;
	*owed += t->cols[col].is_right ? 1 : pad + 1;
}

static void print_line(const struct table *t, const char *const *cells, const char *indent,
                       FILE *out)
{
	size_t owed = 0;

	fputs(indent, out);
	for (uint32_t i = 0; i < t->nr_shown; i++)
		print_cell(t, i, cells ? cells[i] : t->cols[i].title, &owed, out);
	fputc('\n', out);
}

/* How many bytes of a title go on its next line: as many words as fit, one at least. */
static size_t title_part(const char *title, size_t width)
{
	size_t len = strcspn(title, " ");

	while (title[len]) {
		size_t more = len + 1 + strcspn(title + len + 1, " ");
		char part[TITLE_BYTES];

		snprintf(part, sizeof(part), "%.*s", (int)more, title);
		if (text_width(part) > width)
			break;
		len = more;
	}
	return len;
}

/* The title of a column in lines; how many. */
static uint32_t split_title(const struct table_col *c, char lines[][TITLE_BYTES])
{
	const char *at = c->title;
	uint32_t nr = 0;

	while (*at && nr < MAX_TITLE_LINES) {
		size_t len = nr + 1 < MAX_TITLE_LINES ? title_part(at, c->width) : strlen(at);

		snprintf(lines[nr++], TITLE_BYTES, "%.*s", (int)len, at);
		at += len;
		at += *at == ' ';
	}
	return nr;
}

static void print_titles(const struct table *t, const char *indent, FILE *out)
{
	char lines[TABLE_MAX_COLS][MAX_TITLE_LINES][TITLE_BYTES];
	uint32_t nr[TABLE_MAX_COLS], most = 1;

	for (uint32_t i = 0; i < t->nr_shown; i++) {
		nr[i] = split_title(&t->cols[i], lines[i]);
		most = nr[i] > most ? nr[i] : most;
	}
	for (uint32_t row = 0; row < most; row++) {
		size_t owed = 0;

		fputs(indent, out);
		for (uint32_t i = 0; i < t->nr_shown; i++) {
			uint32_t skip = most - nr[i];

			print_cell(t, i, row < skip ? "" : lines[i][row - skip], &owed, out);
		}
		fputc('\n', out);
	}
}

int table_print_titles(const struct table *t, const char *indent, FILE *out)
{
	if (t->error)
		return t->error;
	if (t->wraps_titles)
		print_titles(t, indent, out);
	else
		print_line(t, NULL, indent, out);
	return ferror(out) ? -EIO : 0;
}

int table_print_row(const struct table *t, size_t row, const char *indent, FILE *out)
{
	if (t->error)
		return t->error;
	if (!t->nr_cols || t->nr_cells % t->nr_cols || row >= table_nr_rows(t))
		return -EINVAL;
	print_line(t, &t->cells[row * t->nr_cols], indent, out);
	return ferror(out) ? -EIO : 0;
}

int table_print(const struct table *t, size_t first, size_t nr, const char *indent, FILE *out)
{
	int err;

	if (t->error)
		return t->error;
	if (!t->nr_cols || t->nr_cells % t->nr_cols || first + nr > table_nr_rows(t))
		return -EINVAL;
	err = table_print_titles(t, indent, out);
	for (size_t i = first; i < first + nr && !err; i++)
		err = table_print_row(t, i, indent, out);
	return err;
}
