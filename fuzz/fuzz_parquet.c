/*
 * fuzz/fuzz_parquet — any schema and any rows into a Parquet file, and back by a reader that shares no code with the writer: what
 * comes out is what went in, or the writer refused with an error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/parquet/parquet_story.h"
#include "fuzz.h"

#define COLUMNS_MAX 6U
#define ROWS_MAX    4000U
#define TEXT_MAX    300U

/* Rows repeat what the input says, so that a small input makes runs, large pages and several row groups. */
struct maker {
	struct fuzz_input in;
	const uint8_t *data;
	size_t size;
};

static uint64_t next(struct maker *m, size_t nr_bytes)
{
	if (!m->in.left)
		m->in = (struct fuzz_input){ m->data, m->size };
	return fuzz_take(&m->in, nr_bytes);
}

static void make_text(struct maker *m, struct parquet_value *v)
{
	size_t len = next(m, 1), left = m->in.left;

	if (len > TEXT_MAX)
		len = TEXT_MAX;
	v->len = len < left ? len : left;
	v->text = (const char *)m->in.at;
}

static void make_value(struct maker *m, const struct parquet_column *c, struct parquet_value *v)
{
	uint64_t how = next(m, 1);
	uint64_t bits = next(m, 1 + how % 8);

	v->is_null = how >= 200 && (!c->is_required || how == 255);
	v->flag = bits & 1;
	v->i64 = (int64_t)(how & 1 ? bits : bits * 0x9e3779b97f4a7c15ULL);
	memcpy(&v->number, &v->i64, sizeof(v->number));
	if (c->type == PARQUET_TEXT)
		make_text(m, v);
}

static void make_schema(struct maker *m, struct parquet_column *columns, uint32_t nr,
                        char (*names)[16])
{
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t how = next(m, 1);

		(void)snprintf(names[i], sizeof(names[i]), "c%u", how == 255 ? 0 : i);
		columns[i] = (struct parquet_column){ names[i], (enum parquet_type)(how & 3),
			                              (enum parquet_coding)(how >> 2 & 3) % 3,
			                              how >> 4 & 1 };
	}
}

/* A row of nulls where there may be none, and a schema that makes no sense, are refused. */
static int must_fail(const struct parquet_story *s)
{
	for (uint32_t i = 0; i < s->nr_columns; i++) {
		const struct parquet_column *c = &s->columns[i];

		if ((c->coding == PARQUET_DELTA && c->type != PARQUET_I64) ||
		    (c->coding == PARQUET_DICTIONARY && c->type == PARQUET_BOOL) ||
		    (i && strcmp(c->name, "c0") == 0))
			return 1;
		for (size_t row = 0; row < s->nr_rows; row++)
			if (c->is_required && s->values[row * s->nr_columns + i].is_null)
				return 1;
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct maker m = { { data, size }, data, size };
	struct parquet_column columns[COLUMNS_MAX];
	char names[COLUMNS_MAX][16];
	struct parquet_story s = { .columns = columns };
	uint8_t *file = NULL;
	size_t file_size;
	int err;

	if (!size)
		return 0;
	s.nr_columns = 1 + (uint32_t)next(&m, 1) % COLUMNS_MAX;
	s.nr_rows = next(&m, 2) % ROWS_MAX;
	s.group_rows = 1 + (uint32_t)next(&m, 2) % 2000;
	s.page_rows = 1 + (uint32_t)next(&m, 2) % 1000;
	if (s.nr_rows / s.group_rows > 50)
		s.group_rows = 50 + (uint32_t)s.nr_rows /
		                            50; /* else most of the time goes into memory */
	make_schema(&m, columns, s.nr_columns, names);
	s.values = calloc(s.nr_rows * s.nr_columns + 1, sizeof(*s.values));
	fuzz_check(s.values);
	for (size_t i = 0; i < s.nr_rows * s.nr_columns; i++)
		make_value(&m, &columns[i % s.nr_columns], &s.values[i]);
	err = parquet_story_write(&s, &file, &file_size);
	fuzz_check(!err == !must_fail(&s));
	fuzz_check(err || !parquet_story_check(&s, file, file_size));
	free(file);
	free(s.values);
	return 0;
}
