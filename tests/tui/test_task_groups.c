#include "../unit.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "screen.h"
#include "tui/task_groups.h"
#include "tui/task_list.h"

#define NR 10U

/* init - sshd - bash - make - cc (3), and two web servers of another cgroup, one without a parent that is known. */
static const char fair[] = "fair", rt[] = "rt", user[] = "/user", web[] = "/web";
static struct machine_task tasks[NR];
static struct machine m;
static struct task_groups *groups;

static struct machine_task make(uint32_t tid, uint32_t parent, const char *comm, double run)
{
	return (struct machine_task){ .tid = tid,
		                      .tgid = tid,
		                      .parent = parent,
		                      .nr_threads = 2,
		                      .comm = comm,
		                      .class_name = fair,
		                      .cgroup = user,
		                      .state = 'S',
		                      .prio = 120,
		                      .last_cpu = 1,
		                      .run = run,
		                      .wait = 0.25,
		                      .memory_bytes = 1000.0 * tid };
}

static int setup(void **state)
{
	(void)state;
	tasks[0] = make(30, 20, "cc", 0.5);
	tasks[1] = make(1, 0, "init", 0);
	tasks[2] = make(31, 20, "cc", 0.9);
	tasks[3] = make(5, 1, "sshd", 0.01);
	tasks[4] = make(20, 10, "make", 0.1);
	tasks[5] = make(10, 5, "bash", 0.02);
	tasks[6] = make(32, 20, "cc", 0.7);
	tasks[7] = make(7, 1, "web", 0.3);
	tasks[8] = make(8, 4000, "web", 0.2); /* its parent is not shown */
	tasks[9] = make(9, 0, "kworker", 0);
	tasks[7].cgroup = tasks[8].cgroup = web;
	tasks[2].state = 'R';
	tasks[6].class_name = rt;
	tasks[9].cgroup = NULL;
	tasks[9].memory_bytes = NAN;
	tasks[0].latency = (struct machine_dist){
		.count = 10, .p50_ns = 5, .p99_ns = 90, .max_ns = 100, .mean_ns = 10
	};
	tasks[2].latency = (struct machine_dist){
		.count = 30, .p50_ns = 7, .p99_ns = 80, .max_ns = 400, .mean_ns = 20
	};
	tasks[6].stall_ns = 7000;
	m = (struct machine){ .processes = tasks, .nr_processes = NR, .interval_s = 1 };
	assert_int_equal(task_groups_new(&groups), 0);
	setlocale(LC_CTYPE, "C.UTF-8");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	task_groups_free(groups);
	return 0;
}

static struct screen by(enum task_by what)
{
	return (struct screen){ .by = what, .groups = groups, .sort = SORT_RUN };
}

static const struct machine_task *row_of(const struct task_window *w, const char *comm)
{
	for (int i = 0; i < w->nr; i++)
		if (strcmp(((const struct machine_task *)w->rows[i])->comm, comm) == 0)
			return w->rows[i];
	fail_msg("no row of %s", comm);
	return NULL;
}

static struct task_window window(const struct screen *s)
{
	struct task_window w = { 0 };
	struct task_list l;

	task_list_init(&l, &m, s);
	assert_int_equal(task_list_window(&l, s, 0, 100, &w), 0);
	expect_eq(task_list_count(&l), w.total);
	return w;
}

static void a_name_is_the_sum_of_its_processes(void **state)
{
	const struct screen s = by(TASKS_BY_NAME);
	struct task_window w = window(&s);
	const struct machine_task *cc = row_of(&w, "cc");

	(void)state;
	expect_eq(w.total, 7);
	assert_ptr_equal(cc, w.rows[0]); /* 2.1 CPUs */
	expect_eq(cc->nr_processes, 3);
	expect_eq(cc->nr_threads, 6);
	expect_eq(cc->tid, 30);
	assert_true(fabs(cc->run - 2.1) < 1e-9);
	assert_true(fabs(cc->wait - 0.75) < 1e-9);
	assert_true(fabs(cc->memory_bytes - 93000) < 1e-9);
	expect_eq(cc->state, 'R');
	expect_eq(cc->stall_ns, 7000);
	assert_null(cc->class_name); /* one is another */
	assert_string_equal(cc->cgroup, "/user");
	expect_eq(cc->latency.count, 40);
	expect_eq(cc->latency.p50_ns, 7);
	expect_eq(cc->latency.p99_ns, 90);
	expect_eq(cc->latency.max_ns, 400);
	assert_true(fabs(cc->latency.mean_ns - 17.5) < 1e-9);
	assert_true(isnan(row_of(&w, "kworker")->memory_bytes));
	free(w.rows);
}

static void a_cgroup_is_too_and_unknown_ones_are_one(void **state)
{
	const struct screen s = by(TASKS_BY_CGROUP);
	struct task_window w = window(&s);

	(void)state;
	expect_eq(w.total, 3);
	expect_eq(row_of(&w, "/web")->nr_processes, 2);
	expect_eq(row_of(&w, "/user")->nr_processes, 7);
	expect_eq(row_of(&w, "?")->nr_processes, 1);
	free(w.rows);
}

static void the_processes_of_a_group_are_those_that_it_counts(void **state)
{
	struct screen s = by(TASKS_BY_NAME);
	struct task_window w;

	(void)state;
	assert_true(task_list_group(&m, &s, 7, s.members_of, sizeof(s.members_of)));
	assert_string_equal(s.members_of, "web");
	w = window(&s);
	expect_eq(w.total, 2);
	expect_eq(((const struct machine_task *)w.rows[0])->tid, 7);
	free(w.rows);
	assert_false(task_list_group(&m, &s, 7, s.members_of,
	                             sizeof(s.members_of))); /* rows are no groups any more */
	s = by(TASKS_BY_CGROUP);
	assert_true(task_list_group(&m, &s, 9, s.members_of, sizeof(s.members_of)));
	w = window(&s);
	expect_eq(w.total, 1);
	free(w.rows);
	assert_false(task_list_group(&m, &s, 12345, s.members_of, sizeof(s.members_of)));
}

static void a_filter_is_about_processes(void **state)
{
	struct screen s = by(TASKS_BY_NAME);
	struct task_window w;

	(void)state;
	strcpy(s.filter, "cgroup:/web");
	w = window(&s);
	expect_eq(w.total, 1);
	expect_eq(row_of(&w, "web")->nr_processes, 2);
	free(w.rows);
	s.by = TASKS_AS_TREE;
	w = window(&s);
	expect_eq(w.total, 2);
	free(w.rows);
}

static void expect_tree(const struct screen *s, const char *const *names)
{
	struct task_window w = window(s);

	expect_eq(w.total, NR);
	for (int i = 0; i < w.nr; i++)
		assert_string_equal(((const struct machine_task *)w.rows[i])->comm, names[i]);
	free(w.rows);
}

static void a_tree_has_children_below_their_parents(void **state)
{
	static const char *const by_run[] = { "web",
		                              "init",
		                              "\xe2\x94\x94 web",
		                              "\xe2\x94\x94 sshd",
		                              "  \xe2\x94\x94 bash",
		                              "    \xe2\x94\x94 make",
		                              "      \xe2\x94\x94 cc",
		                              "      \xe2\x94\x94 cc",
		                              "      \xe2\x94\x94 cc",
		                              "kworker" };
	struct screen s = by(TASKS_AS_TREE);
	struct task_window w;
	struct task_list l;

	(void)state;
	expect_tree(&s, by_run);
	w = window(&s);
	expect_eq(((const struct machine_task *)w.rows[6])->tid,
	          31); /* siblings: what runs most first */
	expect_eq(((const struct machine_task *)w.rows[8])->tid, 30);
	free(w.rows);
	task_list_init(&l, &m, &s);
	expect_eq(task_list_place(&l, &s, 20), 5);
	assert_int_equal(task_list_place(&l, &s, 999), -1);
}

/* Ids that were used again while processes were read, chains without an end. */
static void parents_that_make_no_sense_lose_no_process(void **state)
{
	const struct screen s = by(TASKS_AS_TREE);
	struct machine_task kept[NR];
	struct task_window w;

	(void)state;
	memcpy(kept, tasks, sizeof(kept));
	tasks[1].parent = 20; /* init, sshd, bash, make in a circle */
	tasks[9].parent = 9;  /* its own */
	w = window(&s);
	expect_eq(w.total, NR);
	free(w.rows);
	memcpy(tasks, kept, sizeof(kept));
}

static void a_chain_of_any_length_is_drawn(void **state)
{
	const struct screen s = by(TASKS_AS_TREE);
	const size_t nr = 5000;
	struct machine_task *chain = calloc(nr, sizeof(*chain));
	struct machine_task_pair {
		const struct machine_task *tasks;
		size_t nr;
	} kept = { m.processes, m.nr_processes };
	struct task_window w;

	(void)state;
	assert_non_null(chain);
	for (size_t i = 0; i < nr; i++)
		chain[i] = make((uint32_t)i + 1, (uint32_t)i, "link", 0);
	m.processes = chain;
	m.nr_processes = nr;
	w = window(&s);
	expect_eq(w.total, nr);
	free(w.rows);
	m.processes = kept.tasks;
	m.nr_processes = kept.nr;
	free(chain);
}

static void tables_say_what_a_row_is(void **state)
{
	struct screen s = by(TASKS_BY_NAME);
	char *text = screen_draw("process", &m, &s, 120, 24), *line;

	(void)state;
	assert_true(screen_has(text, "Names 7 of 10 processes"));
	assert_true(screen_has(text, "PROCS"));
	assert_false(screen_has(text, "PID"));
	line = screen_find(text, " cc  ");
	assert_true(screen_has(line, "210"));
	free(line);
	free(text);
	s = by(TASKS_BY_CGROUP);
	text = screen_draw("process", &m, &s, 120, 24);
	assert_true(screen_has(text, "Cgroups 3 of 10 processes"));
	assert_false(screen_has(text, "CGROUP "));
	free(text);
	s = by(TASKS_AS_TREE);
	text = screen_draw("process", &m, &s, 120, 24);
	assert_true(screen_has(text, "Process tree 10"));
	assert_true(screen_has(text, "    \xe2\x94\x94 make"));
	assert_true(screen_has(text, "PID"));
	free(text);
	s = by(TASKS_BY_NAME);
	strcpy(s.members_of, "cc");
	text = screen_draw("process", &m, &s, 120, 24);
	assert_true(screen_has(text, "Processes of cc: 3"));
	free(text);
}

static void nothing_is_no_group(void **state)
{
	struct screen s = by(TASKS_BY_NAME);
	const struct machine empty = { 0 };
	char *text = screen_draw("process", &empty, &s, 80, 24);

	(void)state;
	assert_true(screen_has(text, "no tasks"));
	free(text);
	s.by = TASKS_AS_TREE;
	free(screen_draw("process", &empty, &s, 80, 24));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_the_sum_of_its_processes),
		cmocka_unit_test(a_cgroup_is_too_and_unknown_ones_are_one),
		cmocka_unit_test(the_processes_of_a_group_are_those_that_it_counts),
		cmocka_unit_test(a_filter_is_about_processes),
		cmocka_unit_test(a_tree_has_children_below_their_parents),
		cmocka_unit_test(parents_that_make_no_sense_lose_no_process),
		cmocka_unit_test(a_chain_of_any_length_is_drawn),
		cmocka_unit_test(tables_say_what_a_row_is),
		cmocka_unit_test(nothing_is_no_group),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
