#include "../unit.h"

#include <stdlib.h>
#include <string.h>

#include "abi/event_make.h"
#include "model/tasks.h"

static int setup(void **state)
{
	return tasks_new(&(struct tasks_cfg){ .keep_dead_ns = 1000 }, (struct tasks **)state);
}

static int teardown(void **state)
{
	tasks_free(*state);
	return 0;
}

static void put(struct tasks *t, uint64_t ts, uint32_t tid, uint64_t cgroup)
{
	tasks_cgroup(t,
	             &(struct ev_cgroup){ .hdr = { .ts_ns = ts }, .tid = tid, .cgroup = cgroup });
}

static void name(struct tasks *t, uint64_t cgroup, const char *path)
{
	struct ev_cgroup_named rec;

	ev_make_cgroup_info(&rec, cgroup, path, 0);
	tasks_cgroup_info(t, &rec.info);
}

static uint32_t fork_at(struct tasks *t, uint64_t ts, uint32_t parent, uint32_t tid)
{
	return tasks_fork(t, &(struct ev_fork){ .hdr = { .ts_ns = ts },
	                                        .parent_tid = parent,
	                                        .parent_tgid = parent,
	                                        .tid = tid,
	                                        .tgid = tid });
}

static void free_at(struct tasks *t, uint64_t ts, uint32_t tid)
{
	(void)tasks_freed(t, &(struct ev_free){ .hdr = { .ts_ns = ts }, .tid = tid });
}

static uint64_t id_at(struct tasks *t, uint32_t task, uint64_t ts)
{
	return tasks_cgroup_id(t, tasks_cgroup_at(t, task, ts));
}

static void a_task_is_in_one_cgroup_after_the_other(void **state)
{
	struct tasks *t = *state;
	uint32_t task = tasks_see(t, 7, 5);

	expect_eq(tasks_cgroup_at(t, task, 5), 0);
	put(t, 10, 7, 100);
	put(t, 20, 7, 200);
	put(t, 30, 7, 200);
	put(t, 40, 7, 100);
	expect_eq(id_at(t, task, 9), 0);
	expect_eq(id_at(t, task, 10), 100);
	expect_eq(id_at(t, task, 19), 100);
	expect_eq(id_at(t, task, 20), 200);
	expect_eq(id_at(t, task, 39), 200);
	expect_eq(id_at(t, task, UINT64_MAX), 100);
	expect_eq(tasks_cgroup_id(t, tasks_cgroup_now(t, task)), 100);
	expect_eq(tasks_nr_cgroups(t), 2);
	expect_eq(tasks_cgroup_at(t, 99, 10), 0); /* no such task */
	expect_eq(tasks_cgroup_id(t, 3), 0);
}

static void paths_come_before_or_after(void **state)
{
	struct tasks *t = *state;
	uint32_t task = tasks_see(t, 7, 5);

	name(t, 100, "/build");
	put(t, 10, 7, 100);
	put(t, 20, 7, 200);
	assert_string_equal(tasks_cgroup_path(t, tasks_cgroup_at(t, task, 10)), "/build");
	assert_null(tasks_cgroup_path(t, tasks_cgroup_at(t, task, 20)));
	assert_null(tasks_cgroup_path(t, 0));
	name(t, 200, "/web");
	assert_string_equal(tasks_cgroup_path(t, tasks_cgroup_at(t, task, 20)), "/web");
	name(t, 100, "/renamed");
	assert_string_equal(tasks_cgroup_path(t, tasks_cgroup_at(t, task, 10)), "/renamed");
}

static void what_is_said_of_a_task_before_it_does_anything_makes_no_task(void **state)
{
	struct tasks *t = *state;
	uint32_t task;

	put(t, 10, 7, 100);
	put(t, 10, 8, 100);
	put(t, 11, 7, 200);
	put(t, 10, 0, 100); /* idle is none */
	expect_eq(tasks_nr(t), 0);
	task = tasks_see(t, 7, 50);
	expect_eq(id_at(t, task, 50), 200);
	free_at(t, 60, 8); /* it never did */
	expect_eq(id_at(t, tasks_see(t, 8, 70), 70), 0);
}

static void a_new_task_is_where_its_parent_is_at_that_moment(void **state)
{
	struct tasks *t = *state;
	uint32_t child, other;

	put(t, 1, 5, 300); /* a parent that has no entry yet */
	child = fork_at(t, 2, 5, 6);
	expect_eq(id_at(t, child, 2), 300);
	expect_eq(id_at(t, tasks_see(t, 5, 3), 3), 300);
	put(t, 10, 5, 100);
	expect_eq(id_at(t, child, 10), 300); /* the child was not moved */
	other = fork_at(t, 20, 5, 7);
	put(t, 20, 7, 400); /* CLONE_INTO_CGROUP */
	expect_eq(id_at(t, other, 20), 400);
	expect_eq(id_at(t, fork_at(t, 30, 99, 8), 30), 0); /* of an unknown parent */
}

static void the_next_owner_of_a_tid_has_its_own(void **state)
{
	struct tasks *t = *state;
	uint32_t first = fork_at(t, 1, 2, 7), second;

	put(t, 2, 7, 100);
	free_at(t, 10, 7);
	second = fork_at(t, 20, 2, 7);
	assert_int_not_equal(first, second);
	expect_eq(id_at(t, second, 20), 0);
	expect_eq(id_at(t, first, 20), 100);
	/* Its entry is used again once it is old. */
	free_at(t, 30, 7);
	for (uint32_t tid = 50; tid < 60; tid++)
		expect_eq(id_at(t, fork_at(t, 100000, 2, tid), 100000), 0);
}

static void a_thread_that_takes_its_leaders_tid_stays_where_it_is(void **state)
{
	struct tasks *t = *state;
	struct ev_exec ev = { .hdr = { .ts_ns = 20 }, .tid = 10, .old_tid = 11 };
	uint32_t leader = tasks_see(t, 10, 1), thread = tasks_see(t, 11, 1);

	put(t, 1, 10, 100);
	put(t, 1, 11, 200); /* threads of a process may be apart in v1 */
	expect_eq(tasks_exec(t, &ev), thread);
	expect_eq(id_at(t, thread, 20), 200);
	put(t, 30, 10, 300); /* of the tid that it has now */
	expect_eq(id_at(t, thread, 30), 300);
	expect_eq(id_at(t, leader, 30), 100);
	/* The same of a thread that has done nothing before. */
	put(t, 40, 21, 400);
	put(t, 40, 20, 500);
	ev = (struct ev_exec){ .hdr = { .ts_ns = 50 }, .tid = 20, .old_tid = 21 };
	expect_eq(id_at(t, tasks_exec(t, &ev), 50), 400);
}

static void after_a_loss_nothing_is_claimed(void **state)
{
	struct tasks *t = *state;
	uint32_t task = tasks_see(t, 7, 1);

	put(t, 1, 7, 100);
	put(t, 1, 8, 100);
	tasks_lost(t, EV_WAKING, 5);
	expect_eq(id_at(t, task, 5), 100);
	tasks_lost(t, EV_FORK, 6); /* 8 may be another by now; 7 is known */
	expect_eq(id_at(t, task, 6), 100);
	expect_eq(id_at(t, tasks_see(t, 8, 6), 6), 0);
	tasks_lost(t, EV_CGROUP, 10);
	expect_eq(id_at(t, task, 9), 100);
	expect_eq(id_at(t, task, 10), 0);
	put(t, 20, 7, 200);
	expect_eq(id_at(t, task, 20), 200);
}

static void a_copy_has_all_of_it(void **state)
{
	struct tasks *t = *state, *copy = NULL;
	uint32_t task = tasks_see(t, 7, 1);

	name(t, 100, "/build");
	put(t, 1, 7, 100);
	put(t, 5, 7, 200);
	expect_eq(tasks_copy(t, &copy), 0);
	put(t, 6, 7, 300);
	expect_eq(id_at(copy, task, 10), 200);
	expect_eq(id_at(copy, task, 1), 100);
	assert_string_equal(tasks_cgroup_path(copy, tasks_cgroup_at(copy, task, 1)), "/build");
	tasks_free(copy);
}

/* Any order of records, against the simplest thing that can work: a list of all of them. */
static void random_moves_agree_with_a_list(void **state)
{
	enum { TIDS = 8, STEPS = 4000 };
	static uint64_t truth[STEPS][TIDS + 1];
	uint32_t task_of[TIDS + 1];
	struct tasks *t = NULL;
	uint32_t seed = 12345;

	(void)state;
	expect_eq(tasks_new(&(struct tasks_cfg){ .keep_dead_ns = UINT64_MAX }, &t), 0);
	for (uint32_t tid = 1; tid <= TIDS; tid++)
		task_of[tid] = tasks_see(t, tid, 0);
	for (uint32_t i = 1; i < STEPS; i++) {
		uint32_t tid, cgroup;

		seed = seed * 1664525U + 1013904223U;
		tid = 1 + (seed >> 8) % TIDS;
		cgroup = 1 + (seed >> 16) % 5;
		memcpy(truth[i], truth[i - 1], sizeof(truth[i]));
		truth[i][tid] = cgroup;
		put(t, i, tid, cgroup);
	}
	for (uint32_t i = 0; i < STEPS; i += 7)
		for (uint32_t tid = 1; tid <= TIDS; tid++)
			expect_eq(id_at(t, task_of[tid], i), truth[i][tid]);
	tasks_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_task_is_in_one_cgroup_after_the_other, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(paths_come_before_or_after, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_is_said_of_a_task_before_it_does_anything_makes_no_task, setup,
			teardown),
		cmocka_unit_test_setup_teardown(a_new_task_is_where_its_parent_is_at_that_moment,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(the_next_owner_of_a_tid_has_its_own, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(
			a_thread_that_takes_its_leaders_tid_stays_where_it_is, setup, teardown),
		cmocka_unit_test_setup_teardown(after_a_loss_nothing_is_claimed, setup, teardown),
		cmocka_unit_test_setup_teardown(a_copy_has_all_of_it, setup, teardown),
		cmocka_unit_test(random_moves_agree_with_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
