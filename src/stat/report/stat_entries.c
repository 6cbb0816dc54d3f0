#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stat/report/stat_build.h"

bool stat_is_below(const struct hist *const *parts, size_t nr, uint64_t limit_us)
{
	struct hist all = { 0 };

	for (size_t i = 0; i < nr; i++)
		if (parts[i])
			hist_merge(&all, parts[i]);
	return all.count && hist_percentile_ns(&all, HIST_P(50)) / 1000 < limit_us;
}

/* By the delay since the start in either view: a row does not flicker from interval to interval. */
static bool is_hidden(const struct stat_report_in *in, const struct tally_row *row)
{
	struct hist *const *h = row->view[TALLY_TOTAL].hist;
	const struct hist *parts[] = { h[STAT_DELAY_WOKEN], h[STAT_DELAY_PREEMPTED],
		                       h[TALLY_DELAY_NEW] };

	if (!in->min_latency_us || !(in->groups & STAT_GROUP_LATENCY))
		return false;
	return stat_is_below(parts, 3, in->min_latency_us);
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_keys(const struct tally_row *a, const struct tally_row *b, enum tally_by by)
{
	switch (by) {
	case TALLY_BY_COMM:
		return strncmp(a->comm, b->comm, sizeof(a->comm));
	case TALLY_BY_TGID:
		return compare_u64(a->tgid, b->tgid);
	case TALLY_BY_CGROUP:
		return compare_u64(a->cgroup_id, b->cgroup_id);
	case TALLY_BY_TID:
		break;
	}
	return compare_u64(a->tid, b->tid);
}

static int compare_rows(const void *pa, const void *pb, void *by)
{
	const struct tally_row *a = *(const struct tally_row *const *)pa;
	const struct tally_row *b = *(const struct tally_row *const *)pb;
	int order = compare_keys(a, b, *(const enum tally_by *)by);

	return order ? order : compare_u64(a->tid, b->tid);
}

static char *copy_name(struct arena *mem, const char *name)
{
	return arena_printf(mem, "%.*s", STAT_COMM_LEN, name);
}

/* Several rows of threads: each thread counts once, even if it appears under two names. */
static void merge_members(const struct stat_entry *e, enum tally_view_kind view,
                          struct tally_members *out)
{
	uint32_t last_tid = 0;

	for (size_t i = 0; i < e->nr_rows; i++) {
		const struct tally_row *row = e->rows[i];

		if (!row->view[view].members.nr_tasks)
			continue;
		if (!row->tid) {
			out->nr_tasks += row->view[view].members.nr_tasks;
			continue;
		}
		if (row->tid == last_tid)
			continue;
		last_tid = row->tid;
		out->nr_tasks++;
		if (out->nr_shown < TALLY_SHOWN_TIDS)
			out->tids[out->nr_shown++] = row->tid;
	}
}

static int name_entry(struct stat_build *b, struct stat_entry *e)
{
	const struct stat_report_in *in = b->in;
	const struct tally_row *row = e->rows[0];
	struct stat_identity *identity = &e->identity;

	if (in->display == TALLY_BY_CGROUP) {
		if (in->cgroup_name)
			identity->cgroup = in->cgroup_name(in->cgroup_ctx, row->cgroup_id);
		identity->name = identity->cgroup
		                         ? arena_strdup(b->mem, identity->cgroup)
		                         : arena_printf(b->mem, "cgroup %llu",
		                                        (unsigned long long)row->cgroup_id);
		if (identity->cgroup)
			identity->cgroup = identity->name;
		return identity->name ? 0 : -ENOMEM;
	}
	if (in->display == TALLY_BY_TGID && row->process[0])
		identity->name = copy_name(b->mem, row->process);
	else
		identity->name = copy_name(b->mem, row->comm);
	identity->comm = identity->name;
	return identity->name ? 0 : -ENOMEM;
}

static int describe(struct stat_build *b, struct stat_entry *e)
{
	enum tally_by by = b->in->display;
	const struct tally_row *row = e->rows[0];
	struct stat_identity *identity = &e->identity;

	identity->has_tid = by == TALLY_BY_TID && row->tid;
	identity->tid = row->tid;
	identity->has_tgid = (by == TALLY_BY_TID || by == TALLY_BY_TGID) && row->tgid;
	identity->tgid = row->tgid;
	identity->has_cgroup = by == TALLY_BY_CGROUP || (by != TALLY_BY_COMM && row->cgroup_id);
	identity->cgroup_id = row->cgroup_id;
	if (e->nr_rows == 1)
		identity->members = row->view[b->in->view].members;
	else
		merge_members(e, b->in->view, &identity->members);
	return name_entry(b, e);
}

int stat_entries_build(struct stat_build *b, bool is_filtered, struct stat_entries *out)
{
	const struct stat_report_in *in = b->in;
	enum tally_by by = in->display;
	bool is_merging = in->by != in->display;
	const struct tally_row **rows = ARENA_ARRAY(b->mem, const struct tally_row *, in->nr_rows);
	struct stat_entry *items = ARENA_ARRAY(b->mem, struct stat_entry, in->nr_rows);
	size_t nr_rows = 0, nr = 0;

	if (!rows || !items)
		return -ENOMEM;
	for (size_t i = 0; i < in->nr_rows; i++)
		if (!is_filtered || !is_hidden(in, in->rows[i]))
			rows[nr_rows++] = in->rows[i];
	if (is_merging)
		qsort_r(rows, nr_rows, sizeof(void *), compare_rows, &by);
	for (size_t i = 0; i < nr_rows; i++) {
		if (is_merging && i && compare_keys(rows[i - 1], rows[i], by) == 0)
			items[nr - 1].nr_rows++;
		else
			items[nr++] = (struct stat_entry){ .rows = &rows[i], .nr_rows = 1 };
	}
	for (size_t i = 0; i < nr; i++)
		if (describe(b, &items[i]) < 0)
			return -ENOMEM;
	*out = (struct stat_entries){ items, nr };
	return 0;
}
