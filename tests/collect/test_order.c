#include "../unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "collect/order.h"

#include "fake_ring.h"

#define NR_RINGS 3
#define NR_CPUS  16

struct bench {
	struct fake_ring fakes[NR_CPUS];
	struct ring *rings[NR_CPUS];
	uint32_t nr_rings;
	struct order *order;
	uint64_t ts[65536]; /* what came out */
	uint32_t marks[65536];
	size_t nr;
	uint64_t advanced_ns;
	int refuse_after; /* 0 = never */
};

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct bench *b = ctx;

	if (b->refuse_after && --b->refuse_after == 0)
		return -ENOSPC;
	b->ts[b->nr] = rec->ts_ns;
	b->marks[b->nr++] = ((const struct ev_cpu_freq *)rec)->khz;
	return 0;
}

static int advance(void *ctx, __u64 ts_ns)
{
	((struct bench *)ctx)->advanced_ns = ts_ns;
	return 0;
}

static struct bench *bench_of(uint32_t nr_rings)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->nr_rings = nr_rings;
	for (uint32_t i = 0; i < nr_rings; i++) {
		fake_ring_open(&b->fakes[i]);
		b->rings[i] = b->fakes[i].ring;
	}
	expect_eq(order_new(b->rings, nr_rings, &b->order), 0);
	return b;
}

static struct bench *bench_new(void)
{
	return bench_of(NR_RINGS);
}

static void bench_free(struct bench *b)
{
	order_free(b->order);
	for (uint32_t i = 0; i < b->nr_rings; i++)
		fake_ring_close(&b->fakes[i]);
	free(b);
}

static uint64_t put_flags(struct bench *b, int ring, uint64_t ts_ns, uint32_t flags)
{
	struct ev_cpu_freq e = fake_event(ts_ns, (uint32_t)ts_ns);

	return fake_put(&b->fakes[ring], &e, sizeof(e), flags);
}

static void put(struct bench *b, int ring, uint64_t ts_ns)
{
	put_flags(b, ring, ts_ns, 0);
}

static int turn(struct bench *b, uint64_t now_ns, uint64_t *until)
{
	struct ev_sink sink = { push, advance, b };

	return order_round(b->order, now_ns, &sink, until);
}

static void expect_order(const struct bench *b, size_t nr, const uint64_t *ts)
{
	expect_eq(b->nr, nr);
	for (size_t i = 0; i < nr; i++) {
		expect_eq(b->ts[i], ts[i]);
		expect_eq(b->marks[i], ts[i]);
	}
}

static void rings_are_merged_by_time(void **state)
{
	const uint64_t want[] = { 1, 2, 3, 4, 5 };
	struct bench *b = bench_new();
	uint64_t until;

	(void)state;
	put(b, 0, 1);
	put(b, 0, 4);
	put(b, 1, 3);
	put(b, 2, 2);
	put(b, 2, 5);
	expect_eq(turn(b, 10, &until), 0);
	expect_eq(until, 10);
	expect_eq(b->advanced_ns, 10);
	expect_order(b, 5, want);
	bench_free(b);
}

static void a_record_behind_a_younger_one_of_its_ring_finds_its_place(void **state)
{
	const uint64_t want[] = { 1, 2, 3, 4 };
	struct bench *b = bench_new();
	struct order_stats stats;
	uint64_t until;

	(void)state;
	put(b, 0, 1);
	put(b, 0, 4);
	put(b, 0, 2);
	put(b, 1, 3);
	expect_eq(turn(b, 10, &until), 0);
	expect_order(b, 4, want);
	order_stats(b->order, &stats);
	expect_eq(stats.unsorted, 1);
	bench_free(b);
}

static void what_is_younger_than_the_round_waits_for_the_next(void **state)
{
	const uint64_t want[] = { 5, 11, 12 };
	struct bench *b = bench_new();
	uint64_t until;

	(void)state;
	put(b, 0, 5);
	put(b, 0, 12); /* stamped after the clock was read */
	expect_eq(turn(b, 10, &until), 0);
	expect_order(b, 1, want);
	put(b, 1, 11); /* older than the one that waits */
	expect_eq(turn(b, 20, &until), 0);
	expect_order(b, 3, want);
	bench_free(b);
}

static void a_record_being_written_holds_back_what_is_younger_than_it_may_be(void **state)
{
	const uint64_t want[] = { 1, 6, 7 };
	struct bench *b = bench_new();
	uint64_t until, at;

	(void)state;
	put(b, 0, 1);
	expect_eq(turn(b, 5, &until), 0);
	at = put_flags(b, 0, 6, BPF_RINGBUF_BUSY_BIT);
	put(b, 1, 7);
	expect_eq(turn(b, 10, &until), 0);
	expect_eq(until, 5); /* nothing new is certain */
	expect_order(b, 1, want);
	fake_commit(&b->fakes[0], at, sizeof(struct ev_cpu_freq));
	expect_eq(turn(b, 15, &until), 0);
	expect_order(b, 3, want);
	bench_free(b);
}

static void what_is_unfinished_at_the_end_is_counted_and_hides_nothing(void **state)
{
	const uint64_t want[] = { 1, 3, 4, 6 };
	struct bench *b = bench_new();
	struct ev_sink sink = { push, advance, b };
	struct order_stats stats;

	(void)state;
	put(b, 0, 1);
	put_flags(b, 0, 2, BPF_RINGBUF_BUSY_BIT);
	put(b, 0, 3);
	put_flags(b, 0, 5, BPF_RINGBUF_BUSY_BIT);
	put(b, 0, 6);
	put(b, 1, 4);
	expect_eq(order_finish(b->order, &sink), 0);
	expect_order(b, 4, want);
	order_stats(b->order, &stats);
	expect_eq(stats.torn, 2);
	expect_eq(stats.records, 4);
	bench_free(b);
}

static void one_that_is_older_than_it_may_be_is_counted(void **state)
{
	struct bench *b = bench_new();
	struct order_stats stats;
	uint64_t until;

	(void)state;
	put(b, 0, 1);
	put(b, 1, 4);
	expect_eq(turn(b, 5, &until), 0);
	put(b, 0, 5);
	put(b, 1, 3); /* stamped before it was reserved */
	expect_eq(turn(b, 10, &until), 0);
	order_stats(b->order, &stats);
	expect_eq(stats.late, 1);
	expect_eq(stats.records, 4);
	bench_free(b);
}

static void discarded_and_bad_records_are_passed_over(void **state)
{
	const uint64_t want[] = { 3 };
	struct bench *b = bench_new();
	struct order_stats stats;
	uint64_t until, junk[4] = { ~0ULL, ~0ULL, 0, 0 };

	(void)state;
	put_flags(b, 0, 1, BPF_RINGBUF_DISCARD_BIT);
	fake_put(&b->fakes[0], junk, sizeof(junk), 0);
	put(b, 0, 3);
	expect_eq(turn(b, 10, &until), 0);
	expect_order(b, 1, want);
	order_stats(b->order, &stats);
	expect_eq(stats.bad, 1);
	bench_free(b);
}

static void the_last_round_hands_on_everything(void **state)
{
	const uint64_t want[] = { 5, 100, 200 };
	struct bench *b = bench_new();
	struct ev_sink sink = { push, advance, b };
	uint64_t until;

	(void)state;
	put(b, 0, 5);
	put(b, 1, 200);
	expect_eq(turn(b, 10, &until), 0);
	put(b, 2, 100);
	expect_eq(order_finish(b->order, &sink), 0);
	expect_order(b, 3, want);
	bench_free(b);
}

static void a_sink_that_refuses_ends_the_round(void **state)
{
	struct bench *b = bench_new();
	uint64_t until;

	(void)state;
	b->refuse_after = 2;
	put(b, 0, 1);
	put(b, 0, 2);
	expect_eq(turn(b, 10, &until), -ENOSPC);
	expect_eq(b->nr, 1);
	bench_free(b);
}

/* What a CPU is writing. */
struct producer {
	bool is_busy;
	uint64_t at;
};

/* The stamp comes at the end: rewrites the record with the time of now. */
static void finish(struct bench *b, uint32_t ring, struct producer *p, uint64_t now)
{
	struct ev_cpu_freq e = fake_event(now, (uint32_t)now);

	fake_poke(&b->fakes[ring], p->at + 8, &e, sizeof(e));
	fake_commit(&b->fakes[ring], p->at, sizeof(e));
	p->is_busy = false;
}

/* CPUs that reserve, then stamp, in any interleaving: out comes every record, once, in order. */
static void expect_order_of_random_producers(uint32_t nr_rings)
{
	struct bench *b = bench_of(nr_rings);
	struct ev_sink sink = { push, advance, b };
	struct producer producers[NR_CPUS] = { 0 };
	uint64_t clock = 1, until, nr_put = 0;

	srand(11);
	for (int step = 0; step < 20000; step++) {
		uint32_t cpu = (uint32_t)rand() % NR_CPUS, ring = cpu % nr_rings;
		struct producer *p = &producers[cpu];

		if (rand() % 10 == 0) {
			expect_eq(turn(b, clock++, &until), 0);
		} else if (p->is_busy) {
			finish(b, ring, p, clock++);
		} else {
			p->is_busy = rand() % 4 == 0;
			p->at = put_flags(b, (int)ring, clock++,
			                  p->is_busy ? BPF_RINGBUF_BUSY_BIT : 0);
			nr_put++;
		}
	}
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
		if (producers[cpu].is_busy)
			finish(b, cpu % nr_rings, &producers[cpu], clock++);
	expect_eq(order_finish(b->order, &sink), 0);
	expect_eq(b->nr, nr_put);
	for (size_t i = 1; i < b->nr; i++)
		assert_true(b->ts[i - 1] <= b->ts[i]);
	bench_free(b);
}

static void random_producers_come_out_in_order(void **state)
{
	(void)state;
	expect_order_of_random_producers(1);
	expect_order_of_random_producers(NR_RINGS);
}

static void random_producers_come_out_in_order_with_a_ring_per_cpu(void **state)
{
	(void)state;
	expect_order_of_random_producers(NR_CPUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_are_merged_by_time),
		cmocka_unit_test(a_record_behind_a_younger_one_of_its_ring_finds_its_place),
		cmocka_unit_test(what_is_younger_than_the_round_waits_for_the_next),
		cmocka_unit_test(a_record_being_written_holds_back_what_is_younger_than_it_may_be),
		cmocka_unit_test(what_is_unfinished_at_the_end_is_counted_and_hides_nothing),
		cmocka_unit_test(one_that_is_older_than_it_may_be_is_counted),
		cmocka_unit_test(discarded_and_bad_records_are_passed_over),
		cmocka_unit_test(the_last_round_hands_on_everything),
		cmocka_unit_test(a_sink_that_refuses_ends_the_round),
		cmocka_unit_test(random_producers_come_out_in_order),
		cmocka_unit_test(random_producers_come_out_in_order_with_a_ring_per_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
