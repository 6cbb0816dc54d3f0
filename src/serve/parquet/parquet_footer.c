#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "serve/parquet/parquet_priv.h"
#include "serve/parquet/thrift.h"

#define FORMAT_VERSION 2

/* Fields of parquet.thrift, by struct. */
enum {
	FILE_VERSION = 1,
	FILE_SCHEMA,
	FILE_ROWS,
	FILE_GROUPS,
	FILE_NOTES,
	FILE_WRITER,
	FILE_ORDERS
};
enum { SCHEMA_TYPE = 1, SCHEMA_REPETITION = 3, SCHEMA_NAME, SCHEMA_CHILDREN, SCHEMA_CONVERTED };
enum { SCHEMA_LOGICAL = 10, LOGICAL_STRING = 1, CONVERTED_UTF8 = 0, ORDER_BY_TYPE = 1 };
enum { REPETITION_REQUIRED = 0, REPETITION_OPTIONAL = 1 };
enum { GROUP_COLUMNS = 1, GROUP_RAW_BYTES = 2, GROUP_ROWS = 3, GROUP_OFFSET = 5, GROUP_BYTES = 6 };
enum { GROUP_ORDINAL = 7, GROUP_ORDINAL_MAX = INT16_MAX };
enum { CHUNK_OFFSET = 2, CHUNK_META = 3 };
enum { META_TYPE = 1, META_ENCODINGS, META_PATH, META_CODEC, META_VALUES, META_RAW_BYTES };
enum { META_BYTES = 7, META_DATA_AT = 9, META_DICTIONARY_AT = 11, META_STATS = 12 };
enum { STATS_NULLS = 3, STATS_MAX = 5, STATS_MIN = 6, STATS_MAX_EXACT = 7, STATS_MIN_EXACT = 8 };
enum { NOTE_KEY = 1, NOTE_VALUE = 2 };

static const int types[] = {
	[PARQUET_I64] = PQ_INT64,
	[PARQUET_DOUBLE] = PQ_DOUBLE,
	[PARQUET_BOOL] = PQ_BOOLEAN,
	[PARQUET_TEXT] = PQ_BYTE_ARRAY,
};

static void put_number(struct thrift *t, int16_t field, const struct pq_column *x, uint64_t bits)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(bits >> (8 * i));
	thrift_binary(t, field, bytes, x->c->type == PARQUET_BOOL ? 1 : sizeof(bytes));
}

/* Of zeros of doubles the least is -0 and the greatest +0, so that a reader finds both. */
static uint64_t widened(const struct pq_column *x, uint64_t bits, bool is_least)
{
	const uint64_t minus = (uint64_t)1 << 63;

	if (x->c->type != PARQUET_DOUBLE || (bits & ~minus))
		return bits;
	return is_least ? minus : 0;
}

static void put_stats(struct thrift *t, const struct pq_column *x)
{
	const struct pq_stats *s = &x->stats;
	bool is_text = x->c->type == PARQUET_TEXT;

	thrift_begin(t, META_STATS);
	thrift_i64(t, STATS_NULLS, (int64_t)s->nulls);
	if (s->has_range && !s->is_open && is_text) {
		thrift_binary(t, STATS_MAX, s->greatest_text, s->greatest_len);
		thrift_binary(t, STATS_MIN, s->least_text, s->least_len);
	} else if (s->has_range && !s->is_open) {
		put_number(t, STATS_MAX, x, widened(x, s->greatest, false));
		put_number(t, STATS_MIN, x, widened(x, s->least, true));
	}
	if (s->has_range && !s->is_open) {
		thrift_bool(t, STATS_MAX_EXACT, true);
		thrift_bool(t, STATS_MIN_EXACT, true);
	}
	thrift_end(t);
}

static void put_chunk(struct thrift *t, const struct pq_chunk *c)
{
	const struct pq_column *x = c->x;

	thrift_begin(t, 0);
	thrift_i64(t, CHUNK_OFFSET, 0); /* the metadata are here, not in another place */
	thrift_begin(t, CHUNK_META);
	thrift_i32(t, META_TYPE, types[x->c->type]);
	thrift_list(t, META_ENCODINGS, THRIFT_I32, (size_t)__builtin_popcount(x->encodings));
	for (int32_t i = 0; i <= PQ_RLE_DICTIONARY; i++)
		if (x->encodings >> i & 1)
			thrift_item_i32(t, i);
	thrift_list(t, META_PATH, THRIFT_BINARY, 1);
	thrift_item_string(t, x->c->name);
	thrift_i32(t, META_CODEC, PQ_CODEC_ZSTD);
	thrift_i64(t, META_VALUES, (int64_t)x->nr_rows);
	thrift_i64(t, META_RAW_BYTES, (int64_t)c->raw_bytes);
	thrift_i64(t, META_BYTES, (int64_t)c->bytes);
	thrift_i64(t, META_DATA_AT, (int64_t)c->data_at);
	if (c->dictionary_at)
		thrift_i64(t, META_DICTIONARY_AT, (int64_t)c->dictionary_at);
	put_stats(t, x);
	thrift_end(t);
	thrift_end(t);
}

void pq_footer_group(struct parquet *p, const struct pq_chunk *chunks, uint64_t nr_rows)
{
	struct thrift t = { .out = &p->groups };
	uint64_t raw_bytes = 0, bytes = 0;

	for (uint32_t i = 0; i < p->cfg.nr_columns; i++) {
		raw_bytes += chunks[i].raw_bytes;
		bytes += chunks[i].bytes;
	}
	thrift_begin(&t, 0);
	thrift_list(&t, GROUP_COLUMNS, THRIFT_STRUCT, p->cfg.nr_columns);
	for (uint32_t i = 0; i < p->cfg.nr_columns; i++)
		put_chunk(&t, &chunks[i]);
	thrift_i64(&t, GROUP_RAW_BYTES, (int64_t)raw_bytes);
	thrift_i64(&t, GROUP_ROWS, (int64_t)nr_rows);
	thrift_i64(&t, GROUP_OFFSET,
	           (int64_t)(chunks[0].dictionary_at ? chunks[0].dictionary_at
	                                             : chunks[0].data_at));
	thrift_i64(&t, GROUP_BYTES, (int64_t)bytes);
	if (p->nr_groups <= GROUP_ORDINAL_MAX)
		thrift_i16(&t, GROUP_ORDINAL, (int16_t)p->nr_groups);
	thrift_end(&t);
	p->nr_groups++;
}

void pq_footer_note(struct parquet *p, const char *key, const char *value)
{
	struct thrift t = { .out = &p->notes };

	thrift_begin(&t, 0);
	thrift_string(&t, NOTE_KEY, key);
	thrift_string(&t, NOTE_VALUE, value);
	thrift_end(&t);
	p->nr_notes++;
}

static void put_schema(struct thrift *t, const struct parquet *p)
{
	thrift_list(t, FILE_SCHEMA, THRIFT_STRUCT, (size_t)p->cfg.nr_columns + 1);
	thrift_begin(t, 0);
	thrift_string(t, SCHEMA_NAME, "schema");
	thrift_i32(t, SCHEMA_CHILDREN, (int32_t)p->cfg.nr_columns);
	thrift_end(t);
	for (uint32_t i = 0; i < p->cfg.nr_columns; i++) {
		const struct parquet_column *c = &p->cfg.columns[i];

		thrift_begin(t, 0);
		thrift_i32(t, SCHEMA_TYPE, types[c->type]);
		thrift_i32(t, SCHEMA_REPETITION,
		           c->is_required ? REPETITION_REQUIRED : REPETITION_OPTIONAL);
		thrift_string(t, SCHEMA_NAME, c->name);
		if (c->type == PARQUET_TEXT) {
			thrift_i32(t, SCHEMA_CONVERTED, CONVERTED_UTF8);
			thrift_begin(t, SCHEMA_LOGICAL);
			thrift_begin(t, LOGICAL_STRING);
			thrift_end(t);
			thrift_end(t);
		}
		thrift_end(t);
	}
}

/* Least and greatest values are in the order of their types. */
static void put_orders(struct thrift *t, const struct parquet *p)
{
	thrift_list(t, FILE_ORDERS, THRIFT_STRUCT, p->cfg.nr_columns);
	for (uint32_t i = 0; i < p->cfg.nr_columns; i++) {
		thrift_begin(t, 0);
		thrift_begin(t, ORDER_BY_TYPE);
		thrift_end(t);
		thrift_end(t);
	}
}

void pq_footer_put(const struct parquet *p, struct bytes *out)
{
	struct thrift t = { .out = out };
	char writer[64];

	thrift_begin(&t, 0);
	thrift_i32(&t, FILE_VERSION, FORMAT_VERSION);
	put_schema(&t, p);
	thrift_i64(&t, FILE_ROWS, (int64_t)p->nr_rows);
	thrift_list(&t, FILE_GROUPS, THRIFT_STRUCT, p->nr_groups);
	bytes_add(out, p->groups.at, p->groups.nr);
	if (p->nr_notes) {
		thrift_list(&t, FILE_NOTES, THRIFT_STRUCT, p->nr_notes);
		bytes_add(out, p->notes.at, p->notes.nr);
	}
	/* Readers take the word in the middle for granted. */
	(void)snprintf(writer, sizeof(writer), "schedscope version %s", schedscope_version);
	thrift_string(&t, FILE_WRITER, writer);
	put_orders(&t, p);
	thrift_end(&t);
}
