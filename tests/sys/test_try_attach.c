/* What can be attached here depends on the machine: what is looked at is that each answer fits what else is known. */
#include "../unit.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "sys/try_attach.h"

static int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

static void each_trial_answers_and_leaves_nothing_open(void **state)
{
	int (*const trials[])(void) = { try_attach_load, try_attach_fentry, try_attach_kprobe };
	int before = open_files();

	(void)state;
	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
		int err = trials[i]();

		assert_true(err <= 0 && err > -4096);
		expect_eq(trials[i](), err); /* nothing is left in the way */
	}
	expect_eq(open_files(), before);
}

static void nothing_is_attached_where_nothing_can_be_loaded(void **state)
{
	(void)state;
	if (try_attach_load())
		assert_true(try_attach_fentry() < 0);
}

static void a_kernel_without_kprobes_has_none(void **state)
{
	bool has_kprobes = access("/sys/bus/event_source/devices/kprobe/type", R_OK) == 0;

	(void)state;
	expect_eq(try_attach_kprobe() == -ENOENT, !has_kprobes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_trial_answers_and_leaves_nothing_open),
		cmocka_unit_test(nothing_is_attached_where_nothing_can_be_loaded),
		cmocka_unit_test(a_kernel_without_kprobes_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
