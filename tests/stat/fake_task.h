/* tests/stat/fake_task — a task as the kernel side keeps it, and the records that it sends of it. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stat/tally/tally.h"

#define US 1000ULL
#define MS 1000000ULL
#define S  1000000000ULL

#define ALL_HISTS ((1U << STAT_STORED_METRICS) - 1)

struct fake_task {
	struct stat_task head;
	struct abi_hist hists[STAT_STORED_METRICS];
	struct stat_waking waking;
	struct stat_queued queued;
};

static inline struct tally *fake_tally(const struct tally_cfg *cfg)
{
	struct tally *t = NULL;

	expect_eq(tally_new(cfg, &t), 0);
	return t;
}

static inline void fake_init(struct fake_task *f, uint32_t tid, const char *comm)
{
	memset(f, 0, sizeof(*f));
	f->head.id.start_ns = tid * 1000ULL;
	f->head.id.tid = tid;
	f->head.id.tgid = tid;
	strncpy(f->head.id.comm, comm, STAT_COMM_LEN - 1);
	strncpy(f->head.id.process, comm, STAT_COMM_LEN - 1);
}

/* What a rename does: counters start again under the next generation. */
static inline void fake_rename(struct fake_task *f, const char *comm)
{
	struct stat_id id = f->head.id;

	fake_init(f, id.tid, comm);
	memcpy(f->head.id.process, id.process, STAT_COMM_LEN);
	f->head.id.start_ns = id.start_ns;
	f->head.id.generation = id.generation + 1;
}

static inline void fake_add(struct abi_hist *h, uint32_t epoch, uint64_t ns, uint64_t at_ns,
                            uint32_t cpu)
{
	struct abi_extremes *x = &h->extremes[epoch & 1];

	if (x->epoch != epoch)
		*x = (struct abi_extremes){ .min_ns = UINT64_MAX, .epoch = epoch };
	if (ns < x->min_ns)
		x->min_ns = ns;
	if (ns >= x->max_ns) {
		x->max_ns = ns;
		x->max_at_ns = at_ns;
		x->max_cpu = cpu;
	}
	h->sum_ns += ns;
	h->count++;
	h->slots[hist_slot(ns)]++;
	h->blocks |= 1U << (hist_slot(ns) / HIST_BLOCK_SLOTS);
}

/* A sample that leaves no extremes behind. */
static inline void fake_add_bare(struct abi_hist *h, uint64_t ns)
{
	h->sum_ns += ns;
	h->count++;
	h->slots[hist_slot(ns)]++;
	h->blocks |= 1U << (hist_slot(ns) / HIST_BLOCK_SLOTS);
}

static inline void fake_depth(struct fake_task *f, uint32_t depth, uint64_t at_ns, uint32_t cpu)
{
	struct stat_depth *d = &f->head.depth;
	uint32_t slot = depth < STAT_DEPTH_SLOTS ? depth : STAT_DEPTH_SLOTS - 1;

	d->sum += depth;
	d->count++;
	d->slots[slot]++;
	d->blocks |= 1U << (slot / HIST_BLOCK_SLOTS);
	if (depth > d->max) {
		d->max = depth;
		d->max_at_ns = at_ns;
		d->max_cpu = cpu;
	}
}

/* As the kernel would: a block is named once any of its slots was used. */
static inline void fake_name_blocks(struct abi_hist *h)
{
	for (uint32_t i = 0; i < HIST_SLOTS; i++)
		if (h->slots[i])
			h->blocks |= 1U << (i / HIST_BLOCK_SLOTS);
}

/* Returns the record's length; buf has room for a whole struct fake_task. */
static inline size_t fake_record(const struct fake_task *f, uint8_t mask, bool is_last,
                                 uint8_t *buf)
{
	struct stat_task head = f->head;
	size_t len = sizeof(head);

	for (int i = 0; i < STAT_STORED_METRICS; i++) {
		struct abi_hist hist = f->hists[i];

		if (!(mask & (1U << i)))
			continue;
		fake_name_blocks(&hist);
		memcpy(buf + len, &hist, sizeof(hist));
		len += sizeof(hist);
	}
	head.rec = (struct stat_rec){ (uint32_t)len, STAT_REC_TASK, is_last, mask };
	memcpy(buf, &head, sizeof(head));
	return len;
}

static inline void fake_send_at(struct tally *t, const struct fake_task *f, uint8_t mask,
                                bool is_last, uint64_t drained_ns)
{
	uint8_t buf[sizeof(*f)];
	size_t len = fake_record(f, mask, is_last, buf);

	expect_eq(tally_record(t, buf, len, drained_ns), 0);
}

static inline void fake_send(struct tally *t, const struct fake_task *f)
{
	fake_send_at(t, f, ALL_HISTS, false, 0);
}

static inline void fake_send_last(struct tally *t, const struct fake_task *f)
{
	fake_send_at(t, f, ALL_HISTS, true, 0);
}

static inline void fake_send_waking(struct tally *t, const struct fake_task *f, bool is_last)
{
	struct stat_waking w = f->waking;

	w.rec = (struct stat_rec){ sizeof(w), STAT_REC_WAKING, is_last, 0 };
	w.id = f->head.id;
	fake_name_blocks(&w.hist);
	expect_eq(tally_record(t, &w, sizeof(w), 0), 0);
}

static inline void fake_send_queued(struct tally *t, const struct fake_task *f, bool is_last)
{
	struct stat_queued q = f->queued;

	q.rec = (struct stat_rec){ sizeof(q), STAT_REC_QUEUED, is_last, 0 };
	q.id = f->head.id;
	fake_name_blocks(&q.hist);
	expect_eq(tally_record(t, &q, sizeof(q), 0), 0);
}

static inline const struct tally_row *fake_row(const struct tally *t, const char *comm)
{
	for (size_t i = 0; i < tally_nr_rows(t); i++)
		if (strcmp(tally_row_at(t, i)->comm, comm) == 0)
			return tally_row_at(t, i);
	fail_msg("no row named '%s'", comm);
	return NULL;
}

static inline const struct hist *fake_hist(const struct tally *t, const char *comm,
                                           enum tally_view_kind view, uint32_t metric)
{
	return fake_row(t, comm)->view[view].hist[metric];
}
