/*
 * Files that are written out (fsync), by task and by file. An fsync belongs to its task, which sleeps and may move to
 * another CPU before it ends.
 */
#include <errno.h>

#include "analyses/passes.h"
#include "analyze/buckets.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/units.h"
#include "analyze/walk.h"
#include "base/cleanup.h"

struct files {
	struct scope sc;
	struct samples all;
	struct buckets tasks, inodes, devices;
};

static void done(void *work)
{
	struct files *x = work;

	samples_done(&x->all);
	buckets_done(&x->tasks);
	buckets_done(&x->inodes);
	buckets_done(&x->devices);
}

static int collect(void *work)
{
	struct files *x = work;
	struct walk w = { .sc = &x->sc, .table = TIMELINE_SPAN, .kinds = 1ULL << PAIR_FSYNC };
	const union timeline_row *row;
	int err;

	while ((row = walk_next(&w))) {
		uint64_t ns = row->span.end_ns - row->span.start_ns;

		samples_add(&x->all, ns);
		buckets_add(&x->tasks, row->span.task, ns);
		buckets_add(&x->inodes, row->span.id, ns);
		buckets_add(&x->devices, row->span.value, ns);
	}
	err = x->all.has_failed ? -ENOMEM : buckets_order(&x->tasks);
	if (!err)
		err = buckets_order(&x->inodes);
	return err ? err : buckets_order(&x->devices);
}

static void show_key(const struct files *x, const struct buckets *b, uint64_t key, struct report *r)
{
	if (b == &x->tasks)
		task_report(x->sc.s, r, (uint32_t)key);
	else if (b == &x->inodes)
		report_id(r, "inode", key);
	else
		report_string(r, "device", figure_device(r, key));
}

static int show_part(const struct files *x, const struct buckets *b, const char *key,
                     struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_file_io, x->sc.args) };

	buckets_top(b, false, &top);
	for (uint32_t i = 0; top_row(&top, i, r, key); i++) {
		show_key(x, b, b->at[top.entries[i].id].key, r);
		buckets_report(b, (uint32_t)top.entries[i].id, r);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show(void *work, struct report *r)
{
	struct files *x = work;
	int err;

	report_string(r, "description", "files that are written out, by task and file");
	report_u64(r, "sync_count", x->all.nr);
	report_u64(r, "sync_time_ns", samples_sum(&x->all));
	samples_report_object(&x->all, r, "sync_latency");
	err = show_part(x, &x->tasks, "by_process", r);
	if (!err)
		err = show_part(x, &x->inodes, "by_inode", r);
	if (!err)
		err = show_part(x, &x->devices, "by_device", r);
	report_string(r, "note", "from the call of fsync to its return, in the task that called");
	return err;
}

const struct pass pass_file_io = {
	.id = "file_io",
	.name = "File I/O Analysis",
	.category = "io",
	.what = "which tasks waited for files to be written out, and for how long",
	.needs = EV_BIT(EV_FSYNC),
	.cost = 1,
	.work = { .size = sizeof(struct files), .collect = collect, .show = show, .done = done },
};
