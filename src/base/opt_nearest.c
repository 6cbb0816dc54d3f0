#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "base/opt.h"
#include "base/opt_table.h"

#define WORD_MAX 40 /* longer words are not mistyped ones of ours */

static bool same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned int min2(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Letters to insert, delete, replace or swap with their neighbour; case does not count. */
static unsigned int distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned int rows[3][WORD_MAX + 1];
	size_t i, j;

	for (j = 0; j <= nb; j++)
		rows[0][j] = (unsigned int)j;
	for (i = 1; i <= na; i++) {
		unsigned int *row = rows[i % 3];
		const unsigned int *above = rows[(i + 2) % 3];
		const unsigned int *above2 = rows[(i + 1) % 3];

		row[0] = (unsigned int)i;
		for (j = 1; j <= nb; j++) {
			bool is_same = same_letter(a[i - 1], b[j - 1]);

			row[j] = min2(min2(above[j], row[j - 1]) + 1, above[j - 1] + !is_same);
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
			    same_letter(a[i - 2], b[j - 1]))
				row[j] = min2(row[j], above2[j - 2] + 1);
		}
	}
	return rows[na % 3][nb];
}

void opt_search_offer(struct opt_search *s, const char *candidate)
{
	size_t nr_word = strlen(s->word), nr_candidate = strlen(candidate);
	unsigned int found, limit;

	if (nr_word < 2 || nr_word > WORD_MAX || nr_candidate > WORD_MAX)
		return;
	/* A third of the letters may be wrong; beyond that the guess would be noise. */
	limit = min2((unsigned int)(nr_word + 1) / 3, 3);
	found = distance(s->word, nr_word, candidate, nr_candidate);
	/* The beginning of a name is as near as one wrong letter. */
	if (found > 1 && nr_word < nr_candidate && strncasecmp(s->word, candidate, nr_word) == 0)
		found = 1;
	if (found > limit || (s->best && found >= s->distance))
		return;
	s->best = candidate;
	s->distance = found;
}

const char *opt_nearest(const char *word, const char *const *words)
{
	struct opt_search search = { .word = word };

	for (; *words; words++)
		opt_search_offer(&search, *words);
	return search.best;
}
