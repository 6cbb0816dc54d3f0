#include "sys/cpulist.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

int cpulist_add(struct cpulist *l, uint32_t cpu)
{
	uint32_t word = cpu / 64;
	uint64_t bit = 1ULL << (cpu % 64);

	if (cpu >= CPULIST_MAX)
		return -ERANGE;
	if (word >= l->nr_words) {
		uint64_t *words = realloc(l->words, (word + 1) * sizeof(*words));

		if (!words)
			return -ENOMEM;
		memset(words + l->nr_words, 0, (word + 1 - l->nr_words) * sizeof(*words));
		l->words = words;
		l->nr_words = word + 1;
	}
	if (!(l->words[word] & bit))
		l->nr++;
	l->words[word] |= bit;
	return 0;
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

struct range {
	uint32_t first, last;
	uint32_t used, group; /* the first "used" numbers of each "group" */
};

static bool take_range(const char **s, struct range *r)
{
	if (!take_number(s, &r->first))
		return false;
	r->last = r->first;
	r->used = r->group = 1;
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

static int add_range(struct cpulist *l, const struct range *r)
{
	if (r->last >= CPULIST_MAX)
		return -ERANGE;
	for (uint32_t cpu = r->first; cpu <= r->last; cpu++) {
		int err = (cpu - r->first) % r->group < r->used ? cpulist_add(l, cpu) : 0;

		if (err)
			return err;
	}
	return 0;
}

static void skip_space(const char **s)
{
	while (isspace((unsigned char)**s))
		++*s;
}

int cpulist_parse(const char *s, struct cpulist *out)
{
	SCOPED(scoped_cpulist) struct cpulist l = { 0 };
	bool is_more = false;

	skip_space(&s);
	while (*s || is_more) {
		struct range r;
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

size_t cpulist_format(const struct cpulist *l, char *buf, size_t size)
{
	size_t len = 0;
	int next;

	if (size)
		buf[0] = '\0';
	for (int first = cpulist_next(l, 0); first >= 0; first = next) {
		int last = first;
		size_t room = len < size ? size - len : 0;
		char *end = room ? buf + len : NULL;
		const char *comma = len ? "," : "";
		int n;

		next = cpulist_next(l, (uint32_t)last + 1);
		for (; next == last + 1; next = cpulist_next(l, (uint32_t)last + 1))
			last = next;
		if (first == last)
			n = snprintf(end, room, "%s%d", comma, first);
		else
			n = snprintf(end, room, "%s%d-%d", comma, first, last);
		len += (size_t)n;
	}
	return len;
}

void cpulist_done(struct cpulist *l)
{
	free(l->words);
	*l = (struct cpulist){ 0 };
}

void scoped_cpulist(struct cpulist *l)
{
	cpulist_done(l);
}
