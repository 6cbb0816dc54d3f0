#include "../unit.h"

#include <errno.h>

#include "base/diag.h"

static void first_cause_is_kept(void **state)
{
	struct diag d = { 0 };

	(void)state;
	expect_eq(diag_set(&d, -ENOENT, "check the path", "cannot open '%s'", "x"), -ENOENT);
	expect_eq(diag_set(&d, -EIO, NULL, "cannot load"), -EIO);

	expect_eq(d.code, -ENOENT);
	assert_string_equal(d.what, "cannot open 'x'");
	assert_string_equal(d.hint, "check the path");
}

static void a_caller_may_not_care(void **state)
{
	(void)state;
	expect_eq(diag_set(NULL, -EIO, NULL, "nobody listens"), -EIO);
}

static void one_line_says_what_why_and_what_to_do(void **state)
{
	struct diag d = { 0 };
	char line[128];

	(void)state;
	diag_set(&d, -ENOENT, "check the path", "cannot open 'x'");
	diag_format(&d, line, sizeof(line));
	assert_string_equal(line, "cannot open 'x': No such file or directory; check the path");
}

static void bad_input_needs_no_errno(void **state)
{
	struct diag d = { 0 };
	char line[128];

	(void)state;
	diag_set(&d, -EINVAL, NULL, "'x' is not a number");
	diag_format(&d, line, sizeof(line));
	assert_string_equal(line, "'x' is not a number");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_cause_is_kept),
		cmocka_unit_test(a_caller_may_not_care),
		cmocka_unit_test(one_line_says_what_why_and_what_to_do),
		cmocka_unit_test(bad_input_needs_no_errno),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
