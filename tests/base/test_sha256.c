#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"

/* As hexadecimal digits. */
static void expect_sum(struct sha256 *h, const char *wanted)
{
	uint8_t sum[SHA256_BYTES];
	char text[2 * SHA256_BYTES + 1];

	sha256_end(h, sum);
	for (size_t i = 0; i < sizeof(sum); i++)
		snprintf(text + 2 * i, 3, "%02x", sum[i]);
	assert_string_equal(text, wanted);
}

/* Those of FIPS 180-4 and of NIST's examples. */
static void known_texts_have_their_sums(void **state)
{
	static const struct {
		const char *text, *sum;
	} cases[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sha256 h;

		sha256_init(&h);
		sha256_add(&h, cases[i].text, strlen(cases[i].text));
		expect_sum(&h, cases[i].sum);
	}
}

static void a_million_letters_have_their_sum(void **state)
{
	char part[1000];
	struct sha256 h;

	(void)state;
	memset(part, 'a', sizeof(part));
	sha256_init(&h);
	for (int i = 0; i < 1000; i++)
		sha256_add(&h, part, sizeof(part));
	expect_sum(&h, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Also where the length falls into a block of its own. */
static void the_pieces_do_not_matter(void **state)
{
	char text[200];

	(void)state;
	memset(text, 'x', sizeof(text));
	for (size_t len = 0; len < sizeof(text); len++) {
		uint8_t whole[SHA256_BYTES], parts[SHA256_BYTES];
		struct sha256 h;

		sha256_init(&h);
		sha256_add(&h, text, len);
		sha256_end(&h, whole);
		sha256_init(&h);
		for (size_t i = 0; i < len; i++)
			sha256_add(&h, text + i, 1);
		sha256_end(&h, parts);
		assert_memory_equal(whole, parts, sizeof(whole));
	}
}

static void a_policy_gets_base64(void **state)
{
	char out[SHA256_BASE64_BYTES];

	(void)state;
	/* The example of Content Security Policy Level 2, 7.17.1. */
	assert_string_equal(sha256_base64("alert('Hello, world.');", 23, out),
	                    "qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=");
	assert_string_equal(sha256_base64("", 0, out),
	                    "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_texts_have_their_sums),
		cmocka_unit_test(a_million_letters_have_their_sum),
		cmocka_unit_test(the_pieces_do_not_matter),
		cmocka_unit_test(a_policy_gets_base64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
