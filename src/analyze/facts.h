/*
 * analyze/facts — a report (analyze/report) that is filled in many places at once: each object and list is a handle.
 *
 * For reports of live analyzers, whose shape is many small tables. Everything lives in the caller's arena; names
 * and texts are not copied. Unknown is null. When the arena is full, facts_is_whole() says so, and what did not fit is missing. All functions take
 * NULL for a parent that did not fit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/report.h"

struct arena;

/* An object or list that is being filled. */
struct facts {
	struct report_node node;
	struct report_node *last; /* of its members */
	struct facts *top;
	struct arena *mem;
	bool is_cut; /* at the top: something did not fit */
};

struct facts *facts_new(struct arena *mem); /* an empty object; NULL when the arena is full */
bool facts_is_whole(const struct facts *top);

void facts_u64(struct facts *f, const char *key, uint64_t value);
/* Of a queue, an address: a text in JSON where a double cannot hold it. */
void facts_id(struct facts *f, const char *key, uint64_t value);
void facts_i64(struct facts *f, const char *key, int64_t value);
void facts_double(struct facts *f, const char *key, double value);
void facts_string(struct facts *f, const char *key, const char *value); /* NULL is null */
void facts_bool(struct facts *f, const char *key, bool value);
void facts_null(struct facts *f, const char *key);
/* null unless it is known */
void facts_known_u64(struct facts *f, const char *key, bool is_known, uint64_t value);
void facts_us(struct facts *f, const char *key, bool is_known, uint64_t ns); /* microseconds */
struct facts *facts_object(struct facts *f, const char *key);
struct facts *facts_list(struct facts *f, const char *key);
