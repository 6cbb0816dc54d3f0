#include "../unit.h"

#include "tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sys/proc/proc_reader.h"

#define SECOND 1000000000ULL

/* Waits for the reader, which has its own time: a test that hangs ends by the runner's limit. */
static void take_at(struct proc_reader *r, uint64_t now_ns, struct proc_answer *out)
{
	const struct timespec nap = { 0, 1000000 };

	while (!proc_reader_take(r, now_ns, out))
		nanosleep(&nap, NULL);
}

static void take(struct proc_reader *r, struct proc_answer *out)
{
	take_at(r, SECOND, out);
}

static void words_are_joined_and_no_process_has_none(void **state)
{
	struct proc_reader *r = NULL;
	struct proc_answer a;
	struct tree t;
	char path[128];
	FILE *f;

	(void)state;
	tree_init(&t);
	tree_mkdir(&t, "7");
	(void)snprintf(path, sizeof(path), "%s/7/cmdline", t.root);
	f = fopen(path, "we");
	assert_non_null(f);
	expect_eq(fwrite("ls\0-l\0\0", 1, 7, f), 7);
	fclose(f);
	expect_eq(proc_reader_open(t.root, PROC_READER_CMDLINE, &r), 0);
	assert_false(proc_reader_take(r, SECOND, &a));
	assert_true(proc_reader_ask(r, 7, SECOND));
	take(r, &a);
	expect_eq(a.pid, 7);
	assert_string_equal(a.text, "ls -l");
	assert_true(proc_reader_ask(r, 8, SECOND));
	take(r, &a);
	expect_eq(a.pid, 8);
	assert_string_equal(a.text, "");
	proc_reader_close(r);
	proc_reader_close(NULL);
	tree_done(&t);
}

/* A pipe without a writer hangs the process that opens it, as a process with its memory locked does. */
static void a_process_that_hangs_delays_nothing_else(void **state)
{
	struct proc_reader *r = NULL;
	struct proc_answer a;
	struct tree t;
	char path[128];
	int fd;

	(void)state;
	tree_init(&t);
	tree_mkdir(&t, "7");
	tree_write(&t, "8/cmdline", "eight");
	(void)snprintf(path, sizeof(path), "%s/7/cmdline", t.root);
	expect_eq(mkfifo(path, 0600), 0);
	expect_eq(proc_reader_open(t.root, PROC_READER_CMDLINE, &r), 0);
	assert_true(proc_reader_ask(r, 7, SECOND));
	/* The last one asked is the first one read: when it is there, the reader is on its way to the pipe. */
	assert_true(proc_reader_ask(r, 8, SECOND));
	for (uint64_t now = 3 * SECOND; proc_reader_nr_hung(r) == 0; now += SECOND) {
		const struct timespec nap = { 0, 1000000 };

		(void)!proc_reader_take(r, now, &a);
		assert_true(proc_reader_ask(r, 8, now));
		nanosleep(&nap, NULL);
	}
	/* Another reader has taken over. */
	take(r, &a);
	expect_eq(a.pid, 8);
	assert_string_equal(a.text, "eight\n");
	/* The one that hangs comes free, and cleans up behind itself. */
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	assert_true(fd >= 0);
	expect_eq(write(fd, "x", 1), 1);
	proc_reader_close(r);
	close(fd);
	tree_done(&t);
}

static void of_a_cgroup_the_path_is_reported(void **state)
{
	struct proc_reader *r = NULL;
	struct proc_answer a;
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_write(&t, "7/cgroup", "12:pids:/old\n0::/system.slice/a.service");
	expect_eq(proc_reader_open(t.root, PROC_READER_CGROUP, &r), 0);
	assert_true(proc_reader_ask(r, 7, SECOND));
	take(r, &a);
	assert_string_equal(a.text, "/system.slice/a.service");
	assert_true(proc_reader_ask(r, 8, SECOND));
	take(r, &a);
	assert_string_equal(a.text, "");
	proc_reader_close(r);
	tree_done(&t);
}

/* Many questions take longer than one may: as long as answers come, nothing hangs. */
static void a_long_queue_is_no_hang(void **state)
{
	struct proc_reader *r = NULL;
	struct proc_answer a;
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_write(&t, "8/cmdline", "eight");
	expect_eq(proc_reader_open(t.root, PROC_READER_CMDLINE, &r), 0);
	for (uint64_t now = SECOND; now < 100 * SECOND; now += SECOND / 2) {
		assert_true(proc_reader_ask(r, 8, now));
		assert_true(proc_reader_ask(r, 8, now));
		take_at(r, now, &a);
	}
	expect_eq(proc_reader_nr_hung(r), 0);
	proc_reader_close(r);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_joined_and_no_process_has_none),
		cmocka_unit_test(of_a_cgroup_the_path_is_reported),
		cmocka_unit_test(a_process_that_hangs_delays_nothing_else),
		cmocka_unit_test(a_long_queue_is_no_hang),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
