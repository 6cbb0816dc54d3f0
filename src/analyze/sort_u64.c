#include "analyze/sort_u64.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define VERY_FEW   24  /* are moved to their places one by one */
#define FEW        512 /* have short digits: counting long ones would cost more */
#define FEW_BITS   8
#define DIGIT_BITS 11
#define MAX_DIGITS (1U << DIGIT_BITS)

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

static void pass(const uint64_t *from, uint64_t *to, size_t nr, unsigned int shift,
                 unsigned int digit_bits)
{
	size_t starts[MAX_DIGITS];
	size_t digits = (size_t)1 << digit_bits, sum = 0;

	memset(starts, 0, digits * sizeof(starts[0]));
	for (size_t i = 0; i < nr; i++)
		starts[from[i] >> shift & (digits - 1)]++;
	for (size_t i = 0; i < digits; i++) {
		size_t count = starts[i];

		starts[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < nr; i++)
		to[starts[from[i] >> shift & (digits - 1)]++] = from[i];
}

/* By digits in which any two differ, from the last one on; into values in the end. */
static void sort_digits(uint64_t *values, uint64_t *other, size_t nr, unsigned int low_bits)
{
	unsigned int digit_bits = nr < FEW ? FEW_BITS : DIGIT_BITS;
	uint64_t *from = values, *to = other, bits = differing(values, nr);

	for (unsigned int shift = low_bits; shift < 64 && bits >> shift; shift += digit_bits) {
		uint64_t *swap = from;

		if (!(bits >> shift & ((1ULL << digit_bits) - 1)))
			continue;
		pass(from, to, nr, shift, digit_bits);
		from = to;
		to = swap;
	}
	if (from != values)
		memcpy(values, from, nr * sizeof(*values));
}

static void insert_each(uint64_t *values, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		uint64_t value = values[i];
		size_t k = i;

		for (; k && values[k - 1] > value; k--)
			values[k] = values[k - 1];
		values[k] = value;
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

void sort_u64(uint64_t *values, size_t nr)
{
	sort_u64_above(values, nr, 0);
}

void sort_u64_above(uint64_t *values, size_t nr, unsigned int low_bits)
{
	uint64_t few[FEW], *other = few;

	if (nr < 2 || is_sorted(values, nr))
		return;
	if (nr < VERY_FEW) {
		insert_each(values, nr);
		return;
	}
	if (nr >= FEW)
		other = reallocarray(NULL, nr, sizeof(*other));
	if (other)
		sort_digits(values, other, nr, low_bits);
	else
		qsort(values, nr, sizeof(*values), compare);
	if (other != few)
		free(other);
}
