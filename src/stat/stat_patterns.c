#include "stat/stat_patterns.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/match.h"
#include "base/name_pattern.h"
#include "base/text.h"

#define SHOWN 61

static void announce(const char *pattern, const char *option)
{
	char shown[SHOWN];

	text_printable(shown, sizeof(shown), pattern, SIZE_MAX);
	log_warn("%s '%s' is taken as a regular expression; write '/%s/', as in all commands",
	         option, shown, shown);
}

int stat_patterns_make(const struct opt_list *words, const char *option, struct diag *d,
                       struct stat_patterns *out)
{
	SCOPED(scoped_match) struct match *m = NULL;
	const char *bare = NULL;
	int err;

	out->items = calloc(words->nr + 1, sizeof(*out->items));
	if (!out->items)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	for (size_t i = 0; i < words->nr; i++) {
		if (!bare && name_pattern_kind(words->items[i]) == NAME_PATTERN_BARE_REGEX)
			bare = words->items[i];
		if (name_pattern_regex(words->items[i], &out->items[out->nr]))
			return diag_set(d, -ENOMEM, NULL, "out of memory");
		out->nr++;
	}
	err = match_new((const char *const *)out->items, out->nr, d, &m);
	if (!err && bare)
		announce(bare, option);
	return err;
}

void stat_patterns_done(struct stat_patterns *p)
{
	for (size_t i = 0; i < p->nr; i++)
		free(p->items[i]);
	free(p->items);
	*p = (struct stat_patterns){ 0 };
}
