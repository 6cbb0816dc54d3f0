#include "pair_fixture.h"

#include <errno.h>

#include "model/dsq_monitor.h"

static struct dsq_monitor *watch(struct fixture *f, uint32_t max)
{
	struct dsq_monitor *m = NULL;

	expect_eq(dsq_monitor_new(max, &m), 0);
	f->also = dsq_monitor_sink(m);
	return m;
}

static void leave(struct fixture *f, uint64_t start, uint64_t ts, uint64_t dsq, bool is_moved)
{
	push(f,
	     &(struct ev_dsq_leave){ .hdr = { sizeof(struct ev_dsq_leave), EV_DSQ_LEAVE, 0, 0, ts },
	                             .start_ns = start,
	                             .dsq_id = dsq,
	                             .tid = 7,
	                             .is_moved = is_moved });
}

static void depth(struct fixture *f, uint64_t ts, uint64_t dsq, uint64_t nr)
{
	push(f,
	     &(struct ev_dsq_depth){ .hdr = { sizeof(struct ev_dsq_depth), EV_DSQ_DEPTH, 0, 0, ts },
	                             .dsq_id = dsq,
	                             .depth = nr });
}

static void stays_and_lengths_are_those_of_the_kernel(void **state)
{
	struct fixture *f = *state;
	struct dsq_monitor *m = watch(f, 0);
	const struct dsq_row *r;

	leave(f, 100, 150, 3, false);
	leave(f, 100, 250, 3, true);
	leave(f, 0, 260, 3, false);   /* put there before we looked */
	leave(f, 900, 270, 3, false); /* nonsense */
	depth(f, 280, 3, 5);
	depth(f, 290, 3, 2);
	push(f, &(struct ev_scx_run){ .hdr = { sizeof(struct ev_scx_run), EV_SCX_RUN, 0, 0, 300 },
	                              .dsq_id = 3,
	                              .tid = 7 });
	expect_eq(dsq_monitor_nr(m), 1);
	r = dsq_monitor_at(m, 0);
	expect_eq(r->nr_left, 4);
	expect_eq(r->nr_inserted, 2);
	expect_eq(r->nr_moved, 1);
	expect_eq(r->nr_runs, 1);
	expect_eq(r->stay.total_ns, 200);
	expect_eq(r->stay.max_ns, 150);
	expect_eq(dsq_monitor_percentile_ns(r, 10000), 150);
	expect_eq(r->length, 2);
	expect_eq(r->max_length, 5);
	dsq_monitor_reset(m);
	assert_null(dsq_monitor_at(m, 0));
	dsq_monitor_free(m);
}

static void the_invalid_queue_is_none(void **state)
{
	struct fixture *f = *state;
	struct dsq_monitor *m = watch(f, 0);

	leave(f, 100, 150, EV_DSQ_INVALID, false);
	depth(f, 160, EV_DSQ_INVALID, 3);
	expect_eq(dsq_monitor_nr(m), 0);
	leave(f, 100, 150, EV_DSQ_INVALID | 1, false); /* the global one */
	leave(f, 100, 150, 0, false);                  /* a queue like any other */
	expect_eq(dsq_monitor_nr(m), 2);
	assert_false(dsq_monitor_at(m, 0)->has_length);
	dsq_monitor_free(m);
}

static void queues_beyond_the_last_are_counted(void **state)
{
	struct fixture *f = *state;
	struct dsq_monitor *m = watch(f, 2);

	for (uint64_t i = 0; i < 5; i++)
		depth(f, 100 + i, i, 1);
	expect_eq(dsq_monitor_nr(m), 2);
	expect_eq(dsq_monitor_left_out(m), 3);
	dsq_monitor_free(m);
	expect_eq(dsq_monitor_new(UINT32_MAX, &m), -EINVAL);
}

static void the_live_aggregates_get_the_same(void **state)
{
	struct fixture *f = *state;
	struct live_cfg cfg = { .pair = f->pair, .tasks = f->tasks };
	struct live *l = NULL;

	expect_eq(live_new(&cfg, &l), 0);
	f->also = dsq_live_sink(l);
	leave(f, 100, 150, 3, false);
	leave(f, 0, 160, 3, false);
	leave(f, 100, 170, EV_DSQ_INVALID, false);
	depth(f, 180, 3, 4);
	expect_eq(live_nr_dsqs(l), 1);
	expect_eq(live_dsq_at(l, 0)->nr_enqueues, 1);
	expect_eq(live_dsq_at(l, 0)->nr_dispatches, 2);
	expect_eq(live_dsq_at(l, 0)->queue_depth, 4);
	live_free(l);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(stays_and_lengths_are_those_of_the_kernel),
		T(the_invalid_queue_is_none),
		T(queues_beyond_the_last_are_counted),
		T(the_live_aggregates_get_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
