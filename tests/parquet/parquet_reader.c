#include "parquet_reader.h"

#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "base/arena.h"

#define MEMORY ((size_t)2 << 30)
#define DEPTH  16

/* What is left of some bytes. */
struct in {
	struct parquet_reader *r;
	const uint8_t *at;
	size_t left;
};

/* A value of Thrift: a number, bytes, or members (of a struct by field, of a list in order). */
struct node {
	int type, field;
	int64_t number;
	const uint8_t *bytes;
	size_t nr;
	struct node *first, *next;
};

static bool fail(struct parquet_reader *r, const char *what)
{
	if (!r->error[0])
		(void)snprintf(r->error, sizeof(r->error), "%s", what);
	return false;
}

static bool take(struct in *in, size_t nr, const uint8_t **out)
{
	if (nr > in->left)
		return fail(in->r, "it ends too early");
	*out = in->at;
	in->at += nr;
	in->left -= nr;
	return true;
}

static bool take_byte(struct in *in, uint8_t *out)
{
	const uint8_t *at;

	if (!take(in, 1, &at))
		return false;
	*out = *at;
	return true;
}

static bool take_varint(struct in *in, uint64_t *out)
{
	uint8_t byte = 0x80;

	*out = 0;
	for (unsigned int shift = 0; byte & 0x80; shift += 7) {
		if (shift > 63)
			return fail(in->r, "a number is too long");
		if (!take_byte(in, &byte))
			return false;
		*out |= (uint64_t)(byte & 0x7f) << shift;
	}
	return true;
}

static bool take_zigzag(struct in *in, int64_t *out)
{
	uint64_t value;

	if (!take_varint(in, &value))
		return false;
	*out = (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
	return true;
}

static uint32_t u32_at(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t u64_at(const uint8_t *at)
{
	return u32_at(at) | (uint64_t)u32_at(at + 4) << 32;
}

static struct node *new_node(struct parquet_reader *r)
{
	return ARENA_ARRAY(r->mem, struct node, 1);
}

static bool read_node(struct in *in, struct node *node, unsigned int depth);

static bool read_struct(struct in *in, struct node *node, unsigned int depth)
{
	struct node **end = &node->first;
	int64_t field = 0;

	for (;;) {
		uint8_t head;
		struct node *child;

		if (!take_byte(in, &head))
			return false;
		if (!head)
			return true;
		child = new_node(in->r);
		if (!child)
			return fail(in->r, "no memory");
		child->type = head & 15;
		if (head >> 4)
			field += head >> 4;
		else if (!take_zigzag(in, &field))
			return false;
		child->field = (int)field;
		if (!read_node(in, child, depth))
			return false;
		*end = child;
		end = &child->next;
	}
}

static bool read_list(struct in *in, struct node *node, unsigned int depth)
{
	struct node **end = &node->first;
	uint8_t head;
	uint64_t nr;

	if (!take_byte(in, &head))
		return false;
	nr = head >> 4;
	if (nr == 15 && !take_varint(in, &nr))
		return false;
	if (nr > in->left)
		return fail(in->r, "a list is too long");
	node->nr = nr;
	for (uint64_t i = 0; i < nr; i++) {
		struct node *child = new_node(in->r);

		if (!child)
			return fail(in->r, "no memory");
		child->type = head & 15;
		if (!read_node(in, child, depth))
			return false;
		*end = child;
		end = &child->next;
	}
	return true;
}

static bool read_node(struct in *in, struct node *node, unsigned int depth)
{
	uint64_t nr;

	if (depth > DEPTH)
		return fail(in->r, "it is too deep");
	switch (node->type) {
	case 1:
	case 2:
		node->number = node->type == 1;
		return true;
	case 4:
	case 5:
	case 6:
		return take_zigzag(in, &node->number);
	case 8:
		if (!take_varint(in, &nr))
			return false;
		node->nr = nr;
		return take(in, nr, &node->bytes);
	case 9:
		return read_list(in, node, depth + 1);
	case 12:
		return read_struct(in, node, depth + 1);
	default:
		return fail(in->r, "a type of Thrift is unknown");
	}
}

static const struct node *field_of(const struct node *node, int field)
{
	for (const struct node *at = node ? node->first : NULL; at; at = at->next)
		if (at->field == field)
			return at;
	return NULL;
}

/* Of a field that must be there. */
static bool number_of(struct parquet_reader *r, const struct node *node, int field, int64_t *out)
{
	const struct node *at = field_of(node, field);

	if (!at || at->type < 4 || at->type > 6)
		return fail(r, "a number is missing");
	*out = at->number;
	return true;
}

static const char *text_of(struct parquet_reader *r, const struct node *node)
{
	char *text = node && node->type == 8 ? ARENA_ARRAY(r->mem, char, node->nr + 1) : NULL;

	if (!text)
		return fail(r, "a text is missing"), NULL;
	memcpy(text, node->bytes, node->nr);
	return text;
}

/* RLE and packed bits; nr values, then nothing is left. */
static bool read_rle(struct in *in, unsigned int width, size_t nr, uint64_t *out)
{
	for (size_t i = 0; i < nr;) {
		uint64_t head, value = 0;
		const uint8_t *bytes;

		if (!take_varint(in, &head))
			return false;
		if (!(head >> 1))
			return fail(in->r, "a run is empty");
		if (!(head & 1)) {
			if (!take(in, (width + 7) / 8, &bytes))
				return false;
			for (unsigned int k = 0; k < (width + 7) / 8; k++)
				value |= (uint64_t)bytes[k] << (8 * k);
			if (head >> 1 > nr - i)
				return fail(in->r, "a run is too long");
			for (uint64_t k = 0; k < head >> 1; k++)
				out[i++] = value;
			continue;
		}
		if (head >> 1 > (nr - i + 7) / 8 || !take(in, (head >> 1) * width, &bytes))
			return fail(in->r, "packed bits are too long");
		for (uint64_t k = 0; k < (head >> 1) * 8; k++) {
			value = 0;
			for (unsigned int bit = 0; bit < width; bit++) {
				uint64_t place = k * width + bit;

				value |= (uint64_t)(bytes[place / 8] >> (place % 8) & 1) << bit;
			}
			if (i < nr)
				out[i++] = value;
			else if (value)
				return fail(in->r, "bits behind the end are set");
		}
	}
	return true;
}

static bool read_delta(struct in *in, size_t nr, uint64_t *out)
{
	uint64_t block, minis, total, last;
	int64_t first, least;
	size_t i = 1;

	if (!take_varint(in, &block) || !take_varint(in, &minis) || !take_varint(in, &total) ||
	    !take_zigzag(in, &first))
		return false;
	if (total != nr || !block || block % 128 || !minis || block % minis || block / minis % 32 ||
	    block > 4096)
		return fail(in->r, "differences have a bad header");
	if (nr)
		out[0] = (uint64_t)first;
	last = (uint64_t)first;
	while (i < nr) {
		const uint8_t *widths;

		if (!take_zigzag(in, &least) || !take(in, minis, &widths))
			return false;
		for (uint64_t mini = 0; mini < minis && i < nr; mini++) {
			uint64_t width = widths[mini], each = block / minis;
			const uint8_t *bytes;

			if (width > 64 || !take(in, each * width / 8, &bytes))
				return fail(in->r, "differences are too long");
			for (uint64_t k = 0; k < each && i < nr; k++) {
				uint64_t value = 0;

				for (uint64_t bit = 0; bit < width; bit++) {
					uint64_t place = k * width + bit;

					value |= (uint64_t)(bytes[place / 8] >> (place % 8) & 1)
					         << bit;
				}
				last += value + (uint64_t)least;
				out[i++] = last;
			}
		}
	}
	return true;
}

/* nr values one after the other. */
static bool read_plain(struct in *in, int type, size_t nr, struct read_value *out)
{
	const uint8_t *at;

	if (type == 0) {
		if (!take(in, (nr + 7) / 8, &at))
			return false;
		for (size_t i = 0; i < nr; i++)
			out[i].bits = at[i / 8] >> (i % 8) & 1;
		return true;
	}
	for (size_t i = 0; i < nr; i++) {
		if (!take(in, type == 6 ? 4 : 8, &at))
			return false;
		if (type != 6) {
			out[i].bits = u64_at(at);
			continue;
		}
		out[i].len = u32_at(at);
		if (!take(in, out[i].len, &at))
			return false;
		out[i].text = (const char *)at;
	}
	return true;
}

struct page {
	int64_t type, raw, packed, nr, encoding;
	uint8_t *bytes; /* unpacked */
};

static bool read_page(struct in *in, struct page *out)
{
	struct node head = { .type = 12 };
	const struct node *own;
	const uint8_t *packed;
	int64_t levels, reps;

	if (!read_node(in, &head, 0) || !number_of(in->r, &head, 1, &out->type) ||
	    !number_of(in->r, &head, 2, &out->raw) || !number_of(in->r, &head, 3, &out->packed))
		return false;
	own = field_of(&head, out->type == 0 ? 5 : 7);
	if ((out->type != 0 && out->type != 2) || !number_of(in->r, own, 1, &out->nr) ||
	    !number_of(in->r, own, 2, &out->encoding))
		return fail(in->r, "a page has a bad header");
	if (out->type == 0 && (!number_of(in->r, own, 3, &levels) ||
	                       !number_of(in->r, own, 4, &reps) || levels != 3 || reps != 3))
		return fail(in->r, "levels are not RLE");
	if (out->raw < 0 || out->packed < 0 || out->nr < 0 ||
	    !take(in, (size_t)out->packed, &packed))
		return fail(in->r, "a page has bad sizes");
	out->bytes = ARENA_ARRAY(in->r->mem, uint8_t, (size_t)out->raw + 1);
	if (!out->bytes || ZSTD_decompress(out->bytes, (size_t)out->raw, packed,
	                                   (size_t)out->packed) != (size_t)out->raw)
		return fail(in->r, "a page cannot be unpacked");
	return true;
}

struct chunk {
	struct read_column *column;
	struct read_value *dictionary;
	size_t nr_dictionary;
	uint64_t nr_rows, at; /* rows of the group, and read so far */
	struct read_value *out;
	uint32_t encodings; /* as the footer says */
};

static bool read_values(struct in *in, struct chunk *c, const struct page *page, size_t nr,
                        struct read_value *out)
{
	uint64_t *numbers = ARENA_ARRAY(in->r->mem, uint64_t, nr + 1);
	uint8_t width;

	if (!numbers)
		return fail(in->r, "no memory");
	switch (page->encoding) {
	case 0:
		return read_plain(in, c->column->type, nr, out);
	case 5:
		if (c->column->type != 2 || !read_delta(in, nr, numbers))
			return fail(in->r, "differences cannot be read");
		for (size_t i = 0; i < nr; i++)
			out[i].bits = numbers[i];
		return true;
	case 8:
		if (!take_byte(in, &width) || width > 32 || !read_rle(in, width, nr, numbers))
			return fail(in->r, "places in the dictionary cannot be read");
		for (size_t i = 0; i < nr; i++) {
			if (numbers[i] >= c->nr_dictionary)
				return fail(in->r, "a place is not in the dictionary");
			out[i] = c->dictionary[numbers[i]];
		}
		return true;
	default:
		return fail(in->r, "an encoding is unknown");
	}
}

static bool read_data(struct parquet_reader *r, struct chunk *c, const struct page *page)
{
	struct in in = { r, page->bytes, (size_t)page->raw };
	size_t nr = (size_t)page->nr, nr_values = 0, at = 0;
	uint64_t *levels = ARENA_ARRAY(r->mem, uint64_t, nr + 1);
	struct read_value *values = ARENA_ARRAY(r->mem, struct read_value, nr + 1);
	const uint8_t *bytes;

	if (!levels || !values || nr > c->nr_rows - c->at)
		return fail(r, "a page has too many values");
	if (!c->column->is_required) {
		struct in sub = { .r = r };

		if (!take(&in, 4, &bytes))
			return false;
		sub.left = u32_at(bytes);
		if (!take(&in, sub.left, &sub.at) || !read_rle(&sub, 1, nr, levels) || sub.left)
			return fail(r, "levels cannot be read");
	}
	for (size_t i = 0; i < nr; i++)
		nr_values += c->column->is_required || levels[i];
	if (!read_values(&in, c, page, nr_values, values))
		return false;
	if (in.left)
		return fail(r, "bytes are left in a page");
	for (size_t i = 0; i < nr; i++) {
		struct read_value *to = &c->out[c->at++];

		if (c->column->is_required || levels[i])
			*to = values[at++];
		else
			to->is_null = true;
	}
	if (!(c->encodings >> page->encoding & 1))
		return fail(r, "the footer does not name an encoding");
	c->column->encodings |= 1U << page->encoding;
	return true;
}

static int compare(const struct chunk *c, const struct read_value *v, const struct node *bound)
{
	double a, b;
	uint64_t bits;

	if (c->column->type == 6) {
		int order = memcmp(v->text, bound->bytes, v->len < bound->nr ? v->len : bound->nr);

		return order ? order : (v->len > bound->nr) - (v->len < bound->nr);
	}
	bits = c->column->type == 0 ? bound->bytes[0] : u64_at(bound->bytes);
	if (c->column->type != 5)
		return ((int64_t)v->bits > (int64_t)bits) - ((int64_t)v->bits < (int64_t)bits);
	memcpy(&a, &v->bits, sizeof(a));
	memcpy(&b, &bits, sizeof(b));
	return (a > b) - (a < b);
}

/* The range holds all values, and both ends are among them; nulls are as many as there are. */
static bool check_stats(struct parquet_reader *r, const struct chunk *c, const struct node *stats)
{
	const struct node *most = field_of(stats, 5), *least = field_of(stats, 6);
	size_t size = c->column->type == 0 ? 1 : 8;
	bool has_least = false, has_most = false, has_values = false;
	uint64_t nulls = 0;
	int64_t nr;

	if (!most != !least || !number_of(r, stats, 3, &nr))
		return fail(r, "statistics are missing");
	if (most && c->column->type != 6 && (most->nr != size || least->nr != size))
		return fail(r, "statistics have a bad size");
	for (uint64_t i = 0; i < c->nr_rows; i++) {
		nulls += c->out[i].is_null;
		if (c->out[i].is_null)
			continue;
		has_values = true;
		if (!most)
			continue;
		if (compare(c, &c->out[i], least) < 0 || compare(c, &c->out[i], most) > 0)
			return fail(r, "a value is outside of its statistics");
		has_least |= compare(c, &c->out[i], least) == 0;
		has_most |= compare(c, &c->out[i], most) == 0;
	}
	if (nulls != (uint64_t)nr)
		return fail(r, "the count of nulls is wrong");
	if (most && (!has_least || !has_most || !has_values))
		return fail(r, "statistics name a value that there is not");
	return true;
}

static bool read_chunk(struct parquet_reader *r, const struct in *file, const struct node *meta,
                       struct chunk *c)
{
	const struct node *encodings = field_of(meta, 2), *path = field_of(meta, 3);
	const struct node *dictionary = field_of(meta, 11);
	int64_t type, codec, nr, bytes, data, raw;
	uint64_t raw_sum = 0;
	struct in in = { .r = r };
	const uint8_t *start;

	if (!number_of(r, meta, 1, &type) || !number_of(r, meta, 4, &codec) ||
	    !number_of(r, meta, 5, &nr) || !number_of(r, meta, 6, &raw) ||
	    !number_of(r, meta, 7, &bytes) || !number_of(r, meta, 9, &data))
		return false;
	if (type != c->column->type || codec != 6 || nr != (int64_t)c->nr_rows || !path ||
	    path->nr != 1 || strcmp(text_of(r, path->first), c->column->name) != 0)
		return fail(r, "a column is not that of the schema");
	for (const struct node *at = encodings ? encodings->first : NULL; at; at = at->next)
		c->encodings |= 1U << at->number;
	if (dictionary ? dictionary->number >= data : false)
		return fail(r, "the dictionary is behind the data");
	if (dictionary)
		data = dictionary->number;
	if (data < 4 || bytes < 0 || (uint64_t)data > file->left ||
	    (uint64_t)bytes > file->left - (uint64_t)data)
		return fail(r, "a column is outside of the file");
	start = file->at + data;
	in.at = start;
	in.left = (size_t)bytes;
	while (c->at < c->nr_rows) {
		const uint8_t *before = in.at;
		struct page page;

		if (!read_page(&in, &page))
			return false;
		raw_sum += (uint64_t)(in.at - before) - (uint64_t)page.packed + (uint64_t)page.raw;
		if (page.type == 2) {
			struct in sub = { r, page.bytes, (size_t)page.raw };

			c->nr_dictionary = (size_t)page.nr;
			c->dictionary = ARENA_ARRAY(r->mem, struct read_value,
			                            c->nr_dictionary + 1);
			if (before != start || !dictionary || page.encoding || !c->dictionary ||
			    !read_plain(&sub, c->column->type, c->nr_dictionary, c->dictionary) ||
			    sub.left)
				return fail(r, "the dictionary cannot be read");
			continue;
		}
		if (!read_data(r, c, &page))
			return false;
	}
	if (in.left || raw_sum != (uint64_t)raw)
		return fail(r, "the size of a column is wrong");
	return check_stats(r, c, field_of(meta, 12));
}

static bool read_schema(struct parquet_reader *r, const struct node *schema)
{
	const struct node *root = schema ? schema->first : NULL, *at;
	int64_t nr;

	if (!root || !number_of(r, root, 5, &nr) || nr < 1 || (size_t)nr != schema->nr - 1)
		return fail(r, "the schema is not flat");
	r->nr_columns = (uint32_t)nr;
	r->columns = ARENA_ARRAY(r->mem, struct read_column, r->nr_columns);
	at = root->next;
	for (uint32_t i = 0; r->columns && i < r->nr_columns; i++, at = at->next) {
		struct read_column *c = &r->columns[i];
		int64_t type, repetition;

		if (!number_of(r, at, 1, &type) || !number_of(r, at, 3, &repetition))
			return false;
		c->type = (int)type;
		c->is_required = repetition == 0;
		c->name = text_of(r, field_of(at, 4));
		c->is_text = field_of(field_of(at, 10), 1) != NULL;
		c->values = ARENA_ARRAY(r->mem, struct read_value, r->nr_rows + 1);
		if (!c->name || !c->values || repetition < 0 || repetition > 1)
			return fail(r, "a column of the schema is odd");
		if (c->is_text != (c->type == 6))
			return fail(r, "a text is not called one");
	}
	return r->columns || fail(r, "no memory");
}

static bool read_groups(struct parquet_reader *r, const struct in *file, const struct node *groups)
{
	uint64_t before = 0;

	for (const struct node *at = groups->first; at; at = at->next) {
		const struct node *columns = field_of(at, 1);
		const struct node *column = columns ? columns->first : NULL;
		int64_t nr;

		if (!number_of(r, at, 3, &nr) || nr < 1 || (uint64_t)nr > r->nr_rows - before ||
		    !columns || columns->nr != r->nr_columns)
			return fail(r, "a row group has a bad size");
		for (uint32_t i = 0; i < r->nr_columns; i++, column = column->next) {
			struct chunk c = { .column = &r->columns[i],
				           .nr_rows = (uint64_t)nr,
				           .out = r->columns[i].values + before };

			if (!read_chunk(r, file, field_of(column, 3), &c))
				return false;
		}
		before += (uint64_t)nr;
		r->nr_groups++;
	}
	return before == r->nr_rows || fail(r, "rows are missing");
}

static bool read_notes(struct parquet_reader *r, const struct node *notes)
{
	r->notes = ARENA_ARRAY(r->mem, struct read_note, notes ? notes->nr + 1 : 1);
	for (const struct node *at = notes ? notes->first : NULL; r->notes && at; at = at->next)
		r->notes[r->nr_notes++] = (struct read_note){ text_of(r, field_of(at, 1)),
			                                      text_of(r, field_of(at, 2)) };
	return !r->error[0];
}

bool parquet_reader_read(struct parquet_reader *r, const uint8_t *file, size_t size)
{
	struct node root = { .type = 12 };
	const struct in all = { r, file, size };
	struct in in = { .r = r };
	const struct node *groups, *orders;
	int64_t nr;

	*r = (struct parquet_reader){ .mem = arena_new(MEMORY) };
	if (!r->mem || size < 12 || memcmp(file, "PAR1", 4) != 0 ||
	    memcmp(file + size - 4, "PAR1", 4) != 0)
		return fail(r, "it is no Parquet");
	in.left = u32_at(file + size - 8);
	if (in.left > size - 12)
		return fail(r, "the footer is too long");
	in.at = file + size - 8 - in.left;
	if (!read_node(&in, &root, 0) || in.left)
		return fail(r, "the footer cannot be read");
	groups = field_of(&root, 4);
	orders = field_of(&root, 7);
	if (!number_of(r, &root, 3, &nr) || nr < 0 || !groups || !field_of(&root, 6))
		return fail(r, "the footer lacks something");
	r->nr_rows = (uint64_t)nr;
	r->writer = text_of(r, field_of(&root, 6));
	if (!read_schema(r, field_of(&root, 2)))
		return false;
	if (!orders || orders->nr != r->nr_columns)
		return fail(r, "orders are missing");
	return read_notes(r, field_of(&root, 5)) && read_groups(r, &all, groups);
}

void parquet_reader_done(struct parquet_reader *r)
{
	arena_free(r->mem);
}

const char *parquet_reader_note(const struct parquet_reader *r, const char *key)
{
	for (size_t i = 0; i < r->nr_notes; i++)
		if (strcmp(r->notes[i].key, key) == 0)
			return r->notes[i].value;
	return NULL;
}
