#include "analyze/sort_u64.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FEW        512 /* below this, counting digits costs more than comparing */
#define DIGIT_BITS 11
#define DIGITS     (1U << DIGIT_BITS)
#define PASSES     ((64 + DIGIT_BITS - 1) / DIGIT_BITS)

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static bool is_sorted(const uint64_t *values, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (values[i - 1] > values[i])
			return false;
	return true;
}

/* The bits in which any two differ: digits without such a bit need no pass. */
static uint64_t differing(const uint64_t *values, size_t nr)
{
	uint64_t bits = 0;

	for (size_t i = 1; i < nr; i++)
		bits |= values[i] ^ values[0];
	return bits;
}

static void pass(const uint64_t *from, uint64_t *to, size_t nr, unsigned int shift)
{
	size_t starts[DIGITS] = { 0 };
	size_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		starts[from[i] >> shift & (DIGITS - 1)]++;
	for (size_t i = 0; i < DIGITS; i++) {
		size_t count = starts[i];

		starts[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < nr; i++)
		to[starts[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

void sort_u64(uint64_t *values, size_t nr)
{
	uint64_t *other, *from = values, *to, bits;

	if (nr < 2 || is_sorted(values, nr))
		return;
	other = nr < FEW ? NULL : reallocarray(NULL, nr, sizeof(*other));
	if (!other) {
		qsort(values, nr, sizeof(*values), compare);
		return;
	}
	to = other;
	bits = differing(values, nr);
	for (unsigned int i = 0; i < PASSES; i++) {
		uint64_t *swap = from;

		if (!(bits >> (i * DIGIT_BITS) & (DIGITS - 1)))
			continue;
		pass(from, to, nr, i * DIGIT_BITS);
		from = to;
		to = swap;
	}
	if (from != values)
		memcpy(values, from, nr * sizeof(*values));
	free(other);
}
