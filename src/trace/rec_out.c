#include "trace/rec_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/budget.h"
#include "base/grow.h"

/* Pages of their own go back to the system at once, whichever thread made them. */
void rec_chunk_drop(struct rec_chunk *c, struct budget *budget)
{
	if (!c->bytes)
		return;
	(void)munmap(c->bytes, REC_CHUNK_BYTES);
	budget_give(budget, REC_CHUNK_BYTES);
	c->bytes = NULL;
}

void rec_out_done(struct rec_out *o)
{
	struct rec_chunk *next;

	for (size_t i = 0; i < o->nr_runs; i++)
		free(o->runs[i].sorted);
	for (struct rec_chunk *c = o->head; c; c = next) {
		next = c->next;
		rec_chunk_drop(c, o->budget);
		free(c);
	}
	free(o->runs);
	*o = (struct rec_out){ 0 };
}

static int add_chunk(struct rec_out *o)
{
	struct rec_chunk *c;
	void *bytes;

	if (!budget_take(o->budget, REC_CHUNK_BYTES))
		return -E2BIG;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	bytes = mmap(NULL, REC_CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	             0);
	if (bytes == MAP_FAILED) {
		free(c);
		return -ENOMEM;
	}
	c->bytes = bytes;
	if (o->tail)
		o->tail->next = c;
	else
		o->head = c;
	o->tail = c;
	return 0;
}

void rec_run_begin(struct rec_out *o, uint32_t lane)
{
	if (o->err)
		return;
	if (GROW(o->runs, o->cap_runs, o->nr_runs)) {
		o->err = -ENOMEM;
		return;
	}
	o->runs[o->nr_runs++] = (struct rec_run){
		.chunk = o->tail,
		.offset = o->tail ? o->tail->len : 0,
		.lane = lane,
	};
	o->is_open = true;
	o->is_unsorted = false;
}

void *rec_add_slow(struct rec_out *o, uint32_t size)
{
	struct rec_chunk *c;
	struct rec_run *run;
	void *rec;

	if (o->err || !o->is_open || size > REC_MAX_BYTES)
		return o->scratch;
	if (!o->tail || o->tail->len + size > REC_CHUNK_BYTES) {
		o->err = add_chunk(o);
		if (o->err)
			return o->scratch;
	}
	c = o->tail;
	run = &o->runs[o->nr_runs - 1];
	if (run->nr == 0) {
		run->chunk = c;
		run->offset = c->len;
	}
	rec = c->bytes + c->len;
	c->len += size;
	c->nr_left++;
	return rec;
}

/* Merges the sorted halves [0, mid) and [mid, nr) of from into to; equal times keep their order. */
static void merge_halves(struct ev_hdr *const *from, size_t mid, size_t nr, struct ev_hdr **to)
{
	size_t a = 0, b = mid;

	for (size_t i = 0; i < nr; i++) {
		if (b == nr || (a < mid && from[a]->ts_ns <= from[b]->ts_ns))
			to[i] = from[a++];
		else
			to[i] = from[b++];
	}
}

/* Bottom up, so that no stack is needed; the result is in recs. */
static void sort_records(struct ev_hdr **recs, struct ev_hdr **tmp, size_t nr)
{
	struct ev_hdr **from = recs, **to = tmp, **swap;

	for (size_t width = 1; width < nr; width *= 2) {
		for (size_t at = 0; at < nr; at += 2 * width) {
			size_t left = nr - at;
			size_t len = left < 2 * width ? left : 2 * width;

			merge_halves(from + at, width < len ? width : len, len, to + at);
		}
		swap = from;
		from = to;
		to = swap;
	}
	if (from != recs)
		memcpy(recs, from, nr * sizeof(*recs));
}

static int put_in_order(struct rec_run *run)
{
	struct ev_hdr **recs = reallocarray(NULL, run->nr, sizeof(*recs));
	struct ev_hdr **tmp = reallocarray(NULL, run->nr, sizeof(*tmp));
	struct rec_chunk *c = run->chunk;
	uint32_t offset = run->offset;

	if (!recs || !tmp) {
		free(recs);
		free(tmp);
		return -ENOMEM;
	}
	for (uint64_t i = 0; i < run->nr; i++) {
		if (offset == c->len) {
			c = c->next;
			offset = 0;
		}
		recs[i] = (struct ev_hdr *)(c->bytes + offset);
		offset += recs[i]->size;
	}
	sort_records(recs, tmp, run->nr);
	free(tmp);
	run->sorted = recs;
	run->first_ts_ns = recs[0]->ts_ns;
	run->last_ts_ns = recs[run->nr - 1]->ts_ns;
	return 0;
}

void rec_run_end(struct rec_out *o)
{
	if (!o->is_open)
		return;
	o->is_open = false;
	if (o->err)
		return;
	if (o->runs[o->nr_runs - 1].nr == 0)
		o->nr_runs--;
	else if (o->is_unsorted)
		o->err = put_in_order(&o->runs[o->nr_runs - 1]);
}
