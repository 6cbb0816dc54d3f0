/*
 * write_sample FILE: a Parquet file with what recordings have too little of: doubles, booleans, several row groups and pages, and
 * dictionaries that were given up. tests/parquet/readers knows the formula of each value.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "serve/parquet/parquet.h"

#define ROWS 150000U

static const struct parquet_column columns[] = {
	{ "number", PARQUET_I64, PARQUET_DELTA, true },
	{ "plain", PARQUET_I64, PARQUET_PLAIN, false },
	{ "few", PARQUET_I64, PARQUET_DICTIONARY, false },
	{ "many", PARQUET_I64, PARQUET_DICTIONARY, false },
	{ "half", PARQUET_DOUBLE, PARQUET_PLAIN, false },
	{ "flag", PARQUET_BOOL, PARQUET_PLAIN, false },
	{ "name", PARQUET_TEXT, PARQUET_DICTIONARY, false },
	{ "label", PARQUET_TEXT, PARQUET_DICTIONARY, true },
	{ "nothing", PARQUET_TEXT, PARQUET_DICTIONARY, false },
};
#define NR_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static int append(struct parquet *p, int64_t i, struct diag *d)
{
	struct parquet_value row[NR_COLUMNS] = { 0 };
	char label[32];

	(void)snprintf(label, sizeof(label), "label-%" PRId64, i);
	row[0].i64 = i * i * 37 - 1000;
	row[1] = (struct parquet_value){ .is_null = i % 11 == 3, .i64 = INT64_MIN + i };
	row[2] = (struct parquet_value){ .is_null = i % 1000 < 500, .i64 = i % 7 * 1000 };
	row[3].i64 = i * 1000003;
	row[4] = (struct parquet_value){ .is_null = i % 5 == 0, .number = (double)i + 0.5 };
	row[5] = (struct parquet_value){ .is_null = i % 13 == 0, .flag = i % 3 == 0 };
	row[6] = (struct parquet_value){ .is_null = i % 4 == 1,
		                         .text = i % 2 ? "odd" : "",
		                         .len = i % 2 ? 3 : 0 };
	row[7] = (struct parquet_value){ .text = label, .len = strlen(label) };
	row[8].is_null = true;
	return parquet_append(p, row, d);
}

int main(int argc, char **argv)
{
	struct parquet_cfg cfg = { .columns = columns,
		                   .nr_columns = NR_COLUMNS,
		                   .fd = argc == 2
		                                 ? open(argv[1], O_WRONLY | O_CREAT | O_EXCL, 0666)
		                                 : -1,
		                   .name = "sample",
		                   .group_rows = 70000,
		                   .page_rows = 999 };
	struct parquet *p = NULL;
	struct diag d = { 0 };
	int err = parquet_open(&cfg, &d, &p);

	for (int64_t i = 0; i < ROWS && !err; i++)
		err = append(p, i, &d);
	if (!err)
		err = parquet_close(p, &d);
	parquet_free(p);
	if (err)
		fprintf(stderr, "%s: %s\n", d.what, strerror(-err));
	return !!err;
}
