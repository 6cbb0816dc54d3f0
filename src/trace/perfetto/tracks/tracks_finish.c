#include <errno.h>

#include "trace/perfetto/tracks/tracks_in.h"

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

int tracks_resolve(struct merge *m, struct reader *r, struct ev_hdr *rec)
{
	const struct in_first *first = (const void *)rec;

	(void)r;
	merge_first(m, rec, first->tid);
	return 0;
}

int tracks_finish(struct reader *r)
{
	int err = put_pmu_names(r);

	return err ? err : track_stacks_finish(r);
}
