/*
 * tests/parquet/parquet_reader — reads what serve/parquet writes, by the format's own description; shares no code with the writer.
 *
 * Strict: anything that it does not expect is a failure with a sentence. Everything lives in the reader's arena.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct read_value {
	bool is_null;
	uint64_t bits;    /* of integers, doubles and booleans */
	const char *text; /* not terminated */
	size_t len;
};

struct read_column {
	const char *name;
	int type; /* of parquet.thrift: 0 boolean, 2 int64, 5 double, 6 byte array */
	bool is_required;
	bool is_text;
	uint32_t encodings; /* bit per number of parquet.thrift, of data pages */
	struct read_value *values;
};

struct read_note {
	const char *key, *value;
};

struct parquet_reader {
	struct arena *mem;
	uint64_t nr_rows;
	uint32_t nr_groups;
	uint32_t nr_columns;
	struct read_column *columns;
	struct read_note *notes;
	size_t nr_notes;
	const char *writer;
	char error[160]; /* "" = it was read */
};

/* False with an error. parquet_reader_done() in any case. */
bool parquet_reader_read(struct parquet_reader *r, const uint8_t *file, size_t size);
void parquet_reader_done(struct parquet_reader *r);
/* NULL if there is none. */
const char *parquet_reader_note(const struct parquet_reader *r, const char *key);
