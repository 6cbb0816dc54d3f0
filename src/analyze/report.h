/*
 * analyze/report — the answer of an analysis: a small tree of named values, shown as text or JSON by render/.
 *
 * Built in document order: begin, add, end. Keys name their units (`_ns`, `_us`, `_percent`, `_bytes`,
 * `_per_sec`), as both renderings rely on it, and must be valid as long as the report: literals, or texts made
 * by report_printf(). Values are copied. What is unknown is report_null(), never 0. An array of objects with the
 * same keys is a table. Errors stick and come out of report_error(); a report is bounded by its cap. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"

struct report;

enum report_type {
	REPORT_NULL,
	REPORT_BOOL,
	REPORT_U64,
	REPORT_I64,
	REPORT_DOUBLE,
	REPORT_STRING,
	REPORT_ARRAY,
	REPORT_OBJECT,
};

struct report_node {
	const char *key; /* NULL inside arrays */
	const struct report_node *next;
	enum report_type type;
	uint8_t decimals; /* of a double */
	bool is_id;       /* of an integer: a name, not an amount */
	union {
		bool b;
		uint64_t u64;
		int64_t i64;
		double f;
		const char *text;
		struct {
			const struct report_node *first;
			uint32_t nr;
		};
	};
};

/* cap_bytes 0 picks 512 MiB. NULL without memory. */
struct report *report_new(size_t cap_bytes);
void report_free(struct report *r); /* NULL is fine */
DEFINE_SCOPED(report, report_free)

void report_begin_object(struct report *r, const char *key);
void report_end_object(struct report *r);
void report_begin_array(struct report *r, const char *key);
void report_end_array(struct report *r);
void report_u64(struct report *r, const char *key, uint64_t value);
void report_i64(struct report *r, const char *key, int64_t value);
/* Of a queue, a request, an address: shown whole, and as a text in JSON where a double cannot hold it. */
void report_id(struct report *r, const char *key, uint64_t value);
void report_double(struct report *r, const char *key, double value, int decimals);
void report_bool(struct report *r, const char *key, bool value);
void report_string(struct report *r, const char *key, const char *value); /* NULL is null */
void report_null(struct report *r, const char *key);
/* null unless it is known. */
void report_u64_if(struct report *r, const char *key, bool is_known, uint64_t value);
void report_i64_if(struct report *r, const char *key, bool is_known, int64_t value);
void report_double_if(struct report *r, const char *key, bool is_known, double value, int decimals);
/* A text valid as long as the report, "" without memory. */
const char *report_printf(struct report *r, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* A value of one report, as it is, in another; keys are copied, too. */
void report_copy(struct report *r, const char *key, const struct report_node *node);

/* part of whole in percent, null if whole is 0. */
void report_percent(struct report *r, const char *key, uint64_t part, uint64_t whole);

/* 0, -ENOMEM beyond the cap, -EINVAL for what is not one whole object. */
MUST_USE int report_error(const struct report *r);
/* The object; valid until the report is freed. NULL while it is incomplete. */
const struct report_node *report_root(const struct report *r);
/* The value under a path such as "summary.total" or "rows.0.pid". NULL if there is none. */
const struct report_node *report_at(const struct report_node *node, const char *path);
/* The same as a number and as a text; 0 and NULL where it is none. */
uint64_t report_u64_at(const struct report_node *node, const char *path);
const char *report_text_at(const struct report_node *node, const char *path);
/* False unless it is a number. */
bool report_number(const struct report_node *node, double *out);
