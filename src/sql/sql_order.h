/*
 * sql/sql_order — the rows of a scan by some of their columns, so that SQLite need not sort them: GROUP BY of a few keys is most of
 * what is asked for, and sorting is most of its time.
 *
 * Only for tables that are rows of the timeline, and for columns of few different values. As SQLite sorts: null first, numbers by
 * value, texts by bytes. Rows of the same keys stay in the order of the scan. Memory is SQLite's, which has a limit: 4 bytes per row and
 * 4 for each key while it is made.
 */
#pragma once

#include "base/attr.h"
#include "sql/sql_table.h"

#define SQL_ORDER_MAX 3

struct sql_order {
	uint32_t *rows; /* ids minus first */
	uint64_t first;
	size_t nr;
	size_t at;
};

/* -ENOMEM. The scan is at its beginning, and then used up. */
MUST_USE int sql_order_make(struct sql_scan *scan, const uint32_t *columns, uint32_t nr_columns,
                            struct sql_order *out);
void sql_order_done(struct sql_order *o);
/* The next one becomes the row of the scan; false at the end. */
bool sql_order_next(struct sql_order *o, struct sql_scan *scan);
