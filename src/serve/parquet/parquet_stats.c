#include <math.h>
#include <string.h>

#include "serve/parquet/parquet_priv.h"

void pq_stats_null(struct pq_stats *s)
{
	s->nulls++;
}

static double number_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static bool is_less(enum parquet_type type, uint64_t a, uint64_t b)
{
	if (type == PARQUET_DOUBLE)
		return number_of(a) < number_of(b);
	return (int64_t)a < (int64_t)b;
}

void pq_stats_number(struct pq_stats *s, enum parquet_type type, uint64_t bits)
{
	if (type == PARQUET_DOUBLE && isnan(number_of(bits))) {
		s->is_open =
			true; /* has no place in an order: readers may not leave rows out by the range */
		return;
	}
	if (!s->has_range || is_less(type, bits, s->least))
		s->least = bits;
	if (!s->has_range || is_less(type, s->greatest, bits))
		s->greatest = bits;
	s->has_range = true;
}

/* Texts are in the order of their bytes. */
static int compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return order ? order : (a_len > b_len) - (a_len < b_len);
}

void pq_stats_text(struct pq_stats *s, const char *text, size_t len)
{
	bool is_least, is_greatest;

	if (s->is_open)
		return;
	is_least = !s->has_range || compare(text, len, s->least_text, s->least_len) < 0;
	is_greatest = !s->has_range || compare(text, len, s->greatest_text, s->greatest_len) > 0;
	if (!is_least && !is_greatest)
		return;
	if (len > STATS_TEXT_MAX) {
		s->is_open = true;
		return;
	}
	if (is_least) {
		memcpy(s->least_text, text, len);
		s->least_len = len;
	}
	if (is_greatest) {
		memcpy(s->greatest_text, text, len);
		s->greatest_len = len;
	}
	s->has_range = true;
}
