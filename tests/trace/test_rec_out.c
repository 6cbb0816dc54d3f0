#include "../unit.h"

#include <stdlib.h>
#include <string.h>

#include "trace/rec_out.h"

static struct ev_softirq *add(struct rec_out *o, uint64_t ts_ns, uint32_t vector)
{
	struct ev_softirq *rec = rec_add(o, EV_SOFTIRQ_ENTRY, sizeof(*rec), 1, ts_ns);

	rec->vector = vector;
	rec->tid = 0;
	return rec;
}

static void a_run_in_order_is_left_alone(void **state)
{
	struct rec_out o = { 0 };

	(void)state;
	rec_run_begin(&o, 7);
	add(&o, 10, 1);
	add(&o, 10, 2);
	add(&o, 30, 3);
	rec_run_end(&o);
	expect_eq(o.nr_runs, 1);
	expect_eq(o.runs[0].lane, 7);
	expect_eq(o.runs[0].nr, 3);
	expect_eq(o.runs[0].first_ts_ns, 10);
	expect_eq(o.runs[0].last_ts_ns, 30);
	assert_null(o.runs[0].sorted);
	rec_out_done(&o);
}

static void an_empty_run_leaves_no_trace(void **state)
{
	struct rec_out o = { 0 };

	(void)state;
	rec_run_begin(&o, 1);
	rec_run_end(&o);
	expect_eq(o.nr_runs, 0);
	rec_run_begin(&o, 2);
	add(&o, 1, 1);
	rec_run_end(&o);
	expect_eq(o.nr_runs, 1);
	rec_out_done(&o);
}

/* Random times over many chunks, against a sort by (time, order of adding). */
static void a_run_out_of_order_is_sorted_and_stable(void **state)
{
	enum { NR = 50000 };
	struct rec_out o = { 0 };
	uint32_t last_vector = 0;
	uint64_t last_ns = 0;
	static bool is_seen[NR];

	(void)state;
	memset(is_seen, 0, sizeof(is_seen));
	srand(3);
	rec_run_begin(&o, 1);
	add(&o, 5, 0);
	rec_run_end(&o);
	rec_run_begin(&o, 1);
	for (uint32_t i = 0; i < NR; i++)
		add(&o, (uint64_t)(rand() % 1000), i);
	rec_run_end(&o);
	expect_eq(o.err, 0);
	expect_eq(o.nr_runs, 2);
	assert_non_null(o.runs[1].sorted);
	for (uint32_t i = 0; i < NR; i++) {
		const struct ev_softirq *rec = (const void *)o.runs[1].sorted[i];

		assert_true(rec->hdr.ts_ns >= last_ns);
		assert_true(i == 0 || rec->hdr.ts_ns > last_ns || rec->vector > last_vector);
		assert_false(is_seen[rec->vector]);
		is_seen[rec->vector] = true;
		last_ns = rec->hdr.ts_ns;
		last_vector = rec->vector;
	}
	expect_eq(o.runs[1].last_ts_ns, last_ns);
	rec_out_done(&o);
}

static void outside_a_run_and_beyond_the_size_records_go_nowhere(void **state)
{
	struct rec_out o = { 0 };

	(void)state;
	add(&o, 1, 1);
	expect_eq(o.nr_runs, 0);
	assert_null(o.head);
	rec_out_done(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_in_order_is_left_alone),
		cmocka_unit_test(an_empty_run_leaves_no_trace),
		cmocka_unit_test(a_run_out_of_order_is_sorted_and_stable),
		cmocka_unit_test(outside_a_run_and_beyond_the_size_records_go_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
