/*
 * base/json_write — writes JSON as it goes; no tree, no allocation per value.
 *
 * Commas, quoting and escapes are the writer's business. Strings are untrusted: control bytes are
 * escaped, bytes that are not UTF-8 become U+FFFD. Numbers that JSON cannot hold (NaN, infinity) become
 * null. Errors of the stream stick: json_finish() tells of the first one. Keys are NULL inside arrays.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"

#define JSON_MAX_DEPTH 32

struct json_writer {
	FILE *out;
	bool is_pretty; /* two spaces of indent and a line per value */
	int depth;
	bool has_value[JSON_MAX_DEPTH];
	int error; /* negative errno, sticks */
};

void json_init(struct json_writer *w, FILE *out, bool is_pretty);
void json_begin_object(struct json_writer *w, const char *key);
void json_end_object(struct json_writer *w);
void json_begin_array(struct json_writer *w, const char *key);
void json_end_array(struct json_writer *w);
void json_string(struct json_writer *w, const char *key, const char *value); /* NULL is null */
void json_bytes(struct json_writer *w, const char *key, const char *value, size_t len);
void json_u64(struct json_writer *w, const char *key, uint64_t value);
void json_i64(struct json_writer *w, const char *key, int64_t value);
void json_double(struct json_writer *w, const char *key, double value, int decimals);
void json_bool(struct json_writer *w, const char *key, bool value);
void json_null(struct json_writer *w, const char *key);
/* Ends the document with a newline and flushes it; 0 or the first error. */
MUST_USE int json_finish(struct json_writer *w);
