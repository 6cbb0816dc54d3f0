/* Rows come, move and go; by ids they stay in order. */
#include "../unit.h"

#include <stdlib.h>

#include "machine/task_order.h"

#define ROOM 500

struct rows {
	uint32_t ids[ROOM];
	size_t nr;
	struct task_order order;
};

static uint32_t id_of(const void *ctx, uint32_t row)
{
	return ((const struct rows *)ctx)->ids[row];
}

static void add(struct rows *r, uint32_t id)
{
	expect_eq(task_order_reserve(&r->order, r->nr + 1), 0);
	r->ids[r->nr] = id;
	expect_eq(task_order_add(&r->order, (uint32_t)r->nr++), 0);
}

static void drop(struct rows *r, size_t row)
{
	r->nr--;
	task_order_drop(&r->order, (uint32_t)row, (uint32_t)r->nr);
	r->ids[row] = r->ids[r->nr];
}

static void expect_order(struct rows *r)
{
	task_order_settle(&r->order, id_of, r);
	expect_eq(r->order.nr, r->nr);
	for (size_t i = 0; i < r->nr; i++) {
		uint32_t row = r->order.rows[i];

		assert_true(row < r->nr);
		expect_eq(r->order.ids[i], r->ids[row]);
		expect_eq(r->order.rank_of[row], i);
		assert_true(!i || r->order.ids[i - 1] < r->order.ids[i]);
	}
}

static void those_that_come_find_their_places(void **state)
{
	static const uint32_t ids[] = { 50, 10, 90, 20, 30, 5, 95, 60 };
	struct rows r = { .nr = 0 };

	(void)state;
	expect_order(&r);
	for (size_t i = 0; i < 8; i++) {
		add(&r, ids[i]);
		if (i % 3 == 2)
			expect_order(&r);
	}
	expect_order(&r);
	task_order_done(&r.order);
}

static void a_task_that_goes_leaves_its_row_to_the_last(void **state)
{
	struct rows r = { .nr = 0 };

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		add(&r, 100 - i);
	expect_order(&r);
	drop(&r, 3);
	drop(&r, 8); /* the last one itself */
	add(&r, 7);
	drop(&r, 0); /* one that has not settled yet takes its place */
	drop(&r, 0); /* and goes, too */
	expect_order(&r);
	while (r.nr)
		drop(&r, r.nr / 2);
	expect_order(&r);
	task_order_done(&r.order);
}

static void any_sequence_ends_in_order(void **state)
{
	struct rows r = { .nr = 0 };
	uint32_t seed = 1;

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		seed = seed * 1103515245U + 12345U;
		if (r.nr < ROOM - 1 && (seed >> 16) % 5 < 3)
			add(&r, (i * 7919U) % 1000003U);
		else if (r.nr)
			drop(&r, (seed >> 8) % r.nr);
		if (i % 17 == 0)
			expect_order(&r);
	}
	expect_order(&r);
	task_order_done(&r.order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_that_come_find_their_places),
		cmocka_unit_test(a_task_that_goes_leaves_its_row_to_the_last),
		cmocka_unit_test(any_sequence_ends_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
