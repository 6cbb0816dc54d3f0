/*
 * analyze/facts — what there is to tell, as names and values: objects, lists, numbers, texts.
 *
 * For reports whose shape is many small tables, each with its own names: built here, shown by render without
 * knowing any of them. Everything lives in the caller's arena; names and texts are not copied. Unknown is
 * null. When the arena is full, facts_is_whole() says so, and what did not fit is missing. All functions take
 * NULL for a parent that did not fit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum facts_type {
	FACTS_NULL,
	FACTS_BOOL,
	FACTS_U64,
	FACTS_I64,
	FACTS_DOUBLE,
	FACTS_STRING,
	FACTS_OBJECT,
	FACTS_LIST,
};

struct facts {
	const char *key; /* NULL in lists and at the top */
	enum facts_type type;
	union {
		bool is_true;
		uint64_t u64;
		int64_t i64;
		double real;
		const char *text;
	};
	struct facts *first, *last; /* of an object or list */
	struct facts *next;         /* of the same parent */
	struct facts *top;
	struct arena *mem;
	bool is_cut; /* at the top: something did not fit */
};

struct facts *facts_new(struct arena *mem); /* an empty object; NULL when the arena is full */
bool facts_is_whole(const struct facts *top);

void facts_u64(struct facts *f, const char *key, uint64_t value);
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

const struct facts *facts_find(const struct facts *f, const char *key); /* NULL if there is none */
/* False unless it is a number. */
bool facts_number(const struct facts *f, double *out);
