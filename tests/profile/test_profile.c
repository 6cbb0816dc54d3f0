#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/profile.h"
#include "profile_fixture.h"

static struct profile *story(const char *name)
{
	struct profile *p = NULL;

	assert_true(profile_story(name, &p));
	return p;
}

static void an_empty_profile_has_nothing(void **state)
{
	SCOPED(scoped_profile) struct profile *p = NULL;

	(void)state;
	assert_int_equal(profile_new(&(struct profile_facts){ 0 }, &p), 0);
	expect_eq(profile_count(p), 0);
	expect_eq(profile_value(p), 0);
	expect_eq(profile_nr_stacks(p), 0);
	expect_eq(profile_nr_frames(p), 0);
	expect_eq(profile_nr_functions(p), 0);
	assert_false(profile_has_modules(p));
	assert_string_equal(profile_facts(p)->event, "unknown");
	assert_string_equal(profile_facts(p)->unit, "samples");
	profile_free(NULL);
}

static void texts_are_copied(void **state)
{
	char symbol[] = "f", module[] = "m", file[] = "x.c", comm[] = "c", event[] = "cycles";
	struct profile_frame frame = { .symbol = symbol, .module = module, .file = file, .line = 3 };
	struct profile_task task = { .comm = comm, .process = comm };
	SCOPED(scoped_profile) struct profile *p = NULL;
	uint32_t f, t;

	(void)state;
	assert_int_equal(profile_new(&(struct profile_facts){ .event = event }, &p), 0);
	assert_int_equal(profile_add_frame(p, &frame, &f), 0);
	assert_int_equal(profile_add_task(p, &task, &t), 0);
	symbol[0] = module[0] = file[0] = comm[0] = event[0] = '!';
	assert_string_equal(profile_frame_at(p, f)->symbol, "f");
	assert_string_equal(profile_frame_at(p, f)->module, "m");
	assert_string_equal(profile_frame_at(p, f)->file, "x.c");
	assert_string_equal(profile_task_at(p, t)->process, "c");
	assert_string_equal(profile_facts(p)->event, "cycles");
}

static void equal_ones_are_kept_once(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	size_t nr_frames = profile_nr_frames(p), nr_stacks = profile_nr_stacks(p);
	SCOPED(scoped_profile) struct profile *twice = story("story");
	struct profile_stack stack;

	(void)state;
	expect_eq(nr_stacks, 10);
	profile_stack_at(twice, 0, &stack);
	assert_int_equal(profile_add_stack(twice, &stack), 0);
	expect_eq(profile_nr_frames(twice), nr_frames);
	expect_eq(profile_nr_stacks(twice), nr_stacks);
	expect_eq(profile_count(twice), profile_count(p) + 250);
	profile_stack_at(twice, 0, &stack);
	expect_eq(stack.count, 500);
	expect_eq(stack.value, 500);
	expect_eq(stack.nr, 3);
	assert_string_equal(profile_frame_at(twice, stack.frames[0])->symbol, "parse");
	assert_string_equal(profile_frame_at(twice, stack.frames[2])->symbol, "main");
}

/* W27: names alone do not make a function. */
static void the_same_name_in_another_binary_is_another_function(void **state)
{
	struct profile_frame frame = { .symbol = "read", .module = "libc.so.6", .address = 1 };
	SCOPED(scoped_profile) struct profile *p = NULL;
	uint32_t a, b, c, d;

	(void)state;
	assert_int_equal(profile_new(&(struct profile_facts){ 0 }, &p), 0);
	assert_int_equal(profile_add_frame(p, &frame, &a), 0);
	frame.address = 2;
	assert_int_equal(profile_add_frame(p, &frame, &b), 0);
	frame.module = "db";
	assert_int_equal(profile_add_frame(p, &frame, &c), 0);
	frame.is_kernel = true;
	assert_int_equal(profile_add_frame(p, &frame, &d), 0);
	assert_true(a != b && b != c && c != d);
	expect_eq(profile_function_of(p, a), profile_function_of(p, b));
	assert_true(profile_function_of(p, b) != profile_function_of(p, c));
	assert_true(profile_function_of(p, c) != profile_function_of(p, d));
	expect_eq(profile_nr_functions(p), 3);
}

static void tasks_keep_their_rows_apart(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("empty");
	struct profile_task one = { .tid = 1, .tgid = 1, .comm = "a", .process = "a" }, two = one;

	(void)state;
	two.tid = 2;
	profile_add(p, &one, "main", 3);
	profile_add(p, &two, "main", 4);
	profile_add(p, &one, "main", 5);
	expect_eq(profile_nr_stacks(p), 2);
	expect_eq(profile_nr_tasks(p), 2);
	expect_eq(profile_count(p), 12);
}

static void what_cannot_be_is_refused_and_changes_nothing(void **state)
{
	static uint32_t deep[PROFILE_MAX_DEPTH + 1];
	SCOPED(scoped_profile) struct profile *p = story("story");
	struct profile_stack stack = { .frames = deep, .nr = PROFILE_MAX_DEPTH + 1, .count = 1 };
	uint32_t wrong = 1000000;

	(void)state;
	expect_eq(profile_add_stack(p, &stack), -E2BIG);
	stack = (struct profile_stack){ .frames = &wrong, .nr = 1, .count = 1 };
	expect_eq(profile_add_stack(p, &stack), -EINVAL);
	stack = (struct profile_stack){ .task = wrong, .count = 1 };
	expect_eq(profile_add_stack(p, &stack), -EINVAL);
	stack = (struct profile_stack){ .count = UINT64_MAX, .value = 1 };
	expect_eq(profile_add_stack(p, &stack), -E2BIG);
	expect_eq(profile_count(p), 1000);
	expect_eq(profile_value(p), 1000);
	expect_eq(profile_nr_stacks(p), 10);
	/* The deepest that may be. */
	stack = (struct profile_stack){
		.frames = deep, .nr = PROFILE_MAX_DEPTH, .count = 1, .value = 1
	};
	assert_int_equal(profile_add_stack(p, &stack), 0);
	profile_stack_at(p, 10, &stack);
	expect_eq(stack.nr, PROFILE_MAX_DEPTH);
}

static void many_stacks_keep_their_frames(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("empty");
	struct profile_task task = { .tid = 1, .tgid = 1, .comm = "a", .process = "a" };
	struct profile_stack stack;
	char text[64];

	(void)state;
	for (int i = 0; i < 2000; i++) {
		snprintf(text, sizeof(text), "f%d;g%d;h%d", i % 10, i % 100, i);
		profile_add(p, &task, text, 1);
	}
	expect_eq(profile_nr_stacks(p), 2000);
	profile_stack_at(p, 1234, &stack);
	expect_eq(stack.nr, 3);
	assert_string_equal(profile_frame_at(p, stack.frames[0])->symbol, "h1234");
	assert_string_equal(profile_frame_at(p, stack.frames[1])->symbol, "g34");
	assert_string_equal(profile_frame_at(p, stack.frames[2])->symbol, "f4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_profile_has_nothing),
		cmocka_unit_test(texts_are_copied),
		cmocka_unit_test(equal_ones_are_kept_once),
		cmocka_unit_test(the_same_name_in_another_binary_is_another_function),
		cmocka_unit_test(tasks_keep_their_rows_apart),
		cmocka_unit_test(what_cannot_be_is_refused_and_changes_nothing),
		cmocka_unit_test(many_stacks_keep_their_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
