/*
 * serve/columns — the sums as Parquet files for engines that query many machines: what was counted in each interval.
 *
 * DIR/TABLE/date=YYYY-MM-DD/host=NAME/FROM-TO.parquet, a file per table and interval. Rows hold what was added since the last file, so sums
 * over rows are sums over time; each says from when to when. Intervals end where the wall clock is a multiple of their length, so those of many
 * machines lie side by side; the first and the last are shorter.
 *
 * A file is complete or absent. One that cannot be written is logged once and counted; what it should have had stays in the sums, and the next
 * one covers the time of both. Old files are left to what collects them.
 *
 * Files are made with the rights of columns_open(), through sys/rights/broker_dirs. One thread. Blocks on the file system.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "serve/dumps.h"
#include "serve/source.h"
#include "serve/sums.h"

struct columns;

struct columns_cfg {
	const char *dir;
	const char *host;    /* NULL = what the source says */
	const char *labels;  /* JSON; NULL = none */
	const char *version; /* of this program */
	uint64_t every_ns;
};

struct columns_now {
	uint64_t boot_ns;
	uint64_t unix_ns;
};

/* Makes the folder where it is missing. The words of cfg are lent. */
MUST_USE int columns_open(const struct columns_cfg *cfg, struct diag *d, struct columns **out);
void columns_close(struct columns *c); /* NULL is fine */

/* All three are lent; dumps may be NULL. The first interval begins. */
void columns_begin(struct columns *c, const struct serve_source *src, struct sums *s,
                   struct dumps *dumps, const struct columns_now *now);
uint64_t columns_due_ns(const struct columns *c); /* boot time */
/* The interval ends now, and the next one begins. */
void columns_write(struct columns *c, const struct columns_now *now);
