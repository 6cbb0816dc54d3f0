#include "parquet_story.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "parquet_reader.h"

static int write_to(const struct parquet_story *s, int fd)
{
	struct parquet_cfg cfg = { .columns = s->columns,
		                   .nr_columns = s->nr_columns,
		                   .fd = fd,
		                   .name = "story",
		                   .group_rows = s->group_rows,
		                   .page_rows = s->page_rows };
	SCOPED(scoped_parquet) struct parquet *p = NULL;
	struct diag d = { 0 };
	int err = parquet_open(&cfg, &d, &p);

	for (size_t i = 0; i < s->nr_rows && !err; i++)
		err = parquet_append(p, s->values + i * s->nr_columns, &d);
	if (!err)
		err = parquet_note(p, "rows", "all", &d);
	if (!err)
		err = parquet_close(p, &d);
	return err;
}

int parquet_story_write(const struct parquet_story *s, uint8_t **out, size_t *size)
{
	SCOPED(scoped_close) int fd = memfd_create("parquet", MFD_CLOEXEC);
	struct stat st;
	int err = fd < 0 ? -errno : write_to(s, fd);

	if (err)
		return err;
	if (fstat(fd, &st) < 0)
		return -errno;
	*size = (size_t)st.st_size;
	*out = malloc(*size + 1);
	return *out && pread(fd, *out, *size, 0) == st.st_size ? 0 : -EIO;
}

/* Whether a text that was read is the one that was written, with U+FFFD for what is no UTF-8. */
static bool is_text(const struct parquet_value *v, const struct read_value *got)
{
	size_t at = 0, to = 0;

	while (at < v->len) {
		uint32_t code;
		size_t nr = utf8_next(v->text + at, v->len - at, &code);
		const char *part = code == UTF8_INVALID ? "\xef\xbf\xbd" : v->text + at;
		size_t len = code == UTF8_INVALID ? 3 : nr;

		if (len > got->len - to || memcmp(got->text + to, part, len) != 0)
			return false;
		at += nr;
		to += len;
	}
	return to == got->len;
}

static bool is_value(const struct parquet_column *c, const struct parquet_value *v,
                     const struct read_value *got)
{
	uint64_t bits;

	if (v->is_null || got->is_null)
		return v->is_null == got->is_null;
	switch (c->type) {
	case PARQUET_TEXT:
		return is_text(v, got);
	case PARQUET_BOOL:
		return got->bits == v->flag;
	case PARQUET_DOUBLE:
		memcpy(&bits, &v->number, sizeof(bits));
		return got->bits == bits;
	default:
		return got->bits == (uint64_t)v->i64;
	}
}

static const char *compare(const struct parquet_story *s, const struct parquet_reader *r)
{
	static char text[160];

	if (r->nr_rows != s->nr_rows || r->nr_columns != s->nr_columns)
		return "other rows or columns";
	if (!parquet_reader_note(r, "rows") || strcmp(parquet_reader_note(r, "rows"), "all") != 0)
		return "a note is missing";
	for (uint32_t c = 0; c < s->nr_columns; c++) {
		if (strcmp(r->columns[c].name, s->columns[c].name) != 0 ||
		    r->columns[c].is_required != s->columns[c].is_required)
			return "another schema";
		for (size_t i = 0; i < s->nr_rows; i++)
			if (!is_value(&s->columns[c], &s->values[i * s->nr_columns + c],
			              &r->columns[c].values[i])) {
				(void)snprintf(text, sizeof(text), "row %zu of column %u differs",
				               i, c);
				return text;
			}
	}
	return NULL;
}

const char *parquet_story_check(const struct parquet_story *s, const uint8_t *file, size_t size)
{
	static char text[160];
	struct parquet_reader r;
	const char *what = parquet_reader_read(&r, file, size) ? compare(s, &r) : r.error;

	if (what) {
		(void)snprintf(text, sizeof(text), "%s", what);
		what = text;
	}
	parquet_reader_done(&r);
	return what;
}
