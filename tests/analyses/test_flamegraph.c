/* Stacks of recordings: of CPUs, of sleeps by their time, of wakers; with filters, and without any stack. */
#include "../analyze/pass_fixture.h"

#include <errno.h>
#include <string.h>

#include "abi/profile.h"
#include "analyses/passes.h"
#include "profile/source_profile.h"

#define KERNEL(n)                                                              \
	{                                                                      \
		.name = (n), .module = "kernel", .file = "", .is_kernel = true \
	}
#define USER(n, f, l)                                                     \
	{                                                                 \
		.name = (n), .module = "server", .file = (f), .line = (l) \
	}

enum { SCHEDULE, READ, MAIN, HEAVY, NAMELESS, INLINED };

static const struct source_frame frames[] = {
	[SCHEDULE] = KERNEL("schedule"),
	[READ] = KERNEL("vfs_read"),
	[MAIN] = USER("main", "main.c", 7),
	[HEAVY] = USER("heavy", "", 0),
	[NAMELESS] = { .name = "", .module = "", .file = "", .address = 0x1234 },
	[INLINED] = { .name = "tiny", .module = "server", .file = "", .is_inlined = true },
};

/* Leaf first. */
static const uint32_t stack_frames[] = { SCHEDULE, READ,  MAIN, /* 0 */
	                                 HEAVY,    HEAVY, MAIN, /* 1: a recursion */
	                                 NAMELESS,              /* 2 */
	                                 INLINED,  MAIN };      /* 3 */
static const struct source_stack stacks[] = { { 0, 3 }, { 3, 3 }, { 6, 1 }, { 7, 2 } };

#define NO_STACK UINT32_MAX

static const struct source_sample samples[] = {
	{ 1100, 10, 0, 1, SOURCE_STACK_CPU, 0 },
	{ 1200, 10, 0, 1, SOURCE_STACK_CPU, 0 },
	{ 1300, 11, 1, 2, SOURCE_STACK_CPU, 0 },
	{ 1400, 0, 2, 3, SOURCE_STACK_CPU, 0 },         /* idle: none */
	{ 1500, 10, 0, NO_STACK, SOURCE_STACK_CPU, 0 }, /* counts, though its place is unknown */
	{ 2010, 10, 0, 0, SOURCE_STACK_OFF_CPU, 0 },    /* behind its switch */
	{ 2600, 0, 1, 0, SOURCE_STACK_WAKER, 0 },       /* an interrupt that wakes */
	{ 3500, 11, 1, 3, SOURCE_STACK_WAKER, 0 },
};

static const struct source_stacks view = {
	.samples = samples,
	.nr_samples = sizeof(samples) / sizeof(samples[0]),
	.nr_of = { [SOURCE_STACK_CPU] = 5, [SOURCE_STACK_OFF_CPU] = 1, [SOURCE_STACK_WAKER] = 2 },
	.stacks = stacks,
	.nr_stacks = 4,
	.stack_frames = stack_frames,
	.frames = frames,
	.nr_frames = 6,
	.event = "cpu-clock",
	.frequency = 99,
};

/* 10 sleeps from 2000 to 2600 and from 3000 to 3500, 11 blocks from 2500 to 4000. */
static void story(struct pass_fixture *p, bool has_stacks)
{
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000, 1, 0, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 2000, 0, 10, 0, EV_STATE_S);
	sw(&p->f, 2500, 1, 11, 0, EV_STATE_D);
	waking(&p->f, 2600, 1, 10, 0);
	sw(&p->f, 2700, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 3000, 0, 10, 0, EV_STATE_S);
	waking(&p->f, 3500, 0, 10, 0);
	waking(&p->f, 4000, 1, 11, 0);
	finish(p, 5000);
	if (!has_stacks)
		return;
	p->source.stacks = &view;
	p->facts.kinds[EV_SAMPLE] = view.nr_samples;
}

static void functions_are_counted_once_per_stack(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	story(p, true);
	root = run_pass(p, &pass_flamegraph);
	assert_string_equal(text_at(root, "category"), "cpu");
	assert_string_equal(text_at(root, "event"), "cpu-clock");
	expect_eq(num_at(root, "frequency_hz"), 99);
	expect_eq(num_at(root, "total_samples"), 4);
	expect_eq(num_at(root, "threads"), 2);
	assert_string_equal(text_at(root, "functions.0.function"), "heavy");
	expect_eq(num_at(root, "functions.0.self_samples"), 2);
	expect_eq(num_at(root, "functions.0.total_samples"), 2); /* not 4 */
	assert_true(real_at(root, "functions.0.self_percent") == 50.0);
	assert_string_equal(text_at(root, "functions.0.module"), "server");
	expect_eq(num_at(root, "different_stacks"), 3);
	assert_string_equal(text_at(root, "stacks.0.stack"), "main;heavy;heavy");
	expect_eq(num_at(root, "stacks.0.samples"), 2);
}

static void what_has_no_name_has_an_address(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	story(p, true);
	p->args.tid = 11;
	root = run_pass(p, &pass_flamegraph);
	expect_eq(num_at(root, "total_samples"), 1);
	assert_string_equal(text_at(root, "stacks.0.stack"), "0x1234");
	expect_eq(num_at(root, "broken_user_stacks"), 1);
}

static void filters_hold(void **state)
{
	struct pass_fixture *p = *state;

	story(p, true);
	p->args.cpu = 1;
	expect_eq(num_at(run_pass(p, &pass_flamegraph), "total_samples"), 1);
	p->args.cpu = PASS_ANY_CPU;
	p->args.from_ns = 1150;
	p->args.to_ns = 1500;
	expect_eq(num_at(run_pass(p, &pass_flamegraph), "total_samples"), 2);
}

/* The time of each sleep, under its stack; one without a stack by its state. */
static void sleeps_weigh_their_time(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	story(p, true);
	p->args.category = "off-cpu";
	root = run_pass(p, &pass_flamegraph);
	expect_eq(num_at(root, "total_samples"), 3);
	expect_eq(num_at(root, "total_time_ns"), 600 + 500 + 1500);
	expect_eq(num_at(root, "stacks.0.time_ns"), 1500);
	assert_string_equal(text_at(root, "stacks.0.stack"), "[blocked]");
	assert_string_equal(text_at(root, "stacks.1.stack"), "main;vfs_read;schedule");
	expect_eq(num_at(root, "stacks.1.time_ns"), 600);
	assert_string_equal(text_at(root, "stacks.2.stack"), "[sleeping]");
	expect_eq(num_at(root, "stacks.2.time_ns"), 500);
}

static void sleeps_are_those_of_the_timeline(void **state)
{
	struct pass_fixture *p = *state;
	uint64_t off;

	story(p, true);
	p->args.category = "off-cpu";
	p->args.tid = 10;
	p->args.from_ns = 2100;
	p->args.to_ns = 3200;
	off = num_at(run_pass(p, &pass_flamegraph), "total_time_ns");
	p->args.category = NULL;
	expect_eq(off, num_at(run_pass(p, &pass_task_states), "processes.0.sleeping_time_ns"));
	expect_eq(off, 500 + 200);
}

static void blocked(struct pass_fixture *p, uint64_t ts, uint32_t tid, uint64_t caller)
{
	struct ev_blocked ev = { .hdr = { sizeof(ev), EV_BLOCKED, 0, 1, ts },
		                 .caller = caller,
		                 .tid = tid };

	push(&p->f, &ev);
}

/* Without any stack, the state, and the function that the kernel names when it wakes the task. */
static void no_stacks_still_show_states(void **state)
{
	static const struct source_symbol symbols[] = { { 77, "folio_wait_bit" } };
	struct pass_fixture *p = *state;
	const struct report_node *root;

	p->facts.symbols = symbols;
	p->facts.nr_symbols = 1;
	sw(&p->f, 1000, 1, 0, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 2500, 1, 11, 0, EV_STATE_D);
	waking(&p->f, 4000, 1, 11, 0);
	blocked(p, 4010, 11, 77);
	finish(p, 5000);
	root = run_pass(p, &pass_flamegraph);
	assert_string_equal(text_at(root, "category"), "off-cpu");
	expect_eq(num_at(root, "total_time_ns"), 1500);
	assert_string_equal(text_at(root, "stacks.0.stack"), "[blocked];folio_wait_bit");
	assert_non_null(strstr(text_at(root, "note"), "--stacks=off-cpu"));
}

static void wakers_are_the_tasks_that_wake(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	story(p, true);
	p->args.category = "waker";
	root = run_pass(p, &pass_flamegraph);
	expect_eq(num_at(root, "total_samples"), 2);
	assert_string_equal(text_at(root, "stacks.0.comm"), "interrupt");
	assert_string_equal(text_at(root, "stacks.1.stack"), "main;tiny");
	p->args.pid = 11; /* idle belongs to no task */
	p->args.tid = 11;
	root = run_pass(p, &pass_flamegraph);
	expect_eq(num_at(root, "total_samples"), 0);
}

/* Self is that of the function that waits; the scheduler is in no list. By what it was for, by process and thread. */
static void lists_of_sleeps_say_what_waits(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	story(p, true);
	p->args.category = "off-cpu";
	p->args.from_ns = 2000;
	p->args.to_ns = 2500;
	root = run_pass(p, &pass_flamegraph);
	assert_string_equal(text_at(root, "functions.0.function"), "vfs_read");
	expect_eq(num_at(root, "functions.0.self_ns"), 500);
	assert_string_equal(text_at(root, "callers.0.function"), "vfs_read"); /* not schedule */
	assert_string_equal(text_at(root, "callers.1.function"), "main");
	assert_string_equal(text_at(root, "waits.0.waited_for"), "vfs_read");
	expect_eq(num_at(root, "waits.0.time_ns"), 500);
	expect_eq(num_at(root, "thread_list.0.tid"), 10);
	expect_eq(num_at(root, "processes.0.time_ns"), 500);
	assert_string_equal(text_at(root, "processes.0.most_in"), "vfs_read");
}

#define SERIAL   1000000000ULL
#define EVERY_NS 10000000ULL

/* 1 s of one task, then 1 s of two: half of the wall clock each, a third and two thirds of the samples. */
static void by_wall_clock_serial_parts_stand_out(void **state)
{
	static struct source_sample many[300];
	static struct source_stacks known;
	struct pass_fixture *p = *state;
	const struct report_node *root;
	uint32_t nr = 0;

	sw(&p->f, 1, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, SERIAL, 1, 0, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 2 * SERIAL, 0, 10, 0, EV_STATE_S);
	sw(&p->f, 2 * SERIAL, 1, 11, 0, EV_STATE_S);
	finish(p, 2 * SERIAL + 1);
	/* In main, alone; then in heavy, two at a time. */
	for (uint64_t ts = EVERY_NS / 2; ts < 2 * SERIAL; ts += EVERY_NS) {
		bool is_serial = ts < SERIAL;

		many[nr++] = (struct source_sample){ ts, 10, 0, is_serial ? 3 : 1, SOURCE_STACK_CPU,
			                             0 };
		if (!is_serial)
			many[nr++] = (struct source_sample){ ts, 11, 1, 1, SOURCE_STACK_CPU, 0 };
	}
	known = view;
	known.samples = many;
	known.nr_samples = nr;
	known.nr_of[SOURCE_STACK_CPU] = nr;
	known.nr_of[SOURCE_STACK_OFF_CPU] = known.nr_of[SOURCE_STACK_WAKER] = 0;
	known.frequency = 100;
	p->source.stacks = &known;
	root = run_pass(p, &pass_flamegraph);
	assert_string_equal(text_at(root, "functions.0.function"), "heavy");
	expect_eq(num_at(root, "functions.0.self_samples"), 200);
	expect_eq(num_at(root, "functions.1.self_samples"), 100);
	p->args.category = "wall";
	root = run_pass(p, &pass_flamegraph);
	expect_eq(num_at(root, "total_samples"), 300);
	expect_eq(num_at(root, "total_time_ns"), 2 * SERIAL);
	expect_eq(num_at(root, "functions.0.self_ns"), SERIAL);
	expect_eq(num_at(root, "functions.1.self_ns"), SERIAL);
	/* The second task alone ran beside no other of its own. */
	p->args.tid = 11;
	root = run_pass(p, &pass_flamegraph);
	expect_eq(num_at(root, "total_time_ns"), SERIAL);
	/* A CPU alone: the other one still ran. */
	p->args.tid = 0;
	p->args.cpu = 1;
	root = run_pass(p, &pass_flamegraph);
	expect_eq(num_at(root, "total_time_ns"), SERIAL / 2);
}

/* Reasons that the recorder gave, with shares and what to do. */
static void why_stacks_are_not_whole_is_reported(void **state)
{
	static struct source_sample given[sizeof(samples) / sizeof(samples[0])];
	static struct source_stacks known;
	struct pass_fixture *p = *state;
	const struct report_node *root;

	story(p, true);
	memcpy(given, samples, sizeof(samples));
	given[0].end = PROF_END_NO_TABLE;
	given[1].end = PROF_END_DEPTH;
	known = view;
	known.samples = given;
	p->source.stacks = &known;
	root = run_pass(p, &pass_flamegraph);
	expect_eq(num_at(root, "broken_user_stacks"), 3);
	assert_true(real_at(root, "broken_user_stacks_percent") == 75.0);
	assert_string_equal(text_at(root, "broken_because.0.reason"), "no_table");
	expect_eq(num_at(root, "broken_because.0.samples"), 1);
	assert_true(real_at(root, "broken_because.0.percent") == 25.0);
	assert_string_equal(text_at(root, "broken_because.1.reason"), "too_deep");
	assert_non_null(strstr(text_at(root, "broken_because.1.what_to_do"), "127 frames"));
}

static void what_is_not_there_is_reported(void **state)
{
	struct pass_fixture *p = *state;
	struct profile *profile = NULL;
	enum source_stack_kind kind;
	struct diag d = { 0 };

	story(p, false);
	assert_int_equal(source_profile(&p->source, &p->args, SOURCE_STACK_CPU, &d, &profile),
	                 -ENODATA);
	assert_string_equal(d.what, "this trace has no cpu stacks");
	assert_null(profile);
	d = (struct diag){ 0 };
	assert_int_equal(source_stack_kind(&p->source, "gpu", &d, &kind), -EINVAL);
	assert_string_equal(d.what, "'gpu' is not a category of stacks");
	/* What a batch was asked for is not a category of stacks, and no mistake. */
	p->args.category = "extended";
	assert_string_equal(text_at(run_pass(p, &pass_flamegraph), "category"), "off-cpu");
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)
	const struct CMUnitTest tests[] = {
		CASE(functions_are_counted_once_per_stack),
		CASE(what_has_no_name_has_an_address),
		CASE(filters_hold),
		CASE(sleeps_weigh_their_time),
		CASE(sleeps_are_those_of_the_timeline),
		CASE(no_stacks_still_show_states),
		CASE(wakers_are_the_tasks_that_wake),
		CASE(lists_of_sleeps_say_what_waits),
		CASE(by_wall_clock_serial_parts_stand_out),
		CASE(why_stacks_are_not_whole_is_reported),
		CASE(what_is_not_there_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
