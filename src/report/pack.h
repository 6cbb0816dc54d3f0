/*
 * report/pack — a table for the scripts of a page: columns of numbers, packed.
 *
 * Columns follow each other; each is so many unsigned LEB128 numbers: the values, or the zigzag of the difference to the value
 * before, the first against 0. All of it is one zlib stream, in base64, in an element of its own with a line of JSON that says
 * what is in there (docs/report-schema.md). Values are below 2^53.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"

#define PACK_MAX_COLUMNS 8

struct pack_column {
	const char *name;
	bool is_delta;
	uint64_t last;
	uint8_t *bytes;
	size_t len, room;
};

struct pack {
	const char *table;
	struct pack_column columns[PACK_MAX_COLUMNS];
	uint32_t nr_columns;
	uint64_t nr_rows;
	bool has_failed; /* without memory */
	int err;         /* of making it, where several are made at once */
	uint8_t *deflated;
	size_t nr_deflated;
	size_t nr_raw;
};

/* Columns are named one by one, before the first value. */
void pack_column(struct pack *p, const char *name, bool is_delta);
/* All values of a row, in the order of the columns. */
void pack_row(struct pack *p, const uint64_t *values);
/* After the last value: compresses. -ENOMEM. */
MUST_USE int pack_close(struct pack *p);
/* <script type="application/json" id="table-NAME">...</script>; nothing for a table without rows. -EIO. */
MUST_USE int pack_write(const struct pack *p, FILE *out);
void pack_done(struct pack *p);
