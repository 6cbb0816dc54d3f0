#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "symbol/symtab.h"
#include "sys/rights/sandbox_msg.h"

static void add(struct symtab *t, uint64_t start, uint64_t end, uint32_t rank, const char *name)
{
	const struct symtab_range r = { .start = start, .end = end, .rank = rank };

	expect_eq(symtab_add(t, &r, name, strlen(name)), 0);
}

static void add_open(struct symtab *t, uint64_t start, uint64_t limit, uint32_t group,
                     const char *name)
{
	const struct symtab_range r = {
		.start = start, .end = limit, .group = group, .is_open = true
	};

	expect_eq(symtab_add(t, &r, name, strlen(name)), 0);
}

static const char *name_at(const struct symtab *t, uint64_t address)
{
	struct symtab_hit hit;

	return symtab_find(t, address, &hit) ? hit.name : "-";
}

static void sizes_are_respected(void **state)
{
	SCOPED(scoped_symtab) struct symtab *t = symtab_new(10);

	(void)state;
	add(t, 0x200, 0x210, 0, "second");
	add(t, 0x100, 0x110, 0, "first");
	assert_string_equal(name_at(t, 0x100), "-"); /* not sealed yet */
	symtab_seal(t);
	assert_string_equal(name_at(t, 0xff), "-");
	assert_string_equal(name_at(t, 0x100), "first");
	assert_string_equal(name_at(t, 0x10f), "first");
	assert_string_equal(name_at(t, 0x110), "-");
	assert_string_equal(name_at(t, 0x20f), "second");
	assert_string_equal(name_at(t, UINT64_MAX), "-");
}

static void the_innermost_of_nested_ranges_counts(void **state)
{
	SCOPED(scoped_symtab) struct symtab *t = symtab_new(10);

	(void)state;
	add(t, 0x100, 0x200, 0, "outer");
	add(t, 0x140, 0x180, 0, "middle");
	add(t, 0x150, 0x160, 0, "inner");
	add(t, 0x1f0, 0x220, 0, "overlapping");
	symtab_seal(t);
	assert_string_equal(name_at(t, 0x13f), "outer");
	assert_string_equal(name_at(t, 0x14f), "middle");
	assert_string_equal(name_at(t, 0x15f), "inner");
	assert_string_equal(name_at(t, 0x160), "middle");
	assert_string_equal(name_at(t, 0x180), "outer");
	assert_string_equal(name_at(t, 0x1f0), "overlapping");
	assert_string_equal(name_at(t, 0x210), "overlapping");
	assert_string_equal(name_at(t, 0x220), "-");
}

static void the_choice_of_an_alias_does_not_depend_on_the_order(void **state)
{
	static const char *const names[] = { "__libc_write", "write", "zzz", "__write", "writ2" };
	static const uint32_t ranks[] = { 1, 1, 2, 0, 1 };

	(void)state;
	for (uint32_t first = 0; first < 5; first++) {
		SCOPED(scoped_symtab) struct symtab *t = symtab_new(10);
		SCOPED(scoped_symtab) struct symtab *same_rank = symtab_new(10);

		for (uint32_t i = 0; i < 5; i++) {
			uint32_t at = (first + i) % 5;

			add(t, 16, 32, ranks[at], names[at]);
			add(same_rank, 16, 32, 0, names[at]);
		}
		symtab_seal(t);
		symtab_seal(same_rank);
		expect_eq(symtab_nr(t), 1);
		assert_string_equal(name_at(t, 20), "__write"); /* the rank first */
		assert_string_equal(name_at(same_rank, 20),
		                    "zzz"); /* then short, without underscores */
	}
}

static void open_ranges_end_at_the_next_one(void **state)
{
	SCOPED(scoped_symtab) struct symtab *t = symtab_new(10);

	(void)state;
	add_open(t, 0x100, 0x1000, 0, "a");
	add_open(t, 0x200, 0x1000, 0, "b");
	add(t, 0x300, 0x340, 0, "sized");
	add_open(t, 0x310, 0x1000, 0, "label");
	symtab_seal(t);
	assert_string_equal(name_at(t, 0x1ff), "a");
	assert_string_equal(name_at(t, 0x2ff), "b");
	assert_string_equal(name_at(t, 0x320), "sized");
	assert_string_equal(name_at(t, 0x340), "-");
}

static void what_lies_between_groups_belongs_to_none(void **state)
{
	SCOPED(scoped_symtab) struct symtab *t = symtab_new(10);

	(void)state;
	add_open(t, 0x10000000, UINT64_MAX, 1, "in_one");
	add_open(t, 0x20000000, UINT64_MAX, 2, "in_two");
	symtab_seal(t);
	assert_string_equal(name_at(t, 0x10000100), "in_one");
	assert_string_equal(name_at(t, 0x18000000), "-");
	assert_string_equal(name_at(t, 0x20000100), "in_two");
	assert_string_equal(name_at(t, 0x30000000), "-");
}

static void the_cap_holds(void **state)
{
	SCOPED(scoped_symtab) struct symtab *t = symtab_new(1);
	const struct symtab_range r = { .start = 1, .end = 2 };
	const struct symtab_range none = { .start = 2, .end = 2 };

	(void)state;
	expect_eq(symtab_add(t, &none, "x", 1), 0);
	expect_eq(symtab_nr(t), 0);
	expect_eq(symtab_add(t, &r, "x", 1), 0);
	expect_eq(symtab_add(t, &r, "y", 1), -E2BIG);
	symtab_seal(t);
	assert_string_equal(name_at(t, 1), "x");
}

/* Disjoint and nested ranges at random, against a search through all of them. */
static void as_a_plain_search_would_find_it(void **state)
{
	struct symtab_range all[200];
	char name[16];

	(void)state;
	srand(1);
	for (int round = 0; round < 50; round++) {
		SCOPED(scoped_symtab) struct symtab *t = symtab_new(1000);
		int nr = 1 + rand() % 60;

		for (int i = 0; i < nr; i++) {
			uint64_t start = (uint64_t)(rand() % 64) * 64 + (uint64_t)i; /* distinct */
			all[i] = (struct symtab_range){
				.start = start, .end = start + 1 + (uint64_t)(rand() % 200)
			};
			snprintf(name, sizeof(name), "%d", i);
			add(t, all[i].start, all[i].end, 0, name);
		}
		symtab_seal(t);
		for (uint64_t a = 0; a < 64 * 64 + 300; a++) {
			int best = -1;

			for (int i = 0; i < nr; i++)
				if (all[i].start <= a && a < all[i].end &&
				    (best < 0 || all[i].start > all[best].start))
					best = i;
			snprintf(name, sizeof(name), "%d", best);
			if (best < 0)
				assert_string_equal(name_at(t, a), "-");
			else if (strcmp(name_at(t, a), name) != 0) /* two may start at once */
				expect_eq(all[atoi(name_at(t, a))].start, all[best].start);
		}
	}
}

/* ---- tables that another process made ------------------------------------------------------------------------- */

/* As in symtab.c. */
struct sent_range {
	uint64_t start, end;
	uint32_t name, name_len, rank, group, parent, is_open;
};

static int get(const struct sent_range *ranges, size_t nr, const char *text, size_t len,
               struct symtab **out)
{
	struct sandbox_msg m = { 0 };
	int err;

	sandbox_put_bytes(&m, ranges, nr * sizeof(*ranges));
	sandbox_put_bytes(&m, text, len);
	err = symtab_get(&m, out);
	sandbox_msg_done(&m);
	return err;
}

static void a_table_arrives_as_it_was_sent(void **state)
{
	struct symtab *t = symtab_new(10), *got = NULL;
	struct sandbox_msg m = { 0 };
	struct symtab_hit hit;

	(void)state;
	expect_eq(symtab_add(t, &(struct symtab_range){ .start = 10, .end = 100 }, "outer", 5), 0);
	expect_eq(symtab_add(t, &(struct symtab_range){ .start = 20, .end = 30, .group = 7 },
	                     "inner", 5),
	          0);
	symtab_seal(t);
	symtab_put(t, &m);
	expect_eq(symtab_get(&m, &got), 0);
	expect_eq(symtab_nr(got), 2);
	assert_true(symtab_find(got, 25, &hit));
	assert_string_equal(hit.name, "inner");
	expect_eq(hit.group, 7);
	assert_true(symtab_find(got, 30, &hit));
	assert_string_equal(hit.name, "outer");
	assert_false(symtab_find(got, 100, &hit));
	sandbox_msg_done(&m);
	symtab_free(got);
	symtab_free(t);
}

static void a_table_that_cannot_be_trusted_is_refused(void **state)
{
	const struct sent_range good = { .start = 1, .end = 9, .name_len = 1, .parent = UINT32_MAX };
	struct sent_range two[2] = { good, good }, bad = good;
	struct symtab *t = NULL;

	(void)state;
	expect_eq(get(&good, 1, "a", 2, &t), 0);
	symtab_free(t);
	expect_eq(get(&good, 0, "", 0, &t), 0);
	symtab_free(t);
	expect_eq(get(&good, 1, "ab", 2, &t), -EBADMSG); /* the name does not end */
	expect_eq(get(&good, 1, "", 0, &t), -EBADMSG);
	bad.name = 2;
	expect_eq(get(&bad, 1, "a", 2, &t), -EBADMSG);
	bad.name = UINT32_MAX;
	bad.name_len = UINT32_MAX;
	expect_eq(get(&bad, 1, "a", 2, &t), -EBADMSG);
	bad = good;
	bad.parent = 0; /* itself */
	expect_eq(get(&bad, 1, "a", 2, &t), -EBADMSG);
	expect_eq(get(two, 2, "a", 2, &t), -EBADMSG); /* the same start twice */
	two[0].start = 5;
	expect_eq(get(two, 2, "a", 2, &t), -EBADMSG); /* out of order */
	two[0].start = 0;
	two[0].parent = 1; /* onwards */
	expect_eq(get(two, 2, "a", 2, &t), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_respected),
		cmocka_unit_test(the_innermost_of_nested_ranges_counts),
		cmocka_unit_test(the_choice_of_an_alias_does_not_depend_on_the_order),
		cmocka_unit_test(open_ranges_end_at_the_next_one),
		cmocka_unit_test(what_lies_between_groups_belongs_to_none),
		cmocka_unit_test(the_cap_holds),
		cmocka_unit_test(as_a_plain_search_would_find_it),
		cmocka_unit_test(a_table_arrives_as_it_was_sent),
		cmocka_unit_test(a_table_that_cannot_be_trusted_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
