/* Arguments of tools: schema, checks and defaults come from one table. */
#include "mcp/schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit.h"

static const char *const colors[] = { "red", "green", NULL };

static const struct arg args[] = {
	{ .name = "path", .type = ARG_STRING, .description = "where", .is_required = true },
	{ .name = "limit",
	  .type = ARG_INTEGER,
	  .description = "rows",
	  .min = 1,
	  .max = 100,
	  .fallback = "20" },
	{ .name = "ratio", .type = ARG_NUMBER, .description = "of it", .min = 0, .max = 2 },
	{ .name = "color",
	  .type = ARG_STRING,
	  .description = "which",
	  .choices = colors,
	  .fallback = "\"red\"" },
	{ .name = "deep", .type = ARG_BOOL, .description = "also below", .fallback = "false" },
	{ .name = "names", .type = ARG_STRINGS, .description = "of them" },
	{ .name = "filters", .type = ARG_OBJECTS, .description = "all" },
	{ .name = "how", .type = ARG_OBJECT, .description = "so" },
	{ 0 },
};

static int check(const char *text, struct diag *d, json_t **out)
{
	json_t *given = text ? json_loads(text, 0, NULL) : NULL;
	int err;

	*d = (struct diag){ 0 };
	*out = NULL;
	err = schema_check(args, given, d, out);
	json_decref(given);
	return err;
}

static void absent_arguments_are_their_defaults(void **state)
{
	struct diag d;
	json_t *got;

	(void)state;
	assert_int_equal(check("{\"path\":\"x\"}", &d, &got), 0);
	expect_eq(json_integer_value(json_object_get(got, "limit")), 20);
	assert_string_equal(json_string_value(json_object_get(got, "color")), "red");
	assert_true(json_is_false(json_object_get(got, "deep")));
	assert_null(json_object_get(got, "ratio"));
	json_decref(got);
	/* null is absent too. */
	assert_int_equal(check("{\"path\":\"x\",\"limit\":null}", &d, &got), 0);
	expect_eq(json_integer_value(json_object_get(got, "limit")), 20);
	json_decref(got);
}

static void numbers_in_texts_are_numbers(void **state)
{
	struct diag d;
	json_t *got;

	(void)state;
	assert_int_equal(check("{\"path\":\"x\",\"limit\":\"42\",\"ratio\":\"0.5\"}", &d, &got), 0);
	expect_eq(json_integer_value(json_object_get(got, "limit")), 42);
	assert_true(json_number_value(json_object_get(got, "ratio")) == 0.5);
	json_decref(got);
	assert_int_equal(check("{\"path\":\"x\",\"limit\":7.0}", &d, &got), 0);
	expect_eq(json_integer_value(json_object_get(got, "limit")), 7);
	json_decref(got);
}

static void what_does_not_fit_is_refused_by_name(void **state)
{
	static const struct {
		const char *text, *word;
	} bad[] = {
		{ NULL, "path" },
		{ "{}", "path" },
		{ "{\"path\":5}", "path" },
		{ "{\"path\":\"x\",\"limit\":0}", "limit" },
		{ "{\"path\":\"x\",\"limit\":101}", "from 1 to 100" },
		{ "{\"path\":\"x\",\"limit\":1.5}", "whole number" },
		{ "{\"path\":\"x\",\"limit\":\"12x\"}", "limit" },
		{ "{\"path\":\"x\",\"limit\":true}", "limit" },
		{ "{\"path\":\"x\",\"limit\":\"99999999999999999999\"}", "limit" },
		{ "{\"path\":\"x\",\"ratio\":2.5}", "ratio" },
		{ "{\"path\":\"x\",\"color\":\"blue\"}", "red, green" },
		{ "{\"path\":\"x\",\"deep\":\"yes\"}", "deep" },
		{ "{\"path\":\"x\",\"names\":[1]}", "names" },
		{ "{\"path\":\"x\",\"filters\":[\"a\"]}", "filters" },
		{ "{\"path\":\"x\",\"how\":[]}", "how" },
		{ "{\"path\":\"x\",\"lmit\":3}", "known are: path, limit" },
	};
	struct diag d;
	json_t *got;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(check(bad[i].text, &d, &got), -EINVAL);
		assert_null(got);
		if (!strstr(d.what, bad[i].word))
			fail_msg("%s: '%s' lacks '%s'", bad[i].text, d.what, bad[i].word);
	}
}

static void long_texts_and_lists_are_refused(void **state)
{
	char *text = malloc(6000);
	json_t *given = json_object(), *list = json_array(), *got = NULL;
	struct diag d = { 0 };

	(void)state;
	memset(text, 'a', 5999);
	text[5999] = '\0';
	json_object_set_new(given, "path", json_string(text));
	assert_int_equal(schema_check(args, given, &d, &got), -EINVAL);
	json_object_set_new(given, "path", json_string("x"));
	for (int i = 0; i < 300; i++)
		json_array_append_new(list, json_string("n"));
	json_object_set_new(given, "names", list);
	d = (struct diag){ 0 };
	assert_int_equal(schema_check(args, given, &d, &got), -EINVAL);
	json_decref(given);
	free(text);
}

static void the_schema_is_the_table(void **state)
{
	static const struct out_field fields[] = { { "nr", "integer|null", "how many" },
		                                   { "name", "string", NULL },
		                                   { 0 } };
	struct json_writer w;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	json_t *root, *in, *limit;

	(void)state;
	jw_init(&w, f, false);
	jw_begin_object(&w, NULL);
	schema_put_args(&w, "in", args);
	schema_put_output(&w, "out", fields);
	jw_end_object(&w);
	assert_int_equal(jw_finish(&w), 0);
	fclose(f);
	root = json_loads(text, 0, NULL);
	assert_non_null(root);
	in = json_object_get(root, "in");
	assert_true(json_is_false(json_object_get(in, "additionalProperties")));
	expect_eq(json_array_size(json_object_get(in, "required")), 1);
	limit = json_object_get(json_object_get(in, "properties"), "limit");
	expect_eq(json_integer_value(json_object_get(limit, "minimum")), 1);
	expect_eq(json_integer_value(json_object_get(limit, "maximum")), 100);
	expect_eq(json_integer_value(json_object_get(limit, "default")), 20);
	expect_eq(json_array_size(json_object_get(
			  json_object_get(json_object_get(in, "properties"), "color"), "enum")),
	          2);
	expect_eq(
		json_array_size(json_object_get(
			json_object_get(json_object_get(json_object_get(root, "out"), "properties"),
	                                "nr"),
			"type")),
		2);
	json_decref(root);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(absent_arguments_are_their_defaults),
		cmocka_unit_test(numbers_in_texts_are_numbers),
		cmocka_unit_test(what_does_not_fit_is_refused_by_name),
		cmocka_unit_test(long_texts_and_lists_are_refused),
		cmocka_unit_test(the_schema_is_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
