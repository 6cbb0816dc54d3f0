#include "../unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sys/proc/proc_tasks.h"

#define LINE(flags) STATE_LINE("S", flags)
#define STATE_LINE(state, flags)                            \
	"4711 (a) b (c) " state " 17 4711 4711 0 -1 " flags \
	" 0 0 0 0 5 6 0 0 20 0 3 0 12345 1 2 3\n"

static void a_name_may_hold_parentheses_and_spaces(void **state)
{
	struct proc_task t;

	(void)state;
	assert_true(proc_task_parse(LINE("4194560"), &t));
	expect_eq(t.tid, 4711);
	expect_eq(t.ppid, 17);
	assert_string_equal(t.comm, "a) b (c");
	assert_false(t.is_kthread);
	expect_eq(t.start_ns, 12345 * (1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK)));
}

static void kernel_threads_are_distinguished(void **state)
{
	struct proc_task t;

	(void)state;
	assert_true(proc_task_parse(LINE("2129984"), &t));
	assert_true(t.is_kthread);
}

static void a_runnable_task_is_one_in_state_r(void **state)
{
	struct proc_task t;

	(void)state;
	assert_true(proc_task_parse(STATE_LINE("R", "4194560"), &t));
	assert_true(t.is_runnable);
	assert_true(proc_task_parse(STATE_LINE("D", "4194560"), &t));
	assert_false(t.is_runnable);
}

static void what_is_no_stat_is_refused(void **state)
{
	struct proc_task t;

	(void)state;
	assert_false(proc_task_parse("", &t));
	assert_false(proc_task_parse("12 (x", &t));
	assert_false(proc_task_parse("12 )x(", &t));
	assert_false(proc_task_parse("12 (x) S 1 2", &t));
	assert_false(proc_task_parse("(x) S 1 2 3", &t));
}

static int find_me(void *ctx, const struct proc_task *task)
{
	if (task->tid == (uint32_t)getpid())
		*(struct proc_task *)ctx = *task;
	return 0;
}

static void this_process_is_found_with_its_words(void **state)
{
	struct proc_task me = { 0 };
	struct diag d = { 0 };

	(void)state;
	prctl(PR_SET_NAME, "who (am) i");
	expect_eq(proc_tasks_each("/proc", find_me, &me, &d), 0);
	expect_eq(me.tgid, getpid());
	expect_eq(me.ppid, getppid());
	assert_string_equal(me.comm, "who (am) i");
	assert_true(me.cmdline_len > 0);
	assert_non_null(memmem(me.cmdline, me.cmdline_len, program_invocation_short_name,
	                       strlen(program_invocation_short_name)));
}

static void *publish_tid(void *out)
{
	*(uint32_t *)out = (uint32_t)gettid();
	expect_eq(proc_tgid_of((uint32_t)gettid()), getpid());
	return NULL;
}

static void a_thread_knows_its_process(void **state)
{
	pthread_t thread;
	uint32_t tid = 0;

	(void)state;
	expect_eq(proc_tgid_of((uint32_t)getpid()), getpid());
	expect_eq(pthread_create(&thread, NULL, publish_tid, &tid), 0);
	expect_eq(pthread_join(thread, NULL), 0);
	assert_true(tid != (uint32_t)getpid());
	expect_eq(proc_tgid_of(UINT32_MAX), 0);
}

static int refuse(void *ctx, const struct proc_task *task)
{
	(void)ctx;
	(void)task;
	return -ECANCELED;
}

static void a_refusal_ends_the_walk(void **state)
{
	struct diag d = { 0 };

	(void)state;
	expect_eq(proc_tasks_each("/proc", refuse, NULL, &d), -ECANCELED);
}

static void a_missing_proc_is_reported(void **state)
{
	struct diag d = { 0 };

	(void)state;
	expect_eq(proc_tasks_each("/proc/self/nowhere", refuse, NULL, &d), -ENOENT);
	assert_non_null(strstr(d.what, "nowhere"));
}

static bool is_hidden_with(const char *mounts)
{
	char path[] = "/tmp/schedscope-mounts-XXXXXX";
	int fd = mkstemp(path);
	bool is_hidden;

	assert_true(fd >= 0);
	expect_eq(write(fd, mounts, strlen(mounts)), strlen(mounts));
	close(fd);
	is_hidden = proc_hides_processes(path);
	unlink(path);
	return is_hidden;
}

static void a_proc_that_hides_processes_is_known(void **state)
{
	(void)state;
	assert_false(is_hidden_with("proc /proc proc rw,nosuid 0 0\n"));
	assert_true(is_hidden_with("x / ext4 rw 0 0\nproc /proc proc rw,hidepid=invisible 0 0\n"));
	assert_false(
		is_hidden_with("proc /mnt/proc proc rw,hidepid=2 0 0\nproc /proc proc rw 0 0\n"));
	assert_true(
		is_hidden_with("proc /proc proc rw 0 0\nproc /proc proc rw,gid=5,hidepid=1 0 0\n"));
	assert_false(is_hidden_with(""));
	assert_false(proc_hides_processes("/no/such/file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_may_hold_parentheses_and_spaces),
		cmocka_unit_test(kernel_threads_are_distinguished),
		cmocka_unit_test(a_runnable_task_is_one_in_state_r),
		cmocka_unit_test(what_is_no_stat_is_refused),
		cmocka_unit_test(this_process_is_found_with_its_words),
		cmocka_unit_test(a_thread_knows_its_process),
		cmocka_unit_test(a_refusal_ends_the_walk),
		cmocka_unit_test(a_missing_proc_is_reported),
		cmocka_unit_test(a_proc_that_hides_processes_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
