#include "../unit.h"

#include "model/task_lives.h"

static void each_owner_of_a_tid_is_found_in_its_time(void **state)
{
	struct tasks_cfg cfg = { .keep_dead_ns = UINT64_MAX };
	struct task_lives *lives;
	struct tasks *tasks;
	uint32_t first, second, other;

	(void)state;
	assert_int_equal(tasks_new(&cfg, &tasks), 0);
	first = tasks_see(tasks, 5, 100);
	other = tasks_see(tasks, 4, 150);
	second = tasks_replace(tasks, 5, 200);
	assert_int_equal(task_lives_new(tasks, &lives), 0);
	expect_eq(task_lives_at(lives, 5, 100), first);
	expect_eq(task_lives_at(lives, 5, 199), first);
	expect_eq(task_lives_at(lives, 5, 200), second);
	expect_eq(task_lives_at(lives, 5, UINT64_MAX), second);
	expect_eq(task_lives_at(lives, 5, 1), first); /* before all */
	expect_eq(task_lives_at(lives, 4, 300), other);
	expect_eq(task_lives_at(lives, 3, 300), TASKS_NONE);
	expect_eq(task_lives_at(lives, 6, 300), TASKS_NONE);
	task_lives_free(lives);
	tasks_free(tasks);
}

static void an_unknown_tid_has_no_task(void **state)
{
	struct tasks_cfg cfg = { 0 };
	struct task_lives *lives;
	struct tasks *tasks;

	(void)state;
	assert_int_equal(tasks_new(&cfg, &tasks), 0);
	assert_int_equal(task_lives_new(tasks, &lives), 0);
	expect_eq(task_lives_at(lives, 1, 1), TASKS_NONE);
	task_lives_free(lives);
	tasks_free(tasks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_owner_of_a_tid_is_found_in_its_time),
		cmocka_unit_test(an_unknown_tid_has_no_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
