#include "../unit.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "tui/task_list.h"
#include "tui/task_matches.h"
#include "tui/task_sort.h"

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
	const struct task_metric *by = task_metric_sorted(sorting);
	struct task_entry first = task_sort_entry(&f.m, *(const struct machine_task *const *)a, by);
	struct task_entry second = task_sort_entry(&f.m, *(const struct machine_task *const *)b,
	                                           by);

	return task_sort_order(&first, &second, sorting);
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
		if (i % 9 == 0)
			expect_eq(task_list_place(&l, s, all[first + i]->tid), first + i);
	}
	free(w.rows);
	free(all);
}

static void expect_windows(struct screen s)
{
	static const int firsts[] = { 0, 1, 37, 330, 990, 1003, 5000 };
	static const char *const filters[] = { "", "nginx", "cpu:3", "R", "no such task" };

	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++)
		for (size_t k = 0; k < sizeof(filters) / sizeof(filters[0]); k++) {
			strcpy(s.filter, filters[k]);
			expect_window(&s, firsts[i], 20);
		}
}

static void expect_all_windows(struct task_matches *matches)
{
	for (int sort = 0; sort < SORTS; sort++)
		for (int way = 0; way < 2; way++)
			expect_windows((struct screen){ .sort = (enum view_sort)sort,
			                                .is_ascending = way,
			                                .matches = matches });
}

static void a_window_is_a_part_of_the_sorted_whole(void **state)
{
	(void)state;
	expect_all_windows(NULL);
}

/* None is quiet, some are, all are; with and without a memory. */
static void an_order_of_the_machine_changes_the_cost_alone(void **state)
{
	static const uint32_t nths[] = { 1, 3, 5000 };
	struct task_matches *matches;

	for (size_t i = 0; i < sizeof(nths) / sizeof(nths[0]); i++) {
		teardown(state);
		setup(state);
		fixture_make_order(&f, nths[i]);
		expect_eq(task_matches_new(&matches), 0);
		if (nths[i] == 3)
			expect_all_windows(NULL);
		expect_all_windows(matches);
		task_matches_free(matches);
	}
}

static int count_with(struct task_matches *matches, const char *filter)
{
	struct screen s = { .matches = matches };
	struct task_list l;

	strcpy(s.filter, filter);
	task_list_init_threads(&l, &f.m, &s);
	return task_list_count(&l);
}

static void a_filter_follows_what_has_changed(void **state)
{
	uint32_t changed[] = { 5 };
	struct task_matches *matches;
	int before;

	teardown(state);
	setup(state);
	fixture_make_order(&f, 3);
	expect_eq(task_matches_new(&matches), 0);
	before = count_with(matches, "somebody");
	expect_eq(before, 0);
	f.threads[5].comm = "somebody";
	expect_eq(count_with(matches, "somebody"),
	          0); /* the same refresh: nothing can have changed */
	f.m.refresh_nr++;
	f.thread_order.pub.is_all_changed = false;
	f.thread_order.pub.changed = changed;
	f.thread_order.pub.nr_changed = 1;
	expect_eq(count_with(matches, "somebody"), 1);
	/* Only those that changed are matched: this one is not reported, and so not seen, */
	f.m.refresh_nr++;
	f.thread_order.pub.nr_changed = 0;
	f.threads[6].comm = "somebody";
	expect_eq(count_with(matches, "somebody"), 1);
	/* until a look was missed. */
	f.m.refresh_nr += 2;
	expect_eq(count_with(matches, "somebody"), 2);
	/* One that has gone is in no list any more. */
	f.m.refresh_nr++;
	f.m.nr_threads--;
	memmove(f.thread_order.by_id, f.thread_order.by_id + 1,
	        f.m.nr_threads * sizeof(*f.thread_order.by_id));
	expect_eq(count_with(matches, ""), (int)f.m.nr_threads);
	task_matches_free(matches);
}

static void more_filters_than_are_remembered_do_no_harm(void **state)
{
	static const char *const filters[] = { "nginx", "cpu:1", "S", "10", "post", "web", "R" };
	struct task_matches *matches;

	teardown(state);
	setup(state);
	fixture_make_order(&f, 3);
	expect_eq(task_matches_new(&matches), 0);
	for (size_t i = 0; i < 70; i++)
		expect_eq(count_with(matches, filters[i % 7]), count_with(NULL, filters[i % 7]));
	task_matches_free(matches);
}

/* What a column shows, found by other means than those that sort. */
static double shown(const struct machine_task *t, enum view_sort sort)
{
	static const size_t doubles[SORTS] = {
		[SORT_RUN] = offsetof(struct machine_task, run),
		[SORT_WAIT] = offsetof(struct machine_task, wait),
		[SORT_VOLUNTARY] = offsetof(struct machine_task, voluntary_per_s),
		[SORT_INVOLUNTARY] = offsetof(struct machine_task, involuntary_per_s),
		[SORT_MIGRATIONS] = offsetof(struct machine_task, migrations_per_s),
		[SORT_LLC_MIGRATIONS] = offsetof(struct machine_task, llc_migrations_per_s),
		[SORT_NODE_MIGRATIONS] = offsetof(struct machine_task, node_migrations_per_s),
	};
	static const size_t dists[SORTS][2] = {
		[SORT_P50] = { offsetof(struct machine_task, latency.p50_ns),
		               offsetof(struct machine_task, latency.count) },
		[SORT_P99] = { offsetof(struct machine_task, latency.p99_ns),
		               offsetof(struct machine_task, latency.count) },
		[SORT_MAX] = { offsetof(struct machine_task, latency.max_ns),
		               offsetof(struct machine_task, latency.count) },
		[SORT_PREEMPTED_P50] = { offsetof(struct machine_task, preempted.p50_ns),
		                         offsetof(struct machine_task, preempted.count) },
		[SORT_PREEMPTED_P99] = { offsetof(struct machine_task, preempted.p99_ns),
		                         offsetof(struct machine_task, preempted.count) },
		[SORT_PREEMPTED_MAX] = { offsetof(struct machine_task, preempted.max_ns),
		                         offsetof(struct machine_task, preempted.count) },
		[SORT_SLICE] = { offsetof(struct machine_task, slice.p50_ns),
		                 offsetof(struct machine_task, slice.count) },
		[SORT_SLEEP] = { offsetof(struct machine_task, sleep.p50_ns),
		                 offsetof(struct machine_task, sleep.count) },
	};
	const char *row = (const char *)t;

	if (doubles[sort])
		return *(const double *)(row + doubles[sort]);
	if (dists[sort][0])
		return *(const uint64_t *)(row + dists[sort][1])
		               ? (double)*(const uint64_t *)(row + dists[sort][0])
		               : NAN;
	switch (sort) {
	case SORT_TID:
		return t->tid;
	case SORT_STATE:
		return t->state;
	case SORT_CPU:
		return t->last_cpu;
	case SORT_LLC:
		return t->last_cpu / 4; /* as fixture_small has them */
	case SORT_NODE:
		return t->last_cpu / 8;
	case SORT_SLICES:
		return (double)t->slice.count;
	case SORT_SWITCHES:
		return t->voluntary_per_s + t->involuntary_per_s;
	case SORT_THREADS:
		return t->nr_threads;
	case SORT_LAYER:
		return t->layer < 0 ? NAN : (double)t->layer;
	case SORT_DSQ:
		return t->has_dsq ? (double)t->dsq : NAN;
	default:
		fail_msg("a column that this test does not know: %d", (int)sort);
		return 0;
	}
}

static const char *shown_text(const struct machine_task *t, enum view_sort sort)
{
	return sort == SORT_NAME      ? t->comm
	       : sort == SORT_CLASS   ? t->class_name
	       : sort == SORT_CGROUP  ? t->cgroup
	       : sort == SORT_COMMAND ? t->cmdline
	                              : NULL;
}

/* Below 0 if a has to come first, as the screen is described. */
static int must_come(const struct machine_task *a, const struct machine_task *b,
                     const struct screen *s)
{
	int way = s->is_ascending ? 1 : -1;
	double x, y;

	if (shown_text(a, s->sort)) {
		int names = way * strcmp(shown_text(a, s->sort), shown_text(b, s->sort));

		return names ? names : a->tid < b->tid ? -1 : 1;
	}
	x = shown(a, s->sort);
	y = shown(b, s->sort);
	if (isnan(x) != isnan(y))
		return isnan(x) ? 1 : -1;
	if (isnan(x) || x == y)
		return a->tid < b->tid ? -1 : 1;
	return x < y ? -way : way;
}

static void every_column_can_be_sorted_by(void **state)
{
	(void)state;
	for (int sort = 0; sort < 2 * SORTS; sort++) {
		struct screen s = { .sort = (enum view_sort)(sort / 2), .is_ascending = sort % 2 };
		struct task_window w;
		struct task_list l;

		task_list_init_threads(&l, &f.m, &s);
		expect_eq(task_list_window(&l, &s, 0, 2000, &w), 0);
		expect_eq(w.nr, f.m.nr_threads);
		for (int i = 1; i < w.nr; i++)
			assert_true(must_come(w.rows[i - 1], w.rows[i], &s) < 0);
		free(w.rows);
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

static void filters_match_name_id_cgroup_state_cpu_and_class(void **state)
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
	assert_true(matches("cgroup:user.slice", &t));
	assert_true(matches("cgroup:/user*", &t));
	assert_true(matches("cgroup:", &t));
	assert_false(matches("cgroup:user", &t));
	assert_false(matches("cgroup:/", &t));
}

static void nothing_known_matches_no_word(void **state)
{
	const struct machine_task t = { .tid = 1, .tgid = 1, .state = '?', .last_cpu = -1 };

	(void)state;
	assert_false(matches("a", &t));
	assert_false(matches("cpu:0", &t));
	assert_false(matches("class:fair", &t));
	assert_false(matches("cgroup:*", &t));
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
		cmocka_unit_test(every_column_can_be_sorted_by),
		cmocka_unit_test(what_is_unknown_comes_last_either_way),
		cmocka_unit_test(filters_match_name_id_cgroup_state_cpu_and_class),
		cmocka_unit_test(nothing_known_matches_no_word),
		cmocka_unit_test(more_words_than_fit_do_no_harm),
		cmocka_unit_test(threads_of_a_process_are_its_own),
		cmocka_unit_test(an_order_of_the_machine_changes_the_cost_alone),
		cmocka_unit_test(a_filter_follows_what_has_changed),
		cmocka_unit_test(more_filters_than_are_remembered_do_no_harm),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
