#include "../unit.h"

#include <math.h>
#include <string.h>

#include "tui/format.h"

#define expect_format(call, want)                \
	do {                                     \
		char out[FORMAT_BYTES];          \
                                                 \
		assert_string_equal(call, want); \
	} while (0)

static void durations(void **state)
{
	(void)state;
	expect_format(format_ns(out, 0), "0ns");
	expect_format(format_ns(out, 999), "999ns");
	expect_format(format_ns(out, 1200), "1.20us");
	expect_format(format_ns(out, 12345), "12.3us");
	expect_format(format_ns(out, 999999), "1.00ms");
	expect_format(format_ns(out, 4.56e6), "4.56ms");
	expect_format(format_ns(out, 1.234e9), "1.23s");
	expect_format(format_ns(out, 9999e9), "9999s");
	expect_format(format_ns(out, 36000e9), "10.0h");
	expect_format(format_ns(out, 1e30), "long");
	expect_format(format_ns(out, NAN), "-");
	expect_format(format_ns(out, -1), "-");
}

static void counts(void **state)
{
	(void)state;
	expect_format(format_count(out, 0, false), "0");
	expect_format(format_count(out, 0.44, false), "0.4");
	expect_format(format_count(out, 3, false), "3");
	expect_format(format_count(out, 12.6, false), "13");
	expect_format(format_count(out, 99999, false), "99999");
	expect_format(format_count(out, 123456, false), "123k");
	expect_format(format_count(out, 1234567, false), "1.23M");
	expect_format(format_count(out, 1e30, false), "many");
	expect_format(format_count(out, NAN, true), "-");
}

static void thousands_are_separated_when_localized(void **state)
{
	(void)state;
	expect_format(format_count(out, 999, true), "999");
	expect_format(format_count(out, 1000, true), "1,000");
	expect_format(format_count(out, 123456, true), "123,456");
	expect_format(format_count(out, 9999999, true), "9,999,999");
	expect_format(format_count(out, 12345678, true), "12.3M");
}

static void bytes_percent_and_frequency(void **state)
{
	(void)state;
	expect_format(format_bytes(out, 0), "0B");
	expect_format(format_bytes(out, 999), "999B");
	expect_format(format_bytes(out, 1024), "1.00K");
	expect_format(format_bytes(out, 1536.0 * 1024), "1.50M");
	expect_format(format_bytes(out, NAN), "-");
	expect_format(format_kib(out, 16U << 20), "16.0G");
	expect_format(format_percent(out, 0.4567), "45.7");
	expect_format(format_percent(out, 1), "100.0");
	expect_format(format_percent(out, 512), "51200");
	expect_format(format_percent(out, 1e9), "many");
	expect_format(format_percent(out, NAN), "-");
	expect_format(format_mhz(out, 800), "800M");
	expect_format(format_mhz(out, 3450), "3.45G");
	expect_format(format_mhz(out, NAN), "-");
}

/* Numbers must fit their columns, or digits would be cut off. */
static void nothing_is_wider_than_promised(void **state)
{
	char out[FORMAT_BYTES];

	(void)state;
	for (double value = 1e-9; value < 1e25; value *= 1.037) {
		assert_true(strlen(format_ns(out, value)) <= 6);
		assert_true(strlen(format_count(out, value, false)) <= 5);
		assert_true(strlen(format_count(out, value, true)) <= 9);
		assert_true(strlen(format_percent(out, value)) <= 6);
		assert_true(strlen(format_bytes(out, fmin(value, 1e20))) <= 5);
		assert_true(strlen(format_mhz(out, value)) <= 5);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations),
		cmocka_unit_test(counts),
		cmocka_unit_test(thousands_are_separated_when_localized),
		cmocka_unit_test(bytes_percent_and_frequency),
		cmocka_unit_test(nothing_is_wider_than_promised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
