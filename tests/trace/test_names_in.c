#include "../unit.h"

#include <string.h>

#include "enc.h"
#include "trace/perfetto/names_in.h"

static void add_process(struct enc *tree, uint32_t pid, uint32_t ppid, const char *cmdline)
{
	static struct enc sub;

	sub.len = 0;
	enc_uint(&sub, 1, pid);
	enc_uint(&sub, 2, ppid);
	if (cmdline)
		enc_text(&sub, 3, cmdline);
	enc_msg(tree, 1, &sub);
}

static void add_thread(struct enc *tree, uint32_t tid, uint32_t tgid, const char *name)
{
	static struct enc sub;

	sub.len = 0;
	enc_uint(&sub, 1, tid);
	enc_text(&sub, 2, name);
	enc_uint(&sub, 3, tgid);
	enc_msg(tree, 2, &sub);
}

static struct pb_in in_of(const struct enc *e)
{
	return pb_in_of(e->buf, e->len);
}

static const struct name_when never = { .clock = CLOCK_NONE };

static void a_process_has_a_thread_of_its_own(void **state)
{
	static struct clocks c;
	static struct enc e;
	struct names_in n = { 0 };
	const struct name_thread *t;

	(void)state;
	e.len = 0;
	add_process(&e, 100, 1, "/usr/bin/some-long-program-name");
	add_process(&e, 2, 0, "kthreadd");
	add_process(&e, 7, 2, "kworker/0:1");
	expect_eq(names_tree(&n, in_of(&e), never), 0);
	clocks_init(&c);
	names_link(&n, &c);
	t = names_find_thread(&n, 100, 0, 50);
	assert_non_null(t);
	expect_eq(t->tgid, 100);
	assert_string_equal(t->comm, "some-long-progr");
	assert_true(names_find_thread(&n, 7, 0, 0)->is_kthread);
	assert_true(names_find_thread(&n, 2, 0, 0)->is_kthread);
	assert_false(t->is_kthread);
	assert_null(names_find_thread(&n, 8, 0, 0));
	expect_eq(names_find_process(&n, 100, 0, 0)->ppid, 1);
	names_in_done(&n);
}

static void a_thread_described_by_itself_wins(void **state)
{
	static struct clocks c;
	static struct enc e;
	struct names_in n = { 0 };

	(void)state;
	e.len = 0;
	add_thread(&e, 100, 100, "main");
	add_process(&e, 100, 1, "/bin/prog");
	expect_eq(names_tree(&n, in_of(&e), never), 0);
	clocks_init(&c);
	names_link(&n, &c);
	expect_eq(n.nr_threads, 1);
	assert_string_equal(names_find_thread(&n, 100, 0, 0)->comm, "main");
	names_in_done(&n);
}

/* Three owners of one tid, born at 0, 100 and 200. */
static void each_owner_of_a_tid_finds_its_own_description(void **state)
{
	static const struct {
		uint64_t born, now;
		const char *want;
	} asks[] = {
		{ 0, 5, "first" },      /* only later ones: the first of them */
		{ 0, 60, "first" },     /* the last one before now */
		{ 100, 120, "second" }, /* what came before the birth is of another */
		{ 100, 170, "second" }, { 200, 210, "third" }, { 200, 900, "third" },
	};
	static struct clocks c;
	static struct enc e;
	struct names_in n = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = { "first", "second", "third" };
		struct name_when when = { .ts_ns = (uint64_t)(50 + 100 * i), .clock = CLOCK_NONE };

		e.len = 0;
		add_thread(&e, 9, (uint32_t)(i + 1), names[i]);
		expect_eq(names_tree(&n, in_of(&e), when), 0);
	}
	clocks_init(&c);
	names_link(&n, &c);
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
		assert_string_equal(names_find_thread(&n, 9, asks[i].born, asks[i].now)->comm,
		                    asks[i].want);
	names_in_done(&n);
}

/* wprof's: idle threads are not tasks, kernel threads are their own processes. */
static void invented_processes_are_seen_through(void **state)
{
	static struct clocks c;
	static struct enc e;
	struct names_in n = { 0 };
	const struct name_thread *t;

	(void)state;
	e.len = 0;
	enc_uint(&e, 1, 2000000000);
	enc_uint(&e, 2, 3);
	enc_text(&e, 5, "swapper/2");
	expect_eq(names_thread_desc(&n, in_of(&e), never), 0);
	e.len = 0;
	enc_uint(&e, 1, 2000000001);
	enc_uint(&e, 2, 15);
	enc_text(&e, 5, "ksoftirqd/0");
	expect_eq(names_thread_desc(&n, in_of(&e), never), 0);
	e.len = 0;
	enc_uint(&e, 1, 2000000001);
	enc_text(&e, 6, "KERNEL");
	expect_eq(names_process_desc(&n, in_of(&e), never), 0);
	clocks_init(&c);
	names_link(&n, &c);
	assert_null(names_find_thread(&n, 3, 0, 0));
	t = names_find_thread(&n, 15, 0, 0);
	assert_non_null(t);
	expect_eq(t->tgid, 15);
	assert_true(t->is_kthread);
	expect_eq(n.nr_processes, 0);
	names_in_done(&n);
}

static void other_trees_give_the_same(void **state)
{
	static struct clocks c;
	static struct enc e, sub;
	struct names_in n = { 0 };

	(void)state;
	e.len = sub.len = 0;
	enc_uint(&sub, 1, 40);
	enc_uint(&sub, 2, 4);
	enc_text(&sub, 3, "prog --x");
	enc_msg(&e, 1, &sub);
	enc_uint(&sub, 1, 41);
	enc_uint(&sub, 2, 40);
	enc_text(&sub, 3, "thread");
	enc_msg(&e, 2, &sub);
	expect_eq(names_generic_tree(&n, in_of(&e), never), 0);
	clocks_init(&c);
	names_link(&n, &c);
	expect_eq(names_find_process(&n, 40, 0, 0)->ppid, 4);
	expect_eq(names_find_thread(&n, 41, 0, 0)->tgid, 40);
	assert_string_equal(names_find_thread(&n, 41, 0, 0)->comm, "thread");
	names_in_done(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_has_a_thread_of_its_own),
		cmocka_unit_test(a_thread_described_by_itself_wins),
		cmocka_unit_test(each_owner_of_a_tid_finds_its_own_description),
		cmocka_unit_test(invented_processes_are_seen_through),
		cmocka_unit_test(other_trees_give_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
