/* serve/columns_rows — the tables of serve/columns: their columns, and their rows from the sums. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "serve/dumps.h"
#include "serve/parquet/parquet.h"
#include "serve/sums.h"

enum { TABLE_HIST, TABLE_BLAME, TABLE_DUMPS, COLUMN_TABLES };

/* What files have already of the sums that are not marked in themselves. */
struct columns_written {
	struct hist dists[DISTS];
	uint64_t covered_ns; /* of the blame */
};

/* Dumps that have come since a file had them. */
struct columns_dumps {
	char (*names)[NAME_MAX + 1];
	uint32_t nr, cap;
};

/* What a table is made of. */
struct columns_rows {
	struct sums *s;
	const struct dumps *dumps; /* NULL = none */
	struct columns_written *written;
	struct columns_dumps *fresh;
	/* In each row; texts may be "" or NULL: unknown. */
	uint64_t from_ns, to_ns; /* Unix time */
	const char *boot_id, *kernel, *machine, *labels;
	double clock_to_unix_s;
	struct parquet *out;
	struct diag *d;
};

struct columns_table {
	const char *name;
	const struct parquet_column *columns;
	uint32_t nr_columns;
	bool (*is_on)(const struct sums *s);
	bool (*has_rows)(const struct columns_rows *r);
	int (*put)(const struct columns_rows *r);
	void (*mark)(const struct columns_rows *r); /* files have all of it */
};

extern const struct columns_table columns_tables[COLUMN_TABLES];
