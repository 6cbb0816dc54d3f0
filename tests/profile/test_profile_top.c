#include "../unit.h"

#include <string.h>

#include "base/cleanup.h"
#include "profile/profile_top.h"
#include "profile_fixture.h"

static const struct machine_profile_row *find(const struct machine_profile *m, const char *symbol,
                                              const char *module)
{
	for (size_t i = 0; i < m->nr_rows; i++)
		if (strcmp(m->rows[i].symbol, symbol) == 0 &&
		    (!module || strcmp(m->rows[i].module, module) == 0))
			return &m->rows[i];
	fail_msg("no row of %s", symbol);
	return NULL;
}

static void rows_are_symbols_by_their_own_samples(void **state)
{
	SCOPED(scoped_profile) struct profile *p = NULL;
	struct profile_top *t = NULL;
	struct machine_profile m = { 0 };
	uint64_t sum = 0;

	(void)state;
	assert_true(profile_story("story", &p));
	assert_int_equal(profile_top_new(p, &t), 0);
	profile_top_show(t, &m);
	expect_eq(m.samples, 1000);
	for (size_t i = 0; i < m.nr_rows; i++) {
		sum += m.rows[i].samples;
		assert_true(i == 0 || m.rows[i - 1].samples >= m.rows[i].samples);
		assert_true(m.rows[i].key != 0 && m.rows[i].total >= m.rows[i].samples);
	}
	expect_eq(sum, 1000);
	assert_string_equal(m.rows[0].symbol, "parse");
	expect_eq(m.rows[0].samples, 400);
	assert_string_equal(m.rows[0].comm, "web");
	expect_eq(m.rows[0].tgid, 100);
	expect_eq(m.rows[0].nr_tgids, 1);
	profile_top_free(t);
	profile_top_free(NULL);
}

/* copy is inlined in serve: serve has its samples, as it has its code; the way tells of both. */
static void what_is_inlined_counts_to_what_holds_it(void **state)
{
	SCOPED(scoped_profile) struct profile *p = NULL;
	struct profile_top *t = NULL;
	struct machine_profile m = { 0 };
	const struct machine_profile_row *serve;

	(void)state;
	assert_true(profile_story("story", &p));
	assert_int_equal(profile_top_new(p, &t), 0);
	profile_top_show(t, &m);
	serve = find(&m, "serve", NULL);
	expect_eq(serve->samples, 50);
	expect_eq(serve->total, 650);
	expect_eq(serve->nr_stacks, 1);
	assert_string_equal(serve->stacks[0].frames[0]->symbol, "copy");
	assert_true(serve->stacks[0].frames[0]->is_inlined);
	assert_string_equal(serve->stacks[0].frames[1]->symbol, "serve");
	for (size_t i = 0; i < m.nr_rows; i++)
		assert_string_not_equal(m.rows[i].symbol, "copy");
	profile_top_free(t);
}

static void a_recursive_function_counts_once_in_its_total(void **state)
{
	SCOPED(scoped_profile) struct profile *p = NULL;
	struct profile_top *t = NULL;
	struct machine_profile m = { 0 };
	const struct machine_profile_row *fib;

	(void)state;
	assert_true(profile_story("story", &p));
	assert_int_equal(profile_top_new(p, &t), 0);
	profile_top_show(t, &m);
	fib = find(&m, "fib", NULL);
	expect_eq(fib->samples, 150);
	expect_eq(fib->total, 150);
	profile_top_free(t);
}

static uint32_t key_in(const char *story, const char *symbol, const char *module)
{
	SCOPED(scoped_profile) struct profile *p = NULL;
	struct profile_top *t = NULL;
	struct machine_profile m = { 0 };
	uint32_t key;

	assert_true(profile_story(story, &p));
	assert_int_equal(profile_top_new(p, &t), 0);
	profile_top_show(t, &m);
	key = find(&m, symbol, module)->key;
	profile_top_free(t);
	return key;
}

/* Otherwise the selected row would jump. */
static void a_symbol_keeps_its_key_from_profile_to_profile(void **state)
{
	(void)state;
	expect_eq(key_in("story", "parse", NULL), key_in("older", "parse", NULL));
	assert_true(key_in("story", "parse", NULL) != key_in("story", "main", NULL));
}

/* The ways of eight threads that do the same are one way. */
static void equal_ways_of_many_threads_are_one(void **state)
{
	SCOPED(scoped_profile) struct profile *p = NULL;
	struct profile_top *t = NULL;
	struct machine_profile m = { 0 };

	(void)state;
	assert_int_equal(profile_new(&(struct profile_facts){ 0 }, &p), 0);
	for (uint32_t i = 0; i < 8; i++) {
		struct profile_task task = {
			.tid = 10 + i, .tgid = 10 + i / 4, .comm = "w", .layer = PROFILE_NO_LAYER
		};

		profile_add(p, &task, "main;a;leaf", 10 + i);
		profile_add(p, &task, "main;b;leaf", 1);
		profile_add(p, &task, "main;c;d;leaf", i == 0);
		profile_add(p, &task, "main;e;leaf", 2);
		profile_add(p, &task, "main;f;leaf", 3);
	}
	assert_int_equal(profile_top_new(p, &t), 0);
	profile_top_show(t, &m);
	expect_eq(m.nr_rows, 1);
	expect_eq(m.nr_functions, 1);
	assert_false(m.has_layers);
	assert_true(m.rows[0].layer == -1);
	expect_eq(m.rows[0].nr_stacks, MACHINE_PROFILE_STACKS);
	expect_eq(m.rows[0].stacks[0].samples, 108);
	expect_eq(m.rows[0].stacks[0].nr, 3);
	assert_string_equal(m.rows[0].stacks[0].frames[1]->symbol, "a");
	expect_eq(m.rows[0].stacks[1].samples, 24);
	expect_eq(m.rows[0].stacks[2].samples, 16);
	expect_eq(m.rows[0].stacks[3].samples, 8);
	expect_eq(m.rows[0].nr_tgids, 2);
	expect_eq(m.rows[0].tgid, 11); /* 14 to 17 samples each, and more of them */
	profile_top_free(t);
}

static void addresses_without_names_are_one_row_per_module(void **state)
{
	SCOPED(scoped_profile) struct profile *p = NULL;
	struct profile_task task = { .tid = 1, .tgid = 1, .comm = "jit", .layer = 2 };
	struct profile_top *t = NULL;
	struct machine_profile m = { 0 };

	(void)state;
	assert_int_equal(profile_new(&(struct profile_facts){ 0 }, &p), 0);
	profile_add(p, &task, "node!0x1234", 3);
	profile_add(p, &task, "node!0x5678", 4);
	assert_int_equal(profile_top_new(p, &t), 0);
	profile_top_show(t, &m);
	expect_eq(m.nr_rows, 1);
	assert_string_equal(m.rows[0].symbol, "[node]");
	expect_eq(m.rows[0].samples, 7);
	expect_eq(m.rows[0].layer, 2);
	assert_true(m.has_layers);
	profile_top_free(t);
}

static void nothing_and_hostile_names(void **state)
{
	static const char *const stories[] = { "empty", "hostile" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		SCOPED(scoped_profile) struct profile *p = NULL;
		struct profile_top *t = NULL;
		struct machine_profile m = { 0 };

		assert_true(profile_story(stories[i], &p));
		assert_int_equal(profile_top_new(p, &t), 0);
		profile_top_show(t, &m);
		expect_eq(m.nr_rows > 0, i == 1);
		profile_top_free(t);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_symbols_by_their_own_samples),
		cmocka_unit_test(what_is_inlined_counts_to_what_holds_it),
		cmocka_unit_test(a_recursive_function_counts_once_in_its_total),
		cmocka_unit_test(a_symbol_keeps_its_key_from_profile_to_profile),
		cmocka_unit_test(equal_ways_of_many_threads_are_one),
		cmocka_unit_test(addresses_without_names_are_one_row_per_module),
		cmocka_unit_test(nothing_and_hostile_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
