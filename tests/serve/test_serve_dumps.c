#include "serve/dumps.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/test-dumps-XXXXXX";

static int make_dir(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	memcpy(dir + strlen(dir) - 6, "XXXXXX", 6);
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command); /* NOLINT(cert-env33-c): a path of our own */
}

static char *path_of(char out[512], const char *name)
{
	snprintf(out, 512, "%s/%s", dir, name);
	return out;
}

static void make_file(const char *name, size_t bytes, time_t when)
{
	struct timespec times[2] = { { .tv_sec = when }, { .tv_sec = when } };
	char path[512];
	int fd = open(path_of(path, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static bool is_there(const char *name)
{
	char path[512];
	struct stat st;

	return lstat(path_of(path, name), &st) == 0;
}

static void names_say_when_why_and_who(void **state)
{
	struct dump_name n;

	(void)state;
	assert_true(dump_name_parse(
		"schedscope-20261115T053012-wakeup-latency-6.2ms-nginx-1234.pftrace", &n));
	assert_int_equal(n.kind, TRIGGER_WAKEUP_LATENCY);
	assert_int_equal(n.tid, 1234);
	assert_int_equal(n.when, 1794720612);
	assert_true(n.value_s > 0.00619 && n.value_s < 0.00621);
	assert_true(dump_name_parse("schedscope-20261115T053012-stall-1.5s-a-b-77.pftrace", &n));
	assert_int_equal(n.kind, TRIGGER_STALL);
	assert_int_equal(n.tid, 77);
}

static void a_number_at_the_end_need_not_be_a_task(void **state)
{
	static const char *const names[] = {
		"schedscope-20261115T053012-lost-500.pftrace",
		"schedscope-20261115T053012-scx-eject-layered-2.pftrace",
		"schedscope-20261115T053012-requested.pftrace",
		"schedscope-20261115T053012-requested-2.pftrace",
	};
	struct dump_name n;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_true(dump_name_parse(names[i], &n));
		assert_int_equal(n.tid, 0);
	}
	assert_true(dump_name_parse("schedscope-20261115T053012-queue-depth-12-a-77.pftrace", &n));
	assert_int_equal(n.tid, 77);
}

static void other_files_are_no_dumps(void **state)
{
	static const char *const names[] = {
		"",
		"schedscope-.pftrace",
		"schedscope-20261115T053012.pftrace",
		"schedscope-20261115T053012-.pftrace",
		"schedscope-20261115T053012-nonsense-1.pftrace",
		"schedscope-20261315T053012-stall-1s-a-1.pftrace",
		"schedscope-20261115T0530-stall-1s-a-1.pftrace",
		"other-20261115T053012-stall-1s-a-1.pftrace",
		"schedscope-20261115T053012-stall-1s-a-1.pftrace.gz.x",
		"../schedscope-20261115T053012-stall-1s-a-1.pftrace",
	};
	struct dump_name n;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_false(dump_name_parse(names[i], &n));
}

static void new_dumps_are_counted_once(void **state)
{
	struct sums *s = NULL;
	struct dumps *d = NULL;

	(void)state;
	assert_int_equal(sums_new(1, &s), 0);
	make_file("schedscope-20261115T053000-stall-1s-a-1.pftrace", 1, 1);
	assert_int_equal(dumps_open(dir, 10, NULL, &d), 0);
	dumps_poll(d, s);
	assert_int_equal(s->dumps.nr, 0); /* it was there before */
	assert_int_equal(s->nr_dumps_kept, 1);
	make_file("schedscope-20261115T053012-wakeup-latency-6.2ms-nginx-1234.pftrace", 1, 1);
	make_file("foreign.pftrace", 1, 1);
	for (int i = 0; i < 3; i++)
		dumps_poll(d, s);
	assert_int_equal(s->dumps.nr, 1);
	assert_string_equal(s->dumps.items[0].name, "wakeup-latency");
	assert_int_equal(s->dumps.items[0].now, 1);
	assert_int_equal(s->nr_dumps_kept, 2);
	dumps_close(d);
	sums_free(s);
}

static const char *find(const struct dumps *d, uint32_t tid, double end_s, double dur_s)
{
	return dumps_find(d, &(struct dump_wait){ .tid = tid, .end_s = end_s, .dur_s = dur_s });
}

static void a_wait_is_in_the_dump_of_its_time(void **state)
{
	static const char nginx[] =
		"schedscope-20261115T053012-wakeup-latency-6.2ms-nginx-1234.pftrace";
	static const char batch[] = "schedscope-20261115T053014-stall-1s-batch-77.pftrace";
	const double when = 1794720612;
	struct sums *s = NULL;
	struct dumps *d = NULL;

	(void)state;
	assert_int_equal(sums_new(1, &s), 0);
	make_file(nginx, 1, 1);
	make_file(batch, 1, 1);
	assert_int_equal(dumps_open(dir, 10, NULL, &d), 0);
	dumps_poll(d, s);
	assert_string_equal(find(d, 1234, when, 0.0062), nginx); /* its trigger */
	assert_string_equal(find(d, 1234, when - 1.5, 0.00625), nginx);
	assert_null(find(d, 1234, when - 1.5, 0.9)); /* another wait of the same task */
	assert_null(find(d, 1234, when - 60, 0.0062));
	assert_null(find(d, 1234, when + 60, 0.0062));
	assert_string_equal(find(d, 77, when + 1.2, 1.01), batch);
	assert_string_equal(find(d, 5, when + 0.5, 0.9), nginx); /* while it is made */
	assert_string_equal(find(d, 5, when + 2.5, 0.9), batch);
	assert_null(find(d, 5, when - 1, 0.9));
	assert_null(find(d, 5, when + 1, 30)); /* longer than what is kept */
	assert_null(find(d, 0, when, 0.1));
	dumps_close(d);
	sums_free(s);
}

static void the_oldest_go_by_number_and_by_size(void **state)
{
	char path[512];
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	make_file("schedscope-20261115T053003-stall-1s-a-1.pftrace", 1000, 1003);
	make_file("schedscope-20261115T053001-stall-1s-a-1.pftrace", 1000, 1001);
	make_file("schedscope-20261115T053002-stall-1s-a-1.pftrace", 1000, 1002);
	make_file("schedscope-20261115T053004-stall-1s-a-1.pftrace", 1000, 1004);
	make_file("foreign.pftrace", 1000000, 1);
	assert_int_equal(symlink("/etc/passwd",
	                         path_of(path, "schedscope-20261115T053000-stall-1s-a-1.pftrace")),
	                 0);
	assert_int_equal(dumps_prune(fd, &(struct dumps_limits){ 3, 1 << 20 }), 1);
	assert_false(is_there("schedscope-20261115T053001-stall-1s-a-1.pftrace"));
	assert_int_equal(dumps_prune(fd, &(struct dumps_limits){ 3, 2500 }), 1);
	assert_false(is_there("schedscope-20261115T053002-stall-1s-a-1.pftrace"));
	assert_int_equal(dumps_prune(fd, &(struct dumps_limits){ 3, 2500 }), 0);
	assert_int_equal(dumps_prune(fd, &(struct dumps_limits){ 3, 1 }), 1);
	assert_true(
		is_there("schedscope-20261115T053004-stall-1s-a-1.pftrace")); /* the newest stays */
	assert_true(is_there("schedscope-20261115T053000-stall-1s-a-1.pftrace"));
	assert_true(is_there("foreign.pftrace"));
	close(fd);
}

static void a_directory_that_is_none_is_reported(void **state)
{
	struct dumps *d = NULL;
	struct diag why = { 0 };

	(void)state;
	assert_true(dumps_open("/nonexistent/dir", 10, &why, &d) < 0);
	assert_non_null(strstr(why.what, "/nonexistent/dir"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_say_when_why_and_who, make_dir, remove_dir),
		cmocka_unit_test(a_number_at_the_end_need_not_be_a_task),
		cmocka_unit_test_setup_teardown(other_files_are_no_dumps, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(new_dumps_are_counted_once, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(a_wait_is_in_the_dump_of_its_time, make_dir,
		                                remove_dir),
		cmocka_unit_test_setup_teardown(the_oldest_go_by_number_and_by_size, make_dir,
		                                remove_dir),
		cmocka_unit_test(a_directory_that_is_none_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
