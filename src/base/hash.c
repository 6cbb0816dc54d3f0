#include "base/hash.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

/* Odd, ones and zeros well mixed, so that every input bit reaches the high half of a product. */
#define MULTIPLIER 0x9e3779b97f4a7c15ULL
#define FINISHER   0xd6e8feb86659fd93ULL

uint64_t hash_seed(void)
{
	struct timespec now = { 0 };
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == (ssize_t)sizeof(seed))
		return seed;
	/* Early boot without entropy: harder to guess than a constant is all that is needed. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return ((uint64_t)now.tv_nsec * MULTIPLIER) ^ (uint64_t)(uintptr_t)&now;
}

static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_bytes(const void *bytes, size_t len, uint64_t seed)
{
	const unsigned char *p = bytes;
	uint64_t h = fold(seed ^ len, MULTIPLIER) ^ seed;

	while (len > 0) {
		size_t n = len < sizeof(uint64_t) ? len : sizeof(uint64_t);
		uint64_t word = 0;

		memcpy(&word, p, n);
		h = fold(h ^ word, MULTIPLIER) ^ seed;
		p += n;
		len -= n;
	}
	return fold(h, FINISHER);
}
