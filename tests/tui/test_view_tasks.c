#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen.h"
#include "tui/format.h"
#include "tui/task_metrics.h"

static struct fixture f;

static int setup(void **state)
{
	(void)state;
	return screen_begin(&f);
}

static int teardown(void **state)
{
	(void)state;
	return screen_end(&f);
}

static void the_screens_are_as_they_were(void **state)
{
	(void)state;
	screen_golden("process", &f.m, (struct screen){ .tick_ms = 250 }, 80, 24,
	              "tui-process-80.txt");
	screen_golden("process", &f.m, (struct screen){ .sort = SORT_P99 }, 240, 16,
	              "tui-process-240.txt");
	screen_golden("process", &f.m, (struct screen){ 0 }, 20, 5, "tui-process-20.txt");
	screen_golden("threads", &f.m,
	              (struct screen){ .sort = SORT_SWITCHES, .is_ascending = true }, 100, 20,
	              "tui-threads-100.txt");
	screen_golden("process", &f.m, (struct screen){ .process = FIXTURE_TID }, 80, 10,
	              "tui-threads-of-process.txt");
	screen_golden("task", &f.m,
	              (struct screen){ .selected_tid = FIXTURE_TID + 5, .process = 1004 }, 80, 40,
	              "tui-task-80.txt");
	screen_golden("task", &f.m, (struct screen){ .selected_tid = FIXTURE_TID }, 20, 5,
	              "tui-task-20.txt");
}

/* Words that must stand in this order in the line of a task. */
static void expect_words(const char *line, const char *const *words, size_t nr)
{
	const char *at = line;

	for (size_t i = 0; i < nr; i++) {
		at = strstr(at, words[i]);
		if (!at)
			print_message("# no '%s' in '%s'\n", words[i], line);
		assert_non_null(at);
		at += strlen(words[i]);
	}
}

static void a_row_has_the_numbers_of_its_process(void **state)
{
	struct screen s = { 0 };
	char *text = screen_draw("process", &f.m, &s, 240, 30);

	(void)state;
	for (uint32_t p = 0; p < f.m.nr_processes; p++) {
		double run = 0, voluntary = 0;
		char tid[16], run_text[FORMAT_BYTES], p50[FORMAT_BYTES], p99[FORMAT_BYTES],
			max[FORMAT_BYTES], switches[FORMAT_BYTES];
		uint64_t ns = fixture_p99_ns(p * FIXTURE_THREADS);
		char *line;

		for (uint32_t i = p * FIXTURE_THREADS; i < (p + 1) * FIXTURE_THREADS; i++) {
			run += fixture_run(i);
			voluntary += 10.0 * (i % 97);
		}
		snprintf(tid, sizeof(tid), "\u2502    %u ", FIXTURE_TID + p * FIXTURE_THREADS);
		line = screen_find(text, tid);
		expect_words(line,
		             (const char *[]){ tid, format_percent(run_text, run),
		                               format_ns(p50, (double)(ns / 4)),
		                               format_ns(p99, (double)ns),
		                               format_ns(max, (double)(ns * 3)),
		                               format_count(switches, voluntary, false) },
		             6);
		free(line);
	}
	free(text);
}

static void every_column_of_a_scheduler_person_is_there_when_wide(void **state)
{
	static const char *const titles[] = { "PID",   "NAME",   "CLASS",  "CPU",   "RUN%",
		                              "WAIT%", "P50",    "P99",    "MAX",   "P99",
		                              "MAX",   "SLICE",  "SLEEP",  "VOL/s", "INV/s",
		                              "MIG/s", "LLC/s",  "NODE/s", "THR",   "LAYER",
		                              "DSQ",   "CGROUP", "COMMAND" };
	struct screen s = { 0 };
	char *text = screen_draw("process", &f.m, &s, 240, 30);
	char *line = screen_find(text, "NAME");

	(void)state;
	expect_words(line, titles, sizeof(titles) / sizeof(titles[0]));
	free(line);
	free(text);
}

static void expect_on_next_line(const char *text, const char *title, const char *value)
{
	const char *line = strchr(strstr(text, title), '\n') + 1;
	const char *at = strstr(line, value);

	assert_non_null(at);
	assert_true(at < strchr(line, '\n'));
}

static void a_task_that_gets_no_cpu_is_marked(void **state)
{
	struct screen s = { 0 };
	char *text = screen_draw("process", &f.m, &s, 80, 24);

	(void)state;
	assert_null(strstr(text, "STALLED"));
	free(text);
	f.processes[1].stall_ns = 1900000000;
	for (int threads = 0; threads < 2; threads++) {
		text = screen_draw(threads ? "threads" : "process", &f.m, &s, 80, 60);
		assert_non_null(strstr(text, "STALLED"));
		assert_non_null(strstr(text, "1.90s"));
		assert_true(!threads == !!strstr(text, "Processes 10 STALLED 1: "));
		assert_true(!!threads == !!strstr(text, "Threads 40 STALLED 1: "));
		assert_non_null(strstr(text, "[1004] for 1.90s "));
		free(text);
		f.threads[FIXTURE_THREADS].stall_ns = 1900000000;
	}
	/* And it can be sorted by. */
	for (size_t i = 0; i < task_metrics.nr; i++)
		if (strcmp(task_metrics.items[i].title, "STALLED") == 0)
			s.sort = task_metric_sort(&task_metrics, i);
	text = screen_draw("process", &f.m, &s, 80, 24);
	expect_on_next_line(text, "\u25bcSTALLED", "1.90s");
	free(text);
	f.processes[1].stall_ns = f.threads[FIXTURE_THREADS].stall_ns = 0;
}

static void the_sorted_column_is_always_shown_with_its_mark(void **state)
{
	static const char *const marks[SORTS] = {
		[SORT_RUN] = "\u25bcRUN%",
		[SORT_WAIT] = "\u25bcWAIT%",
		[SORT_P50] = "\u25bcP50",
		[SORT_P99] = "\u25bcP99",
		[SORT_MAX] = "\u25bcMAX",
		[SORT_SWITCHES] = "\u25bcSW/s",
		[SORT_MIGRATIONS] = "\u25bcMIG/s",
		[SORT_TID] = "\u25bcPID",
		[SORT_NAME] = "NAME\u25bc",
		[SORT_STATE] = "S\u25bc",
		[SORT_CLASS] = "CLASS\u25bc",
		[SORT_CPU] = "\u25bcCPU",
		[SORT_LLC] = "\u25bcLLC",
		[SORT_PREEMPTED_P50] = "PREEMPT P50",
		[SORT_PREEMPTED_P99] = "PREEMPT P99",
		[SORT_PREEMPTED_MAX] =
			"PREEMPT MAX", /* as wide as its column, and the name before it */
		[SORT_SLICE] = "\u25bcSLICE",
		[SORT_SLICES] = "SLICES",
		[SORT_SLEEP] = "\u25bcSLEEP",
		[SORT_VOLUNTARY] = "\u25bcVOL/s",
		[SORT_INVOLUNTARY] = "\u25bcINV/s",
		[SORT_LLC_MIGRATIONS] = "\u25bcLLC/s",
		[SORT_NODE_MIGRATIONS] = "NODE/s",
		[SORT_THREADS] = "\u25bcTHR",
		[SORT_LAYER] = "\u25bcLAYER",
		[SORT_DSQ] = "DSQ\u25bc",
		[SORT_CGROUP] = "CGROUP\u25bc",
		[SORT_COMMAND] = "COMMAND\u25bc",
	};

	(void)state;
	for (int sort = 0; sort < SORTS; sort++) {
		struct screen s = { .sort = (enum view_sort)sort };
		char *text = screen_draw("process", &f.m, &s, 24, 5);

		if (sort != SORT_NODE) /* this machine has only one */
			assert_true(screen_has(text, marks[sort]));
		free(text);
	}
}

static void selection_follows_its_task(void **state)
{
	struct screen s = { .selected = 2, .sort = SORT_TID, .is_ascending = true };

	(void)state;
	free(screen_draw("process", &f.m, &s, 80, 24));
	expect_eq(s.selected_tid, FIXTURE_TID + 2 * FIXTURE_THREADS);
	s.is_ascending = false;
	free(screen_draw("process", &f.m, &s, 80, 24));
	expect_eq(s.selected_tid, FIXTURE_TID + 2 * FIXTURE_THREADS);
	expect_eq(s.selected, f.m.nr_processes - 1 - 2);
	/* In sight on a small screen, too. */
	free(screen_draw("process", &f.m, &s, 80, 6));
	assert_true(s.scroll <= s.selected && s.selected < s.scroll + 4);
	/* When it is filtered away, the row stays and another is taken. */
	strcpy(s.filter, "nginx");
	free(screen_draw("process", &f.m, &s, 80, 24));
	assert_true(s.selected_tid != FIXTURE_TID + 2 * FIXTURE_THREADS);
	assert_true(s.selected < 3);
}

static void the_top_row_is_the_top_whatever_tasks_there_are(void **state)
{
	struct screen s = { .sort = SORT_TID, .is_ascending = true };

	(void)state;
	free(screen_draw("process", &f.m, &s, 80, 24));
	expect_eq(s.selected_tid, FIXTURE_TID);
	s.is_ascending = false;
	free(screen_draw("process", &f.m, &s, 80, 24));
	expect_eq(s.selected, 0);
	expect_eq(s.scroll, 0);
	expect_eq(s.selected_tid, FIXTURE_TID + 9 * FIXTURE_THREADS);
}

static void a_filter_is_reported_and_counted(void **state)
{
	struct screen s = { .filter = "nginx", .is_typing = true };
	char *text = screen_draw("process", &f.m, &s, 80, 24);

	(void)state;
	assert_true(screen_has(text, "Processes 3 of 10"));
	assert_true(screen_has(text, "filter: nginx_"));
	/* Two by name, one by cgroup. */
	assert_false(screen_has(text, "postgres"));
	expect_eq(view_find("process")->rows(&f.m, &s), 3);
	free(text);
	strcpy(s.filter, "zzz");
	text = screen_draw("process", &f.m, &s, 80, 24);
	assert_true(screen_has(text, "nothing matches 'zzz'"));
	expect_eq(view_find("process")->rows(&f.m, &s), 0);
	free(text);
}

static void a_process_that_has_ended_is_reported(void **state)
{
	struct screen s = { .process = 999999 };
	char *text = screen_draw("process", &f.m, &s, 80, 24);

	(void)state;
	assert_true(screen_has(text, "process 999999 has ended"));
	free(text);
	s.selected_tid = 999999;
	text = screen_draw("task", &f.m, &s, 80, 24);
	assert_true(screen_has(text, "task 999999 has ended"));
	free(text);
}

static void without_bpf_what_it_measures_has_no_column(void **state)
{
	struct fixture_cfg cfg = fixture_small;
	struct screen s = { 0 };
	struct fixture proc;
	char *text;

	(void)state;
	cfg.is_proc = true;
	cfg.nr_dsqs = 0;
	fixture_init(&proc, &cfg);
	text = screen_draw("process", &proc.m, &s, 240, 30);
	assert_true(screen_has(text, "RUN%") && screen_has(text, "WAIT%"));
	assert_false(screen_has(text, "P99") || screen_has(text, "DSQ") ||
	             screen_has(text, "LAYER"));
	free(text);
	fixture_done(&proc);
}

static void zoom_shows_the_distributions_of_its_task(void **state)
{
	struct screen s = { .selected_tid = FIXTURE_TID + 7, .process = FIXTURE_TID + 4 };
	char *text = screen_draw("task", &f.m, &s, 80, 40), *line;
	char p99[FORMAT_BYTES], run[FORMAT_BYTES];

	(void)state;
	line = screen_find(text, "wakeup wait");
	assert_true(screen_has(line, format_ns(p99, (double)fixture_p99_ns(7))));
	free(line);
	line = screen_find(text, "preempt wait");
	assert_true(screen_has(line, format_ns(p99, (double)(fixture_p99_ns(7) / 2))));
	free(line);
	line = screen_find(text, "time ");
	assert_true(screen_has(line, format_percent(run, fixture_run(7))));
	free(line);
	assert_true(screen_has(text, "Threads that last ran on CPU 7"));
	free(text);
}

/* As docs/extending.md has it: a function and an entry. */
static double out_of(const struct machine *m, const struct machine_task *t)
{
	(void)m;
	return t->run + t->wait > 0 ? t->wait / (t->run + t->wait) : NAN;
}

static void headings_say_of_what_the_columns_are(void **state)
{
	struct screen s = { .sort = SORT_PREEMPTED_P99 };
	char *text = screen_draw("process", &f.m, &s, 240, 20);

	(void)state;
	assert_true(screen_has(text, "wakeup wait"));
	assert_true(screen_has(text, "preempted wait"));
	assert_true(screen_has(text, "PREEMPT P99: 99th percentile of waits after preemption"));
	free(text);
	/* Where there is no room for them, titles do. */
	text = screen_draw("process", &f.m, &s, 120, 10);
	assert_false(screen_has(text, "wakeup wait"));
	assert_true(screen_has(text, "PREEMPT P99"));
	free(text);
}

static void nice_values_and_priorities_are_told_apart(void **state)
{
	static const struct {
		int32_t prio;
		const char *text;
	} cases[] = { { 120, "0" },  { 100, "-20" }, { 139, "19" },           { 99, "rt0" },
		      { 0, "rt99" }, { -1, "dl" },   { MACHINE_NO_PRIO, "-" } };
	const struct task_metric *nice = NULL;

	(void)state;
	for (size_t i = 0; i < task_metrics.nr; i++)
		if (strcmp(task_metrics.items[i].title, "NI") == 0)
			nice = &task_metrics.items[i];
	assert_non_null(nice);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct machine_task t = { .prio = cases[i].prio };
		struct table_view_cell cell = { .style = STYLE_TEXT };

		task_metric_cell(nice, &f.m, &t, &(struct screen){ 0 }, &cell);
		assert_string_equal(cell.text, cases[i].text);
	}
}

static void a_bar_has_the_shares_of_running_and_waiting(void **state)
{
	static const struct {
		double run, wait;
		const char *bar;
	} cases[] = {
		{ 0.5, 0.3, "█████▒▒▒··" }, { 0, 0, "··········" },
		{ 1, 0, "██████████" },     { 0, 1, "▒▒▒▒▒▒▒▒▒▒" },
		{ 0.01, 0, "█·········" },  { 0.99, 0.01, "█████████▒" },
		{ 2, 2, "█████▒▒▒▒▒" },     { 0.3, NAN, "███·······" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct screen s = { 0 };
		struct machine_task t = f.threads[0];
		struct machine m = f.m;
		char *text;

		t.run = cases[i].run;
		t.wait = cases[i].wait;
		m.threads = &t;
		m.nr_threads = 1;
		text = screen_draw("threads", &m, &s, 200, 20);
		if (!screen_has(text, cases[i].bar))
			fail_msg("no %s in:\n%s", cases[i].bar, text);
		free(text);
	}
}

static void a_new_metric_is_one_entry_shown_and_sorted_by(void **state)
{
	struct task_metric items[TABLE_VIEW_COLUMNS];
	struct task_metrics more = { items, task_metrics.nr + 1 };
	struct screen s = { .metrics = &more };
	const struct machine_task *most = &f.m.processes[0], *least = most;
	char number[32], share[FORMAT_BYTES];
	char *text, *line;

	(void)state;
	assert_true(more.nr <= TABLE_VIEW_COLUMNS);
	memcpy(items, task_metrics.items, task_metrics.nr * sizeof(*items));
	items[task_metrics.nr] = (struct task_metric){
		"OUT%",           "waiting, of the time that it wanted to run",
		METRIC_SHARE,     SORT_OWN,
		.width = 6,       .rank = 1,
		.number = out_of,
	};
	for (size_t i = 0; i < f.m.nr_processes; i++) {
		const struct machine_task *t = &f.m.processes[i];

		if (out_of(&f.m, t) > out_of(&f.m, most))
			most = t;
		if (out_of(&f.m, t) < out_of(&f.m, least))
			least = t;
	}
	assert_true(out_of(&f.m, most) > out_of(&f.m, least));
	for (int way = 0; way < 2; way++) {
		const struct machine_task *first = way ? least : most;

		s.sort = task_metric_sort(&more, task_metrics.nr);
		s.is_ascending = way;
		text = screen_draw("process", &f.m, &s, 100, 20);
		assert_true(screen_has(text, way ? "\u25b2OUT%" : "\u25bcOUT%"));
		line = screen_line(text, 3); /* below the frame, the headings and the titles */
		snprintf(number, sizeof(number), " %u ", first->tid);
		assert_true(screen_has(line, number));
		assert_true(screen_has(line, format_percent(share, out_of(&f.m, first))));
		free(line);
		free(text);
	}
}

static void every_metric_says_what_it_means(void **state)
{
	(void)state;
	for (size_t i = 0; i < task_metrics.nr; i++) {
		const struct task_metric *x = &task_metrics.items[i];

		assert_true(x->definition && strlen(x->definition) > 5);
		assert_true(!x->number != !x->text);
		for (size_t k = 0; k < i; k++) /* PID and TID are one, of different tables */
			if (x->sort != SORT_TID)
				assert_true(task_metric_sort(&task_metrics, i) !=
				            task_metric_sort(&task_metrics, k));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_screens_are_as_they_were),
		cmocka_unit_test(a_row_has_the_numbers_of_its_process),
		cmocka_unit_test(every_column_of_a_scheduler_person_is_there_when_wide),
		cmocka_unit_test(a_task_that_gets_no_cpu_is_marked),
		cmocka_unit_test(the_sorted_column_is_always_shown_with_its_mark),
		cmocka_unit_test(selection_follows_its_task),
		cmocka_unit_test(the_top_row_is_the_top_whatever_tasks_there_are),
		cmocka_unit_test(a_filter_is_reported_and_counted),
		cmocka_unit_test(a_process_that_has_ended_is_reported),
		cmocka_unit_test(without_bpf_what_it_measures_has_no_column),
		cmocka_unit_test(zoom_shows_the_distributions_of_its_task),
		cmocka_unit_test(headings_say_of_what_the_columns_are),
		cmocka_unit_test(nice_values_and_priorities_are_told_apart),
		cmocka_unit_test(a_bar_has_the_shares_of_running_and_waiting),
		cmocka_unit_test(a_new_metric_is_one_entry_shown_and_sorted_by),
		cmocka_unit_test(every_metric_says_what_it_means),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
