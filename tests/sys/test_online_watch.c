#include "../unit.h"

#include <stdio.h>
#include <unistd.h>

#include "sys/online_watch.h"
#include "tree.h"

#define S 1000000000ULL

static void begin(struct tree *t, struct online_watch *w)
{
	struct cpulist from = { 0 };
	char path[128];

	tree_init(t);
	tree_write(t, "online", "0-1");
	(void)snprintf(path, sizeof(path), "%s/online", t->root);
	expect_eq(cpulist_parse("0-1", &from), 0);
	expect_eq(online_watch_open(w, path, &from), 0);
	cpulist_done(&from);
}

static void what_changes_is_reported_once(void **state)
{
	struct online_watch w;
	struct tree t;

	(void)state;
	begin(&t, &w);
	assert_false(online_watch_poll(&w, S));
	tree_write(&t, "online", "0-1,3");
	assert_false(online_watch_poll(&w, S + 1)); /* not more than once a second */
	expect_eq(w.now.nr, 2);
	assert_true(online_watch_poll(&w, 2 * S));
	expect_eq(w.now.nr, 3);
	assert_true(cpulist_has(&w.now, 3));
	assert_false(online_watch_poll(&w, 3 * S));
	tree_write(&t, "online", "0");
	assert_true(online_watch_poll(&w, 4 * S));
	expect_eq(w.now.nr, 1);
	online_watch_close(&w);
	tree_done(&t);
}

static void what_cannot_be_read_changes_nothing(void **state)
{
	struct cpulist from = { 0 };
	struct online_watch w;
	struct tree t;

	(void)state;
	begin(&t, &w);
	tree_write(&t, "online", "nonsense");
	assert_false(online_watch_poll(&w, S));
	tree_write(&t, "online", "");
	assert_false(online_watch_poll(&w, 2 * S));
	expect_eq(w.now.nr, 2);
	online_watch_close(&w);
	expect_eq(online_watch_open(&w, "/nowhere/online", &from), 0);
	assert_false(online_watch_poll(&w, S));
	online_watch_close(&w);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_changes_is_reported_once),
		cmocka_unit_test(what_cannot_be_read_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
