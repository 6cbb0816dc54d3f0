/* serve/parquet/parquet_priv — what the files of the writer share. */
#pragma once

#include <zstd.h>

#include "base/intern.h"
#include "base/map.h"
#include "serve/parquet/bytes.h"
#include "serve/parquet/parquet.h"

#define STATS_TEXT_MAX 64U /* bytes of a least or greatest text; longer ones are not given */

/* Numbers of parquet.thrift. */
enum { PQ_BOOLEAN = 0, PQ_INT64 = 2, PQ_DOUBLE = 5, PQ_BYTE_ARRAY = 6 };
enum pq_encoding { PQ_PLAIN = 0, PQ_RLE = 3, PQ_DELTA_BINARY_PACKED = 5, PQ_RLE_DICTIONARY = 8 };
enum { PQ_DATA_PAGE = 0, PQ_DICTIONARY_PAGE = 2 };
enum { PQ_CODEC_ZSTD = 6 };

/* Of the values of a row group. */
struct pq_stats {
	uint64_t nulls;
	bool has_range; /* at least one value */
	bool is_open;   /* a value has no place in an order, or is too long: no range is given */
	uint64_t least, greatest; /* bits of the number */
	char least_text[STATS_TEXT_MAX], greatest_text[STATS_TEXT_MAX];
	size_t least_len, greatest_len;
};

/* A column of the row group at hand. */
struct pq_column {
	const struct parquet_column *c;
	/* the page at hand */
	uint64_t *values; /* of PLAIN and DELTA the values, of a dictionary their places in it */
	uint64_t *levels; /* 1 for a value, 0 for null; NULL if required */
	uint32_t nr_values, nr_levels; /* levels count nulls too */
	struct bytes texts;            /* of texts without a dictionary */
	/* the row group */
	struct bytes pages;         /* finished, with their headers */
	uint64_t raw_bytes;         /* of them before compression, with their headers */
	uint64_t nr_rows;           /* values and nulls in them */
	uint32_t encodings;         /* bit per enum pq_encoding in use */
	bool is_without_dictionary; /* it was given up, or was never asked for */
	struct intern
		*texts_known; /* ids are places in the dictionary; the first is the empty text */
	struct map *numbers_known;
	struct bytes dictionary; /* its page: PLAIN */
	uint32_t nr_dictionary;
	uint32_t last_place; /* of the value before, and that value */
	uint64_t last_bits;
	const char *last_text; /* interned; NULL = none */
	size_t last_len;
	struct pq_stats stats;
};

struct parquet {
	struct parquet_cfg cfg;
	struct pq_column *columns;
	uint64_t group_at; /* rows in the row group at hand */
	uint64_t nr_rows;
	uint64_t offset; /* bytes written */
	uint32_t nr_groups;
	uint32_t nr_notes;
	struct bytes groups; /* of the footer */
	struct bytes notes;
	struct bytes raw, packed, text; /* scratch */
	ZSTD_CCtx *zstd;
	int error;
	bool is_closed;
};

/* parquet_column.c */
MUST_USE int pq_column_init(struct pq_column *x, const struct parquet_column *c,
                            uint32_t page_rows);
void pq_column_done(struct pq_column *x);
/* For the next row group. */
void pq_column_restart(struct pq_column *x);
MUST_USE int pq_column_add(struct parquet *p, struct pq_column *x, const struct parquet_value *v);
/* The page at hand becomes one of the row group. */
MUST_USE int pq_column_end_page(struct parquet *p, struct pq_column *x);

/* parquet_page.c */
struct pq_page {
	int type; /* PQ_DATA_PAGE or PQ_DICTIONARY_PAGE */
	uint32_t nr_values;
	enum pq_encoding encoding;
};
/* A page at the end of out: header, compressed bytes. Adds what they are without compression to *raw_bytes. */
MUST_USE int pq_page_put(struct parquet *p, const struct pq_page *page, const struct bytes *raw,
                         struct bytes *out, uint64_t *raw_bytes);

/* parquet_stats.c */
void pq_stats_null(struct pq_stats *s);
void pq_stats_number(struct pq_stats *s, enum parquet_type type, uint64_t bits);
void pq_stats_text(struct pq_stats *s, const char *text, size_t len);

/* parquet_footer.c */
struct pq_chunk {
	const struct pq_column *x;
	uint64_t dictionary_at; /* offset; 0 = none */
	uint64_t data_at;
	uint64_t raw_bytes, bytes;
};
/* A row group that has been written. */
void pq_footer_group(struct parquet *p, const struct pq_chunk *chunks, uint64_t nr_rows);
void pq_footer_note(struct parquet *p, const char *key, const char *value);
void pq_footer_put(const struct parquet *p, struct bytes *out);
