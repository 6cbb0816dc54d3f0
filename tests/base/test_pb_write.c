#include "bytes.h"

#include <errno.h>
#include <stdlib.h>

static void numbers_are_as_short_as_they_can_be(void **state)
{
	struct pb w = { .cap = 1024 };

	(void)state;
	pb_uint(&w, 1, 0);
	pb_uint(&w, 1, 127);
	pb_uint(&w, 1, 128);
	pb_uint(&w, 16, 300);
	pb_bool(&w, 2, true);
	expect_bytes(&w, "08 00  08 7f  08 80 01  80 01 ac 02  10 01");
	pb_done(&w);
}

static void a_negative_number_takes_ten_bytes(void **state)
{
	struct pb w = { .cap = 1024 };

	(void)state;
	pb_int(&w, 4, -2);
	expect_bytes(&w, "20 fe ff ff ff ff ff ff ff ff 01");
	pb_done(&w);
}

static void fixed_numbers_are_little_endian(void **state)
{
	struct pb w = { .cap = 1024 };

	(void)state;
	pb_double(&w, 5, 12.5);
	pb_fixed64(&w, 47, 0x1234);
	expect_bytes(&w, "29 00 00 00 00 00 00 29 40  f9 02 34 12 00 00 00 00 00 00");
	pb_done(&w);
}

static void varints_have_the_size_that_is_reported(void **state)
{
	uint8_t buf[PB_VARINT_MAX];

	(void)state;
	for (int bit = 0; bit < 64; bit++)
		for (int add = -1; add <= 1; add++) {
			uint64_t v = ((uint64_t)1 << bit) + (uint64_t)(int64_t)add;

			expect_eq(pb_put_varint(buf, v) - buf, pb_varint_size(v));
		}
	expect_eq(pb_varint_size(UINT64_MAX), 10);
}

/* Every length around the widths of a varint, with both guesses. */
static void nested_lengths_are_minimal_whatever_was_expected(void **state)
{
	static const size_t lens[] = { 0, 1, 127, 128, 129, 16383, 16384, 16385, 70000 };

	(void)state;
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
		for (int is_large = 0; is_large < 2; is_large++) {
			struct pb w = { .cap = 1 << 20 }, flat = { .cap = 1 << 20 };
			char *bytes = malloc(lens[i] + 1);
			struct pb_mark mark;

			memset(bytes, 'x', lens[i]);
			mark = is_large ? pb_begin_large(&w, 3) : pb_begin(&w, 3);
			pb_raw(&w, bytes, lens[i]);
			pb_end(&w, mark);
			pb_uint(&w, 1, 5);
			pb_bytes(&flat, 3, bytes, lens[i]);
			pb_uint(&flat, 1, 5);
			expect_eq(w.error, 0);
			expect_eq(w.len, flat.len);
			assert_memory_equal(w.buf, flat.buf, w.len);
			free(bytes);
			pb_done(&w);
			pb_done(&flat);
		}
}

static void messages_nest(void **state)
{
	struct pb w = { .cap = 1024 };
	struct pb_mark a, b;

	(void)state;
	a = pb_begin(&w, 1);
	b = pb_begin(&w, 2);
	pb_uint(&w, 1, 7);
	pb_end(&w, b);
	pb_end(&w, a);
	a = pb_begin(&w, 1);
	pb_end(&w, a);
	expect_bytes(&w, "0a 04  12 02  08 07  0a 00");
	pb_done(&w);
}

static void text_ends_at_a_nul_or_where_it_must(void **state)
{
	struct pb w = { .cap = 1024 };

	(void)state;
	pb_text(&w, 1, "ab\0cd", 5);
	pb_text(&w, 1, "abcd", 2);
	pb_string(&w, 1, "");
	pb_string(&w, 1, NULL);
	expect_bytes(&w, "0a 02 61 62  0a 02 61 62  0a 00");
	pb_done(&w);
}

static void text_that_is_not_utf8_is_replaced(void **state)
{
	struct pb w = { .cap = 1024 };

	(void)state;
	pb_string(&w, 1, "\xc3\xa4"); /* as it is */
	pb_string(&w, 1,
	          "a\xff"
	          "b");
	pb_text(&w, 1, "\xe2\x82", 2);
	expect_bytes(&w, "0a 02 c3 a4  0a 05 61 ef bf bd 62  0a 03 ef bf bd");
	pb_done(&w);
}

static void a_full_buffer_is_an_error_that_sticks(void **state)
{
	struct pb w = { .cap = 64 };
	struct pb_mark mark;

	(void)state;
	mark = pb_begin(&w, 1);
	for (int i = 0; i < 100; i++)
		pb_uint(&w, 1, UINT64_MAX);
	expect_eq(w.error, -E2BIG);
	assert_true(w.len <= 64);
	pb_end(&w, mark);
	pb_string(&w, 1, "x");
	pb_text(&w, 1, "\xff", 1);
	pb_double(&w, 1, 1.0);
	expect_eq(w.error, -E2BIG);
	assert_true(w.len <= 64);

	pb_clear(&w);
	pb_uint(&w, 1, 1);
	expect_bytes(&w, "08 01");
	pb_done(&w);
}

static void what_cannot_ever_fit_is_refused(void **state)
{
	struct pb w = { .cap = 64 };

	(void)state;
	pb_bytes(&w, 1, "", SIZE_MAX - 5);
	expect_eq(w.error, -E2BIG);
	pb_clear(&w);
	assert_false(pb_reserve(&w, SIZE_MAX));
	expect_eq(w.error, -E2BIG);
	pb_done(&w);
}

static void a_cut_takes_back_what_came_after(void **state)
{
	struct pb w = { .cap = 64 };
	size_t len;

	(void)state;
	pb_uint(&w, 1, 1);
	len = w.len;
	for (int i = 0; i < 100; i++)
		pb_uint(&w, 2, 2);
	expect_eq(w.error, -E2BIG);
	pb_cut(&w, len);
	expect_bytes(&w, "08 01");
	pb_cut(&w, 1000);
	expect_bytes(&w, "08 01");
	pb_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_as_short_as_they_can_be),
		cmocka_unit_test(a_negative_number_takes_ten_bytes),
		cmocka_unit_test(fixed_numbers_are_little_endian),
		cmocka_unit_test(varints_have_the_size_that_is_reported),
		cmocka_unit_test(nested_lengths_are_minimal_whatever_was_expected),
		cmocka_unit_test(messages_nest),
		cmocka_unit_test(text_ends_at_a_nul_or_where_it_must),
		cmocka_unit_test(text_that_is_not_utf8_is_replaced),
		cmocka_unit_test(a_full_buffer_is_an_error_that_sticks),
		cmocka_unit_test(what_cannot_ever_fit_is_refused),
		cmocka_unit_test(a_cut_takes_back_what_came_after),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
