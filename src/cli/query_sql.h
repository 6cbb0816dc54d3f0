/* cli/query_sql — query --sql: one SELECT over a recording, as a table, JSON or CSV. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/source.h"
#include "base/attr.h"
#include "base/diag.h"

enum query_shape { QUERY_TABLE, QUERY_JSON, QUERY_JSONL, QUERY_CSV };

struct query_sql {
	const char *text; /* "-" = read it from standard input */
	uint64_t limit;   /* rows; 0 = all */
	enum query_shape shape;
};

/* What there is to be asked for. */
MUST_USE int query_sql_tables(bool is_json, struct diag *d);
/* The text itself, to be freed. */
MUST_USE int query_sql_text(const struct query_sql *q, struct diag *d, char **out);
/* Runs it and prints the answer. */
MUST_USE int query_sql(const struct query_sql *q, const char *text, const struct source *s,
                       struct diag *d);
