/*
 * Block requests: how long they waited and how long the device took, reads and writes, sizes, by device and by task.
 *
 * The model pairs them by device and sector. A request counts when it completes. Its latency is from the insert, or from the
 * issue where there was no insert, as with no I/O scheduler none is ever inserted.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/buckets.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/units.h"
#include "analyze/walk.h"
#include "base/cleanup.h"
#include "base/grow.h"

#define KINDS (1ULL << PAIR_BLOCK_QUEUE | 1ULL << PAIR_BLOCK_DEVICE | 1ULL << PAIR_BLOCK_TOTAL)

enum direction { READ, WRITE, OTHER, DIRECTIONS };

struct block_flow {
	uint64_t count[DIRECTIONS];
	uint64_t bytes[DIRECTIONS];
};

struct block {
	struct scope sc;
	struct samples latency[DIRECTIONS], queue, device, total, size;
	struct buckets devices, tasks; /* by latency */
	struct block_flow *flows;      /* by number of the device's bucket */
	uint32_t flows_room;
	struct block_flow all;
	struct pair_span last; /* completed, and not counted yet */
	bool has_last;
};

static void done(void *work)
{
	struct block *x = work;

	for (int i = 0; i < DIRECTIONS; i++)
		samples_done(&x->latency[i]);
	samples_done(&x->queue);
	samples_done(&x->device);
	samples_done(&x->total);
	samples_done(&x->size);
	buckets_done(&x->devices);
	buckets_done(&x->tasks);
	free(x->flows);
}

static enum direction direction(const struct pair_span *span)
{
	if (span->flags & PAIR_SPAN_READ)
		return READ;
	return span->flags & PAIR_SPAN_WRITE ? WRITE : OTHER;
}

static void add_flow(struct block_flow *f, enum direction way, uint64_t bytes)
{
	f->count[way]++;
	f->bytes[way] += bytes;
}

static int count(struct block *x, uint64_t latency_ns)
{
	enum direction way = direction(&x->last);
	uint32_t device = buckets_add(&x->devices, x->last.id, latency_ns);

	x->has_last = false;
	buckets_add(&x->tasks, x->last.task, latency_ns);
	if (device == BUCKETS_NONE)
		return -ENOMEM;
	if (GROW_ZEROED(x->flows, x->flows_room, device))
		return -ENOMEM;
	add_flow(&x->flows[device], way, x->last.value);
	add_flow(&x->all, way, x->last.value);
	samples_add(&x->latency[way], latency_ns);
	if (x->last.value)
		samples_add(&x->size, x->last.value);
	return 0;
}

/* The row of the whole request follows right behind that of the device, where there is one. */
static int add(struct block *x, const struct pair_span *span)
{
	uint64_t ns = span->end_ns - span->start_ns;
	int err = 0;

	if (x->has_last && span->kind == PAIR_BLOCK_TOTAL) {
		samples_add(&x->total, ns);
		return count(x, ns);
	}
	if (x->has_last)
		err = count(x, x->last.end_ns - x->last.start_ns);
	if (span->kind == PAIR_BLOCK_QUEUE && scope_has(&x->sc, span->end_ns))
		samples_add(&x->queue, ns);
	if (span->kind == PAIR_BLOCK_DEVICE && scope_has(&x->sc, span->end_ns)) {
		samples_add(&x->device, ns);
		x->last = *span;
		x->has_last = true;
	}
	return err;
}

static int collect(void *work)
{
	struct block *x = work;
	struct walk w = { .sc = &x->sc, .table = TIMELINE_SPAN, .kinds = KINDS };
	const union timeline_row *row;
	int err = 0;

	while (!err && (row = walk_next(&w)))
		err = add(x, &row->span);
	if (!err && x->has_last)
		err = count(x, x->last.end_ns - x->last.start_ns);
	if (!err)
		err = buckets_order(&x->devices);
	if (!err)
		err = buckets_order(&x->tasks);
	if (x->queue.has_failed || x->device.has_failed || x->total.has_failed ||
	    x->size.has_failed || x->latency[READ].has_failed || x->latency[WRITE].has_failed)
		return -ENOMEM;
	return err;
}

static void show_flow(const struct block *x, const struct block_flow *f, struct report *r)
{
	report_u64(r, "read_count", f->count[READ]);
	report_u64(r, "write_count", f->count[WRITE]);
	report_u64(r, "other_count", f->count[OTHER]);
	report_u64(r, "read_bytes", f->bytes[READ]);
	report_u64(r, "write_bytes", f->bytes[WRITE]);
	figure_mbps(r, "read_bandwidth_mbps", f->bytes[READ], x->sc.covered_ns);
	figure_mbps(r, "write_bandwidth_mbps", f->bytes[WRITE], x->sc.covered_ns);
}

static int show_devices(const struct block *x, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_block_io, x->sc.args) };

	buckets_top(&x->devices, true, &top);
	for (uint32_t i = 0; top_row(&top, i, r, "by_device"); i++) {
		uint32_t at = (uint32_t)top.entries[i].id;

		report_string(r, "device", figure_device(r, x->devices.at[at].key));
		buckets_report(&x->devices, at, r);
		show_flow(x, &x->flows[at], r);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show_tasks(const struct block *x, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_block_io, x->sc.args) };

	buckets_top(&x->tasks, false, &top);
	for (uint32_t i = 0; top_row(&top, i, r, "by_process"); i++) {
		uint32_t at = (uint32_t)top.entries[i].id;

		task_report(x->sc.s, r, (uint32_t)x->tasks.at[at].key);
		buckets_report(&x->tasks, at, r);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show(void *work, struct report *r)
{
	struct block *x = work;
	int err;

	report_string(r, "description", "block requests: latency, direction, size, by device");
	report_u64(r, "total_ios", x->device.nr);
	show_flow(x, &x->all, r);
	samples_report_object(&x->latency[READ], r, "read_latency");
	samples_report_object(&x->latency[WRITE], r, "write_latency");
	samples_report_object(&x->queue, r, "queue_latency");
	samples_report_object(&x->device, r, "device_latency");
	samples_report_object(&x->total, r, "total_latency");
	samples_report_object(&x->size, r, "size_bytes");
	report_double_if(r, "avg_in_flight", x->sc.span_ns,
	                 (double)samples_sum(&x->device) / (double)x->sc.span_ns, 3);
	err = show_devices(x, r);
	if (!err)
		err = show_tasks(x, r);
	report_string(
		r, "note",
		"ns, by device and sector; queue is insert to issue, device issue to complete; "
		"reads and writes count from the insert where there was one, else from the issue");
	return err;
}

const struct pass pass_block_io = {
	.id = "block_io",
	.name = "Block I/O Analysis",
	.category = "io",
	.what = "how long block requests waited and took, reads and writes, by device",
	.needs = EV_BIT(EV_BLOCK),
	.cost = 2,
	.work = { .size = sizeof(struct block), .collect = collect, .show = show, .done = done },
};
