#include "unpacked.h"

#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static int digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+')
		return 62;
	assert_int_equal(c, '/');
	return 63;
}

static uint8_t *from_base64(const char *text, size_t *nr)
{
	size_t len = strlen(text);
	uint8_t *bytes = malloc(len + 1);
	uint32_t bits = 0, nr_bits = 0;

	assert_int_equal(len % 4, 0);
	*nr = 0;
	for (size_t i = 0; i < len && text[i] != '='; i++) {
		bits = bits << 6 | (uint32_t)digit(text[i]);
		nr_bits += 6;
		if (nr_bits >= 8) {
			nr_bits -= 8;
			bytes[(*nr)++] = (uint8_t)(bits >> nr_bits);
		}
	}
	return bytes;
}

static uint64_t read_varint(const uint8_t *bytes, size_t len, size_t *at)
{
	uint64_t value = 0;

	for (uint32_t shift = 0;; shift += 7) {
		assert_true(*at < len && shift < 64);
		value |= (uint64_t)(bytes[*at] & 0x7f) << shift;
		if (!(bytes[(*at)++] & 0x80))
			return value;
	}
}

static void read_column(struct unpacked_table *t, uint32_t column, bool is_delta,
                        const uint8_t *bytes, size_t len, size_t *at)
{
	uint64_t last = 0;

	t->values[column] = calloc(t->nr + 1, sizeof(uint64_t));
	for (uint64_t i = 0; i < t->nr; i++) {
		uint64_t v = read_varint(bytes, len, at);

		if (is_delta)
			v = last + (v >> 1 ^ -(v & 1));
		assert_true(v < 1ULL << 53);
		t->values[column][i] = v;
		last = v;
	}
}

static void read_table(const char *id, const char *json, size_t len, struct unpacked_table *t)
{
	json_t *j = json_loadb(json, len, 0, NULL), *columns;
	size_t nr_packed, at = 0;
	uint8_t *packed, *bytes;
	uLongf nr_bytes;

	assert_non_null(j);
	assert_string_equal(json_string_value(json_object_get(j, "table")), id);
	snprintf(t->name, sizeof(t->name), "%s", id);
	t->nr = (uint64_t)json_integer_value(json_object_get(j, "rows"));
	nr_bytes = (uLongf)json_integer_value(json_object_get(j, "bytes"));
	columns = json_object_get(j, "columns");
	t->nr_columns = (uint32_t)json_array_size(columns);
	assert_in_range(t->nr_columns, 1, UNPACKED_COLUMNS);
	packed = from_base64(json_string_value(json_object_get(j, "data")), &nr_packed);
	bytes = malloc(nr_bytes + 1);
	assert_int_equal(uncompress(bytes, &nr_bytes, packed, nr_packed), Z_OK);
	for (uint32_t i = 0; i < t->nr_columns; i++) {
		json_t *c = json_array_get(columns, i);
		const char *encoding = json_string_value(json_object_get(c, "encoding"));

		assert_true(!strcmp(encoding, "delta") || !strcmp(encoding, "plain"));
		snprintf(t->columns[i], sizeof(t->columns[i]), "%s",
		         json_string_value(json_object_get(c, "name")));
		read_column(t, i, !strcmp(encoding, "delta"), bytes, nr_bytes, &at);
	}
	assert_int_equal(at, nr_bytes);
	free(packed);
	free(bytes);
	json_decref(j);
}

static void read_tables(const char *text, struct unpacked *u)
{
	static const char before[] = "<script type=\"application/json\" id=\"table-";

	while ((text = strstr(text, before))) {
		const char *id = text + strlen(before), *json = strchr(id, '>') + 1;
		const char *end = strstr(json, "</script>");
		char name[32];

		assert_true(u->nr_tables < UNPACKED_TABLES);
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(id, "\""), id);
		read_table(name, json, (size_t)(end - json), &u->tables[u->nr_tables++]);
		text = end;
	}
}

void unpack(const struct report_data *r, struct unpacked *out)
{
	struct json_writer w;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	*out = (struct unpacked){ 0 };
	jw_init(&w, f, false);
	jw_begin_object(&w, NULL);
	report_data_document(r, &w);
	jw_end_object(&w);
	assert_int_equal(jw_finish(&w), 0);
	fclose(f);
	out->doc = json_loadb(text, len, 0, NULL);
	assert_non_null(out->doc);
	free(text);
	f = open_memstream(&text, &len);
	assert_int_equal(report_data_write(r, f), 0);
	fclose(f);
	out->bytes = len;
	read_tables(text, out);
	free(text);
}

void unpacked_done(struct unpacked *u)
{
	for (uint32_t i = 0; i < u->nr_tables; i++)
		for (uint32_t k = 0; k < u->tables[i].nr_columns; k++)
			free(u->tables[i].values[k]);
	json_decref(u->doc);
}

const struct unpacked_table *unpacked_table(const struct unpacked *u, const char *name)
{
	for (uint32_t i = 0; i < u->nr_tables; i++)
		if (!strcmp(u->tables[i].name, name))
			return &u->tables[i];
	return NULL;
}

uint64_t unpacked_at(const struct unpacked_table *t, uint64_t row, const char *column)
{
	for (uint32_t i = 0; i < t->nr_columns; i++)
		if (!strcmp(t->columns[i], column))
			return t->values[i][row];
	fail_msg("table %s has no column %s", t->name, column);
	return 0;
}

uint64_t unpacked_num(const struct unpacked *u, const char *key, const char *member)
{
	json_t *j = json_object_get(u->doc, key);

	if (member)
		j = json_object_get(j, member);
	assert_true(json_is_integer(j));
	return (uint64_t)json_integer_value(j);
}

void named_add(struct named_sums *s, const char *name, uint64_t a, uint64_t b)
{
	if (s->nr == s->room) {
		s->room = s->room ? s->room * 2 : 64;
		s->at = realloc(s->at, s->room * sizeof(*s->at));
	}
	s->at[s->nr].name[0] = '\0';
	/* Broken UTF-8 is replaced in the document: of names only ASCII is compared. */
	for (size_t len = 0; *name && len + 1 < sizeof(s->at[0].name); name++) {
		if (!(*name & 0x80))
			s->at[s->nr].name[len++] = *name;
		s->at[s->nr].name[len] = '\0';
	}
	s->at[s->nr].a = a;
	s->at[s->nr++].b = b;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named_sum *)a)->name, ((const struct named_sum *)b)->name);
}

/* In order, each name once, none of 0 and 0. */
static void tidy(struct named_sums *s)
{
	size_t nr = 0;

	if (s->nr)
		qsort(s->at, s->nr, sizeof(*s->at), by_name);
	for (size_t i = 0; i < s->nr; i++) {
		struct named_sum one = s->at[i];

		for (; i + 1 < s->nr && !strcmp(s->at[i + 1].name, one.name); i++) {
			one.a += s->at[i + 1].a;
			one.b += s->at[i + 1].b;
		}
		if (one.a || one.b)
			s->at[nr++] = one;
	}
	s->nr = nr;
}

void named_expect_same(const char *what, struct named_sums *got, struct named_sums *expected)
{
	tidy(got);
	tidy(expected);
	for (size_t i = 0; i < got->nr || i < expected->nr; i++) {
		const struct named_sum none = { .name = "(none)" };
		const struct named_sum *a = i < got->nr ? &got->at[i] : &none;
		const struct named_sum *b = i < expected->nr ? &expected->at[i] : &none;

		if (strcmp(a->name, b->name) != 0 || a->a != b->a || a->b != b->b)
			fail_msg("%s: tables have %s %llu %llu, analyze has %s %llu %llu", what,
			         a->name, (unsigned long long)a->a, (unsigned long long)a->b,
			         b->name, (unsigned long long)b->a, (unsigned long long)b->b);
	}
}

void named_done(struct named_sums *s)
{
	free(s->at);
	*s = (struct named_sums){ 0 };
}
