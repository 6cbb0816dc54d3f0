#include "../unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "tui/task_list.h"

static struct fixture f;

static int setup(void **state)
{
	struct fixture_cfg cfg = fixture_small;

	(void)state;
	cfg.nr_threads = 1003;
	fixture_init(&f, &cfg);
	/* Some that are unknown, some ties. */
	for (uint32_t i = 0; i < cfg.nr_threads; i += 17) {
		f.threads[i].wait = NAN;
		f.threads[i].latency.count = 0;
		f.threads[i].involuntary_per_s = NAN;
		f.threads[i].migrations_per_s = NAN;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_done(&f);
	return 0;
}

static const struct screen *sorting;

static int compare(const void *a, const void *b)
{
	return task_order(*(const struct machine_task *const *)a,
	                  *(const struct machine_task *const *)b, sorting);
}

static void expect_window(const struct screen *s, int first, int nr)
{
	const struct machine_task **all = calloc(f.m.nr_threads, sizeof(*all));
	struct task_window w;
	struct task_list l;
	int left = 0, left_here;

	assert_non_null(all);
	task_list_init_threads(&l, &f.m, s);
	for (size_t i = 0; i < f.m.nr_threads; i++)
		if (task_filter_match(&l.filter, &f.threads[i]))
			all[left++] = &f.threads[i];
	sorting = s;
	qsort(all, (size_t)left, sizeof(*all), compare);
	expect_eq(task_list_window(&l, s, first, nr, &w), 0);
	expect_eq(w.total, left);
	expect_eq(task_list_count(&l), left);
	left_here = first < left ? left - first : 0;
	expect_eq(w.nr, left_here < nr ? left_here : nr);
	for (int i = 0; i < w.nr; i++) {
		assert_ptr_equal(w.rows[i], all[first + i]);
		expect_eq(task_list_place(&l, s, all[first + i]->tid), first + i);
	}
	free(w.rows);
	free(all);
}

static void a_window_is_a_part_of_the_sorted_whole(void **state)
{
	static const int firsts[] = { 0, 1, 37, 990, 1003, 5000 };
	static const char *const filters[] = { "", "nginx", "cpu:3", "no such task" };

	(void)state;
	for (int sort = 0; sort < SORTS; sort++)
		for (int way = 0; way < 2; way++)
			for (size_t i = 0; i < 6; i++)
				for (size_t k = 0; k < 4; k++) {
					struct screen s = { .sort = (enum view_sort)sort,
						            .is_ascending = way };

					strcpy(s.filter, filters[k]);
					expect_window(&s, firsts[i], 20);
				}
}

static void what_is_unknown_comes_last_either_way(void **state)
{
	(void)state;
	for (int way = 0; way < 2; way++) {
		struct screen s = { .sort = SORT_WAIT, .is_ascending = way == 1 };
		const struct machine_task *first, *last;
		struct task_window w;
		struct task_list l;

		task_list_init_threads(&l, &f.m, &s);
		expect_eq(task_list_window(&l, &s, 0, 2000, &w), 0);
		first = w.rows[0];
		last = w.rows[w.nr - 1];
		assert_true(first->wait >= 0);
		assert_true(isnan(last->wait));
		free(w.rows);
	}
}

static bool matches(const char *filter, const struct machine_task *t)
{
	struct task_filter parsed = { 0 };

	task_filter_parse(&parsed, filter);
	return task_filter_match(&parsed, t);
}

static void filters_look_at_name_id_cgroup_state_cpu_and_class(void **state)
{
	const struct machine_task t = { .tid = 4321,
		                        .tgid = 77,
		                        .comm = "Web Content",
		                        .cgroup = "/user.slice",
		                        .class_name = "ext",
		                        .state = 'D',
		                        .last_cpu = 6 };

	(void)state;
	assert_true(matches("", &t));
	assert_true(matches("   ", &t));
	assert_true(matches("web", &t));
	assert_true(matches("CONTENT user.sl", &t));
	assert_false(matches("web nginx", &t));
	assert_true(matches("432", &t));
	assert_false(matches("321", &t));
	assert_true(matches("77", &t));
	assert_true(matches("D", &t));
	assert_false(matches("R", &t));
	assert_true(matches("blocked", &t));
	assert_true(matches("cpu:6", &t));
	assert_true(matches("cpu:", &t));
	assert_false(matches("cpu:66", &t));
	assert_false(matches("cpu:x", &t));
	assert_true(matches("class:ext", &t));
	assert_false(matches("class:rt", &t));
}

static void nothing_known_matches_no_word(void **state)
{
	const struct machine_task t = { .tid = 1, .tgid = 1, .state = '?', .last_cpu = -1 };

	(void)state;
	assert_false(matches("a", &t));
	assert_false(matches("cpu:0", &t));
	assert_false(matches("class:fair", &t));
	assert_true(matches("1", &t));
}

static void more_words_than_fit_do_no_harm(void **state)
{
	const struct machine_task t = { .comm = "a b", .state = '?' };

	(void)state;
	assert_true(matches("a b a b a b a b a b a b a b a b a b a b a b a b a b a b", &t));
}

static void threads_of_a_process_are_its_own(void **state)
{
	struct screen s = { .process = FIXTURE_TID + FIXTURE_THREADS };
	struct task_list l;

	(void)state;
	task_list_init(&l, &f.m, &s);
	expect_eq(task_list_count(&l), FIXTURE_THREADS);
	expect_eq(task_list_place(&l, &s, FIXTURE_TID), -1);
	s.process = 0;
	task_list_init(&l, &f.m, &s);
	expect_eq(task_list_count(&l), (1003 + FIXTURE_THREADS - 1) / FIXTURE_THREADS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_is_a_part_of_the_sorted_whole),
		cmocka_unit_test(what_is_unknown_comes_last_either_way),
		cmocka_unit_test(filters_look_at_name_id_cgroup_state_cpu_and_class),
		cmocka_unit_test(nothing_known_matches_no_word),
		cmocka_unit_test(more_words_than_fit_do_no_harm),
		cmocka_unit_test(threads_of_a_process_are_its_own),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
