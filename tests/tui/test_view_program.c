/* BPF programs: the list, and one program. */
#include "../unit.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../render/golden.h"
#include "screen.h"
#include "tui/app.h"
#include "tui/format.h"

struct harness {
	struct fixture f;
	struct config config;
	struct app app;
	struct grid grid;
};

static int set_up(void **state)
{
	struct harness *h = calloc(1, sizeof(*h));

	if (!h || !setlocale(LC_CTYPE, "C.UTF-8"))
		return -1;
	fixture_init(&h->f, &fixture_small);
	config_init(&h->config);
	app_init(&h->app, &h->config);
	assert_int_equal(grid_init(&h->grid, 120, 40), 0);
	*state = h;
	return 0;
}

static int tear_down(void **state)
{
	struct harness *h = *state;

	fixture_done(&h->f);
	config_done(&h->config);
	grid_done(&h->grid);
	free(h);
	return 0;
}

static void draw(struct harness *h)
{
	assert_int_equal(grid_reset(&h->grid, 120, 40), 0);
	app_draw(&h->app, &h->f.m, &h->grid);
}

static void press(struct harness *h, const char *key)
{
	expect_eq(app_press(&h->app, &h->f.m, (struct app_input){ .key = key_from_text(key) }), 0);
	draw(h);
}

static void expect_golden(const struct machine *m, const char *view, struct screen s,
                          uint16_t width, uint16_t height, const char *name)
{
	char *text = screen_draw(view, m, &s, width, height);

	golden_compare(name, text);
	free(text);
}

static void the_screens_are_as_they_were(void **state)
{
	struct harness *h = *state;
	struct screen s = { .program = 12 };

	expect_golden(&h->f.m, "bpf", (struct screen){ 0 }, 160, 14, "tui-bpf-160.txt");
	expect_golden(&h->f.m, "program", s, 120, 36, "tui-program-120.txt");
	expect_golden(&h->f.m, "program", s, 80, 24, "tui-program-80.txt");
	expect_golden(&h->f.m, "program", s, 20, 5, "tui-program-20.txt");
}

static void every_column_has_its_number(void **state)
{
	struct harness *h = *state;
	struct screen s = { 0 };
	char *text = screen_draw("bpf", &h->f.m, &s, 160, 14);

	for (uint32_t i = 0; i < 4; i++) {
		const struct machine_bpf *p = &h->f.programs[i];
		char id[16], rest[160], a[FORMAT_BYTES], b[FORMAT_BYTES], c[FORMAT_BYTES],
			d[FORMAT_BYTES], e[FORMAT_BYTES], runs[FORMAT_BYTES];
		char *line;

		snprintf(id, sizeof(id), " %u ", p->id);
		line = screen_find(text, id);
		snprintf(rest, sizeof(rest), "%6.2f %6s %7s %6s %6s %8s %6s %6" PRIu64 " %6u",
		         p->cpu * 100, format_count(a, p->runs_per_s, false),
		         format_ns(b, p->ns_per_run), format_ns(c, p->p50_ns),
		         format_ns(d, p->p99_ns), format_ns(e, (double)p->run_ns),
		         format_count(runs, (double)p->runs, false), p->misses, p->insns);
		if (!screen_has(line, rest))
			print_message("# no '%s' in '%s'\n", rest, line);
		assert_true(screen_has(line, rest));
		free(line);
	}
	assert_true(screen_has(text, "BPF 1.23% of all CPUs' time"));
	assert_true(screen_has(text, "of the means of the last 100 intervals"));
	free(text);
}

/* scxtop takes any program for one of sched_ext whose name has a word such as enqueue. */
static void only_the_kernel_says_what_is_sched_ext(void **state)
{
	struct harness *h = *state;
	struct screen s = { 0 };
	char *text, *line;

	strcpy(s.filter, "Sched_Ext");
	expect_eq(view_find("bpf")->rows(&h->f.m, &s), 2);
	text = screen_draw("bpf", &h->f.m, &s, 160, 14);
	assert_true(screen_has(text, "simple_a") && screen_has(text, "simple_b"));
	assert_false(screen_has(text, "enqueue_dispatch"));
	assert_true(screen_has(text, "2 of 5"));
	free(text);
	strcpy(s.filter, "scheduler");
	expect_eq(view_find("bpf")->rows(&h->f.m, &s), 2);
	strcpy(s.filter, "ENQUEUE"); /* a name is a name */
	expect_eq(view_find("bpf")->rows(&h->f.m, &s), 1);
	strcpy(s.filter, "tcp_con");
	expect_eq(view_find("bpf")->rows(&h->f.m, &s), 1);
	strcpy(s.filter, "12");
	expect_eq(view_find("bpf")->rows(&h->f.m, &s), 1);
	s.filter[0] = '\0';
	text = screen_draw("bpf", &h->f.m, &s, 160, 14);
	line = screen_find(text, "enqueue_dispatch");
	assert_true(screen_has(line, "tracing              -  "));
	free(line);
	line = screen_find(text, "simple_a");
	assert_true(screen_has(line, "struct_ops           simple  "));
	free(line);
	line = screen_find(text, " 14 ");
	assert_true(screen_has(line, "tcp_congestion_ops"));
	free(line);
	free(text);
}

/* scxtop keeps programs that were unloaded. */
static void what_is_gone_leaves_the_list_and_the_selection_stays(void **state)
{
	struct harness *h = *state;
	struct screen s = { .selected = 2 };
	char *text = screen_draw("bpf", &h->f.m, &s, 120, 14);
	uint32_t id = s.selected_tid;

	free(text);
	expect_eq(id, 11); /* by cost: 13, 12, 11 */
	memmove(&h->f.programs[2], &h->f.programs[3], 2 * sizeof(h->f.programs[0]));
	h->f.m.nr_programs = 4; /* 12 has gone */
	text = screen_draw("bpf", &h->f.m, &s, 120, 14);
	assert_false(screen_has(text, "simple_a"));
	expect_eq(s.selected_tid, id);
	expect_eq(s.selected, 1);
	free(text);
}

static void enter_shows_the_selected_program(void **state)
{
	struct harness *h = *state;

	press(h, "b");
	press(h, "Down");
	press(h, "Enter");
	assert_string_equal(h->app.view->state, "BpfProgramDetail");
	expect_eq(app_request(&h->app).program, 12);
	press(h, "Down"); /* scrolls lines, and chooses no other program */
	press(h, "j");
	expect_eq(app_request(&h->app).program, 12);
	press(h, "Esc");
	assert_string_equal(h->app.view->state, "BpfPrograms");
	expect_eq(h->app.screen.selected_tid, 12);
	expect_eq(app_request(&h->app).program, 0);
}

static void by_its_name_the_action_shows_the_last_one_or_the_costliest(void **state)
{
	struct harness *h = *state;
	const struct action_entry *e = action_find("AppStateBpfProgramDetail");

	assert_non_null(e);
	expect_eq(keymap_set(&h->config.keys, 'Z', e), 0);
	press(h, "Z");
	assert_string_equal(h->app.view->state, "BpfProgramDetail");
	expect_eq(app_request(&h->app).program, 13);
	press(h, "b");
	press(h, "Down");
	press(h, "Down");
	press(h, "Z");
	expect_eq(app_request(&h->app).program, 11);
	press(h, "Esc");
	assert_string_equal(h->app.view->state, "BpfPrograms");
}

/* scxtop goes on sampling. */
static void p_samples_it_and_leaving_stops_that(void **state)
{
	struct harness *h = *state;

	press(h, "b");
	press(h, "Enter");
	assert_false(app_request(&h->app).is_program_hot);
	press(h, "p");
	assert_string_equal(h->app.view->state, "BpfProgramDetail");
	assert_true(app_request(&h->app).is_program_hot);
	press(h, "h");
	assert_true(app_request(&h->app).is_program_hot);
	press(h, "h");
	press(h, "]");
	assert_true(app_request(&h->app).sample_hz > MACHINE_PROFILE_HZ);
	press(h, "Esc");
	assert_false(app_request(&h->app).is_program_hot);
	press(h, "Enter");
	assert_false(app_request(&h->app).is_program_hot);
	press(h, "p");
	press(h, "s");
	press(h, "b");
	press(h, "Enter");
	assert_false(app_request(&h->app).is_program_hot);
	press(h, "p");
	press(h, "p");
	assert_false(app_request(&h->app).is_program_hot);
	press(h, "Esc");
	press(h, "p"); /* in the list it shows processes */
	assert_string_equal(h->app.view->state, "Process");
}

static void operations_of_its_scheduler_share_its_time(void **state)
{
	struct harness *h = *state;
	struct screen s = { .program = 12 };
	char *text = screen_draw("program", &h->f.m, &s, 120, 40), *line;
	double sum = h->f.programs[2].cpu + h->f.programs[3].cpu;
	char share[FORMAT_BYTES];

	assert_true(screen_has(text, "operation     enqueue of simple (sched_ext_ops)"));
	assert_true(screen_has(text, "operations of simple"));
	line = screen_find(text, " dispatch ");
	assert_true(screen_has(line, format_percent(share, h->f.programs[3].cpu / sum)));
	assert_true(screen_has(line, "13 simple_b"));
	free(line);
	free(text);
	s.program = 11; /* its name does not make it one */
	text = screen_draw("program", &h->f.m, &s, 120, 40);
	assert_false(screen_has(text, "operations of"));
	free(text);
}

static void lines_have_their_shares(void **state)
{
	struct harness *h = *state;
	struct screen s = { .program = 10 };
	char *text = screen_draw("program", &h->f.m, &s, 120, 40), *line;

	assert_true(screen_has(
		text, "80 samples in it, 20 in what it calls, of 6000 of all CPUs; cycles 796 Hz"));
	line = screen_find(text, "work.bpf.c:42");
	assert_true(screen_has(line, " 70.0      50       20 on_switch"));
	assert_true(screen_has(line, "count++;"));
	free(line);
	line = screen_find(text, "0x3000");
	assert_true(screen_has(line, " 10.0      10        0 "));
	free(line);
	free(text);
	h->f.hot->programs.hot = NULL;
	text = screen_draw("program", &h->f.m, &s, 120, 40);
	assert_true(screen_has(text, "p samples the program"));
	free(text);
	h->f.hot->hot = (struct machine_hot){ .refusal = "the kernel hides it" };
	h->f.hot->programs.hot = &h->f.hot->hot;
	text = screen_draw("program", &h->f.m, &s, 120, 40);
	assert_true(screen_has(text, "the kernel hides it"));
	free(text);
	h->f.hot->hot =
		(struct machine_hot){ .event = "cpu-clock", .why_event = "no PMU", .seconds = 3 };
	text = screen_draw("program", &h->f.m, &s, 120, 40);
	assert_true(screen_has(text, "interrupts off"));
	free(text);
}

static void a_program_that_is_gone_is_reported(void **state)
{
	struct harness *h = *state;
	struct screen s = { .program = 99 };
	char *text = screen_draw("program", &h->f.m, &s, 80, 24);

	assert_true(screen_has(text, "program 99 was unloaded"));
	free(text);
	h->f.m.nr_programs = 0;
	h->f.hot->programs.refusal = "it needs CAP_SYS_ADMIN";
	text = screen_draw("program", &h->f.m, &s, 80, 24);
	assert_true(screen_has(text, "it needs CAP_SYS_ADMIN"));
	free(text);
	text = screen_draw("bpf", &h->f.m, &s, 80, 24);
	assert_true(screen_has(text, "it needs CAP_SYS_ADMIN"));
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		CASE(the_screens_are_as_they_were),
		CASE(every_column_has_its_number),
		CASE(only_the_kernel_says_what_is_sched_ext),
		CASE(what_is_gone_leaves_the_list_and_the_selection_stays),
		CASE(enter_shows_the_selected_program),
		CASE(by_its_name_the_action_shows_the_last_one_or_the_costliest),
		CASE(p_samples_it_and_leaving_stops_that),
		CASE(operations_of_its_scheduler_share_its_time),
		CASE(lines_have_their_shares),
		CASE(a_program_that_is_gone_is_reported),
#undef CASE
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
