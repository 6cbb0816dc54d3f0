/*
 * tests/report/unpacked — the data of a report as a page's script would read it: the document and the packed tables, by a decoder that
 * shares nothing with the writer.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/data.h"

#define UNPACKED_COLUMNS 8
#define UNPACKED_TABLES  40

struct unpacked_table {
	char name[32];
	uint64_t nr;
	char columns[UNPACKED_COLUMNS][24];
	uint32_t nr_columns;
	uint64_t *values[UNPACKED_COLUMNS];
};

struct unpacked {
	json_t *doc;
	struct unpacked_table tables[UNPACKED_TABLES];
	uint32_t nr_tables;
	size_t bytes; /* of all packed tables */
};

/* Writes the data and reads it back. */
void unpack(const struct report_data *r, struct unpacked *out);
void unpacked_done(struct unpacked *u);
/* NULL if it is absent. */
const struct unpacked_table *unpacked_table(const struct unpacked *u, const char *name);
/* A value; the column must be there. */
uint64_t unpacked_at(const struct unpacked_table *t, uint64_t row, const char *column);
/* A number of the document, by two keys; the second may be NULL. */
uint64_t unpacked_num(const struct unpacked *u, const char *key, const char *member);
/* Sums that have a name, to be compared. */
struct named_sum {
	char name[200];
	uint64_t a, b;
};

struct named_sums {
	struct named_sum *at;
	size_t nr, room;
};

void named_add(struct named_sums *s, const char *name, uint64_t a, uint64_t b);
/* Fails the test, with what and the name, unless both have the same sums; those of 0 and 0 do not count. */
void named_expect_same(const char *what, struct named_sums *got, struct named_sums *expected);
void named_done(struct named_sums *s);
