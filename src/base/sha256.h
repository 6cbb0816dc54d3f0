/*
 * base/sha256 — the hash of FIPS 180-4, for names of texts: a policy of a page names the scripts that may run by it.
 *
 * Of public texts only: nothing here is made to keep a secret.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES        32U
#define SHA256_BASE64_BYTES 45U /* with the NUL */

struct sha256 {
	uint32_t state[8];
	uint64_t nr_bytes; /* added so far */
	uint8_t block[64]; /* those that do not fill one yet */
};

void sha256_init(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t len);
void sha256_end(struct sha256 *h, uint8_t out[SHA256_BYTES]);
/* Of a whole text, as policies of content write it: base64 with padding. Returns out. */
char *sha256_base64(const void *data, size_t len, char out[SHA256_BASE64_BYTES]);
