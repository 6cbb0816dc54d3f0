#include "serve/parquet/thrift.h"

#include <assert.h>
#include <string.h>

#define SHORT_STEP 15 /* fields and lists up to there have a short header */

static void put_field(struct thrift *t, int16_t field, enum thrift_type type)
{
	int16_t *last = &t->last[t->depth];
	int step = field - *last;

	if (step > 0 && step <= SHORT_STEP) {
		bytes_u8(t->out, (uint8_t)(step << 4 | (int)type));
	} else {
		bytes_u8(t->out, (uint8_t)type);
		bytes_zigzag(t->out, field);
	}
	*last = field;
}

void thrift_begin(struct thrift *t, int16_t field)
{
	assert(t->depth + 1 < THRIFT_DEPTH);
	if (field)
		put_field(t, field, THRIFT_STRUCT);
	t->last[++t->depth] = 0;
}

void thrift_end(struct thrift *t)
{
	assert(t->depth > 0);
	bytes_u8(t->out, 0);
	t->depth--;
}

void thrift_i16(struct thrift *t, int16_t field, int16_t value)
{
	put_field(t, field, THRIFT_I16);
	bytes_zigzag(t->out, value);
}

void thrift_i32(struct thrift *t, int16_t field, int32_t value)
{
	put_field(t, field, THRIFT_I32);
	bytes_zigzag(t->out, value);
}

void thrift_i64(struct thrift *t, int16_t field, int64_t value)
{
	put_field(t, field, THRIFT_I64);
	bytes_zigzag(t->out, value);
}

void thrift_bool(struct thrift *t, int16_t field, int value)
{
	put_field(t, field, value ? THRIFT_TRUE : THRIFT_FALSE);
}

static void put_binary(struct thrift *t, const void *bytes, size_t nr)
{
	bytes_varint(t->out, nr);
	bytes_add(t->out, bytes, nr);
}

void thrift_binary(struct thrift *t, int16_t field, const void *bytes, size_t nr)
{
	put_field(t, field, THRIFT_BINARY);
	put_binary(t, bytes, nr);
}

void thrift_string(struct thrift *t, int16_t field, const char *text)
{
	thrift_binary(t, field, text, strlen(text));
}

void thrift_list(struct thrift *t, int16_t field, enum thrift_type type, size_t nr)
{
	put_field(t, field, THRIFT_LIST);
	if (nr < SHORT_STEP) {
		bytes_u8(t->out, (uint8_t)(nr << 4 | (unsigned int)type));
		return;
	}
	bytes_u8(t->out, (uint8_t)(0xf0U | (unsigned int)type));
	bytes_varint(t->out, nr);
}

void thrift_item_i32(struct thrift *t, int32_t value)
{
	bytes_zigzag(t->out, value);
}

void thrift_item_string(struct thrift *t, const char *text)
{
	put_binary(t, text, strlen(text));
}
