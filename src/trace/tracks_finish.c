#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/tracks_in.h"

static int compare_counts(const void *a, const void *b)
{
	const struct trace_count *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void put_category(struct reader *r, struct trace_count *counts, size_t *nr, const char *s,
                         size_t len, uint64_t count)
{
	const char *name = info_text(r, s, len);

	if (!count)
		return;
	for (size_t i = 0; i < *nr; i++) {
		if (strcmp(counts[i].name, name) == 0) {
			counts[i].count += count;
			return;
		}
	}
	counts[(*nr)++] = (struct trace_count){ .name = name, .count = count };
}

#define CATEGORIES_MAX 4096U /* that are told; few files have more than forty */

/* Events by category, those of no category under "". */
static int put_categories(struct reader *r)
{
	const struct tracks *t = r->tracks;
	struct trace_count *counts;
	size_t nr = 0, len;
	const char *s;

	if (!t->nr_rows)
		return 0;
	counts = ARENA_ARRAY(r->mem, struct trace_count, CATEGORIES_MAX);
	if (!counts)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nr_texts && nr < CATEGORIES_MAX; i++) {
		if (!t->nr_of_category[i])
			continue;
		s = intern_string(r->texts, i, &len);
		put_category(r, counts, &nr, s, len, t->nr_of_category[i]);
	}
	for (uint32_t i = 0; i < t->nr_inlines && nr < CATEGORIES_MAX; i++) {
		s = intern_string(t->inline_categories, i, &len);
		put_category(r, counts, &nr, s, len, t->nr_inline[i]);
	}
	qsort(counts, nr, sizeof(*counts), compare_counts);
	r->info.categories = counts;
	r->info.nr_categories = nr;
	return 0;
}

/* Without what only says that it is a counter. */
static const char *pmu_name(struct reader *r, struct track_text key)
{
	static const char prefix[] = "pmu:", suffix[] = "_kilo";

	if (track_text_begins(key, prefix)) {
		key.s += sizeof(prefix) - 1;
		key.len -= sizeof(prefix) - 1;
	} else {
		key.len -= sizeof(suffix) - 1;
	}
	return info_text(r, key.s, key.len);
}

static int put_pmu_names(struct reader *r)
{
	const struct tracks *t = r->tracks;
	const char **names;

	if (!t->nr_pmu)
		return 0;
	names = ARENA_ARRAY(r->mem, const char *, t->nr_pmu);
	if (!names)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nr_pmu; i++)
		if (!t->pmu_is_ratio[i])
			names[r->info.nr_pmu_names++] = pmu_name(r, t->pmu_keys[i]);
	r->info.pmu_names = names;
	return 0;
}

int tracks_finish(struct reader *r)
{
	int err = put_categories(r);

	if (!err)
		err = put_pmu_names(r);
	return err ? err : track_stacks_finish(r);
}
