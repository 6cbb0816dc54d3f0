/*
 * serve/parquet/thrift — Thrift's compact protocol, as far as headers and footers of Parquet need it.
 *
 * A struct is begun, its fields are written in the order of their numbers, and it is ended. A list is begun with the type and number
 * of its members, which follow without fields. Errors are those of the block.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "serve/parquet/bytes.h"

#define THRIFT_DEPTH 8

enum thrift_type {
	THRIFT_TRUE = 1,
	THRIFT_FALSE = 2,
	THRIFT_I16 = 4,
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12,
};

struct thrift {
	struct bytes *out;
	int16_t last[THRIFT_DEPTH]; /* number of the field before, by depth */
	unsigned int depth;
};

/* Of a struct within another: field; a member of a list, and the outermost: 0. */
void thrift_begin(struct thrift *t, int16_t field);
void thrift_end(struct thrift *t);
void thrift_i16(struct thrift *t, int16_t field, int16_t value);
void thrift_i32(struct thrift *t, int16_t field, int32_t value);
void thrift_i64(struct thrift *t, int16_t field, int64_t value);
void thrift_bool(struct thrift *t, int16_t field, int value);
void thrift_binary(struct thrift *t, int16_t field, const void *bytes, size_t nr);
void thrift_string(struct thrift *t, int16_t field, const char *text);
void thrift_list(struct thrift *t, int16_t field, enum thrift_type type, size_t nr);
/* Members of a list. */
void thrift_item_i32(struct thrift *t, int32_t value);
void thrift_item_string(struct thrift *t, const char *text);
