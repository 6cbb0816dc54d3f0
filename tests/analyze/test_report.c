#include "../unit.h"

#include <errno.h>
#include <string.h>

#include "analyze/report.h"
#include "analyze/samples.h"

static void values_come_back_by_their_path(void **state)
{
	struct report *r = report_new(0);
	const struct report_node *root;

	(void)state;
	report_begin_object(r, NULL);
	report_u64(r, "n", 7);
	report_begin_object(r, "inner");
	report_string(r, "name", "a task");
	report_null(r, "nothing");
	report_end_object(r);
	report_begin_array(r, "list");
	report_double(r, NULL, 1.5, 1);
	report_begin_object(r, NULL);
	report_i64(r, "deep", -3);
	report_end_object(r);
	report_end_array(r);
	report_end_object(r);
	assert_int_equal(report_error(r), 0);
	root = report_root(r);
	expect_eq(report_at(root, "n")->u64, 7);
	assert_string_equal(report_at(root, "inner.name")->text, "a task");
	expect_eq(report_at(root, "inner.nothing")->type, REPORT_NULL);
	expect_eq(report_at(root, "list")->nr, 2);
	assert_true(report_at(root, "list.1.deep")->i64 == -3);
	assert_null(report_at(root, "list.2"));
	assert_null(report_at(root, "inner.nam"));
	assert_null(report_at(root, "n.deeper"));
	report_free(r);
}

static void texts_are_copied(void **state)
{
	struct report *r = report_new(0);
	char text[] = "one";

	(void)state;
	report_begin_object(r, NULL);
	report_string(r, "t", text);
	memcpy(text, "two", 3);
	report_end_object(r);
	assert_string_equal(report_at(report_root(r), "t")->text, "one");
	report_free(r);
}

/* Every type, with keys of its own: what was copied from may be freed. */
static void a_copy_outlives_its_report(void **state)
{
	struct report *from = report_new(0), *r = report_new(0);
	const struct report_node *root;

	(void)state;
	report_begin_object(from, NULL);
	report_begin_array(from, report_printf(from, "list_%d", 1));
	for (uint64_t i = 0; i < 3; i++)
		report_u64(from, NULL, i);
	report_end_array(from);
	report_begin_object(from, "inner");
	report_id(from, "id", 1ULL << 60);
	report_double(from, "f", 2.5, 3);
	report_bool(from, "b", true);
	report_i64(from, "i", -1);
	report_string(from, "t", "text");
	report_null(from, "none");
	report_end_object(from);
	report_end_object(from);
	report_begin_object(r, NULL);
	report_copy(r, report_at(report_root(from), "list_1")->key,
	            report_at(report_root(from), "list_1"));
	report_copy(r, "other", report_at(report_root(from), "inner"));
	report_end_object(r);
	report_free(from);
	assert_int_equal(report_error(r), 0);
	root = report_root(r);
	expect_eq(report_at(root, "list_1")->nr, 3);
	expect_eq(report_at(root, "list_1.1")->u64, 1);
	expect_eq(report_at(root, "other")->nr, 6);
	assert_true(report_at(root, "other.id")->is_id);
	expect_eq(report_at(root, "other.id")->u64, 1ULL << 60);
	assert_true(report_at(root, "other.f")->f == 2.5);
	expect_eq(report_at(root, "other.f")->decimals, 3);
	assert_true(report_at(root, "other.b")->b);
	assert_true(report_at(root, "other.i")->i64 == -1);
	assert_string_equal(report_at(root, "other.t")->text, "text");
	expect_eq(report_at(root, "other.none")->type, REPORT_NULL);
	report_free(r);
}

static void a_value_in_the_wrong_place_spoils_the_report(void **state)
{
	struct report *r = report_new(0);

	(void)state;
	report_begin_object(r, NULL);
	report_u64(r, NULL, 1); /* has no name */
	report_end_object(r);
	assert_int_equal(report_error(r), -EINVAL);
	assert_null(report_root(r));
	report_free(r);

	r = report_new(0);
	report_begin_object(r, NULL);
	assert_int_equal(report_error(r), -EINVAL); /* not closed */
	report_end_array(r);
	assert_int_equal(report_error(r), -EINVAL);
	report_free(r);
}

static void a_report_ends_at_its_cap(void **state)
{
	struct report *r = report_new(100000);

	(void)state;
	report_begin_object(r, NULL);
	report_begin_array(r, "rows");
	for (int i = 0; i < 100000; i++)
		report_u64(r, NULL, 1);
	report_end_array(r);
	report_end_object(r);
	assert_int_equal(report_error(r), -ENOMEM);
	report_free(r);
}

static void a_part_of_nothing_is_unknown(void **state)
{
	struct report *r = report_new(0);

	(void)state;
	report_begin_object(r, NULL);
	report_percent(r, "half", 1, 2);
	report_percent(r, "none", 1, 0);
	report_end_object(r);
	assert_true(report_at(report_root(r), "half")->f == 50.0);
	expect_eq(report_at(report_root(r), "none")->type, REPORT_NULL);
	report_free(r);
}

static struct samples one_to(uint64_t n)
{
	struct samples s = { 0 };

	for (uint64_t i = n; i > 0; i--)
		samples_add(&s, i);
	return s;
}

/* The published vectors: 1..10 has the median 5, 1..100 has p95 95 and p99 99. */
static void percentiles_are_nearest_ranks(void **state)
{
	struct samples ten = one_to(10), hundred = one_to(100), one = { 0 };
	struct report *r = report_new(0);
	const struct report_node *root;

	(void)state;
	samples_add(&one, 42);
	report_begin_object(r, NULL);
	samples_report_object(&ten, r, "ten");
	samples_report_object(&hundred, r, "hundred");
	samples_report_object(&one, r, "one");
	report_end_object(r);
	root = report_root(r);
	expect_eq(report_at(root, "ten.count")->u64, 10);
	expect_eq(report_at(root, "ten.min")->u64, 1);
	expect_eq(report_at(root, "ten.max")->u64, 10);
	assert_true(report_at(root, "ten.mean")->f == 5.5);
	expect_eq(report_at(root, "ten.median")->u64, 5);
	expect_eq(report_at(root, "hundred.p95")->u64, 95);
	expect_eq(report_at(root, "hundred.p99")->u64, 99);
	expect_eq(report_at(root, "one.p999")->u64, 42);
	report_free(r);
	samples_done(&ten);
	samples_done(&hundred);
	samples_done(&one);
}

static void no_sample_is_no_number(void **state)
{
	struct samples none = { 0 };
	struct report *r = report_new(0);

	(void)state;
	report_begin_object(r, NULL);
	samples_report(&none, r, "_ns");
	samples_report_object(&none, r, "all");
	report_end_object(r);
	expect_eq(report_at(report_root(r), "min_ns")->type, REPORT_NULL);
	expect_eq(report_at(report_root(r), "p99_ns")->type, REPORT_NULL);
	expect_eq(report_at(report_root(r), "all")->type, REPORT_NULL);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_come_back_by_their_path),
		cmocka_unit_test(texts_are_copied),
		cmocka_unit_test(a_copy_outlives_its_report),
		cmocka_unit_test(a_value_in_the_wrong_place_spoils_the_report),
		cmocka_unit_test(a_report_ends_at_its_cap),
		cmocka_unit_test(a_part_of_nothing_is_unknown),
		cmocka_unit_test(percentiles_are_nearest_ranks),
		cmocka_unit_test(no_sample_is_no_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
