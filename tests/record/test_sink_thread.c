#include "../unit.h"

#include <errno.h>
#include <string.h>

#include "record/sink_thread.h"

struct seen {
	uint64_t nr, sum, last_ns;
	uint64_t fail_at; /* record number that is refused; 0 = none */
};

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct seen *s = ctx;

	assert_true(rec->ts_ns > s->last_ns);
	s->last_ns = rec->ts_ns;
	s->nr++;
	s->sum += rec->ts_ns * rec->size;
	return s->fail_at && s->nr == s->fail_at ? -ENOSPC : 0;
}

/* Records of two sizes, so that batches end at odd places. */
static int push_many(const struct ev_sink *sink, uint64_t nr, uint64_t *sum)
{
	struct ev_fork fork = { .hdr = { .size = sizeof(fork), .kind = EV_FORK } };
	struct ev_free gone = { .hdr = { .size = sizeof(gone), .kind = EV_FREE } };
	int err = 0;

	for (uint64_t i = 1; i <= nr && !err; i++) {
		struct ev_hdr *rec = i % 3 ? &fork.hdr : &gone.hdr;

		rec->ts_ns = i;
		*sum += i * rec->size;
		err = sink->push(sink->ctx, rec);
	}
	return err;
}

static void all_records_come_through_in_order(void **state)
{
	static const uint64_t counts[] = { 0, 1, 2, 100, 500000 };

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct seen seen = { 0 };
		struct ev_sink target = { .push = push, .ctx = &seen }, sink;
		struct sink_thread *t;
		uint64_t sum = 0;

		assert_int_equal(sink_thread_open(&target, &t), 0);
		sink = sink_thread_sink(t);
		assert_int_equal(push_many(&sink, counts[i], &sum), 0);
		assert_int_equal(sink_thread_finish(t), 0);
		expect_eq(seen.nr, counts[i]);
		expect_eq(seen.sum, sum);
	}
}

static void an_error_of_the_target_comes_back_and_ends_the_work(void **state)
{
	struct seen seen = { .fail_at = 10 };
	struct ev_sink target = { .push = push, .ctx = &seen }, sink;
	struct sink_thread *t;
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(sink_thread_open(&target, &t), 0);
	sink = sink_thread_sink(t);
	assert_int_equal(push_many(&sink, 10000000, &sum), -ENOSPC);
	assert_int_equal(sink_thread_finish(t), -ENOSPC);
	expect_eq(seen.nr, 10);
}

static void an_error_in_the_last_batch_is_reported_at_the_end(void **state)
{
	struct seen seen = { .fail_at = 3 };
	struct ev_sink target = { .push = push, .ctx = &seen }, sink;
	struct sink_thread *t;
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(sink_thread_open(&target, &t), 0);
	sink = sink_thread_sink(t);
	assert_int_equal(push_many(&sink, 5, &sum), 0);
	assert_int_equal(sink_thread_finish(t), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_records_come_through_in_order),
		cmocka_unit_test(an_error_of_the_target_comes_back_and_ends_the_work),
		cmocka_unit_test(an_error_in_the_last_batch_is_reported_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
