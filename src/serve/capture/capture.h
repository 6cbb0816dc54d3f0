/*
 * serve/capture/capture — the tables of a recording (sql/sql_table) as Parquet files, for engines that query many recordings.
 *
 * DIR/TABLE/date=YYYY-MM-DD/host=NAME/CAPTURE.parquet: one file per table and recording. Rows and values are those of SQL; the first column,
 * capture, is the name of the recording, so that rows of several ones in a query are joined by host, capture and number. The
 * day is that on which the recording began, in UTC. What a recording does not tell, day or host, is Hive's null.
 *
 * All tables are written before the first file takes its name; a failure leaves none of them. Memory is that of a row group.
 * The source is lent. One thread. Blocks on the file system.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/source.h"
#include "base/attr.h"
#include "base/diag.h"

#define CAPTURE_SCHEMA \
	"1" /* moves when a column changes its meaning or goes; new ones do not move it */
#define CAPTURE_COLUMNS_MAX 32U
#define CAPTURE_NAME_MAX    160U

struct capture_cfg {
	const char *dir;
	const char *name;   /* of the recording, without folder and extension */
	const char *host;   /* NULL = as the recording says */
	const char *tables; /* names with commas; NULL = all */
	bool is_replacing;  /* files of the same recording that are there */
	void (*progress)(void *ctx, uint64_t done, uint64_t total); /* NULL = none */
	void *ctx;
};

struct capture_result {
	uint64_t nr_files, nr_rows, nr_bytes;
};

/* -EINVAL with a sentence for a table that there is not. */
MUST_USE int capture_check_tables(const char *tables, struct diag *d);
MUST_USE int capture_write(const struct source *s, const struct capture_cfg *cfg, struct diag *d,
                           struct capture_result *out);
