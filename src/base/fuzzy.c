#include "base/fuzzy.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SPREAD_MAX 1023 /* the largest distance that affects the order */
#define WHOLE      (-1) /* nearer than all letters side by side */
#define NONE       (-2)

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* A pattern made small, without one of its letters if skip says which. */
struct pattern {
	char text[FUZZY_PATTERN];
	size_t len;
};

static struct pattern pattern_of(const char *text, size_t skip)
{
	struct pattern p = { .len = 0 };

	for (size_t i = 0; text[i] && p.len < FUZZY_PATTERN - 1; i++)
		if (i != skip)
			p.text[p.len++] = lower(text[i]);
	return p;
}

static bool contains(const struct pattern *p, const char *name)
{
	for (; *name; name++) {
		size_t i = 0;

		while (i < p->len && name[i] && lower(name[i]) == p->text[i])
			i++;
		if (i == p->len)
			return true;
	}
	return p->len == 0;
}

/* Letters between those of the pattern, WHOLE, or NONE = it does not have them all. */
static int32_t spread_of(const struct pattern *p, const char *name)
{
	size_t at = 0, first = 0, i = 0;

	for (; name[i] && at < p->len; i++) {
		if (lower(name[i]) != p->text[at])
			continue;
		if (at++ == 0)
			first = i;
	}
	if (at < p->len)
		return NONE;
	if (p->len && i == p->len && !name[i])
		return WHOLE;
	return p->len && !contains(p, name) ? (int32_t)(i - first - p->len) : 0;
}

int32_t fuzzy_score(const char *pattern, const char *name)
{
	struct pattern p = pattern_of(pattern, SIZE_MAX);
	int32_t spread = spread_of(&p, name);

	return spread == NONE ? FUZZY_NONE : FUZZY_BEST - spread;
}

/* Whether all letters but one are there: how far one gets without leaving any out, and with one left out. */
static bool may_have_typo(const struct pattern *p, const char *name)
{
	size_t whole = 0, less = 1;

	for (; *name && less < p->len; name++) {
		char c = lower(*name);

		if (c == p->text[less])
			less++;
		if (whole < p->len && c == p->text[whole])
			whole++;
		if (whole + 1 > less)
			less = whole + 1;
	}
	return less >= p->len;
}

static int32_t spread_of_typo(const char *pattern, const struct pattern *p, const char *name)
{
	int32_t best = NONE;

	/* Of a single letter nothing would be left. */
	if (p->len < 2 || !may_have_typo(p, name))
		return NONE;
	for (size_t skip = 0; skip < p->len; skip++) {
		struct pattern less = pattern_of(pattern, skip);
		int32_t spread = spread_of(&less, name);

		/*
		 * A name that equals the pattern without a letter is no better than one that
		 * contains that.
		 */
		spread = spread == WHOLE ? 0 : spread;
		if (spread >= 0 && (best == NONE || spread < best))
			best = spread;
	}
	return best;
}

int32_t fuzzy_score_typo(const char *pattern, const char *name)
{
	struct pattern p = pattern_of(pattern, SIZE_MAX);
	int32_t spread = spread_of_typo(pattern, &p, name);

	return spread == NONE ? FUZZY_NONE : FUZZY_TYPO - spread;
}

struct search {
	const char *pattern;
	struct pattern p;
	const char *const *names;
	size_t nr;
	int16_t *spreads;                      /* of each name */
	size_t counts[SPREAD_MAX - WHOLE + 2]; /* of those that are nearer than the place says */
};

static size_t count(struct search *s, bool is_typo)
{
	size_t found = 0;

	for (size_t i = 0; i < s->nr; i++) {
		int32_t spread = is_typo ? spread_of_typo(s->pattern, &s->p, s->names[i])
		                         : spread_of(&s->p, s->names[i]);

		if (spread > SPREAD_MAX)
			spread = SPREAD_MAX;
		s->spreads[i] = (int16_t)spread;
		if (spread == NONE)
			continue;
		s->counts[spread - WHOLE + 1]++;
		found++;
	}
	return found;
}

int fuzzy_find(const char *pattern, const char *const *names, size_t nr, uint32_t **out,
               size_t *nr_found)
{
	struct search s = { .pattern = pattern, .names = names, .nr = nr };
	uint32_t *places = malloc((nr + 1) * sizeof(*places));
	size_t found;

	s.spreads = malloc((nr + 1) * sizeof(*s.spreads));
	if (!places || !s.spreads) {
		free(places);
		free(s.spreads);
		return -ENOMEM;
	}
	s.p = pattern_of(pattern, SIZE_MAX);
	found = count(&s, false);
	if (!found)
		found = count(&s, true);
	for (size_t i = 1; i <= SPREAD_MAX - WHOLE; i++)
		s.counts[i] += s.counts[i - 1];
	for (size_t i = 0; i < nr; i++)
		if (s.spreads[i] != NONE)
			places[s.counts[s.spreads[i] - WHOLE]++] = (uint32_t)i;
	free(s.spreads);
	*out = places;
	*nr_found = found;
	return 0;
}
