#include "pair_fixture.h"

#include <errno.h>

#include "model/migrations.h"

static struct migrations *watch(struct fixture *f, uint32_t max_rows)
{
	struct migrations_cfg cfg = { f->tasks, max_rows };
	struct migrations *m = NULL;
	struct pair_out out;

	expect_eq(migrations_new(&cfg, &m), 0);
	out = migrations_out(m);
	expect_eq(pair_add_out(f->pair, &out), 0);
	return m;
}

static void pairs_and_ping_pongs_are_counted(void **state)
{
	struct fixture *f = *state;
	struct migrations *m = watch(f, 0);

	migrate(f, 100, 7, 0, 1);
	migrate(f, 200, 8, 2, 3); /* another task does not break the ping-pong */
	migrate(f, 300, 7, 1, 0);
	migrate(f, 400, 7, 0, 2);
	expect_eq(migrations_total(m), 4);
	expect_eq(migrations_nr_pairs(m), 4);
	expect_eq(migrations_pair_at(m, 0)->count, 1);
	expect_eq(migrations_nr_tasks(m), 2);
	expect_eq(migrations_task_at(m, 0)->tid, 7);
	expect_eq(migrations_task_at(m, 0)->count, 3);
	expect_eq(migrations_task_at(m, 0)->nr_ping_pongs, 1);
	expect_eq(migrations_task_at(m, 0)->nr_cpus, 3);
	expect_eq(migrations_task_at(m, 0)->cpus[2], 2);
	expect_eq(migrations_left_out(m), 0);
	assert_null(migrations_task_at(m, 2));
	assert_null(migrations_pair_at(m, 4));
	migrations_reset(m);
	expect_eq(migrations_total(m) + migrations_nr_pairs(m) + migrations_nr_tasks(m), 0);
	migrations_free(m);
}

static void what_does_not_fit_is_counted(void **state)
{
	struct fixture *f = *state;
	struct migrations *m = watch(f, 1);

	migrate(f, 100, 7, 0, 1);
	migrate(f, 200, 8, 2, 3); /* 7 goes, and the pair finds no place */
	expect_eq(migrations_total(m), 2);
	expect_eq(migrations_nr_pairs(m), 1);
	expect_eq(migrations_task_at(m, 0)->tid, 8);
	expect_eq(migrations_left_out(m), 2);
	migrations_free(m);
	expect_eq(migrations_new(&(struct migrations_cfg){ 0 }, &m), -EINVAL);
}

static void many_cpus_are_said_to_be_many(void **state)
{
	struct fixture *f = *state;
	struct migrations *m = watch(f, 0);

	for (uint32_t cpu = 40; cpu > 0; cpu--)
		migrate(f, 1000 - cpu, 7, cpu, cpu - 1);
	expect_eq(migrations_task_at(m, 0)->nr_cpus, MIGRATIONS_CPUS);
	assert_true(migrations_task_at(m, 0)->has_more_cpus);
	for (int i = 1; i < MIGRATIONS_CPUS; i++)
		assert_true(migrations_task_at(m, 0)->cpus[i - 1] <
		            migrations_task_at(m, 0)->cpus[i]);
	migrations_free(m);
}

static void a_migration_that_was_not_seen_makes_no_ping_pong(void **state)
{
	struct fixture *f = *state;
	struct migrations *m = watch(f, 0);

	migrate(f, 100, 7, 0, 1);
	migrate(f, 200, 7, 2, 0); /* it went from 1 to 2 meanwhile */
	expect_eq(migrations_task_at(m, 0)->nr_ping_pongs, 0);
	migrations_free(m);
}

static void a_new_life_begins_anew(void **state)
{
	struct fixture *f = *state;
	struct migrations *m = watch(f, 0);

	migrate(f, 100, 7, 0, 1);
	freed(f, 110, 7);
	forked(f, 120, 5, 7, "new");
	migrate(f, 130, 7, 1, 0); /* not back: somebody else came */
	for (uint32_t i = 0; i < migrations_nr_tasks(m); i++)
		expect_eq(migrations_task_at(m, i)->nr_ping_pongs, 0);
	migrations_free(m);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(pairs_and_ping_pongs_are_counted),
		T(what_does_not_fit_is_counted),
		T(many_cpus_are_said_to_be_many),
		T(a_migration_that_was_not_seen_makes_no_ping_pong),
		T(a_new_life_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
