/*
 * serve/parquet/parquet — writes a Parquet file: a schema, then rows, then the footer.
 *
 * Flat schemas of 64-bit integers, doubles, booleans and texts, each column optional or required. Values become pages as they come,
 * and pages a row group as it fills; memory is that of one row group, which is bounded in rows and bytes, and some hundred bytes per
 * row group and column for the footer. Each row group has the least and greatest value and the number of nulls of its columns.
 * Data pages are of version 1, compressed with zstd.
 *
 * Texts are made UTF-8: bytes that are none become U+FFFD, as in JSON. A dictionary that grows too large is given up for the rest of
 * its row group. The descriptor is lent and written from where it stands, in order; serve/parquet/parquet_file makes it a
 * file that is complete or absent. The first error sticks. One thread at a time. Blocks as the descriptor does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "base/diag.h"

#define PARQUET_COLUMNS_MAX 1024U
#define PARQUET_TEXT_MAX    (1U << 20) /* bytes of a value; a longer one is refused */

struct parquet;

enum parquet_type { PARQUET_I64, PARQUET_DOUBLE, PARQUET_BOOL, PARQUET_TEXT };

enum parquet_coding {
	PARQUET_PLAIN,
	PARQUET_DICTIONARY, /* few different values; not for booleans */
	PARQUET_DELTA,      /* integers near the one before: times, numbers of rows */
};

struct parquet_column {
	const char *name; /* UTF-8, not empty */
	enum parquet_type type;
	enum parquet_coding coding;
	bool is_required; /* never null */
};

struct parquet_cfg {
	const struct parquet_column *columns; /* lent until parquet_free() */
	uint32_t nr_columns;                  /* 1 to PARQUET_COLUMNS_MAX */
	int fd;                               /* to write to */
	const char *name;                     /* of the file, for sentences */
	uint32_t group_rows;                  /* rows of a row group; 0 = 262144 */
	uint32_t page_rows;                   /* values of a page; 0 = 16384 */
};

struct parquet_value {
	bool is_null;
	bool flag;
	int64_t i64;
	double number;
	const char *text; /* lent for the call */
	size_t len;
};

/* -EINVAL for a schema that cannot be written, -ENOMEM, or an error of the descriptor. */
MUST_USE int parquet_open(const struct parquet_cfg *cfg, struct diag *d, struct parquet **out);
/* A row: a value for each column. -EINVAL for null where it is required, -E2BIG, -ENOMEM, or an error of the descriptor. */
MUST_USE int parquet_append(struct parquet *p, const struct parquet_value *row, struct diag *d);
/* A line of the footer, by key; until parquet_close(). Copied. */
MUST_USE int parquet_note(struct parquet *p, const char *key, const char *value, struct diag *d);
/* The rows that are left and the footer: the file is whole. Once. */
MUST_USE int parquet_close(struct parquet *p, struct diag *d);
uint64_t parquet_rows(const struct parquet *p);
uint64_t parquet_bytes(const struct parquet *p); /* written so far */
void parquet_free(struct parquet *p);            /* NULL is fine; what was not closed is no file */
DEFINE_SCOPED(parquet, parquet_free)
