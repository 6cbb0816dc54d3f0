#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static void whole_numbers_are_read(void **state)
{
	uint64_t v = 0;

	(void)state;
	assert_true(text_to_u64("0", &v));
	expect_eq(v, 0);
	assert_true(text_to_u64("0042", &v));
	expect_eq(v, 42);
	assert_true(text_to_u64("18446744073709551615", &v));
	expect_eq(v, UINT64_MAX);
	assert_true(text_to_u64("0xFf", &v));
	expect_eq(v, 255);
	assert_true(text_to_u64("0xffffffffffffffff", &v));
	expect_eq(v, UINT64_MAX);
	assert_true(text_hex_to_u64("ffffffff81000000", &v));
	expect_eq(v, 0xffffffff81000000ULL);
}

static void whole_numbers_are_written(void **state)
{
	char buf[TEXT_U64_BYTES];

	(void)state;
	assert_string_equal(text_u64(buf, 0), "0");
	assert_string_equal(text_u64(buf, 9), "9");
	assert_string_equal(text_u64(buf, 10), "10");
	assert_string_equal(text_u64(buf, 1000000007), "1000000007");
	assert_string_equal(text_u64(buf, UINT64_MAX), "18446744073709551615");
}

static void anything_else_is_no_number(void **state)
{
	static const char *const bad[] = { "",
		                           " ",
		                           "-1",
		                           "+1",
		                           " 1",
		                           "1 ",
		                           "1\n",
		                           "1.0",
		                           "1e3",
		                           "abc",
		                           "0x",
		                           "0xg",
		                           "12a",
		                           "x10",
		                           "18446744073709551616",
		                           "0x10000000000000000" };
	uint64_t v = 77;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(text_to_u64(bad[i], &v));
	assert_false(text_hex_to_u64("", &v));
	assert_false(text_hex_to_u64("0x10", &v));
	assert_false(text_hex_to_u64("10000000000000000", &v));
	expect_eq(v, 77);
}

static void write_file(char *path, size_t bytes)
{
	SCOPED(scoped_close) int fd = mkstemp(path);

	assert_true(fd >= 0);
	for (size_t i = 0; i < bytes; i++)
		expect_eq(write(fd, i % 2 ? "b" : "a", 1), 1);
}

static void files_of_any_size_up_to_the_cap_are_read(void **state)
{
	static const size_t sizes[] = { 0, 1, 4094, 4095, 4096, 8191, 8192, 10000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		SCOPED(scoped_free) char *text = NULL;
		char path[] = "/tmp/test_text.XXXXXX";
		int err;

		write_file(path, sizes[i]);
		err = text_read_file(path, sizes[i], &text);
		unlink(path);
		expect_eq(err, 0);
		expect_eq(strlen(text), sizes[i]);
		if (sizes[i])
			expect_eq(text[sizes[i] - 1], sizes[i] % 2 ? 'a' : 'b');
	}
}

static void files_beyond_the_cap_are_refused(void **state)
{
	char path[] = "/tmp/test_text.XXXXXX";
	char *text = NULL;

	(void)state;
	write_file(path, 5000);
	expect_eq(text_read_file(path, 4999, &text), -EFBIG);
	expect_eq(text_read_file(path, 10, &text), -EFBIG);
	expect_eq(text_read_file(path, 0, &text), -EFBIG);
	unlink(path);
	expect_eq(text_read_file("/dev/zero", 100000, &text), -EFBIG);
	assert_null(text);
}

static void files_that_cannot_be_read_say_why(void **state)
{
	char *text = NULL;

	(void)state;
	expect_eq(text_read_file("/tmp/no-such-file-here", 10, &text), -ENOENT);
	expect_eq(text_read_file("/tmp", 10, &text), -EISDIR);
	expect_eq(text_read_file_at(-1, "relative", 10, &text), -EBADF);
	assert_null(text);
}

static void files_of_the_kernel_are_read_below_a_directory(void **state)
{
	SCOPED(scoped_close) int dir = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	SCOPED(scoped_free) char *text = NULL;

	(void)state;
	assert_true(dir >= 0);
	expect_eq(text_read_file_at(dir, "comm", SIZE_MAX, &text), 0);
	text_chomp(text);
	assert_string_equal(text, program_invocation_short_name);
}

static void trailing_space_is_cut(void **state)
{
	char all[] = " \t\r\n", some[] = " a b \n\n", none[] = "x", empty[] = "";

	(void)state;
	text_chomp(all);
	assert_string_equal(all, "");
	text_chomp(some);
	assert_string_equal(some, " a b");
	text_chomp(none);
	assert_string_equal(none, "x");
	text_chomp(empty);
	assert_string_equal(empty, "");
}

static void check_printable(const char *src, const char *expected)
{
	char buf[64];

	assert_string_equal(text_printable(buf, sizeof(buf), src, strlen(src)), expected);
}

static void nothing_harmful_reaches_the_terminal(void **state)
{
	(void)state;
	check_printable("", "");
	check_printable("kworker/0:1", "kworker/0:1");
	check_printable("a\x1b[31mred\nb\tc\x7f", "a?[31mred?b?c?");
	check_printable("caf\xc3\xa9 \xe6\xbc\xa2", "caf\xc3\xa9 \xe6\xbc\xa2");
	check_printable("bad\xff\xfe.", "bad??.");
	check_printable("cut\xe2\x82", "cut?");
	check_printable("csi\xc2\x9b", "csi?");                 /* C1: starts a sequence, too */
	check_printable("turned\xe2\x80\xaegnp", "turned?gnp"); /* right-to-left override */
}

static void printing_stops_at_a_nul_and_at_the_length(void **state)
{
	char buf[16];

	(void)state;
	assert_string_equal(text_printable(buf, sizeof(buf), "ab\0cd", 5), "ab");
	assert_string_equal(text_printable(buf, sizeof(buf), "abcd", 2), "ab");
	assert_string_equal(text_printable(buf, sizeof(buf), "abcd", 0), "");
}

static void a_character_is_cut_as_a_whole(void **state)
{
	char buf[5] = "zzzz";

	(void)state;
	assert_string_equal(text_printable(buf, 5, "ab\xe2\x82\xac", 5), "ab");
	assert_string_equal(text_printable(buf, 5, "a\xe2\x82\xac", 4), "a\xe2\x82\xac");
	assert_string_equal(text_printable(buf, 1, "abc", 3), "");
	buf[0] = 'z';
	assert_ptr_equal(text_printable(buf, 0, "abc", 3), buf);
	expect_eq(buf[0], 'z');
}

static void a_text_is_cut_between_characters(void **state)
{
	char plain[] = "abcdef", accent[] = "caf\xc3\xa9s", wide[] = "\xe6\xbc\xa2\xe5\xad\x97";
	char combined[] = "e\xcc\x81x", none[] = "ab";

	(void)state;
	assert_string_equal(text_cut(plain, 6), "abcdef");
	assert_string_equal(text_cut(plain, 2), "ab");
	assert_string_equal(text_cut(accent, 4), "caf\xc3\xa9");
	assert_string_equal(text_cut(wide, 3), "\xe6\xbc\xa2");  /* the second takes two columns */
	assert_string_equal(text_cut(combined, 1), "e\xcc\x81"); /* what combines stays */
	assert_string_equal(text_cut(none, 0), "");
}

static void width_is_in_columns(void **state)
{
	(void)state;
	expect_eq(text_width(""), 0);
	expect_eq(text_width("abc"), 3);
	expect_eq(text_width("caf\xc3\xa9"), 4);
	expect_eq(text_width("cafe\xcc\x81"), 4);             /* combining acute */
	expect_eq(text_width("\xe6\xbc\xa2\xe5\xad\x97"), 4); /* two CJK characters */
	expect_eq(text_width("\xed\x95\x9c"), 2);             /* Hangul */
	expect_eq(text_width("\xf0\x9f\x98\x80"), 2);         /* emoji */
	expect_eq(text_width("\xe2\x94\x82"), 1);             /* box drawing */
	expect_eq(text_width("\xff"), 1);
}

static void check_rate(double value, const char *expected)
{
	char buf[32];

	assert_string_equal(text_rate(buf, sizeof(buf), value), expected);
}

static void rates_are_short(void **state)
{
	(void)state;
	check_rate(0, "0");
	check_rate(12.4, "12");
	check_rate(999, "999");
	check_rate(999.4, "999");
	check_rate(999.6, "1.0K");
	check_rate(1000, "1.0K");
	check_rate(1234, "1.2K");
	check_rate(999949, "999.9K");
	check_rate(999951, "1.0M");
	check_rate(2.5e6, "2.5M");
	check_rate(3.21e9, "3.2G");
	check_rate(4e12, "4.0T");
	check_rate(1.5e15, "1500.0T");
}

static void check_duration(uint64_t ns, const char *expected)
{
	char buf[32];

	assert_string_equal(text_duration(buf, sizeof(buf), ns), expected);
}

static void durations_have_three_digits(void **state)
{
	(void)state;
	check_duration(0, "0ns");
	check_duration(850, "850ns");
	check_duration(999, "999ns");
	check_duration(1000, "1.00us");
	check_duration(12345, "12.3us");
	check_duration(99960, "100us");
	check_duration(850000, "850us");
	check_duration(999499, "999us");
	check_duration(999600, "1.00ms");
	check_duration(4560000, "4.56ms");
	check_duration(999700000, "1.00s");
	check_duration(1234567890, "1.23s");
	check_duration(86400000000000ULL, "86400s");
	check_duration(UINT64_MAX, "18446744074s");
}

static void short_buffers_are_respected(void **state)
{
	char buf[4] = "zzz";

	(void)state;
	assert_string_equal(text_rate(buf, 3, 123456), "12");
	assert_string_equal(text_duration(buf, 3, 850), "85");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_are_read),
		cmocka_unit_test(whole_numbers_are_written),
		cmocka_unit_test(anything_else_is_no_number),
		cmocka_unit_test(files_of_any_size_up_to_the_cap_are_read),
		cmocka_unit_test(files_beyond_the_cap_are_refused),
		cmocka_unit_test(files_that_cannot_be_read_say_why),
		cmocka_unit_test(files_of_the_kernel_are_read_below_a_directory),
		cmocka_unit_test(trailing_space_is_cut),
		cmocka_unit_test(nothing_harmful_reaches_the_terminal),
		cmocka_unit_test(printing_stops_at_a_nul_and_at_the_length),
		cmocka_unit_test(a_character_is_cut_as_a_whole),
		cmocka_unit_test(a_text_is_cut_between_characters),
		cmocka_unit_test(width_is_in_columns),
		cmocka_unit_test(rates_are_short),
		cmocka_unit_test(durations_have_three_digits),
		cmocka_unit_test(short_buffers_are_respected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
