/* Reports as short answers: what is cut, and how the rest is found. */
#include <errno.h>
#include <string.h>

#include "../unit.h"
#include "analyze/report.h"
#include "mcp/outgoing.h"
#include "mcp/tool.h"

/* rows: of {id, texts, inner}; few: plain values; nested.rows: of numbers; rows_shown. */
static struct report *make(uint32_t nr)
{
	struct report *r = report_new(0);

	report_begin_object(r, NULL);
	report_u64(r, "rows_shown", nr);
	report_begin_array(r, "rows");
	for (uint32_t i = 0; i < nr; i++) {
		report_begin_object(r, NULL);
		report_u64(r, "id", i);
		report_begin_array(r, "range");
		report_u64(r, NULL, 1);
		report_u64(r, NULL, 2);
		report_end_array(r);
		report_begin_array(r, "inner");
		for (uint32_t k = 0; k < 15; k++)
			report_u64(r, NULL, k);
		report_end_array(r);
		report_end_object(r);
	}
	report_end_array(r);
	report_begin_array(r, "few");
	for (uint32_t i = 0; i < 30; i++)
		report_string(r, NULL, "name");
	report_end_array(r);
	report_begin_object(r, "nested");
	report_begin_array(r, "many");
	for (uint32_t i = 0; i < nr; i++)
		report_u64(r, NULL, i);
	report_end_array(r);
	report_end_object(r);
	report_end_object(r);
	return r;
}

/* What the client gets; args are what it gave. */
static json_t *answer(const struct report *r, const char *args, const struct call_list *known,
                      size_t *len)
{
	json_t *given = json_loads(args, 0, NULL), *got;
	struct diag d = { 0 };
	struct outgoing o;
	struct tool_call call = { .args = given, .given = given, .d = &d };

	assert_int_equal(outgoing_begin(&o), 0);
	call.out = &o.w;
	jw_begin_object(&o.w, NULL);
	assert_int_equal(call_put_list(&call, report_root(r), known), 0);
	jw_end_object(&o.w);
	assert_int_equal(outgoing_end(&o), 0);
	got = json_loadb(o.text, o.len, 0, NULL);
	assert_non_null(got);
	if (len)
		*len = o.len;
	outgoing_done(&o);
	json_decref(given);
	return got;
}

static json_int_t number(const json_t *got, const char *key)
{
	return json_integer_value(json_object_get(got, key));
}

static size_t nr_of(const json_t *got, const char *key)
{
	return json_array_size(json_object_get(got, key));
}

/* The entry of a list in "page". */
static const json_t *list_named(const json_t *got, const char *name)
{
	const json_t *lists = json_object_get(json_object_get(got, "page"), "lists");

	for (size_t i = 0; i < json_array_size(lists); i++) {
		const json_t *one = json_array_get(lists, i);

		if (strcmp(json_string_value(json_object_get(one, "name")), name) == 0)
			return one;
	}
	return NULL;
}

static void a_default_answer_fits_the_budget(void **state)
{
	struct report *r = make(1000);
	size_t len;
	json_t *got = answer(r, "{}", NULL, &len);

	(void)state;
	assert_true(len <= TOOL_BUDGET + 2);
	assert_true(json_is_true(json_object_get(got, "truncated")));
	expect_eq(number(list_named(got, "rows"), "total"), 1000);
	expect_eq(number(list_named(got, "nested.many"), "total"), 1000);
	expect_eq(number(got, "rows_shown"), nr_of(got, "rows"));
	expect_eq(number(list_named(got, "rows"), "next_offset"), nr_of(got, "rows"));
	assert_null(list_named(got, "few"));
	expect_eq(nr_of(got, "few"), 30);
	json_decref(got);
	report_free(r);
}

static void pages_make_the_whole(void **state)
{
	struct report *r = make(23);
	json_int_t next = 0, id = 0;

	(void)state;
	for (int page = 0; page < 3; page++) {
		char args[64];
		json_t *got;
		const json_t *rows;

		snprintf(args, sizeof(args), "{\"limit\":10,\"offset\":%d}", (int)next);
		got = answer(r, args, NULL, NULL);
		rows = json_object_get(got, "rows");
		for (size_t i = 0; i < json_array_size(rows); i++)
			expect_eq(number(json_array_get(rows, i), "id"), id++);
		next = number(list_named(got, "rows"), "next_offset");
		assert_true(json_is_null(json_object_get(list_named(got, "rows"), "next_offset")) ==
		            (page == 2));
		json_decref(got);
	}
	expect_eq(id, 23);
	report_free(r);
}

static void inside_of_rows_pairs_stay_and_lists_are_cut(void **state)
{
	struct report *r = make(3);
	json_t *got = answer(r, "{\"limit\":1}", NULL, NULL);
	const json_t *row = json_array_get(json_object_get(got, "rows"), 0);

	(void)state;
	expect_eq(nr_of(got, "rows"), 1);
	expect_eq(nr_of(row, "range"), 2);
	expect_eq(nr_of(row, "inner"), 10);
	json_decref(got);
	got = answer(r, "{\"limit\":50}", NULL, NULL);
	expect_eq(nr_of(json_array_get(json_object_get(got, "rows"), 2), "inner"), 15);
	assert_true(json_is_false(json_object_get(got, "truncated")));
	assert_null(json_object_get(got, "page"));
	json_decref(got);
	report_free(r);
}

/* One row with ten long parts would be more than 8,000 bytes. */
static void a_row_that_was_asked_for_leaves_inner_rows_out(void **state)
{
	struct report *r = report_new(0);
	char text[901] = "";
	size_t len;
	json_t *got;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	report_begin_object(r, NULL);
	report_begin_array(r, "rows");
	report_begin_object(r, NULL);
	report_begin_array(r, "inner");
	for (uint32_t i = 0; i < 20; i++) {
		report_begin_object(r, NULL);
		report_string(r, "text", text);
		report_end_object(r);
	}
	report_end_array(r);
	report_end_object(r);
	report_end_array(r);
	report_end_object(r);
	got = answer(r, "{\"limit\":1}", NULL, &len);
	assert_true(len <= 8002);
	expect_eq(nr_of(json_array_get(json_object_get(got, "rows"), 0), "inner"), 7);
	assert_true(json_is_true(json_object_get(got, "truncated")));
	json_decref(got);
	got = answer(r, "{\"limit\":20}", NULL, NULL);
	expect_eq(nr_of(json_array_get(json_object_get(got, "rows"), 0), "inner"), 20);
	json_decref(got);
	report_free(r);
}

static void a_list_that_begins_at_the_offset_is_not_skipped_again(void **state)
{
	struct call_list known = { "rows", 500, true };
	struct report *r = make(5);
	json_t *got = answer(r, "{\"limit\":5,\"offset\":100}", &known, NULL);

	(void)state;
	expect_eq(nr_of(got, "rows"), 5);
	expect_eq(number(json_array_get(json_object_get(got, "rows"), 0), "id"), 0);
	expect_eq(number(list_named(got, "rows"), "total"), 500);
	expect_eq(number(list_named(got, "rows"), "next_offset"), 105);
	json_decref(got);
	report_free(r);
}

static void what_is_no_report_is_an_error(void **state)
{
	struct diag d = { 0 };
	struct tool_call call = { .d = &d };

	(void)state;
	assert_int_equal(call_put_report(&call, NULL), -ENOMEM);
	assert_string_not_equal(d.what, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_default_answer_fits_the_budget),
		cmocka_unit_test(pages_make_the_whole),
		cmocka_unit_test(inside_of_rows_pairs_stay_and_lists_are_cut),
		cmocka_unit_test(a_row_that_was_asked_for_leaves_inner_rows_out),
		cmocka_unit_test(a_list_that_begins_at_the_offset_is_not_skipped_again),
		cmocka_unit_test(what_is_no_report_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
