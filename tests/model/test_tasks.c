#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static uint32_t fork_at(struct tasks *t, uint64_t ts, uint32_t parent, uint32_t tid,
                        const char *comm)
{
	struct ev_fork ev = { .hdr = { sizeof(ev), EV_FORK, 0, 0, ts },
		              .parent_tid = parent,
		              .parent_tgid = parent,
		              .tid = tid,
		              .tgid = tid };

	memcpy(ev.comm, comm, strnlen(comm, EV_COMM_LEN));
	return tasks_fork(t, &ev);
}

static uint32_t free_at(struct tasks *t, uint64_t ts, uint32_t tid)
{
	return tasks_freed(t, &(struct ev_free){ .hdr = { .ts_ns = ts }, .tid = tid });
}

static uint32_t exit_at(struct tasks *t, uint64_t ts, uint32_t tid)
{
	return tasks_exit(t, &(struct ev_exit){ .hdr = { .ts_ns = ts }, .tid = tid, .tgid = tid });
}

static void rename_at(struct tasks *t, uint64_t ts, uint32_t tid, const char *from, const char *to)
{
	struct ev_rename ev = { .hdr = { .ts_ns = ts }, .tid = tid };

	memcpy(ev.old_comm, from, strnlen(from, EV_COMM_LEN));
	memcpy(ev.comm, to, strnlen(to, EV_COMM_LEN));
	tasks_rename(t, &ev);
}

static void idle_is_never_a_task(void **state)
{
	expect_eq(tasks_see(*state, 0, 5), TASKS_NONE);
	expect_eq(tasks_find(*state, 0), TASKS_NONE);
	expect_eq(tasks_wakeup_new(*state, 0, 5), TASKS_NONE);
	expect_eq(tasks_nr(*state), 0);
	assert_null(tasks_at(*state, 0));
	assert_null(tasks_comm(*state, 0));
}

static void a_fork_begins_a_task_that_its_first_wakeup_continues(void **state)
{
	struct tasks *t = *state;
	uint32_t task = fork_at(t, 10, 1, 7, "child");

	expect_eq(tasks_wakeup_new(t, 7, 20), task);
	expect_eq(tasks_find(t, 7), task);
	expect_eq(tasks_at(t, task)->start_ns, 10);
	expect_eq(tasks_at(t, task)->tgid, 7);
	expect_eq(tasks_at(t, task)->ppid, 1);
	expect_eq(tasks_at(t, task)->end_ns, 0);
	assert_string_equal(tasks_comm(t, task), "child");
}

static void a_second_first_wakeup_is_another_task(void **state)
{
	uint32_t task = tasks_wakeup_new(*state, 7, 20);

	assert_true(tasks_wakeup_new(*state, 7, 90) != task);
	expect_eq(tasks_at(*state, task)->end_ns, 90);
}

static void free_ends_a_task_and_the_tid_may_come_back(void **state)
{
	struct tasks *t = *state;
	uint32_t first = fork_at(t, 10, 1, 7, "a"), second;

	exit_at(t, 30, 7);
	tasks_died(t, first, 35);
	expect_eq(tasks_find(t, 7), first); /* a zombie */
	expect_eq(free_at(t, 40, 7), first);
	expect_eq(tasks_find(t, 7), TASKS_NONE);
	expect_eq(tasks_at(t, first)->end_ns, 35);
	second = tasks_see(t, 7, 50);
	assert_true(second != first);
	expect_eq(tasks_at(t, second)->start_ns, 0);
	expect_eq(tasks_at(t, second)->first_seen_ns, 50);
	expect_eq(free_at(t, 60, 8), TASKS_NONE);
}

static void a_late_free_is_that_of_the_former_owner(void **state)
{
	struct tasks *t = *state;
	uint32_t second;

	fork_at(t, 10, 1, 7, "a");
	exit_at(t, 20, 7);
	second = fork_at(t, 30, 1, 7, "b");
	expect_eq(free_at(t, 40, 7), TASKS_NONE);
	expect_eq(tasks_find(t, 7), second);
	expect_eq(free_at(t, 50, 7), second);
}

static void a_description_completes_or_begins(void **state)
{
	struct tasks *t = *state;
	struct ev_task_info ev = { .hdr = { .ts_ns = 100000000 },
		                   .tid = 7,
		                   .tgid = 6,
		                   .ppid = 1,
		                   .flags = EV_TASK_KTHREAD,
		                   .start_ns = 50,
		                   .comm = "kw" };
	uint32_t task = tasks_see(t, 7, 90), later;

	expect_eq(tasks_info(t, &ev), task);
	expect_eq(tasks_at(t, task)->tgid, 6);
	expect_eq(tasks_at(t, task)->ppid, 1);
	expect_eq(tasks_at(t, task)->start_ns, 50);
	assert_true(tasks_at(t, task)->is_kthread);
	ev.start_ns = 60000000;
	later = tasks_info(t, &ev);
	assert_true(later != task);
	expect_eq(tasks_at(t, task)->end_ns, 100000000);
	ev.tid = 9;
	assert_true(tasks_info(t, &ev) != TASKS_NONE);
}

static void threads_have_the_parent_of_their_process(void **state)
{
	struct tasks *t = *state;
	struct ev_fork ev = { .parent_tid = 7, .parent_tgid = 7, .tid = 8, .tgid = 7 };
	uint32_t task;

	fork_at(t, 10, 3, 7, "a");
	task = tasks_fork(t, &ev);
	expect_eq(tasks_at(t, task)->tgid, 7);
	expect_eq(tasks_at(t, task)->ppid, 3);
}

static void children_of_kthreadd_are_kernel_threads_until_they_exec(void **state)
{
	struct tasks *t = *state;
	uint32_t task = fork_at(t, 10, 2, 7, "kw");
	uint32_t helper = fork_at(t, 20, 7, 8, "kw");

	assert_true(tasks_at(t, task)->is_kthread);
	assert_true(tasks_at(t, helper)->is_kthread);
	tasks_exec(t, &(struct ev_exec){ .tid = 8, .old_tid = 8, .comm = "modprobe" });
	assert_false(tasks_at(t, helper)->is_kthread);
}

static void exec_of_a_thread_exchanges_it_with_its_leader(void **state)
{
	struct tasks *t = *state;
	uint32_t leader = fork_at(t, 10, 1, 7, "a"), thread = tasks_see(t, 8, 20);

	expect_eq(tasks_exec(t, &(struct ev_exec){ .tid = 7, .old_tid = 8, .comm = "b" }), thread);
	expect_eq(tasks_find(t, 7), thread);
	expect_eq(tasks_find(t, 8), leader);
	expect_eq(tasks_at(t, thread)->tgid, 7);
	expect_eq(tasks_exec(t, &(struct ev_exec){ .tid = 90, .old_tid = 7, .comm = "c" }), thread);
	expect_eq(tasks_find(t, 90), thread);
	expect_eq(tasks_find(t, 7), TASKS_NONE);
}

static void names_are_remembered_with_their_times(void **state)
{
	struct tasks *t = *state;
	uint32_t task = tasks_see(t, 7, 10);

	expect_eq(tasks_comm_at(t, task, 10), 0);
	assert_null(tasks_comm(t, task));
	rename_at(t, 50, 7, "old", "new");
	assert_string_equal(tasks_string(t, tasks_comm_at(t, task, 5)), "old");
	assert_string_equal(tasks_string(t, tasks_comm_at(t, task, 49)), "old");
	assert_string_equal(tasks_string(t, tasks_comm_at(t, task, 50)), "new");
	rename_at(t, 60, 7, "new", "sixteen-letters!");
	assert_string_equal(tasks_comm(t, task), "sixteen-letters!");
}

static void a_task_that_keeps_renaming_itself_keeps_its_latest_names(void **state)
{
	struct tasks *t = *state;
	uint32_t task = tasks_see(t, 7, 10);
	char name[EV_COMM_LEN];

	for (uint64_t i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "n%u", (unsigned int)i);
		tasks_set_comm(t, task, name, i);
	}
	expect_eq(tasks_at(t, task)->nr_names, TASKS_MAX_NAMES);
	assert_string_equal(tasks_string(t, tasks_comm_at(t, task, 90)), "n90");
	assert_string_equal(tasks_string(t, tasks_comm_at(t, task, 3)), "n84");
}

static void the_dead_are_forgotten_after_a_while(void **state)
{
	struct tasks *t = *state;
	struct tasks_loss loss;

	for (uint64_t i = 0; i < 10000; i++) {
		uint32_t tid = 100 + (uint32_t)i;

		fork_at(t, i * 100, 1, tid, "short");
		tasks_died(t, tasks_find(t, tid), i * 100 + 50);
		free_at(t, i * 100 + 60, tid);
	}
	assert_true(tasks_nr(t) < 20);
	tasks_loss(t, &loss);
	expect_eq(loss.early + loss.no_room, 0);
}

static void a_full_table_replaces_the_longest_dead_then_none(void **state)
{
	struct tasks_cfg cfg = { .max_tasks = 3, .keep_dead_ns = UINT64_MAX };
	struct tasks *t = NULL;
	struct tasks_loss loss;
	uint32_t second;

	(void)state;
	expect_eq(tasks_new(&cfg, &t), 0);
	tasks_see(t, 1, 1);
	second = tasks_see(t, 2, 1);
	tasks_see(t, 3, 1);
	expect_eq(tasks_see(t, 4, 2), TASKS_NONE);
	free_at(t, 3, 2);
	free_at(t, 4, 3);
	expect_eq(tasks_see(t, 4, 5), second);
	tasks_loss(t, &loss);
	expect_eq(loss.no_room, 1);
	expect_eq(loss.early, 1);
	tasks_free(t);
}

/* A server that runs for ever sees more names than there is room for. */
static void names_of_tasks_long_gone_are_forgotten(void **state)
{
	struct tasks_cfg cfg = { .max_tasks = 64, .keep_dead_ns = 10 };
	char name[EV_COMM_LEN];
	struct tasks_loss loss;
	struct tasks *t, *copy;
	uint32_t old, pinned, first = 0;
	uint64_t ts = 1;

	(void)state;
	expect_eq(tasks_new(&cfg, &t), 0);
	pinned = tasks_intern(t, "eth0", 4);
	old = fork_at(t, ts++, 1, 2, "stays");
	for (uint32_t i = 0; i < 3U << 20; i++, ts += 3) {
		uint32_t task;

		snprintf(name, sizeof(name), "job-%u", i);
		task = fork_at(t, ts, 1, 100, name);
		assert_string_equal(tasks_comm(t, task), name);
		if (i == 0)
			first = tasks_at(t, task)->comm_id;
		if (i == 1) {
			/* It is remembered for as long as rows may hold it, and one that was copied for longer. */
			assert_string_equal(tasks_string(t, first), "job-0");
			expect_eq(tasks_copy(t, &copy), 0);
		}
		free_at(t, ts + 1, 100);
	}
	tasks_loss(t, &loss);
	expect_eq(loss.no_name_room, 0);
	assert_string_equal(tasks_comm(t, old), "stays");
	assert_string_equal(tasks_string(t, pinned), "eth0");
	assert_string_not_equal(tasks_string(t, first), "job-0");
	assert_string_equal(tasks_string(copy, first), "job-0");
	tasks_free(copy);
	tasks_free(t);
}

/* Also those of a task that renames itself all the time, and a name that comes back is the same again. */
static void names_that_a_task_had_are_forgotten(void **state)
{
	struct tasks_cfg cfg = { .max_tasks = 64, .keep_dead_ns = 1000 };
	char name[EV_COMM_LEN], last[EV_COMM_LEN] = "begin";
	struct tasks_loss loss;
	struct tasks *t;
	uint32_t task, other;
	uint64_t ts = 1;

	(void)state;
	expect_eq(tasks_new(&cfg, &t), 0);
	task = fork_at(t, ts++, 1, 2, last);
	other = fork_at(t, ts++, 1, 3, "begin");
	for (uint32_t i = 0; i < 2U << 20; i++, ts += 50) {
		snprintf(name, sizeof(name), i % 100 ? "name-%u" : "begin", i);
		rename_at(t, ts, 2, last, name);
		assert_string_equal(tasks_comm(t, task), name);
		assert_string_equal(tasks_comm(t, other), "begin");
		if (strcmp(name, "begin") == 0)
			expect_eq(tasks_at(t, task)->comm_id, tasks_at(t, other)->comm_id);
		memcpy(last, name, sizeof(last));
	}
	for (uint32_t i = 0; i < TASKS_MAX_NAMES - 1U; i++) {
		snprintf(name, sizeof(name), "name-%u", (2U << 20) - 1 - i);
		assert_string_equal(tasks_string(t, tasks_name(t, task, i)), name);
	}
	tasks_loss(t, &loss);
	expect_eq(loss.no_name_room, 0);
	tasks_free(t);
}

static void tids_beyond_those_of_linux_are_found_too(void **state)
{
	uint32_t a = tasks_see(*state, 2000000000, 1), b = tasks_see(*state, UINT32_MAX, 1);

	assert_true(a != b);
	expect_eq(tasks_find(*state, 2000000000), a);
	expect_eq(tasks_find(*state, UINT32_MAX), b);
	expect_eq(free_at(*state, 2, UINT32_MAX), b);
	expect_eq(tasks_find(*state, UINT32_MAX), TASKS_NONE);
}

static int refuse(void *ctx, uint32_t task, uint64_t ts_ns)
{
	(void)ctx;
	(void)task;
	(void)ts_ns;
	return -ENOMEM;
}

static void a_refused_task_leaves_nothing_behind(void **state)
{
	struct tasks_loss loss;

	tasks_set_hook(*state, &(struct tasks_hook){ .begin = refuse });
	expect_eq(tasks_see(*state, 7, 1), TASKS_NONE);
	expect_eq(tasks_find(*state, 7), TASKS_NONE);
	tasks_loss(*state, &loss);
	expect_eq(loss.no_room, 1);
	tasks_set_hook(*state, &(struct tasks_hook){ 0 });
	assert_true(tasks_see(*state, 7, 2) != TASKS_NONE);
}

static void too_many_tasks_are_refused(void **state)
{
	struct tasks *t;

	(void)state;
	expect_eq(tasks_new(&(struct tasks_cfg){ .max_tasks = TASKS_MAX + 1 }, &t), -EINVAL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(idle_is_never_a_task),
		T(a_fork_begins_a_task_that_its_first_wakeup_continues),
		T(a_second_first_wakeup_is_another_task),
		T(free_ends_a_task_and_the_tid_may_come_back),
		T(a_late_free_is_that_of_the_former_owner),
		T(a_description_completes_or_begins),
		T(threads_have_the_parent_of_their_process),
		T(children_of_kthreadd_are_kernel_threads_until_they_exec),
		T(exec_of_a_thread_exchanges_it_with_its_leader),
		T(names_are_remembered_with_their_times),
		T(a_task_that_keeps_renaming_itself_keeps_its_latest_names),
		T(the_dead_are_forgotten_after_a_while),
		T(a_full_table_replaces_the_longest_dead_then_none),
		T(tids_beyond_those_of_linux_are_found_too),
		T(a_refused_task_leaves_nothing_behind),
		cmocka_unit_test(names_of_tasks_long_gone_are_forgotten),
		cmocka_unit_test(names_that_a_task_had_are_forgotten),
		cmocka_unit_test(too_many_tasks_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
