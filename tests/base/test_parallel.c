#include "../unit.h"

#include <stdatomic.h>
#include <string.h>

#include "base/parallel.h"

struct sums {
	atomic_int done[10000];
	atomic_int by_worker[PARALLEL_MAX];
	size_t last_taken;
};

static void count(void *ctx, unsigned int worker, size_t item)
{
	struct sums *s = ctx;

	atomic_fetch_add(&s->done[item], 1);
	atomic_fetch_add(&s->by_worker[worker], 1);
}

static void progress(void *ctx, size_t nr_taken)
{
	struct sums *s = ctx;

	assert_true(nr_taken > s->last_taken);
	s->last_taken = nr_taken;
}

static void every_item_is_done_once(void **state)
{
	static struct sums s;
	struct parallel p = { .nr_workers = 4, .fn = count, .progress = progress, .ctx = &s };
	int sum = 0;

	(void)state;
	parallel_for(&p, 10000);
	for (size_t i = 0; i < 10000; i++)
		expect_eq(atomic_load(&s.done[i]), 1);
	for (size_t i = 0; i < 4; i++)
		sum += atomic_load(&s.by_worker[i]);
	expect_eq(sum, 10000);
}

static void one_worker_is_the_caller_and_keeps_the_order(void **state)
{
	static struct sums s;
	struct parallel p = { .nr_workers = 1, .fn = count, .progress = progress, .ctx = &s };

	(void)state;
	parallel_for(&p, 100);
	expect_eq(atomic_load(&s.by_worker[0]), 100);
	expect_eq(s.last_taken, 100);
	parallel_for(&p, 0);
	expect_eq(atomic_load(&s.by_worker[0]), 100);
}

static void no_more_workers_than_items(void **state)
{
	(void)state;
	expect_eq(parallel_nr(8, 3), 3);
	expect_eq(parallel_nr(8, 0), 1);
	expect_eq(parallel_nr(100000, 100000), PARALLEL_MAX);
	assert_true(parallel_nr(0, 1000) >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_item_is_done_once),
		cmocka_unit_test(one_worker_is_the_caller_and_keeps_the_order),
		cmocka_unit_test(no_more_workers_than_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
