/*
 * report/tables — the tables of a report that hold sums by bucket: what their columns are, and how a key of report/cells holds
 * them.
 *
 * A table about rows that last has a partner: what has begun in each bucket, and what was open where a bucket begins. The
 * rows that overlap buckets i to j are those that began in i to j and those that were open at i.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "report/axis.h"
#include "report/cells.h"
#include "report/pack.h"
#include "report/slots.h"
#include "report/who.h"

enum report_table {
	TABLE_RUN,
	TABLE_RUN_OPEN,
	TABLE_WAIT,
	TABLE_WAIT_OPEN,
	TABLE_WAIT_CPU,
	TABLE_WAIT_CPU_OPEN,
	TABLE_WAKE,
	TABLE_WAKE_OPEN,
	TABLE_WAITING,
	TABLE_BLAME,
	TABLE_IRQ,
	TABLE_IDLE,
	TABLE_DSQ,
	TABLE_SAMPLE,
	REPORT_TABLES
};

/* What the numbers of a column are. */
enum table_role {
	ROLE_PLAIN,
	ROLE_WHO,
	ROLE_OTHER, /* who, in a pair with a waker or culprit, or as a culprit */
	ROLE_WAKER,
	ROLE_SLOT,
	ROLE_BAND,
};

struct table_key {
	const char *name;
	uint8_t bits;
	uint8_t role; /* enum table_role */
};

#define TABLE_MAX_KEYS 4

struct table_kind {
	const char *name;
	bool is_open; /* at edges */
	uint32_t nr_keys;
	/* The first is the most significant part of the key. */
	struct table_key keys[TABLE_MAX_KEYS];
	const char *values[2]; /* the second may be NULL */
};

extern const struct table_kind table_kinds[REPORT_TABLES];

#define TABLE_KIND_BITS 2U
#define TABLE_SLOT_BITS 8U

/* The key that holds these numbers. */
uint64_t table_key(enum report_table table, const uint32_t *numbers);
void table_numbers(enum report_table table, uint64_t key, uint32_t *out);

/* The same of tables that get a cell for each row: of TABLE_RUN, */
static inline uint64_t table_run_key(uint32_t cpu, uint32_t who)
{
	return (uint64_t)cpu << WHO_BITS | who;
}

/* of TABLE_WAIT and, by CPU, TABLE_WAIT_CPU, */
static inline uint64_t table_wait_key(uint32_t who_or_cpu, uint32_t kind, uint32_t slot)
{
	return ((uint64_t)who_or_cpu << TABLE_KIND_BITS | kind) << TABLE_SLOT_BITS | slot;
}

/* and of TABLE_WAKE. */
static inline uint64_t table_wake_key(uint32_t who, uint32_t waker, uint32_t kind, uint32_t band)
{
	return table_wait_key(who, 0, 0) << WHO_BITS | table_wait_key(waker, kind, band);
}

struct tables {
	struct cells at[REPORT_TABLES];
};

/* -ENOMEM. */
MUST_USE int tables_init(struct tables *t, uint32_t nr_buckets);
void tables_done(struct tables *t);
/* Several tables at once. */
MUST_USE int tables_halve(struct tables *t);
/* After who_fold(), and for other bands: bands are by former band, NULL = the same. nr_workers as in base/parallel. */
MUST_USE int tables_refold(struct tables *t, const struct who *w, const uint8_t *bands,
                           unsigned int nr_workers);
/* Marks which raw numbers are in use, each array by raw number; interrupts by their place. */
struct tables_used {
	uint8_t *who, *wakers, *interrupts;
};
void tables_mark(const struct tables *t, struct tables_used *used);
/* Columns of a table with the numbers of the report. -ENOMEM. */
MUST_USE int tables_pack(const struct tables *t, enum report_table table, const struct who *w,
                         const struct report_slots *slots, struct pack *out);
