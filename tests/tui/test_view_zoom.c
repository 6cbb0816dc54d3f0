#include "../unit.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../render/golden.h"
#include "fixture_zoom.h"
#include "screen.h"
#include "tui/format.h"

#define THREAD 5U

static struct fixture f;
static struct fixture_zoom z;

static int setup(void **state)
{
	(void)state;
	setlocale(LC_CTYPE, "C.UTF-8");
	fixture_init(&f, &fixture_small);
	fixture_zoom_init(&z, &f, THREAD, false);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_done(&f);
	return 0;
}

static struct screen screen_of(uint32_t thread)
{
	return (struct screen){ .selected_tid = FIXTURE_TID + thread,
		                .process = FIXTURE_TID +
		                           thread / FIXTURE_THREADS * FIXTURE_THREADS };
}

static char *draw(uint16_t width, uint16_t height)
{
	struct screen s = screen_of(THREAD);

	return screen_draw("task", &f.m, &s, width, height);
}

static void expect_golden(uint16_t width, uint16_t height, const char *name)
{
	char *text = draw(width, height);

	golden_compare(name, text);
	free(text);
}

static void the_screens_are_as_they_were(void **state)
{
	(void)state;
	expect_golden(20, 5, "tui-zoom-20.txt");
	expect_golden(80, 24, "tui-zoom-80.txt");
	expect_golden(80, 60, "tui-zoom-80-tall.txt");
	expect_golden(240, 70, "tui-zoom-240.txt");
	expect_golden(45, 30, "tui-zoom-45.txt");
}

static void a_priority_that_is_not_known_is_not_shown_as_zero(void **state)
{
	static const struct {
		int32_t prio;
		const char *shown;
	} cases[] = { { MACHINE_NO_PRIO, "priority ?," },
		      { 0, "real-time priority 99," },
		      { -1, "deadline," },
		      { 130, "nice 10," } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text;

		f.threads[THREAD].prio = cases[i].prio;
		text = draw(80, 60);
		assert_non_null(strstr(text, cases[i].shown));
		free(text);
	}
	f.threads[THREAD].prio = 120;
}

/* It is preempted only: what it waited for has the room. */
static void without_wakers_there_is_no_table_of_them(void **state)
{
	struct machine_zoom none = *f.m.zoom;
	const struct machine_zoom *zoom = f.m.zoom;
	static const uint16_t sizes[][2] = { { 80, 24 }, { 45, 30 }, { 240, 70 } };

	(void)state;
	none.nr_wakers = 0;
	none.other_wakers.count = 0;
	f.m.zoom = &none;
	for (size_t i = 0; i < 3; i++) {
		char *text = draw(sizes[i][0], sizes[i][1]);

		assert_null(strstr(text, "Woken by"));
		assert_non_null(strstr(text, "Waited for"));
		assert_non_null(strstr(text, "Last waits"));
		free(text);
	}
	f.m.zoom = zoom;
}

/* Words that must stand in this order in one line. */
static void expect_words(const char *text, const char *const *words, size_t nr)
{
	char *line = screen_find(text, words[0]);
	const char *at = line;

	for (size_t i = 0; i < nr; i++) {
		at = strstr(at, words[i]);
		if (!at)
			print_message("# no '%s' in '%s'\n", words[i], line);
		assert_non_null(at);
		at += strlen(words[i]);
	}
	free(line);
}

static void wakers_are_reported_with_the_waits_that_they_began(void **state)
{
	char *text = draw(240, 70);

	(void)state;
	for (uint32_t i = 0; i < FIXTURE_WAKERS; i++) {
		char who[64], waits[FORMAT_BYTES], mean[FORMAT_BYTES], p99[FORMAT_BYTES],
			max[FORMAT_BYTES];

		if (i)
			snprintf(who, sizeof(who), " %u %s ", 2000 + i,
			         fixture_rival_name(i, false));
		else
			snprintf(who, sizeof(who), " - timer interrupt ");
		expect_words(text,
		             (const char *[]){ who, format_count(waits, FIXTURE_WAITS >> i, false),
		                               format_ns(mean, 2500.0 * (i + 1)),
		                               format_ns(p99, (double)(9000ULL << i)),
		                               format_ns(max, (double)(40000ULL << i)) },
		             5);
	}
	free(text);
}

static void rivals_are_reported_with_their_share_of_the_waiting(void **state)
{
	uint64_t sum = 0;
	char *text = draw(240, 70), sum_text[FORMAT_BYTES];

	(void)state;
	for (uint32_t i = 0; i < FIXTURE_RIVALS; i++)
		sum += FIXTURE_RIVAL_NS >> i;
	expect_words(text, (const char *[]){ " Waited for ", format_ns(sum_text, (double)sum) }, 2);
	for (uint32_t i = 0; i < FIXTURE_RIVALS; i++) {
		char who[64], share[FORMAT_BYTES], time[FORMAT_BYTES], times[FORMAT_BYTES];
		uint64_t ns = FIXTURE_RIVAL_NS >> i;

		if (i < FIXTURE_RIVALS - 1)
			snprintf(who, sizeof(who), " %u %s ", 3000 + i,
			         fixture_rival_name(i, false));
		else
			snprintf(who, sizeof(who), " - idle ");
		expect_words(text,
		             (const char *[]){ who, format_percent(share, (double)ns / (double)sum),
		                               format_ns(time, (double)ns),
		                               format_count(times, 10 - i, false) },
		             4);
	}
	free(text);
}

static void waits_are_reported_with_waker_and_the_tasks_that_ran_meanwhile(void **state)
{
	char *text = draw(240, 70);

	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		char ago[FORMAT_BYTES], ran[FORMAT_BYTES], wait[FORMAT_BYTES], by[64],
			behind[FORMAT_BYTES + 32], held[FORMAT_BYTES], when[80];
		uint64_t ns = fixture_wait_ns(i);

		snprintf(when, sizeof(when), " %6s %6s ", format_ns(ago, (i + 1) * 1e7),
		         format_ns(ran, 2e5 * (i + 1)));
		if (i % 3 == 2)
			snprintf(by, sizeof(by), "timer interrupt");
		else
			snprintf(by, sizeof(by), "%s [%u]", fixture_rival_name(i, false), 2000 + i);
		snprintf(behind, sizeof(behind), "%s %s", fixture_rival_name(0, false),
		         format_ns(held, (double)((ns - z.last[i].others_ns) / (1 + i % 4))));
		expect_words(text,
		             (const char *[]){ when,
		                               i % 3 == 1 ? "-"
		                               : i % 2    ? "D 3.00ms"
		                                          : "S 3.00ms",
		                               i % 3 == 1 ? "preempted" : "woken", by,
		                               format_ns(wait, (double)ns),
		                               i % 2 == 0 ? "0>1" : " 1", behind },
		             7);
	}
	free(text);
}

static void a_thread_that_has_ended_stays_with_its_last_numbers(void **state)
{
	struct machine_task row = f.threads[THREAD];
	struct screen s = screen_of(THREAD);
	struct machine gone = f.m;
	char *text;

	(void)state;
	gone.nr_threads = gone.nr_processes = 0;
	z.zoom.row = &row;
	z.zoom.is_ended = true;
	text = screen_draw("task", &gone, &s, 80, 24);
	assert_true(screen_has(text, "ended: nginx [1005]"));
	assert_true(screen_has(text, "timer interrupt") && screen_has(text, "migration/0"));
	free(text);
	text = screen_draw("task", &gone, &s, 20, 5);
	assert_true(screen_has(text, "ended: nginx"));
	free(text);
	/* Another one's zoom says nothing of it. */
	s.selected_tid = 999999;
	text = screen_draw("task", &gone, &s, 80, 24);
	assert_true(screen_has(text, "task 999999 has ended"));
	free(text);
	z.zoom.row = &f.threads[THREAD];
	z.zoom.is_ended = false;
}

static void without_bpf_a_sentence_says_what_is_missing(void **state)
{
	char *text;

	(void)state;
	z.zoom.missing = "who wakes it is not known: run as root";
	text = draw(80, 24);
	assert_true(screen_has(text, "who wakes it is not known: run as root"));
	assert_true(screen_has(text, "wakeup wait"));
	assert_false(screen_has(text, "Woken by"));
	free(text);
	z.zoom.missing = NULL;
}

static void what_found_no_place_is_reported_as_others(void **state)
{
	char *text;

	(void)state;
	z.zoom.nr_rivals = z.zoom.nr_wakers = 1;
	z.zoom.other_rivals_ns = FIXTURE_RIVAL_NS; /* as much as the only one */
	z.zoom.other_wakers = (struct machine_dist){
		.count = 77, .p50_ns = 1, .p99_ns = 2, .max_ns = 3, .mean_ns = 1
	};
	text = draw(240, 70);
	expect_words(text, (const char *[]){ "- others", "77", "- others", "50.0", "512ms" }, 5);
	free(text);
	fixture_zoom_init(&z, &f, THREAD, false);
}

static void hostile_names_fit_every_size(void **state)
{
	struct fixture_cfg cfg = fixture_small;
	struct fixture_zoom zoom;
	struct fixture hostile;

	(void)state;
	cfg.is_hostile = true;
	fixture_init(&hostile, &cfg);
	fixture_zoom_init(&zoom, &hostile, THREAD, true);
	for (uint16_t width = 0; width <= 240; width = (uint16_t)(width + 7))
		for (uint16_t height = 0; height <= 70; height = (uint16_t)(height + 3)) {
			struct screen s = screen_of(THREAD);

			free(screen_draw("task", &hostile.m, &s, width, height));
		}
	fixture_done(&hostile);
}

static void the_view_requests_the_thread_that_is_selected(void **state)
{
	const struct screen s = { .selected_tid = 4711 };
	struct machine_request r = { 0 };
	const struct view *v = view_find("task");

	(void)state;
	assert_true(v->needs & MACHINE_ZOOM);
	v->request(&s, &r);
	expect_eq(r.tid, 4711);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_screens_are_as_they_were),
		cmocka_unit_test(a_priority_that_is_not_known_is_not_shown_as_zero),
		cmocka_unit_test(without_wakers_there_is_no_table_of_them),
		cmocka_unit_test(wakers_are_reported_with_the_waits_that_they_began),
		cmocka_unit_test(rivals_are_reported_with_their_share_of_the_waiting),
		cmocka_unit_test(waits_are_reported_with_waker_and_the_tasks_that_ran_meanwhile),
		cmocka_unit_test(a_thread_that_has_ended_stays_with_its_last_numbers),
		cmocka_unit_test(without_bpf_a_sentence_says_what_is_missing),
		cmocka_unit_test(what_found_no_place_is_reported_as_others),
		cmocka_unit_test(hostile_names_fit_every_size),
		cmocka_unit_test(the_view_requests_the_thread_that_is_selected),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
