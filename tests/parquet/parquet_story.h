/* tests/parquet/parquet_story — a schema and rows for the writer, and whether a reader finds the same; tests and the fuzz target share it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "serve/parquet/parquet.h"

/* Rows in memory: nr_rows times nr_columns values. */
struct parquet_story {
	struct parquet_column *columns;
	uint32_t nr_columns;
	struct parquet_value *values;
	size_t nr_rows;
	uint32_t group_rows, page_rows;
};

/* Writes it into a file in memory. The error of the first call that fails; the file's bytes are malloc()ed. */
int parquet_story_write(const struct parquet_story *s, uint8_t **out, size_t *size);
/* NULL if a reader finds what was written; else a sentence, lent until the next call. */
const char *parquet_story_check(const struct parquet_story *s, const uint8_t *file, size_t size);
