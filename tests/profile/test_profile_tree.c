#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/profile_list.h"
#include "profile/profile_tree.h"
#include "profile_fixture.h"

static struct profile *story(const char *name)
{
	struct profile *p = NULL;

	assert_true(profile_story(name, &p));
	return p;
}

static struct profile_tree *tree_of(const struct profile *p, const struct profile *before,
                                    bool is_by_thread)
{
	struct profile_tree_cfg cfg = { .before = before, .is_by_thread = is_by_thread };
	struct profile_tree *t = NULL;

	assert_int_equal(profile_tree_new(p, &cfg, &t), 0);
	return t;
}

static struct profile_list *list_of(const struct profile *p, const struct profile *before,
                                    enum profile_order order)
{
	const struct profile_list_cfg cfg = { .before = before, .order = order };
	struct profile_list *l = NULL;

	assert_int_equal(profile_list_new(p, &cfg, &l), 0);
	return l;
}

/* "db(300) main(300) ..." in the order of a walk: totals, and own ones behind a slash. */
static void print(const struct profile_tree *t, char *buf, size_t size)
{
	size_t len = 0;

	for (uint32_t i = PROFILE_TREE_ROOT; i != PROFILE_NONE;
	     i = profile_tree_next(t, PROFILE_TREE_ROOT, i, false)) {
		const struct profile_node *n = profile_tree_at(t, i);

		len += (size_t)snprintf(buf + len, size - len, "%s%u:%s=%u/%u", len ? " " : "",
		                        n->depth, n->name,
		                        (unsigned int)n->w[PROFILE_NOW].total_value,
		                        (unsigned int)n->w[PROFILE_NOW].self_value);
	}
}

static const struct profile_function *find(const struct profile_list *l, const char *symbol,
                                           const char *module)
{
	for (uint32_t i = 0; i < profile_list_nr(l); i++) {
		const struct profile_function *f = profile_list_at(l, i);

		if (strcmp(f->frame->symbol, symbol) == 0 && strcmp(f->frame->module, module) == 0)
			return f;
	}
	fail_msg("%s of %s is not listed", symbol, module);
	return NULL;
}

static void calls_of_a_function_are_one_node_in_the_order_of_names(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_profile_tree) struct profile_tree *t = tree_of(p, NULL, false);
	char text[1024];

	(void)state;
	print(t, text, sizeof(text));
	assert_string_equal(text, "0:all=1000/0 1:db=300/0 2:main=300/0 3:[lib.so]=50/50 "
	                          "3:fib=150/0 4:fib=150/0 5:fib=150/150 3:read=100/100 "
	                          "1:web=700/0 2:main=700/50 3:serve=650/0 4:copy=50/50 "
	                          "4:parse=400/400 4:read=200/0 5:sys_read=200/200");
	expect_eq(profile_tree_depth(t), 5);
}

static void the_order_of_adding_changes_nothing(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_profile) struct profile *other = story("empty");
	SCOPED(scoped_profile_tree) struct profile_tree *t = tree_of(p, NULL, false);
	SCOPED(scoped_profile_tree) struct profile_tree *back = NULL;
	char text[1024], text_back[1024];

	(void)state;
	for (size_t i = profile_nr_stacks(p); i-- > 0;) {
		struct profile_stack stack;
		uint32_t frames[8];

		profile_stack_at(p, i, &stack);
		for (size_t k = 0; k < stack.nr; k++)
			assert_int_equal(profile_add_frame(other,
			                                   profile_frame_at(p, stack.frames[k]),
			                                   &frames[k]),
			                 0);
		assert_int_equal(
			profile_add_task(other, profile_task_at(p, stack.task), &stack.task), 0);
		stack.frames = frames;
		assert_int_equal(profile_add_stack(other, &stack), 0);
	}
	back = tree_of(other, NULL, false);
	print(t, text, sizeof(text));
	print(back, text_back, sizeof(text_back));
	assert_string_equal(text, text_back);
}

static void threads_have_rows_of_their_own_if_asked_for(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_profile_tree) struct profile_tree *t = tree_of(p, NULL, true);
	uint32_t db = profile_tree_at(t, PROFILE_TREE_ROOT)->child;
	const struct profile_node *thread = profile_tree_at(t, profile_tree_at(t, db)->child);

	(void)state;
	expect_eq(thread->kind, PROFILE_THREAD);
	assert_string_equal(thread->name, "db");
	expect_eq(thread->id, 200);
	expect_eq(thread->w[PROFILE_NOW].total_value, 260);
	thread = profile_tree_at(t, thread->next);
	assert_string_equal(thread->name, "db-io");
	expect_eq(thread->w[PROFILE_NOW].total_value, 40);
	expect_eq(profile_tree_at(t, db)->w[PROFILE_NOW].total_value, 300);
}

static void processes_of_a_name_are_one_and_counted(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("empty");
	struct profile_task task = { .tid = 5, .tgid = 5, .comm = "cc1", .process = "cc1" };
	SCOPED(scoped_profile_tree) struct profile_tree *t = NULL;
	const struct profile_node *n;

	(void)state;
	profile_add(p, &task, "main", 1);
	task.tid = 6; /* a thread of it */
	profile_add(p, &task, "main", 2);
	task.tgid = 7;
	profile_add(p, &task, "main", 3);
	task.process = NULL; /* its thread's name stands in */
	task.tgid = 8;
	profile_add(p, &task, "", 4);
	t = tree_of(p, NULL, false);
	n = profile_tree_at(t, profile_tree_at(t, PROFILE_TREE_ROOT)->child);
	expect_eq(n->nr_ids, 3);
	expect_eq(n->id, 5);
	expect_eq(n->next, PROFILE_NONE);
	expect_eq(n->w[PROFILE_NOW].total_count, 10);
	expect_eq(n->w[PROFILE_NOW].self_count, 4);
}

static void a_node_shows_where_most_of_it_was(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_profile_tree) struct profile_tree *t = tree_of(p, NULL, false);
	uint32_t nr_found = 0;

	(void)state;
	for (uint32_t i = 0; i < profile_tree_nr(t); i++) {
		const struct profile_node *n = profile_tree_at(t, i);

		if (strcmp(n->name, "parse") == 0) {
			expect_eq(n->frame->line, 21);
			nr_found++;
		}
		if (n->is_inlined) {
			assert_string_equal(n->name, "copy");
			nr_found++;
		}
	}
	expect_eq(nr_found, 2);
}

static void a_function_that_calls_itself_counts_once(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_profile_list) struct profile_list *l = list_of(p, NULL, PROFILE_BY_SELF);
	const struct profile_function *fib = find(l, "fib", "db");

	(void)state;
	expect_eq(fib->w[PROFILE_NOW].total_count, 150);
	expect_eq(fib->w[PROFILE_NOW].self_count, 150);
}

/* W27. */
static void functions_of_different_binaries_stay_apart(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_profile_list) struct profile_list *l = list_of(p, NULL, PROFILE_BY_SELF);

	(void)state;
	expect_eq(find(l, "read", "libc.so.6")->w[PROFILE_NOW].total_count, 200);
	expect_eq(find(l, "read", "db")->w[PROFILE_NOW].total_count, 100);
	expect_eq(find(l, "main", "web")->w[PROFILE_NOW].self_count, 50);
	expect_eq(find(l, "main", "db")->w[PROFILE_NOW].self_count, 0);
	expect_eq(find(l, "main", "db")->nr_pids, 0);
	expect_eq(find(l, "0x1234", "lib.so")->w[PROFILE_NOW].self_count, 20);
	expect_eq(find(l, "parse", "web")->frame->line, 21);
	expect_eq(find(l, "parse", "web")->pid, 100);
	expect_eq(find(l, "parse", "web")->layer, 3);
}

static void lists_are_in_the_order_asked_for(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_profile) struct profile *older = story("older");
	SCOPED(scoped_profile_list) struct profile_list *self = list_of(p, NULL, PROFILE_BY_SELF);
	SCOPED(scoped_profile_list) struct profile_list *total = list_of(p, NULL, PROFILE_BY_TOTAL);
	SCOPED(scoped_profile_list)
	struct profile_list *change = list_of(p, older, PROFILE_BY_CHANGE);

	(void)state;
	for (uint32_t i = 1; i < profile_list_nr(self); i++) {
		assert_true(profile_list_at(self, i - 1)->w[PROFILE_NOW].self_value >=
		            profile_list_at(self, i)->w[PROFILE_NOW].self_value);
		assert_true(profile_list_at(total, i - 1)->w[PROFILE_NOW].total_value >=
		            profile_list_at(total, i)->w[PROFILE_NOW].total_value);
	}
	assert_string_equal(profile_list_at(change, 0)->frame->symbol, "parse");
	assert_string_equal(profile_list_at(change, 1)->frame->symbol, "sys_read");
	expect_eq(find(change, "gone", "web")->w[PROFILE_BEFORE].self_count, 40);
	expect_eq(find(change, "gone", "web")->w[PROFILE_NOW].total_count, 0);
}

static void the_process_with_most_samples_is_named(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("empty");
	struct profile_task task = { .tid = 1, .tgid = 1, .comm = "a", .process = "a", .layer = 1 };
	SCOPED(scoped_profile_list) struct profile_list *l = NULL;

	(void)state;
	profile_add(p, &task, "x!f", 3);
	task = (struct profile_task){ .tid = 2, .tgid = 2, .comm = "b", .process = "b", .layer = 2 };
	profile_add(p, &task, "x!f", 2);
	task.tid = 3;
	profile_add(p, &task, "x!f", 2);
	l = list_of(p, NULL, PROFILE_BY_SELF);
	expect_eq(profile_list_nr(l), 1);
	expect_eq(profile_list_at(l, 0)->pid, 2);
	expect_eq(profile_list_at(l, 0)->nr_pids, 2);
	expect_eq(profile_list_at(l, 0)->layer, 1); /* of the heaviest row */
}

static void two_profiles_are_one_tree(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_profile) struct profile *older = story("older");
	SCOPED(scoped_profile_tree) struct profile_tree *t = tree_of(p, older, false);
	const struct profile_node *root = profile_tree_at(t, PROFILE_TREE_ROOT);
	uint32_t nr_gone = 0;

	(void)state;
	expect_eq(root->w[PROFILE_NOW].total_count, 1000);
	expect_eq(root->w[PROFILE_BEFORE].total_count, 1000);
	for (uint32_t i = 0; i < profile_tree_nr(t); i++)
		nr_gone += profile_tree_at(t, i)->w[PROFILE_NOW].total_count == 0;
	expect_eq(nr_gone, 1);
}

static void without_modules_names_are_compared(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_profile) struct profile *plain = NULL;
	struct profile_task task = { .comm = "web", .process = "web" };
	struct profile_frame frame = { .symbol = "main" };
	struct profile_stack stack = { .nr = 1, .count = 5, .value = 5 };
	SCOPED(scoped_profile_list) struct profile_list *l = NULL;
	uint32_t number;

	(void)state;
	assert_int_equal(profile_new(&(struct profile_facts){ 0 }, &plain), 0);
	assert_int_equal(profile_add_frame(plain, &frame, &number), 0);
	assert_int_equal(profile_add_task(plain, &task, &stack.task), 0);
	stack.frames = &number;
	assert_int_equal(profile_add_stack(plain, &stack), 0);
	l = list_of(p, plain, PROFILE_BY_TOTAL);
	assert_string_equal(profile_list_at(l, 0)->frame->symbol, "main");
	expect_eq(profile_list_at(l, 0)->w[PROFILE_NOW].total_count, 1000);
	expect_eq(profile_list_at(l, 0)->w[PROFILE_BEFORE].self_count, 5);
}

static void sums_of_a_part_are_those_of_its_functions(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_profile_tree) struct profile_tree *t = tree_of(p, NULL, false);
	uint32_t nr = profile_tree_nr_functions(t), db = profile_tree_at(t, 0)->child, nr_there = 0;
	SCOPED(scoped_free) struct profile_function_sum *sums = calloc(nr, sizeof(*sums));
	uint64_t self = 0;

	(void)state;
	assert_non_null(sums);
	assert_int_equal(profile_tree_sum(t, db, sums), 0);
	for (uint32_t i = 0; i < nr; i++) {
		if (sums[i].node == PROFILE_NONE)
			continue;
		nr_there++;
		self += sums[i].w[PROFILE_NOW].self_value;
		if (strcmp(profile_tree_at(t, sums[i].node)->name, "fib") == 0)
			expect_eq(sums[i].w[PROFILE_NOW].total_value, 150);
	}
	expect_eq(nr_there, 4);
	expect_eq(self, 300);
}

static void nothing_is_a_tree_too(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("empty");
	SCOPED(scoped_profile_tree) struct profile_tree *t = tree_of(p, NULL, true);
	SCOPED(scoped_profile_list) struct profile_list *l = list_of(p, NULL, PROFILE_BY_SELF);

	(void)state;
	expect_eq(profile_tree_nr(t), 1);
	expect_eq(profile_tree_next(t, PROFILE_TREE_ROOT, PROFILE_TREE_ROOT, false), PROFILE_NONE);
	expect_eq(profile_list_nr(l), 0);
	assert_true(profile_share(1, 0) == 0);
	profile_tree_free(NULL);
	profile_list_free(NULL);
	profile_join_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_of_a_function_are_one_node_in_the_order_of_names),
		cmocka_unit_test(the_order_of_adding_changes_nothing),
		cmocka_unit_test(threads_have_rows_of_their_own_if_asked_for),
		cmocka_unit_test(processes_of_a_name_are_one_and_counted),
		cmocka_unit_test(a_node_shows_where_most_of_it_was),
		cmocka_unit_test(a_function_that_calls_itself_counts_once),
		cmocka_unit_test(functions_of_different_binaries_stay_apart),
		cmocka_unit_test(lists_are_in_the_order_asked_for),
		cmocka_unit_test(the_process_with_most_samples_is_named),
		cmocka_unit_test(two_profiles_are_one_tree),
		cmocka_unit_test(without_modules_names_are_compared),
		cmocka_unit_test(sums_of_a_part_are_those_of_its_functions),
		cmocka_unit_test(nothing_is_a_tree_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
