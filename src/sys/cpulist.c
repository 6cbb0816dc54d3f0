#include "sys/cpulist.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Makes room for cpu. */
static int reserve(struct cpulist *l, uint32_t cpu)
{
	uint32_t nr_words = cpu / 64 + 1;
	uint64_t *words;

	if (cpu >= CPULIST_MAX)
		return -ERANGE;
	if (nr_words <= l->nr_words)
		return 0;
	words = realloc(l->words, nr_words * sizeof(*words));
	if (!words)
		return -ENOMEM;
	memset(words + l->nr_words, 0, (nr_words - l->nr_words) * sizeof(*words));
	l->words = words;
	l->nr_words = nr_words;
	return 0;
}

/* A word at a time: a text of many wide ranges must not take long. */
static void fill(struct cpulist *l, uint32_t first, uint32_t last)
{
	assert(last / 64 < l->nr_words && l->words);
	for (uint32_t at = first; at <= last; at = (at | 63) + 1) {
		uint64_t *word = &l->words[at / 64];
		uint64_t mask = ~0ULL << (at % 64);

		if ((at | 63) > last)
			mask &= ~0ULL >> (63 - last % 64);
		l->nr += (uint32_t)__builtin_popcountll(mask & ~*word);
		*word |= mask;
	}
}

int cpulist_add(struct cpulist *l, uint32_t cpu)
{
	int err = reserve(l, cpu);

	if (!err)
		fill(l, cpu, cpu);
	return err;
}

bool cpulist_has(const struct cpulist *l, uint32_t cpu)
{
	return cpu / 64 < l->nr_words && l->words[cpu / 64] >> (cpu % 64) & 1;
}

int cpulist_next(const struct cpulist *l, uint32_t from)
{
	uint64_t mask = ~0ULL << (from % 64);

	for (uint32_t i = from / 64; i < l->nr_words; i++, mask = ~0ULL)
		if (l->words[i] & mask)
			return (int)(i * 64) + __builtin_ctzll(l->words[i] & mask);
	return -1;
}

int cpulist_last(const struct cpulist *l)
{
	for (uint32_t i = l->nr_words; i > 0; i--)
		if (l->words[i - 1])
			return (int)(i * 64) - 1 - __builtin_clzll(l->words[i - 1]);
	return -1;
}

/* Digits only; values beyond the cap stay just beyond it, so that they cannot overflow. */
static bool take_number(const char **s, uint32_t *out)
{
	uint32_t value = 0;

	if (!isdigit((unsigned char)**s))
		return false;
	for (; isdigit((unsigned char)**s); (*s)++)
		if (value < CPULIST_MAX)
			value = value * 10 + (uint32_t)(**s - '0');
	*out = value;
	return true;
}

struct cpu_range {
	uint32_t first, last;
	uint32_t used, group; /* the first "used" numbers of each "group" */
};

static bool take_range(const char **s, struct cpu_range *r)
{
	if (!take_number(s, &r->first))
		return false;
	r->last = r->first;
	r->used = r->group = CPULIST_MAX;
	if (**s != '-')
		return true;
	++*s;
	if (!take_number(s, &r->last) || r->last < r->first)
		return false;
	if (**s != ':')
		return true;
	++*s;
	if (!take_number(s, &r->used) || *(*s)++ != '/' || !take_number(s, &r->group))
		return false;
	return r->used > 0 && r->used <= r->group;
}

static int add_range(struct cpulist *l, const struct cpu_range *r)
{
	int err = reserve(l, r->last);

	for (uint32_t at = r->first; !err && at <= r->last; at += r->group) {
		uint32_t end = at + r->used - 1;

		fill(l, at, end < r->last ? end : r->last);
	}
	return err;
}

static void skip_space(const char **s)
{
	while (isspace((unsigned char)**s))
		++*s;
}

int cpulist_parse(const char *s, struct cpulist *out)
{
	SCOPED(cpulist_done) struct cpulist l = { 0 };
	bool is_more = false;

	skip_space(&s);
	while (*s || is_more) {
		struct cpu_range r;
		int err;

		if (!take_range(&s, &r))
			return -EINVAL;
		err = add_range(&l, &r);
		if (err)
			return err;
		is_more = *s == ',';
		if (is_more)
			s++;
		else
			skip_space(&s);
		if (!is_more && *s)
			return -EINVAL;
	}
	*out = l;
	l = (struct cpulist){ 0 };
	return 0;
}

void cpulist_done(struct cpulist *l)
{
	free(l->words);
	*l = (struct cpulist){ 0 };
}
