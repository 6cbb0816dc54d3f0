/* The function that waits, what it waits for, and profiles by other things than functions. */
#include "../unit.h"

#include <string.h>

#include "profile/profile_groups.h"
#include "profile/profile_list.h"
#include "profile/waits.h"
#include "profile_fixture.h"

static const struct profile_task web = { .tid = 100,
	                                 .tgid = 100,
	                                 .comm = "web",
	                                 .process = "web",
	                                 .cgroup = "/web",
	                                 .layer = PROFILE_NO_LAYER };
static const struct profile_task worker = { .tid = 101,
	                                    .tgid = 100,
	                                    .comm = "worker",
	                                    .process = "web",
	                                    .cgroup = "/web",
	                                    .layer = PROFILE_NO_LAYER };
static const struct profile_task flush = {
	.tid = 7, .tgid = 7, .comm = "kworker", .layer = PROFILE_NO_LAYER
};

#define FUTEX "main;pop;k:el0_svc;k:do_futex;k:futex_wait;k:futex_do_wait;k:schedule;k:__schedule"
#define SLEEP "main;k:el0_svc;k:hrtimer_nanosleep;k:do_nanosleep;k:schedule;k:__schedule"
#define LOCK                                                                                     \
	"main;k:el0_svc;k:vfs_open;k:path_open;k:down_write;k:rwsem_down_write_slowpath.isra.0;" \
	"k:schedule;k:__schedule"
#define DISK "main;k:filemap_read;k:folio_wait_bit_common;k:io_schedule;k:schedule;k:__schedule"
#define ODD  "main;k:el0_svc;k:some_driver_wait;k:schedule_timeout;k:schedule;k:__schedule"
#define WORK "k:kthread;k:worker_thread;k:schedule;k:__schedule"

static struct profile *sleeps(void)
{
	struct profile_facts facts = { .event = "off-cpu", .unit = "ns" };
	struct profile *p = NULL;

	assert_int_equal(profile_new(&facts, &p), 0);
	profile_add(p, &web, FUTEX, 500);
	profile_add(p, &worker, FUTEX, 300);
	profile_add(p, &worker, SLEEP, 100);
	profile_add(p, &web, LOCK, 40);
	profile_add(p, &web, DISK, 30);
	profile_add(p, &web, ODD, 20);
	profile_add(p, &flush, WORK, 10);
	return p;
}

static void names_of_the_scheduler_are_known(void **state)
{
	static const char *const yes[] = {
		"__schedule",       "schedule",           "__switch_to",
		"schedule_timeout", "io_schedule",        "schedule_hrtimeout_range_clock",
		"do_nanosleep",     "mutex_lock",         "__mutex_lock.constprop.0",
		"down_read",        "yield_to",           "rwsem_down_read_slowpath",
		"try_to_wake_up",   "__wake_up_sync_key", "autoremove_wake_function",
		"wake_up_q",        "complete",           "ep_poll_callback",
		"wait_woken",       "bit_wait",           "woken_wake_function",
	};
	static const char *const no[] = {
		"",  "futex_wait", "pipe_read", "schedule_work", "worker_thread", "hrtimer_wakeup",
		"_", "."
	};

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		if (!wait_is_scheduler(yes[i]))
			fail_msg("%s is not known", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (wait_is_scheduler(no[i]))
			fail_msg("'%s' is taken for the scheduler", no[i]);
}

static const struct profile_function *find(const struct profile_list *l, const char *symbol)
{
	for (uint32_t i = 0; i < profile_list_nr(l); i++)
		if (strcmp(profile_list_at(l, i)->frame->symbol, symbol) == 0)
			return profile_list_at(l, i);
	return NULL;
}

/* The function that waits has the time; those of the scheduler are not there; callers have their totals. */
static void lists_name_the_function_that_waits(void **state)
{
	struct profile *p = sleeps();
	const struct profile_list_cfg cfg = { .order = PROFILE_BY_SELF };
	struct profile_list *l = NULL;

	(void)state;
	assert_int_equal(profile_list_new(p, &cfg, &l), 0);
	assert_string_equal(profile_list_at(l, 0)->frame->symbol, "futex_do_wait");
	expect_eq(profile_list_at(l, 0)->w[PROFILE_NOW].self_value, 800);
	expect_eq(find(l, "hrtimer_nanosleep")->w[PROFILE_NOW].self_value, 100);
	expect_eq(find(l, "path_open")->w[PROFILE_NOW].self_value, 40);
	expect_eq(find(l, "worker_thread")->w[PROFILE_NOW].self_value, 10);
	expect_eq(find(l, "main")->w[PROFILE_NOW].total_value, 990);
	assert_null(find(l, "__schedule"));
	assert_null(find(l, "schedule"));
	assert_null(find(l, "do_nanosleep"));
	profile_list_free(l);
	profile_free(p);
}

/* In a profile of CPUs the scheduler is code as any other. */
static void other_profiles_are_as_they_were(void **state)
{
	struct profile_facts facts = { .event = "cpu-clock", .unit = "samples" };
	const struct profile_list_cfg cfg = { .order = PROFILE_BY_SELF };
	struct profile_list *l = NULL;
	struct profile *p = NULL;

	(void)state;
	assert_int_equal(profile_new(&facts, &p), 0);
	profile_add(p, &web, SLEEP, 5);
	assert_int_equal(profile_list_new(p, &cfg, &l), 0);
	expect_eq(find(l, "__schedule")->w[PROFILE_NOW].self_value, 5);
	profile_list_free(l);
	profile_free(p);
}

/* Where there is nothing but the scheduler, that is what is shown. */
static void a_stack_of_the_scheduler_alone_is_not_lost(void **state)
{
	struct profile_facts facts = { .event = "waker", .unit = "samples" };
	const struct profile_list_cfg cfg = { .order = PROFILE_BY_SELF };
	struct profile_list *l = NULL;
	struct profile *p = NULL;

	(void)state;
	assert_int_equal(profile_new(&facts, &p), 0);
	profile_add(p, &web, "k:wake_up_process;k:try_to_wake_up", 5);
	profile_add(
		p, &web,
		"main;k:pipe_write;k:__wake_up_sync_key;k:autoremove_wake_function;k:try_to_wake_up",
		7);
	assert_int_equal(profile_list_new(p, &cfg, &l), 0);
	expect_eq(find(l, "try_to_wake_up")->w[PROFILE_NOW].self_value, 5);
	expect_eq(find(l, "pipe_write")->w[PROFILE_NOW].self_value, 7);
	profile_list_free(l);
	profile_free(p);
}

static uint64_t value_of(const struct profile_groups *g, const char *name)
{
	for (uint32_t i = 0; i < profile_groups_nr(g); i++)
		if (strcmp(profile_groups_at(g, i)->name, name) == 0)
			return profile_groups_at(g, i)->value;
	fail_msg("no '%s'", name);
	return 0;
}

static struct profile_groups *groups_of(const struct profile *p, enum profile_by by)
{
	struct profile_groups *g = NULL;
	uint64_t sum = 0;

	assert_int_equal(profile_groups_new(p, by, &g), 0);
	for (uint32_t i = 0; i < profile_groups_nr(g); i++)
		sum += profile_groups_at(g, i)->value;
	expect_eq(sum, profile_value(p));
	return g;
}

static void what_sleeps_were_for_adds_up(void **state)
{
	struct profile *p = sleeps();
	struct profile_groups *g = groups_of(p, PROFILE_GROUP_WAIT);

	(void)state;
	expect_eq(value_of(g, "a lock or a condition"), 800);
	expect_eq(value_of(g, "a timer"), 100);
	expect_eq(value_of(g, "a lock of the kernel"), 40);
	expect_eq(value_of(g, "a disk or a file system"), 30);
	expect_eq(value_of(g, "some_driver_wait"), 20);
	expect_eq(value_of(g, "work of the kernel"), 10);
	profile_groups_free(g);
	profile_free(p);
}

static void processes_threads_and_cgroups_add_up(void **state)
{
	struct profile *p = sleeps();
	struct profile_groups *g = groups_of(p, PROFILE_GROUP_PROCESS);

	(void)state;
	expect_eq(profile_groups_nr(g), 2);
	assert_string_equal(profile_groups_at(g, 0)->name, "web");
	expect_eq(profile_groups_at(g, 0)->id, 100);
	expect_eq(profile_groups_at(g, 0)->value, 990);
	assert_string_equal(profile_groups_at(g, 0)->most->symbol, "futex_do_wait");
	expect_eq(profile_groups_at(g, 0)->most_value, 800);
	profile_groups_free(g);
	g = groups_of(p, PROFILE_GROUP_THREAD);
	expect_eq(value_of(g, "web"), 590);
	expect_eq(value_of(g, "worker"), 400);
	profile_groups_free(g);
	g = groups_of(p, PROFILE_GROUP_CGROUP);
	expect_eq(value_of(g, "/web"), 990);
	expect_eq(value_of(g, "unknown"), 10);
	profile_groups_free(g);
	profile_free(p);
}

/* The same function at two lines: two rows by line, one by function. */
static void lines_are_rows_of_their_own(void **state)
{
	struct profile_facts facts = { .event = "cpu-clock", .unit = "samples" };
	struct profile_list_cfg cfg = { .order = PROFILE_BY_SELF };
	struct profile_list *l = NULL;
	struct profile *p = NULL;

	(void)state;
	assert_int_equal(profile_new(&facts, &p), 0);
	profile_add(p, &web, "main@5;work@20", 3);
	profile_add(p, &web, "main@5;work@21", 4);
	assert_int_equal(profile_list_new(p, &cfg, &l), 0);
	expect_eq(profile_list_nr(l), 2);
	expect_eq(find(l, "work")->w[PROFILE_NOW].self_value, 7);
	profile_list_free(l);
	cfg.is_by_line = true;
	assert_int_equal(profile_list_new(p, &cfg, &l), 0);
	expect_eq(profile_list_nr(l), 3);
	expect_eq(profile_list_at(l, 0)->frame->line, 21);
	expect_eq(profile_list_at(l, 0)->w[PROFILE_NOW].self_value, 4);
	expect_eq(profile_list_at(l, 1)->frame->line, 20);
	expect_eq(find(l, "main")->w[PROFILE_NOW].total_value, 7);
	profile_list_free(l);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_the_scheduler_are_known),
		cmocka_unit_test(lists_name_the_function_that_waits),
		cmocka_unit_test(other_profiles_are_as_they_were),
		cmocka_unit_test(a_stack_of_the_scheduler_alone_is_not_lost),
		cmocka_unit_test(what_sleeps_were_for_adds_up),
		cmocka_unit_test(processes_threads_and_cgroups_add_up),
		cmocka_unit_test(lines_are_rows_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
