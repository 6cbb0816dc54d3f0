/*
 * cli/export_parquet — export --parquet: the tables of recordings as files of columns.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/diag.h"
#include "base/opt.h"

struct export_parquet {
	const char *dir;
	const char *host;
	const char *tables;
	bool is_replacing;
};

/* Entries of an option table; field is the struct export_parquet within the command's own. */
/* NOLINTBEGIN(bugprone-macro-parentheses): names of types and fields take none */
#define EXPORT_PARQUET_OPTIONS(st, field)                                                          \
	OPT_STRING(0, "parquet", "DIR", st, field.dir,                                             \
	           "the tables of each FILE as Parquet files below DIR instead",                   \
	           .heading = "Columns for DuckDB, ClickHouse and others", .is_file = true),       \
		OPT_STRING(0, "host", "NAME", st, field.host,                                      \
	                   "with --parquet: the host, where the recording names none or another"), \
		OPT_STRING(0, "tables", "LIST", st, field.tables,                                  \
	                   "with --parquet: only these, separated by commas"),                     \
		OPT_FLAG(0, "force", st, field.is_replacing,                                       \
	                 "with --parquet: replace files that an earlier export wrote")
/* NOLINTEND(bugprone-macro-parentheses) */

MUST_USE int export_parquet_check(const struct export_parquet *args, struct diag *d);
/* Recordings in their order, up to the first that fails. */
MUST_USE int export_parquet(const struct export_parquet *args, const struct opt_list *files,
                            struct diag *d);
/* The file name without folder and last extension. */
void export_name(const char *path, char *buf, size_t size);
