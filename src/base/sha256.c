#include "base/sha256.h"

#include <string.h>

#define BLOCK  64U
#define ROUNDS 64U
#define LENGTH 8U /* bytes of the length at the end */

static const uint32_t first[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

static const uint32_t constants[ROUNDS] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t turn(uint32_t word, unsigned int by)
{
	return word >> by | word << (32 - by);
}

static void schedule(const uint8_t block[BLOCK], uint32_t w[ROUNDS])
{
	for (unsigned int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4UL * i] << 24 | (uint32_t)block[4UL * i + 1] << 16 |
		       (uint32_t)block[4UL * i + 2] << 8 | block[4UL * i + 3];
	for (unsigned int i = 16; i < ROUNDS; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] +
		       (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
	}
}

/* The letters are those of the standard. */
static void add_block(struct sha256 *h, const uint8_t block[BLOCK])
{
	uint32_t w[ROUNDS], v[8];

	schedule(block, w);
	memcpy(v, h->state, sizeof(v));
	for (unsigned int i = 0; i < ROUNDS; i++) {
		uint32_t a = v[0], e = v[4];
		uint32_t t1 = v[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
		              ((e & v[5]) ^ (~e & v[6])) + constants[i] + w[i];
		uint32_t t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
		              ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (unsigned int i = 0; i < 8; i++)
		h->state[i] += v[i];
}

void sha256_init(struct sha256 *h)
{
	*h = (struct sha256){ 0 };
	memcpy(h->state, first, sizeof(first));
}

void sha256_add(struct sha256 *h, const void *data, size_t len)
{
	const uint8_t *at = data;

	while (len > 0) {
		size_t used = h->nr_bytes % BLOCK, room = BLOCK - used;
		size_t taken = len < room ? len : room;

		memcpy(h->block + used, at, taken);
		h->nr_bytes += taken;
		at += taken;
		len -= taken;
		if (used + taken == BLOCK)
			add_block(h, h->block);
	}
}

void sha256_end(struct sha256 *h, uint8_t out[SHA256_BYTES])
{
	static const uint8_t padding[BLOCK] = { 0x80 };
	uint64_t bits = h->nr_bytes * 8;
	size_t used = h->nr_bytes % BLOCK;
	uint8_t length[LENGTH];

	for (unsigned int i = 0; i < LENGTH; i++)
		length[i] = (uint8_t)(bits >> (8 * (LENGTH - 1 - i)));
	sha256_add(h, padding, (used < BLOCK - LENGTH ? BLOCK : 2 * BLOCK) - LENGTH - used);
	sha256_add(h, length, sizeof(length));
	for (unsigned int i = 0; i < SHA256_BYTES; i++)
		out[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}

char *sha256_base64(const void *data, size_t len, char out[SHA256_BASE64_BYTES])
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t sum[SHA256_BYTES + 1] = { 0 }; /* and one of zeros, for the last group */
	struct sha256 h;

	sha256_init(&h);
	sha256_add(&h, data, len);
	sha256_end(&h, sum);
	for (unsigned int i = 0; i < SHA256_BYTES + 1; i += 3) {
		uint32_t group = (uint32_t)sum[i] << 16 | (uint32_t)sum[i + 1] << 8 | sum[i + 2];

		for (unsigned int k = 0; k < 4; k++)
			out[i / 3 * 4 + k] = letters[group >> (18 - 6 * k) & 63];
	}
	out[SHA256_BASE64_BYTES - 2] = '='; /* the last group has two bytes */
	out[SHA256_BASE64_BYTES - 1] = '\0';
	return out;
}
