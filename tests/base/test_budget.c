#include "../unit.h"

#include "base/budget.h"
#include "base/parallel.h"

static void what_does_not_fit_takes_nothing_and_is_remembered(void **state)
{
	struct budget b;

	(void)state;
	budget_init(&b, 100);
	assert_true(budget_take(&b, 60));
	assert_false(budget_is_exceeded(&b));
	assert_false(budget_take(&b, 41));
	assert_true(budget_is_exceeded(&b));
	assert_true(budget_take(&b, 40));
	assert_false(budget_take(&b, UINT64_MAX)); /* no sum runs over */
	budget_give(&b, 100);
	assert_true(budget_take(&b, 100));
	expect_eq(budget_limit(&b), 100);
}

static void a_table_holds_what_it_says(void **state)
{
	struct budget b;
	uint64_t held = 0;

	(void)state;
	budget_init(&b, 100);
	assert_true(budget_hold(&b, &held, 70));
	assert_true(budget_hold(&b, &held, 30));
	assert_true(budget_take(&b, 70));
	assert_false(budget_hold(&b, &held, 31));
	expect_eq(held, 30);
}

static void without_one_there_is_no_limit(void **state)
{
	uint64_t held = 0;

	(void)state;
	assert_true(budget_take(NULL, UINT64_MAX));
	assert_true(budget_hold(NULL, &held, 5));
	budget_give(NULL, 5);
	assert_false(budget_is_exceeded(NULL));
	expect_eq(budget_limit(NULL), UINT64_MAX);
}

struct shared {
	struct budget budget;
	atomic_int nr_taken;
};

static void take_one(void *ctx, unsigned int worker, size_t item)
{
	struct shared *s = ctx;

	(void)worker;
	(void)item;
	if (budget_take(&s->budget, 1))
		atomic_fetch_add(&s->nr_taken, 1);
}

static void workers_never_take_more_than_there_is(void **state)
{
	struct shared s = { 0 };
	struct parallel p = { .nr_workers = 4, .fn = take_one, .ctx = &s };

	(void)state;
	budget_init(&s.budget, 5000);
	parallel_for(&p, 10000);
	expect_eq(atomic_load(&s.nr_taken), 5000);
	assert_true(budget_is_exceeded(&s.budget));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_does_not_fit_takes_nothing_and_is_remembered),
		cmocka_unit_test(a_table_holds_what_it_says),
		cmocka_unit_test(without_one_there_is_no_limit),
		cmocka_unit_test(workers_never_take_more_than_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
