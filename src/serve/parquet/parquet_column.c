#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "serve/parquet/encode.h"
#include "serve/parquet/parquet_priv.h"

#define DICTIONARY_VALUES 65536U /* beyond, places cost as much as values */
#define DICTIONARY_BYTES  ((size_t)1 << 20)
#define PAGE_TEXT_BYTES   ((size_t)1 << 20)

static bool wants_dictionary(const struct parquet_column *c)
{
	return c->coding == PARQUET_DICTIONARY;
}

static int open_dictionary(struct pq_column *x)
{
	if (x->c->type != PARQUET_TEXT)
		return x->numbers_known
		               ? 0
		               : map_new(sizeof(uint64_t), DICTIONARY_VALUES, &x->numbers_known);
	x->texts_known = intern_new(DICTIONARY_VALUES, DICTIONARY_BYTES);
	if (!x->texts_known)
		return -ENOMEM;
	encode_plain_text(&x->dictionary, "", 0);
	x->nr_dictionary = 1;
	return bytes_error(&x->dictionary);
}

int pq_column_init(struct pq_column *x, const struct parquet_column *c, uint32_t page_rows)
{
	x->c = c;
	x->values = calloc(page_rows, sizeof(*x->values));
	x->levels = c->is_required ? NULL : calloc(page_rows, sizeof(*x->levels));
	if (!x->values || (!c->is_required && !x->levels))
		return -ENOMEM;
	x->is_without_dictionary = !wants_dictionary(c);
	return 0;
}

void pq_column_done(struct pq_column *x)
{
	free(x->values);
	free(x->levels);
	bytes_done(&x->texts);
	bytes_done(&x->pages);
	bytes_done(&x->dictionary);
	intern_free(x->texts_known);
	map_free(x->numbers_known);
}

void pq_column_restart(struct pq_column *x)
{
	bytes_clear(&x->pages);
	bytes_clear(&x->dictionary);
	x->raw_bytes = 0;
	x->nr_rows = 0;
	x->encodings = 0;
	x->nr_dictionary = 0;
	x->stats = (struct pq_stats){ 0 };
	x->is_without_dictionary = !wants_dictionary(x->c);
	x->last_text = NULL;
	intern_free(TAKE_PTR(x->texts_known));
	if (x->numbers_known)
		map_clear(x->numbers_known);
}

static enum pq_encoding encoding_of(const struct pq_column *x)
{
	if (!x->nr_values)
		return PQ_PLAIN; /* nothing but nulls */
	if (!x->is_without_dictionary)
		return PQ_RLE_DICTIONARY;
	/* Integers that were too many for a dictionary are still near each other. */
	return x->c->type == PARQUET_I64 && x->c->coding != PARQUET_PLAIN ? PQ_DELTA_BINARY_PACKED
	                                                                  : PQ_PLAIN;
}

/* Behind their length. */
static void put_levels(const struct pq_column *x, struct bytes *out)
{
	size_t at = out->nr, nr;

	if (!x->levels)
		return;
	bytes_u32(out, 0);
	encode_rle(out, x->levels, x->nr_levels, 1);
	if (out->error)
		return;
	nr = out->nr - at - sizeof(uint32_t);
	for (size_t i = 0; i < sizeof(uint32_t); i++)
		out->at[at + i] = (uint8_t)(nr >> (8 * i));
}

static void put_values(const struct pq_column *x, enum pq_encoding encoding, struct bytes *out)
{
	unsigned int width;

	switch (encoding) {
	case PQ_RLE_DICTIONARY:
		width = encode_width(x->nr_dictionary - 1);
		bytes_u8(out, (uint8_t)width);
		encode_rle(out, x->values, x->nr_values, width);
		break;
	case PQ_DELTA_BINARY_PACKED:
		encode_delta(out, x->values, x->nr_values);
		break;
	default:
		if (x->c->type == PARQUET_TEXT)
			bytes_add(out, x->texts.at, x->texts.nr);
		else if (x->c->type == PARQUET_BOOL)
			encode_plain_bits(out, x->values, x->nr_values);
		else
			encode_plain64(out, x->values, x->nr_values);
		break;
	}
}

int pq_column_end_page(struct parquet *p, struct pq_column *x)
{
	const struct pq_page page = { PQ_DATA_PAGE, x->nr_levels, encoding_of(x) };
	int err;

	if (!x->nr_levels)
		return 0;
	bytes_clear(&p->raw);
	put_levels(x, &p->raw);
	put_values(x, page.encoding, &p->raw);
	if (x->texts.error)
		return x->texts.error;
	err = pq_page_put(p, &page, &p->raw, &x->pages, &x->raw_bytes);
	if (err)
		return err;
	x->encodings |= 1U << page.encoding | 1U << PQ_RLE; /* levels */
	x->nr_rows += x->nr_levels;
	x->nr_values = x->nr_levels = 0;
	bytes_clear(&x->texts);
	return 0;
}

/* The place of a number in the dictionary. -E2BIG when that is full. */
static int find_number(struct pq_column *x, uint64_t bits, uint32_t *out)
{
	int err;

	/* Values come in runs: the one before is found without the table. */
	if (x->nr_dictionary && bits == x->last_bits) {
		*out = x->last_place;
		return 0;
	}
	if (!map_find(x->numbers_known, &bits, out)) {
		err = map_insert(x->numbers_known, &bits, x->nr_dictionary);
		if (err)
			return err;
		bytes_u64(&x->dictionary, bits);
		*out = x->nr_dictionary++;
	}
	x->last_bits = bits;
	x->last_place = *out;
	return bytes_error(&x->dictionary);
}

static int find_text(struct pq_column *x, const char *text, size_t len, uint32_t *out)
{
	int err;

	if (x->last_text && len == x->last_len && memcmp(text, x->last_text, len) == 0) {
		*out = x->last_place;
		return 0;
	}
	err = intern_add(x->texts_known, text, len, out);
	if (err)
		return err;
	x->last_text = intern_string(x->texts_known, *out, &x->last_len);
	x->last_place = *out;
	if (*out >= x->nr_dictionary) {
		encode_plain_text(&x->dictionary, text, len);
		x->nr_dictionary++;
	}
	return bytes_error(&x->dictionary);
}

/* Into the dictionary; -E2BIG where it is given up. */
static int add_to_dictionary(struct parquet *p, struct pq_column *x, uint64_t bits,
                             const struct parquet_value *v)
{
	bool is_text = x->c->type == PARQUET_TEXT;
	uint32_t place;
	int err = 0;

	if (is_text ? !x->texts_known : !x->nr_dictionary)
		err = open_dictionary(x);
	if (!err)
		err = is_text ? find_text(x, v->text, v->len, &place)
		              : find_number(x, bits, &place);
	if (err == -E2BIG) {
		/* Places in the page at hand are those of the dictionary: it ends here. */
		err = pq_column_end_page(p, x);
		x->is_without_dictionary = true;
		return err ? err : -E2BIG;
	}
	if (!err)
		x->values[x->nr_values++] = place;
	return err;
}

static int add_value(struct parquet *p, struct pq_column *x, const struct parquet_value *v)
{
	uint64_t bits = x->c->type == PARQUET_BOOL ? v->flag : (uint64_t)v->i64;
	int err;

	if (x->c->type == PARQUET_DOUBLE)
		memcpy(&bits, &v->number, sizeof(bits));
	if (x->c->type == PARQUET_TEXT)
		pq_stats_text(&x->stats, v->text, v->len);
	else
		pq_stats_number(&x->stats, x->c->type, bits);
	if (!x->is_without_dictionary) {
		err = add_to_dictionary(p, x, bits, v);
		if (err != -E2BIG)
			return err;
	}
	if (x->c->type == PARQUET_TEXT)
		encode_plain_text(&x->texts, v->text, v->len);
	else
		x->values[x->nr_values] = bits;
	x->nr_values++;
	return bytes_error(&x->texts);
}

int pq_column_add(struct parquet *p, struct pq_column *x, const struct parquet_value *v)
{
	int err = 0;

	if (v->is_null)
		pq_stats_null(&x->stats);
	else
		err = add_value(p, x, v);
	if (err)
		return err;
	if (x->levels)
		x->levels[x->nr_levels] = !v->is_null;
	x->nr_levels++;
	if (x->nr_levels == p->cfg.page_rows || x->texts.nr >= PAGE_TEXT_BYTES)
		return pq_column_end_page(p, x);
	return 0;
}
