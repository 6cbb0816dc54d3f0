#include "../unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/json_write.h"

/* A writer into memory; done() gives the text, which the caller frees. */
struct doc {
	struct json_writer w;
	FILE *file;
	char *text;
	size_t len;
};

static void doc_init(struct doc *d, bool is_pretty)
{
	d->text = NULL;
	d->file = open_memstream(&d->text, &d->len);
	assert_non_null(d->file);
	jw_init(&d->w, d->file, is_pretty);
}

static void doc_done(struct doc *d)
{
	fclose(d->file);
	free(d->text);
}

/* Another program's reading of the document; the caller drops it. */
static json_t *doc_parse(struct doc *d)
{
	json_error_t error;
	json_t *root;

	expect_eq(jw_finish(&d->w), 0);
	root = json_loadb(d->text, d->len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	if (!root)
		print_error("%s in: %s\n", error.text, d->text);
	assert_non_null(root);
	return root;
}

static void write_sample(struct json_writer *w)
{
	jw_begin_object(w, NULL);
	jw_u64(w, "count", 3);
	jw_begin_array(w, "cpus");
	jw_i64(w, NULL, 0);
	jw_i64(w, NULL, -1);
	jw_begin_object(w, NULL);
	jw_bool(w, "ok", true);
	jw_end_object(w);
	jw_end_array(w);
	jw_begin_object(w, "none");
	jw_end_object(w);
	jw_begin_array(w, "empty");
	jw_end_array(w);
	jw_null(w, "cgroup");
	jw_string(w, "comm", "init");
	jw_end_object(w);
}

static void a_compact_document_is_one_line(void **state)
{
	struct doc d;

	(void)state;
	doc_init(&d, false);
	write_sample(&d.w);
	expect_eq(jw_finish(&d.w), 0);
	assert_string_equal(d.text, "{\"count\":3,\"cpus\":[0,-1,{\"ok\":true}],\"none\":{},"
	                            "\"empty\":[],\"cgroup\":null,\"comm\":\"init\"}\n");
	doc_done(&d);
}

static void a_pretty_document_has_a_line_per_value(void **state)
{
	struct doc d;

	(void)state;
	doc_init(&d, true);
	write_sample(&d.w);
	expect_eq(jw_finish(&d.w), 0);
	assert_string_equal(d.text, "{\n"
	                            "  \"count\": 3,\n"
	                            "  \"cpus\": [\n"
	                            "    0,\n"
	                            "    -1,\n"
	                            "    {\n"
	                            "      \"ok\": true\n"
	                            "    }\n"
	                            "  ],\n"
	                            "  \"none\": {},\n"
	                            "  \"empty\": [],\n"
	                            "  \"cgroup\": null,\n"
	                            "  \"comm\": \"init\"\n"
	                            "}\n");
	doc_done(&d);
}

static void every_byte_of_a_string_comes_back(void **state)
{
	char bytes[128];
	struct doc d;
	json_t *root;

	(void)state;
	for (int i = 0; i < 128; i++)
		bytes[i] = (char)i;
	doc_init(&d, false);
	jw_bytes(&d.w, NULL, bytes, sizeof(bytes));
	root = doc_parse(&d);
	expect_eq(json_string_length(root), sizeof(bytes));
	assert_memory_equal(json_string_value(root), bytes, sizeof(bytes));
	for (size_t i = 0; i + 1 < d.len; i++)
		assert_true(d.text[i] >= 0x20 && d.text[i] < 0x7f);
	json_decref(root);
	doc_done(&d);
}

static void check_string(const char *value, const char *expected)
{
	struct doc d;
	json_t *root;

	doc_init(&d, false);
	jw_begin_object(&d.w, NULL);
	jw_string(&d.w, value, value); /* keys are no more trusted than values */
	jw_end_object(&d.w);
	root = doc_parse(&d);
	assert_string_equal(json_string_value(json_object_get(root, expected)), expected);
	json_decref(root);
	doc_done(&d);
}

static void what_is_not_utf8_is_replaced(void **state)
{
	(void)state;
	check_string("", "");
	check_string("caf\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x98\x80",
	             "caf\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x98\x80");
	check_string("a\xff\xfe!", "a\xef\xbf\xbd\xef\xbf\xbd!");
	check_string("cut\xe2\x82", "cut\xef\xbf\xbd");
	check_string("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	check_string("\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd");
	check_string("csi\xc2\x9b\"\\\n\t\r", "csi\xc2\x9b\"\\\n\t\r");
}

static void all_pairs_of_bytes_give_valid_json(void **state)
{
	struct doc d;
	json_t *root;

	(void)state;
	doc_init(&d, false);
	jw_begin_array(&d.w, NULL);
	for (int i = 0; i < 256 * 256; i++) {
		char pair[2] = { (char)(i >> 8), (char)i };

		jw_bytes(&d.w, NULL, pair, 2);
	}
	jw_end_array(&d.w);
	root = doc_parse(&d);
	expect_eq(json_array_size(root), 256 * 256);
	json_decref(root);
	doc_done(&d);
}

static void integers_keep_all_digits(void **state)
{
	struct doc d;

	(void)state;
	doc_init(&d, false);
	jw_begin_array(&d.w, NULL);
	jw_u64(&d.w, NULL, UINT64_MAX);
	jw_i64(&d.w, NULL, INT64_MIN);
	jw_end_array(&d.w);
	expect_eq(jw_finish(&d.w), 0);
	assert_string_equal(d.text, "[18446744073709551615,-9223372036854775808]\n");
	doc_done(&d);
}

static void check_double(double value, int decimals, const char *expected)
{
	struct doc d;

	doc_init(&d, false);
	jw_double(&d.w, NULL, value, decimals);
	json_decref(doc_parse(&d));
	d.text[strcspn(d.text, "\n")] = '\0';
	assert_string_equal(d.text, expected);
	doc_done(&d);
}

static void doubles_have_the_decimals_asked_for(void **state)
{
	(void)state;
	check_double(0, 0, "0");
	check_double(1.25, 1, "1.2");
	check_double(-12.5, 3, "-12.500");
	check_double(99.99, 0, "100");
	check_double(1.5, -4, "2");
	check_double(0.1, 99, "0.100000000000000");
	check_double(999999999999999.0, 2, "999999999999999.00");
	check_double(2e300, 3, "2.0000000000000001e+300");
	check_double(-1e15, 0, "-1.0000000000000000e+15");
}

static void what_is_no_number_is_null(void **state)
{
	(void)state;
	check_double((double)NAN, 2, "null");
	check_double((double)INFINITY, 2, "null");
	check_double((double)-INFINITY, 2, "null");
}

static const char *locale_point; /* what snprintf() writes for '.'; NULL keeps it */

/* Stands in for that of the C library in a locale which need not be installed where tests run. */
int snprintf(char *dst, size_t size, const char *fmt, ...)
{
	char *point;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(dst, size, fmt, args);
	va_end(args);
	point = locale_point ? strchr(dst, '.') : NULL;
	if (point) {
		memmove(point + strlen(locale_point), point + 1, strlen(point));
		memcpy(point, locale_point, strlen(locale_point));
	}
	return len;
}

static void check_locale(const char *point)
{
	struct doc d;

	doc_init(&d, false);
	locale_point = point;
	jw_begin_array(&d.w, NULL);
	jw_double(&d.w, NULL, -12.5, 3);
	jw_double(&d.w, NULL, 7, 0);
	jw_double(&d.w, NULL, 2e300, 3);
	jw_end_array(&d.w);
	locale_point = NULL;
	expect_eq(jw_finish(&d.w), 0);
	assert_string_equal(d.text, "[-12.500,7,2.0000000000000001e+300]\n");
	doc_done(&d);
}

static void numbers_are_the_same_in_every_locale(void **state)
{
	(void)state;
	check_locale(".");
	check_locale(",");
	check_locale("\xd9\xab"); /* U+066B, two bytes */
}

static void no_string_is_null(void **state)
{
	struct doc d;

	(void)state;
	doc_init(&d, false);
	jw_string(&d.w, NULL, NULL);
	expect_eq(jw_finish(&d.w), 0);
	assert_string_equal(d.text, "null\n");
	doc_done(&d);
}

static void documents_follow_one_another_by_line(void **state)
{
	struct doc d;

	(void)state;
	doc_init(&d, false);
	jw_u64(&d.w, NULL, 1);
	expect_eq(jw_finish(&d.w), 0);
	jw_begin_array(&d.w, NULL);
	jw_end_array(&d.w);
	expect_eq(jw_finish(&d.w), 0);
	assert_string_equal(d.text, "1\n[]\n");
	doc_done(&d);
}

static void the_deepest_document_is_still_valid(void **state)
{
	struct doc d;

	(void)state;
	doc_init(&d, true);
	for (int i = 0; i < JSON_MAX_DEPTH; i++)
		jw_begin_array(&d.w, NULL);
	jw_null(&d.w, NULL);
	for (int i = 0; i < JSON_MAX_DEPTH; i++)
		jw_end_array(&d.w);
	json_decref(doc_parse(&d));
	doc_done(&d);
}

static void beyond_the_deepest_is_an_error(void **state)
{
	struct doc d;

	(void)state;
	doc_init(&d, false);
	for (int i = 0; i < 10 * JSON_MAX_DEPTH; i++)
		jw_begin_object(&d.w, "k");
	for (int i = 0; i < 20 * JSON_MAX_DEPTH; i++)
		jw_end_object(&d.w);
	expect_eq(jw_finish(&d.w), -EINVAL);
	doc_done(&d);
}

static void what_is_not_one_value_is_an_error(void **state)
{
	struct doc d;

	(void)state;
	doc_init(&d, false);
	expect_eq(jw_finish(&d.w), -EINVAL); /* nothing */
	doc_done(&d);

	doc_init(&d, false);
	jw_begin_array(&d.w, NULL); /* not closed */
	expect_eq(jw_finish(&d.w), -EINVAL);
	doc_done(&d);

	doc_init(&d, false);
	jw_end_array(&d.w); /* not opened */
	expect_eq(jw_finish(&d.w), -EINVAL);
	doc_done(&d);

	doc_init(&d, false);
	jw_null(&d.w, NULL);
	jw_null(&d.w, NULL);
	expect_eq(jw_finish(&d.w), -EINVAL);
	doc_done(&d);
}

static void errors_of_the_stream_stick(void **state)
{
	FILE *full = fopen("/dev/full", "w");
	struct json_writer w;

	(void)state;
	assert_non_null(full);
	jw_init(&w, full, false);
	write_sample(&w);
	expect_eq(jw_finish(&w), -ENOSPC);
	jw_null(&w, NULL);
	expect_eq(jw_finish(&w), -ENOSPC);
	fclose(full);
}

static void members_of_another_text_join_ours(void **state)
{
	struct doc d;
	json_t *root;

	(void)state;
	doc_init(&d, false);
	jw_begin_object(&d.w, NULL);
	jw_raw_members(&d.w, "{}", 2);
	jw_raw_members(&d.w, "{\"a\":1}", 7);
	jw_raw_members(&d.w, "{}", 2);
	jw_u64(&d.w, "b", 2);
	jw_raw_members(&d.w, "{\"c\":3,\"d\":[4]}", 15);
	jw_end_object(&d.w);
	root = doc_parse(&d);
	assert_string_equal(d.text, "{\"a\":1,\"b\":2,\"c\":3,\"d\":[4]}\n");
	json_decref(root);
	doc_done(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_compact_document_is_one_line),
		cmocka_unit_test(a_pretty_document_has_a_line_per_value),
		cmocka_unit_test(every_byte_of_a_string_comes_back),
		cmocka_unit_test(what_is_not_utf8_is_replaced),
		cmocka_unit_test(all_pairs_of_bytes_give_valid_json),
		cmocka_unit_test(integers_keep_all_digits),
		cmocka_unit_test(doubles_have_the_decimals_asked_for),
		cmocka_unit_test(what_is_no_number_is_null),
		cmocka_unit_test(numbers_are_the_same_in_every_locale),
		cmocka_unit_test(no_string_is_null),
		cmocka_unit_test(documents_follow_one_another_by_line),
		cmocka_unit_test(the_deepest_document_is_still_valid),
		cmocka_unit_test(beyond_the_deepest_is_an_error),
		cmocka_unit_test(what_is_not_one_value_is_an_error),
		cmocka_unit_test(errors_of_the_stream_stick),
		cmocka_unit_test(members_of_another_text_join_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
