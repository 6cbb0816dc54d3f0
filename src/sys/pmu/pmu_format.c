#include "sys/pmu/pmu_format.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/text.h"

/* A bit number at *s; moves past it. */
static bool take_bit(const char **s, unsigned int *out)
{
	unsigned int bit = 0;
	int nr = 0;

	for (; isdigit((unsigned char)**s) && nr < 3; (*s)++, nr++)
		bit = bit * 10 + (unsigned int)(**s - '0');
	*out = bit;
	return nr && bit < 64;
}

static bool take_bits(const char **s, uint64_t *mask)
{
	unsigned int first, last;

	if (!take_bit(s, &first))
		return false;
	last = first;
	if (**s == '-') {
		(*s)++;
		if (!take_bit(s, &last))
			return false;
	}
	if (last < first)
		return false;
	*mask |= (~0ULL >> (63 - (last - first))) << first;
	return true;
}

int pmu_format_parse(const char *text, struct pmu_format *out)
{
	struct pmu_format f = { 0 };
	const char *s = text;

	if (strncmp(s, "config", 6) != 0)
		return -EINVAL;
	s += 6;
	if (isdigit((unsigned char)*s))
		f.word = (unsigned int)(*s++ - '0');
	if (*s++ != ':')
		return -EINVAL;
	do {
		if (!take_bits(&s, &f.mask))
			return -EINVAL;
	} while (*s++ == ',');
	s--;
	while (isspace((unsigned char)*s))
		s++;
	if (*s)
		return -EINVAL;
	if (f.word >= PMU_NR_WORDS)
		return -ENOTSUP;
	*out = f;
	return 0;
}

int pmu_format_put(const struct pmu_format *f, uint64_t value, uint64_t words[PMU_NR_WORDS])
{
	uint64_t bits = 0;

	for (uint64_t left = f->mask; left; left &= left - 1) {
		if (value & 1)
			bits |= left & -left;
		value >>= 1;
	}
	if (value)
		return -ERANGE;
	words[f->word] = (words[f->word] & ~f->mask) | bits;
	return 0;
}

static bool is_term_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* Between '=' and the next comma. */
static int take_value(const char **s, struct pmu_term *t)
{
	size_t len = strcspn(*s, ",");
	char buf[32];

	if (len >= sizeof(buf))
		return -EINVAL;
	memcpy(buf, *s, len);
	buf[len] = '\0';
	*s += len;
	t->has_value = true;
	t->is_open = strcmp(buf, "?") == 0;
	if (!t->is_open && !text_to_u64(buf, &t->value))
		return -EINVAL;
	return 0;
}

int pmu_term_next(const char **rest, struct pmu_term *out)
{
	struct pmu_term t = { .value = 1 };
	const char *s = *rest;
	size_t len = 0;
	int err;

	if (!*s)
		return 0;
	for (; is_term_char(*s); s++) {
		if (len + 1 >= sizeof(t.name))
			return -EINVAL;
		t.name[len++] = *s;
	}
	if (!len || t.name[0] == '.')
		return -EINVAL;
	if (*s == '=') {
		s++;
		err = take_value(&s, &t);
		if (err)
			return err;
	}
	if (*s == ',' && s[1])
		s++;
	else if (*s)
		return -EINVAL;
	*rest = s;
	*out = t;
	return 1;
}
