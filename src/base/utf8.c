#include "base/utf8.h"

/* What a first byte promises: bits of its own, bytes to follow, and the range of the second one. */
struct lead {
	uint8_t bits;
	uint8_t nr_more;
	uint8_t second_min;
	uint8_t second_max;
};

/* The range of the second byte shuts out overlong forms, surrogates and all beyond U+10FFFF. */
static struct lead lead_of(uint8_t b)
{
	if (b >= 0xc2 && b <= 0xdf)
		return (struct lead){ b & 0x1f, 1, 0x80, 0xbf };
	if (b >= 0xe0 && b <= 0xef)
		return (struct lead){ b & 0x0f, 2, b == 0xe0 ? 0xa0 : 0x80,
			              b == 0xed ? 0x9f : 0xbf };
	if (b >= 0xf0 && b <= 0xf4)
		return (struct lead){ b & 0x07, 3, b == 0xf0 ? 0x90 : 0x80,
			              b == 0xf4 ? 0x8f : 0xbf };
	return (struct lead){ 0 };
}

size_t utf8_next(const char *s, size_t len, uint32_t *out)
{
	const unsigned char *p = (const unsigned char *)s;
	struct lead lead;
	uint32_t code;

	if (p[0] < 0x80) {
		*out = p[0];
		return 1;
	}
	*out = UTF8_INVALID;
	lead = lead_of(p[0]);
	if (lead.nr_more == 0)
		return 1;
	code = lead.bits;
	for (size_t i = 1; i <= lead.nr_more; i++) {
		uint8_t min = i == 1 ? lead.second_min : 0x80;
		uint8_t max = i == 1 ? lead.second_max : 0xbf;

		if (i == len || p[i] < min || p[i] > max)
			return i;
		code = code << 6 | (p[i] & 0x3f);
	}
	*out = code;
	return lead.nr_more + 1U;
}
