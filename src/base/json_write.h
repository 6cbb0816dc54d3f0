/*
 * base/json_write — writes JSON as it goes; no tree, no allocation per value.
 *
 * The writer adds commas, quotes and escapes. Strings are untrusted: control bytes are escaped, bytes
 * that are not UTF-8 become U+FFFD. Numbers that JSON cannot hold (NaN, infinity) become null. Errors
 * of the stream stick: jw_finish() returns the first one. Keys are NULL inside arrays. A document is
 * one value; after jw_finish() the next one may begin. What is not a document (too deep, not closed,
 * more than one value) ends in -EINVAL.
 *
 * The prefix is jw_ because json_ is that of jansson, which reads JSON in this program: json_string and
 * json_null would be its functions or ours, depending on the linker.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"

#define JSON_MAX_DEPTH 32

struct json_writer {
	FILE *out;
	bool is_pretty; /* two spaces of indent and a line per value */
	int depth;
	bool has_value[JSON_MAX_DEPTH + 1]; /* of the document itself and of each level */
	int error;                          /* negative errno, sticks */
};

void jw_init(struct json_writer *w, FILE *out, bool is_pretty);
void jw_begin_object(struct json_writer *w, const char *key);
void jw_end_object(struct json_writer *w);
void jw_begin_array(struct json_writer *w, const char *key);
void jw_end_array(struct json_writer *w);
void jw_string(struct json_writer *w, const char *key, const char *value); /* NULL is null */
void jw_bytes(struct json_writer *w, const char *key, const char *value, size_t len);
void jw_u64(struct json_writer *w, const char *key, uint64_t value);
void jw_i64(struct json_writer *w, const char *key, int64_t value);
/* Up to 15 decimals; from 1e15 on, where a double has none, an exponent; the same in every locale. */
void jw_double(struct json_writer *w, const char *key, double value, int decimals);
void jw_bool(struct json_writer *w, const char *key, bool value);
void jw_null(struct json_writer *w, const char *key);
/* null unless it is known; a double that is not is NAN. */
void jw_u64_if(struct json_writer *w, const char *key, bool is_known, uint64_t value);
void jw_i64_if(struct json_writer *w, const char *key, bool is_known, int64_t value);
/* A value that is JSON already. */
void jw_raw(struct json_writer *w, const char *key, const char *json, size_t len);
/* The members of an object that is JSON already, into the one that is open. */
void jw_raw_members(struct json_writer *w, const char *object, size_t len);
/* Ends the document with a newline and flushes it; 0 or the first error. */
MUST_USE int jw_finish(struct json_writer *w);
