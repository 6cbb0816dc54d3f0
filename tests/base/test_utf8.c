#include "../unit.h"

#include <string.h>

#include "base/utf8.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct sample {
	const char *bytes;
	size_t taken;
	uint32_t code;
};

static void check(const struct sample *s)
{
	uint32_t code = 0;
	size_t taken = utf8_next(s->bytes, strlen(s->bytes), &code);

	if (taken != s->taken || code != s->code)
		print_error("'%s': took %zu, U+%04x\n", s->bytes, taken, code);
	expect_eq(taken, s->taken);
	expect_eq(code, s->code);
}

static void valid_sequences_are_decoded(void **state)
{
	static const struct sample samples[] = {
		{ "A", 1, 'A' },
		{ "\x7f", 1, 0x7f },
		{ "\xc2\x80", 2, 0x80 },
		{ "\xdf\xbf", 2, 0x7ff },
		{ "\xe0\xa0\x80", 3, 0x800 },
		{ "\xed\x9f\xbf", 3, 0xd7ff },
		{ "\xee\x80\x80", 3, 0xe000 },
		{ "\xef\xbf\xbf", 3, 0xffff },
		{ "\xf0\x90\x80\x80", 4, 0x10000 },
		{ "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		check(&samples[i]);
}

static void everything_else_is_invalid(void **state)
{
	static const struct sample samples[] = {
		{ "\x80", 1, UTF8_INVALID },             /* no first byte */
		{ "\xc0\x80", 1, UTF8_INVALID },         /* overlong */
		{ "\xc1\xbf", 1, UTF8_INVALID },         /* overlong */
		{ "\xe0\x9f\xbf", 1, UTF8_INVALID },     /* overlong */
		{ "\xf0\x8f\xbf\xbf", 1, UTF8_INVALID }, /* overlong */
		{ "\xed\xa0\x80", 1, UTF8_INVALID },     /* surrogate */
		{ "\xf4\x90\x80\x80", 1, UTF8_INVALID }, /* beyond U+10FFFF */
		{ "\xf5\x80\x80\x80", 1, UTF8_INVALID },
		{ "\xff", 1, UTF8_INVALID },
		{ "\xc3", 1, UTF8_INVALID }, /* cut */
		{ "\xe2\x82", 2, UTF8_INVALID },
		{ "\xf0\x9f\x98", 3, UTF8_INVALID },
		{ "\xf0\x9f\x41", 2, UTF8_INVALID }, /* the A is left for the next call */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		check(&samples[i]);
}

static void all_code_points_survive(void **state)
{
	(void)state;
	for (uint32_t c = 0x800; c <= 0x10ffff; c += 37) {
		char b[4] = { (char)(0xe0 | c >> 12), (char)(0x80 | (c >> 6 & 0x3f)),
			      (char)(0x80 | (c & 0x3f)) };
		uint32_t code = 0;

		if (c >= 0xd800 && c <= 0xdfff)
			continue;
		if (c >= 0x10000) {
			b[0] = (char)(0xf0 | c >> 18);
			b[1] = (char)(0x80 | (c >> 12 & 0x3f));
			b[2] = (char)(0x80 | (c >> 6 & 0x3f));
			b[3] = (char)(0x80 | (c & 0x3f));
		}
		expect_eq(utf8_next(b, 4, &code), c >= 0x10000 ? 4 : 3);
		expect_eq(code, c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_sequences_are_decoded),
		cmocka_unit_test(everything_else_is_invalid),
		cmocka_unit_test(all_code_points_survive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
