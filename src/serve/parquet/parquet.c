#include "serve/parquet/parquet.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/write_all.h"
#include "serve/parquet/encode.h"
#include "serve/parquet/parquet_priv.h"

#define GROUP_ROWS  262144U
#define PAGE_ROWS   16384U
#define PAGE_MAX    (1U << 20)
#define GROUP_BYTES ((size_t)64 << 20) /* of finished pages: long texts end a row group early */
#define ZSTD_LEVEL  3

static const char magic[4] = { 'P', 'A', 'R', '1' };
static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* The first error is kept; later calls return it. */
static int failed(struct parquet *p, int err, struct diag *d)
{
	if (!err)
		return 0;
	p->error = err;
	if (err == -ENOMEM)
		return diag_set(d, err, NULL, "out of memory");
	return diag_set(d, err, err == -ENOSPC ? "make room, or choose another folder" : NULL,
	                "cannot write '%.160s'", p->cfg.name);
}

static int put(struct parquet *p, const void *bytes, size_t nr)
{
	int err = nr ? write_all(p->cfg.fd, bytes, nr) : 0;

	if (!err)
		p->offset += nr;
	return err;
}

static int check_column(const struct parquet_cfg *cfg, uint32_t at, struct diag *d)
{
	const struct parquet_column *c = &cfg->columns[at];

	if (!c->name || !*c->name)
		return diag_set(d, -EINVAL, NULL, "a column has no name");
	for (uint32_t i = 0; i < at; i++)
		if (strcmp(cfg->columns[i].name, c->name) == 0)
			return diag_set(d, -EINVAL, NULL, "two columns are called '%.64s'",
			                c->name);
	if (c->coding == PARQUET_DELTA && c->type != PARQUET_I64)
		return diag_set(d, -EINVAL, NULL,
		                "column '%.64s': differences are those of integers", c->name);
	if (c->coding == PARQUET_DICTIONARY && c->type == PARQUET_BOOL)
		return diag_set(d, -EINVAL, NULL, "column '%.64s': booleans have no dictionary",
		                c->name);
	return 0;
}

static int check(const struct parquet_cfg *cfg, struct diag *d)
{
	int err = 0;

	if (!cfg->nr_columns || cfg->nr_columns > PARQUET_COLUMNS_MAX)
		return diag_set(d, -EINVAL, NULL, "a table has 1 to %u columns",
		                PARQUET_COLUMNS_MAX);
	if (cfg->page_rows > PAGE_MAX || cfg->group_rows > INT_MAX)
		return diag_set(d, -EINVAL, NULL, "pages and row groups are too large");
	for (uint32_t i = 0; i < cfg->nr_columns && !err; i++)
		err = check_column(cfg, i, d);
	return err;
}

int parquet_open(const struct parquet_cfg *cfg, struct diag *d, struct parquet **out)
{
	SCOPED(scoped_parquet) struct parquet *p = NULL;
	int err = check(cfg, d);

	if (err)
		return err;
	p = calloc(1, sizeof(*p));
	if (!p)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	p->cfg = *cfg;
	p->cfg.group_rows = cfg->group_rows ? cfg->group_rows : GROUP_ROWS;
	p->cfg.page_rows = cfg->page_rows ? cfg->page_rows : PAGE_ROWS;
	p->zstd = ZSTD_createCCtx();
	p->columns = calloc(cfg->nr_columns, sizeof(*p->columns));
	if (!p->zstd || !p->columns)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	(void)ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	for (uint32_t i = 0; i < cfg->nr_columns && !err; i++)
		err = pq_column_init(&p->columns[i], &cfg->columns[i], p->cfg.page_rows);
	if (!err)
		err = put(p, magic, sizeof(magic));
	if (err)
		return failed(p, err, d);
	*out = TAKE_PTR(p);
	return 0;
}

void parquet_free(struct parquet *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; p->columns && i < p->cfg.nr_columns; i++)
		pq_column_done(&p->columns[i]);
	free(p->columns);
	bytes_done(&p->groups);
	bytes_done(&p->notes);
	bytes_done(&p->raw);
	bytes_done(&p->packed);
	bytes_done(&p->text);
	ZSTD_freeCCtx(p->zstd);
	free(p);
}

/* The dictionary, if a page uses one, and the pages. */
static int put_column(struct parquet *p, struct pq_column *x, struct pq_chunk *out)
{
	uint64_t start = p->offset;
	const struct pq_page head = { PQ_DICTIONARY_PAGE, x->nr_dictionary, PQ_PLAIN };
	struct bytes page = { 0 };
	int err = pq_column_end_page(p, x);

	*out = (struct pq_chunk){ .x = x, .raw_bytes = x->raw_bytes };
	if (!err && x->encodings >> PQ_RLE_DICTIONARY & 1) {
		x->encodings |= 1U << PQ_PLAIN; /* that of the dictionary */
		out->dictionary_at = start;
		err = pq_page_put(p, &head, &x->dictionary, &page, &out->raw_bytes);
		if (!err)
			err = put(p, page.at, page.nr);
		bytes_done(&page);
	}
	out->data_at = p->offset;
	if (!err)
		err = put(p, x->pages.at, x->pages.nr);
	out->bytes = p->offset - start;
	return err;
}

static int put_group(struct parquet *p)
{
	struct pq_chunk *chunks = NULL;
	int err = 0;

	if (!p->group_at)
		return 0;
	chunks = calloc(p->cfg.nr_columns, sizeof(*chunks));
	if (!chunks)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->cfg.nr_columns && !err; i++)
		err = put_column(p, &p->columns[i], &chunks[i]);
	if (!err) {
		pq_footer_group(p, chunks, p->group_at);
		err = bytes_error(&p->groups);
	}
	free(chunks);
	for (uint32_t i = 0; i < p->cfg.nr_columns; i++)
		pq_column_restart(&p->columns[i]);
	p->group_at = 0;
	return err;
}

static bool is_group_full(const struct parquet *p)
{
	size_t bytes = 0;

	if (p->group_at >= p->cfg.group_rows)
		return true;
	if (p->group_at % 64) /* adding up for every row costs more than it saves */
		return false;
	for (uint32_t i = 0; i < p->cfg.nr_columns; i++)
		bytes += p->columns[i].pages.nr + p->columns[i].texts.nr;
	return bytes >= GROUP_BYTES;
}

static bool is_utf8(const char *text, size_t len)
{
	size_t at = 0;

	while (at < len) {
		uint32_t code;

		if ((unsigned char)text[at] < 0x80) {
			at++;
			continue;
		}
		at += utf8_next(text + at, len - at, &code);
		if (code == UTF8_INVALID)
			return false;
	}
	return true;
}

/* The text with U+FFFD for what is not UTF-8, in p->text. */
static int make_utf8(struct parquet *p, struct parquet_value *v)
{
	bytes_clear(&p->text);
	for (size_t at = 0; at < v->len;) {
		uint32_t code;
		size_t nr = utf8_next(v->text + at, v->len - at, &code);

		if (code == UTF8_INVALID)
			bytes_add(&p->text, replacement, sizeof(replacement) - 1);
		else
			bytes_add(&p->text, v->text + at, nr);
		at += nr;
	}
	v->text = (const char *)p->text.at;
	v->len = p->text.nr;
	return bytes_error(&p->text);
}

static int check_row(const struct parquet *p, const struct parquet_value *row, struct diag *d)
{
	for (uint32_t i = 0; i < p->cfg.nr_columns; i++) {
		const struct parquet_column *c = &p->cfg.columns[i];

		if (row[i].is_null && c->is_required)
			return diag_set(d, -EINVAL, NULL,
			                "column '%.64s' of '%.120s' is never null", c->name,
			                p->cfg.name);
		if (!row[i].is_null && c->type == PARQUET_TEXT && row[i].len > PARQUET_TEXT_MAX)
			return diag_set(d, -E2BIG, NULL,
			                "column '%.64s' of '%.120s': a text has more than %u bytes",
			                c->name, p->cfg.name, PARQUET_TEXT_MAX);
	}
	return 0;
}

static int add(struct parquet *p, uint32_t column, const struct parquet_value *given)
{
	struct parquet_value v = *given;
	int err = 0;

	if (p->cfg.columns[column].type == PARQUET_TEXT && !v.is_null && !is_utf8(v.text, v.len))
		err = make_utf8(p, &v);
	return err ? err : pq_column_add(p, &p->columns[column], &v);
}

int parquet_append(struct parquet *p, const struct parquet_value *row, struct diag *d)
{
	int err = p->error ? p->error : check_row(p, row, d);

	if (err)
		return diag_set(d, err, NULL, "'%.160s' cannot be continued", p->cfg.name);
	for (uint32_t i = 0; i < p->cfg.nr_columns && !err; i++)
		err = add(p, i, &row[i]);
	p->group_at++;
	p->nr_rows++;
	if (!err && is_group_full(p))
		err = put_group(p);
	return failed(p, err, d);
}

int parquet_note(struct parquet *p, const char *key, const char *value, struct diag *d)
{
	struct parquet_value v = { .text = value, .len = strlen(value) };
	int err = p->error;

	if (!err && !is_utf8(value, v.len)) {
		err = make_utf8(p, &v);
		bytes_u8(&p->text, 0);
		if (!err)
			err = bytes_error(&p->text);
		v.text = (const char *)p->text.at;
	}
	if (!err) {
		pq_footer_note(p, key, v.text);
		err = bytes_error(&p->notes);
	}
	return failed(p, err, d);
}

int parquet_close(struct parquet *p, struct diag *d)
{
	int err = p->error ? p->error : put_group(p);
	size_t nr;

	if (!err && p->is_closed)
		err = -EINVAL;
	if (err)
		return failed(p, err, d);
	bytes_clear(&p->raw);
	pq_footer_put(p, &p->raw);
	nr = p->raw.nr;
	bytes_u32(&p->raw, (uint32_t)nr);
	bytes_add(&p->raw, magic, sizeof(magic));
	err = bytes_error(&p->raw);
	if (!err && nr > INT_MAX)
		err = -E2BIG;
	if (!err)
		err = put(p, p->raw.at, p->raw.nr);
	p->is_closed = true;
	return failed(p, err, d);
}

uint64_t parquet_rows(const struct parquet *p)
{
	return p->nr_rows;
}

uint64_t parquet_bytes(const struct parquet *p)
{
	return p->offset;
}
