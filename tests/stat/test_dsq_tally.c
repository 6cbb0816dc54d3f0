#include "../unit.h"

#include <stdlib.h>
#include <string.h>

#include "stat/tally/dsq_tally.h"

#define US 1000ULL

/* A queue as the kernel side keeps it; one epoch per drain. */
struct fake {
	struct dsq_tally *tally;
	struct stat_dsq_key key;
	struct stat_dsq dsq;
	uint32_t epoch;
};

static void start(struct fake *f)
{
	*f = (struct fake){ .key = { .id = 7, .scheduler_nr = 1 }, .epoch = 1 };
	expect_eq(dsq_tally_new(&f->tally), 0);
}

static void peak(struct stat_peak *peaks, uint32_t epoch, uint64_t value, uint64_t at_ns)
{
	struct stat_peak *p = &peaks[epoch & 1];
	uint64_t mine = (uint64_t)(epoch & 0xffff) << STAT_PEAK_BITS | value;

	if (p->packed >> STAT_PEAK_BITS == (epoch & 0xffff) && p->packed >= mine)
		return;
	*p = (struct stat_peak){ mine, mine, at_ns, 3, 77 };
}

static void add(struct fake *f, struct stat_dsq_hist *h, uint64_t ns, uint64_t at_ns)
{
	h->slots[hist_slot(ns)]++;
	h->sum_ns += ns;
	peak(h->peaks, f->epoch, ns, at_ns);
	peak(h->lows, f->epoch, STAT_PEAK_MAX - ns, at_ns);
}

static void run(struct fake *f, uint64_t wait_ns, uint64_t at_ns)
{
	f->dsq.runs++;
	add(f, &f->dsq.latency, wait_ns, at_ns);
}

static void insert(struct fake *f, uint32_t depth)
{
	f->dsq.inserts++;
	f->dsq.nr_now = depth;
	f->dsq.depth_sum += depth;
	f->dsq.depths[depth < STAT_DEPTH_SLOTS ? depth : STAT_DEPTH_SLOTS - 1]++;
	peak(f->dsq.depth_peaks, f->epoch, depth, 5);
}

static void insert_vtime(struct fake *f, uint64_t vtime)
{
	struct stat_dsq_vtime *v = &f->dsq.vtime;
	int64_t delta = (int64_t)(vtime - v->last);

	insert(f, 1);
	v->last = vtime;
	if (!v->count++)
		return;
	v->sum += (uint64_t)delta;
	v->nr_behind += delta < 0;
	peak(delta < 0 ? v->behind : v->ahead, f->epoch, (uint64_t)(delta < 0 ? -delta : delta), 5);
}

static const struct dsq_view *drain(struct fake *f, enum tally_view_kind view)
{
	dsq_tally_take(f->tally, &f->key, &f->dsq, f->epoch++);
	return &dsq_tally_at(f->tally, 0)->view[view];
}

static void views_hold_what_is_new_to_them(void **state)
{
	const struct dsq_view *v;
	struct fake f;

	(void)state;
	start(&f);
	run(&f, 10 * US, 100);
	run(&f, 30 * US, 200);
	drain(&f, TALLY_TOTAL);
	dsq_tally_begin_interval(f.tally);
	run(&f, 20 * US, 300);
	v = drain(&f, TALLY_INTERVAL);
	expect_eq(v->runs, 1);
	expect_eq(v->latency.count, 1);
	expect_eq(v->latency.sum_ns, 20 * US);
	expect_eq(v->latency.max_ns, 20 * US);
	expect_eq(v->latency.min_ns, 20 * US);
	expect_eq(v->latency.max_at_ns, 300);
	v = &dsq_tally_at(f.tally, 0)->view[TALLY_TOTAL];
	expect_eq(v->latency.count, 3);
	expect_eq(v->latency.min_ns, 10 * US);
	expect_eq(v->latency.max_ns, 30 * US);
	expect_eq(v->latency.max_at_ns, 200);
	expect_eq(v->latency.max_cpu, 3);
	expect_eq(v->latency_max_tid, 77);
	dsq_tally_free(f.tally);
}

/* Between the end of the epoch and the reading. */
static void a_late_sample_is_counted_and_within_its_slot(void **state)
{
	const struct dsq_view *v;
	struct fake f;

	(void)state;
	start(&f);
	run(&f, 10 * US, 100);
	f.dsq.latency.slots[hist_slot(1000 * US)]++;
	f.dsq.latency.sum_ns += 1000 * US;
	v = drain(&f, TALLY_TOTAL);
	expect_eq(v->latency.count, 2);
	expect_eq(hist_slot(v->latency.max_ns), hist_slot(1000 * US));
	expect_eq(v->latency.max_at_ns, 0);
	expect_eq(v->latency_max_tid, 0);
	expect_eq(v->latency.min_ns, 10 * US);
	dsq_tally_free(f.tally);
}

static void a_place_that_is_of_another_value_is_not_reported(void **state)
{
	const struct dsq_view *v;
	struct fake f;

	(void)state;
	start(&f);
	run(&f, 10 * US, 100);
	f.dsq.latency.peaks[1].noted--;
	v = drain(&f, TALLY_TOTAL);
	expect_eq(v->latency.max_ns, 10 * US);
	expect_eq(v->latency.max_at_ns, 0);
	expect_eq(v->latency_max_tid, 0);
	dsq_tally_free(f.tally);
}

static void vtime_is_compared_with_the_insertion_before(void **state)
{
	const struct dsq_vtime *v;
	struct fake f;

	(void)state;
	start(&f);
	insert_vtime(&f, 1000);
	expect_eq(drain(&f, TALLY_TOTAL)->vtime.count, 0); /* nothing to compare with */
	insert_vtime(&f, 1700);
	insert_vtime(&f, 1500);
	insert_vtime(&f, 1600);
	v = &drain(&f, TALLY_TOTAL)->vtime;
	expect_eq(v->count, 3);
	assert_true(v->sum == 600);
	expect_eq(v->nr_behind, 1);
	expect_eq(v->max_ahead, 700);
	expect_eq(v->max_behind, 200);
	dsq_tally_begin_interval(f.tally);
	insert_vtime(&f, 1400);
	v = &drain(&f, TALLY_INTERVAL)->vtime;
	assert_true(v->sum == -200);
	expect_eq(v->max_ahead, 0);
	dsq_tally_free(f.tally);
}

static void depth_is_what_was_found_and_not_cut(void **state)
{
	const struct tally_depth *d;
	struct fake f;

	(void)state;
	start(&f);
	insert(&f, 1);
	insert(&f, 2);
	insert(&f, 500);
	d = &drain(&f, TALLY_TOTAL)->depth;
	expect_eq(d->count, 3);
	expect_eq(d->sum, 503);
	expect_eq(d->max, 500);
	expect_eq(d->slots[STAT_DEPTH_SLOTS - 1], 1);
	expect_eq(dsq_tally_at(f.tally, 0)->nr_now, 500);
	dsq_tally_free(f.tally);
}

static void another_scheduler_begins_anew(void **state)
{
	struct fake f;

	(void)state;
	start(&f);
	insert(&f, 1);
	drain(&f, TALLY_TOTAL);
	f.key = (struct stat_dsq_key){ .id = 9, .scheduler_nr = 2 };
	drain(&f, TALLY_TOTAL);
	expect_eq(dsq_tally_nr(f.tally), 1);
	expect_eq(dsq_tally_at(f.tally, 0)->id, 9);
	f.key = (struct stat_dsq_key){ .id = 7, .scheduler_nr = 1 }; /* what is left of the first */
	dsq_tally_take(f.tally, &f.key, &f.dsq, f.epoch);
	expect_eq(dsq_tally_nr(f.tally), 1);
	dsq_tally_free(f.tally);
}

/* The peer's phantom: what is in no queue is not in queue 0, and the invalid id is none. 0 itself is a queue. */
static void the_invalid_id_is_no_queue_and_0_is_one(void **state)
{
	struct fake f;

	(void)state;
	start(&f);
	f.key.id = STAT_DSQ_INVALID;
	insert(&f, 1);
	dsq_tally_take(f.tally, &f.key, &f.dsq, 1);
	expect_eq(dsq_tally_nr(f.tally), 0);
	assert_null(dsq_tally_at(f.tally, 0));
	f.key.id = 0;
	expect_eq(drain(&f, TALLY_TOTAL)->inserts, 1);
	expect_eq(dsq_tally_at(f.tally, 0)->id, 0);
	dsq_tally_free(f.tally);
}

static void slots_that_wrap_go_on_counting(void **state)
{
	struct fake f;

	(void)state;
	start(&f);
	f.dsq.latency.slots[3] = UINT32_MAX;
	drain(&f, TALLY_TOTAL);
	dsq_tally_begin_interval(f.tally);
	f.dsq.latency.slots[3] += 5;
	expect_eq(drain(&f, TALLY_INTERVAL)->latency.count, 5);
	dsq_tally_free(f.tally);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views_hold_what_is_new_to_them),
		cmocka_unit_test(a_late_sample_is_counted_and_within_its_slot),
		cmocka_unit_test(a_place_that_is_of_another_value_is_not_reported),
		cmocka_unit_test(vtime_is_compared_with_the_insertion_before),
		cmocka_unit_test(depth_is_what_was_found_and_not_cut),
		cmocka_unit_test(another_scheduler_begins_anew),
		cmocka_unit_test(the_invalid_id_is_no_queue_and_0_is_one),
		cmocka_unit_test(slots_that_wrap_go_on_counting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
