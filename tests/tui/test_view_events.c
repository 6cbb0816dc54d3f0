/* What CPUs, caches and nodes show of the chosen event, and the lists that it is chosen from. */
#include "../unit.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../render/golden.h"
#include "machine/machine_event.h"
#include "screen.h"
#include "tui/format.h"
#include "tui/views/cpu_items.h"

#define SWITCH    "perf:sched:sched_switch"
#define NR_VALUES 64U

struct counted {
	struct fixture f;
	struct machine_event event;
	double *past;
};

static double rate_of(uint32_t cpu)
{
	return 150.0 * (cpu + 1);
}

/* The newest is what is counted now; before, it was less by one per interval. */
static void count(struct counted *c, const struct fixture_cfg *cfg, const char *word)
{
	*c = (struct counted){ .event = { .word = word } };
	fixture_init(&c->f, cfg);
	c->past = calloc((size_t)cfg->nr_cpus * NR_VALUES + 1, sizeof(*c->past));
	assert_non_null(c->past);
	for (uint32_t cpu = 0; cpu < cfg->nr_cpus; cpu++) {
		double *values = c->past + (size_t)cpu * NR_VALUES;

		for (uint32_t i = 0; i < NR_VALUES; i++)
			values[i] = rate_of(cpu) - (NR_VALUES - 1 - i);
		c->f.cpus[cpu].event_per_s = rate_of(cpu);
		c->f.cpus[cpu].event_history = (struct machine_history){ values, NR_VALUES };
	}
	c->f.m.event = &c->event;
}

static void done(struct counted *c)
{
	fixture_done(&c->f);
	free(c->past);
}

static int setup(void **state)
{
	(void)state;
	return setlocale(LC_CTYPE, "C.UTF-8") ? 0 : -1;
}

static struct screen screen_of(const char *event, enum view_shape shape)
{
	struct screen s = { .shape = shape, .tick_ms = 250 };

	snprintf(s.event, sizeof(s.event), "%s", event);
	return s;
}

static void expect_golden(const char *view, const struct machine *m, struct screen s,
                          uint16_t width, uint16_t height, const char *name)
{
	char *text = screen_draw(view, m, &s, width, height);

	golden_compare(name, text);
	free(text);
}

static void the_screens_are_as_they_were(void **state)
{
	struct counted c;

	(void)state;
	count(&c, &fixture_small, SWITCH);
	expect_golden("default", &c.f.m, screen_of(SWITCH, SHAPE_BARS), 80, 24,
	              "tui-event-default.txt");
	expect_golden("default", &c.f.m, screen_of(SWITCH, SHAPE_BARS), 20, 5, "tui-event-20.txt");
	expect_golden("default", &c.f.m, screen_of(SWITCH, SHAPE_SPARKS), 80, 24,
	              "tui-event-sparks.txt");
	expect_golden("llc", &c.f.m, screen_of(SWITCH, SHAPE_BARS), 100, 24, "tui-event-llc.txt");
	expect_golden("node", &c.f.m, screen_of(SWITCH, SHAPE_TABLE), 120, 20,
	              "tui-event-node.txt");
	done(&c);
}

static char *title_line(const struct machine *m, const char *view, const char *event)
{
	struct screen s = screen_of(event, SHAPE_BARS);
	char *text = screen_draw(view, m, &s, 120, 30), *line = screen_line(text, 0);

	free(text);
	return line;
}

static void expect_title(const struct machine *m, const char *view, const char *event,
                         const char *want)
{
	char *line = title_line(m, view, event);

	if (!screen_has(line, want))
		print_message("# no '%s' in '%s'\n", want, line);
	assert_true(screen_has(line, want));
	free(line);
}

/* 150 to 1200 by 150: the sum is 5400, the mean 675. */
static void the_title_has_name_sum_mean_and_extremes(void **state)
{
	struct counted c;
	double busy = 0, low = 1, high = 0;
	char want[160], a[FORMAT_BYTES], b[FORMAT_BYTES], d[FORMAT_BYTES];

	(void)state;
	count(&c, &fixture_small, SWITCH);
	expect_title(&c.f.m, "default", SWITCH,
	             " 8 CPUs (sched:sched_switch) 5400/s avg 675 max 1200 min 150 ");
	expect_title(&c.f.m, "llc", SWITCH,
	             " 2 LLCs (sched:sched_switch) 5400/s avg 675 max 1200 min 150 ");
	for (uint32_t cpu = 0; cpu < 8; cpu++) {
		double user = fixture_busy(cpu) * 0.7;

		busy += user;
		low = user < low ? user : low;
		high = user > high ? user : high;
	}
	snprintf(want, sizeof(want), " 8 CPUs (cpu_user_util_percent) avg %s max %s min %s ",
	         format_percent(a, busy / 8), format_percent(b, high), format_percent(d, low));
	expect_title(&c.f.m, "default", "cpu:cpu_user_util_percent", want);
	/* 1200 to 1900 MHz. */
	expect_title(&c.f.m, "default", "cpu:cpu_frequency_mhz",
	             " 8 CPUs (cpu_frequency_mhz) avg 1.55G max 1.90G min 1.20G ");
	done(&c);
}

/* The peer's averages held zeros that were not measured, and a minimum of 2^64-1 where there was nothing. */
static void only_what_is_known_counts(void **state)
{
	struct counted c;

	(void)state;
	count(&c, &fixture_small, SWITCH);
	c.f.cpus[7].event_per_s = NAN;
	c.f.cpus[0].is_online = false;
	/* 300 to 1050 by 150. */
	expect_title(&c.f.m, "default", SWITCH, " 4050/s avg 675 of 6 CPUs max 1050 min 300 ");
	for (uint32_t cpu = 0; cpu < 8; cpu++)
		c.f.cpus[cpu].event_per_s = NAN;
	expect_title(&c.f.m, "default", SWITCH, " (sched:sched_switch) -/s avg - max - min - ");
	done(&c);
}

static void rates_of_groups_are_sums_and_shares_are_means(void **state)
{
	const struct screen s = screen_of(SWITCH, SHAPE_BARS);
	const struct screen user = screen_of("cpu:cpu_user_util_percent", SHAPE_BARS);
	struct measure rate, share;
	struct cpu_items items;
	struct counted c;

	(void)state;
	count(&c, &fixture_small, SWITCH);
	rate = measure_of(&c.f.m, &s);
	expect_eq(cpu_items_init(&items, &c.f.m, &rate, GROUP_LLC, CPU_ITEMS_ALL), 0);
	expect_eq(items.nr, 2);
	assert_true(fabs(items.items[0].value - 1500) < 1e-9); /* 150 + 300 + 450 + 600 */
	assert_true(fabs(items.items[1].value - 3900) < 1e-9);
	assert_true(fabs(items.items[1].value_min - 750) < 1e-9);
	assert_true(fabs(items.items[0].part - 1500.0 / 3900) < 1e-9);
	expect_eq(items.items[0].history.nr, NR_VALUES);
	assert_true(fabs(items.items[0].history.values[NR_VALUES - 1] - 1500) < 1e-9);
	assert_true(fabs(items.items[0].history.values[0] - (1500 - 4 * 63)) < 1e-9);
	assert_true(fabs(items.largest - 3900) < 1e-9);
	cpu_items_done(&items);
	c.event.word = user.event;
	share = measure_of(&c.f.m, &user);
	expect_eq(cpu_items_init(&items, &c.f.m, &share, GROUP_LLC, CPU_ITEMS_ALL), 0);
	assert_true(fabs(items.items[0].value - (c.f.cpus[0].user + c.f.cpus[1].user +
	                                         c.f.cpus[2].user + c.f.cpus[3].user) /
	                                                4) < 1e-9);
	assert_true(fabs(items.items[0].history.values[NR_VALUES - 1] - 375) < 1e-9); /* a mean */
	cpu_items_done(&items);
	done(&c);
}

/* Moments that were not measured are not zeros in the mean, nor in the sum of others. */
static void histories_of_groups_leave_out_what_is_unknown(void **state)
{
	const struct screen s = screen_of("cpu:cpu_user_util_percent", SHAPE_SPARKS);
	struct measure share;
	struct cpu_items items;
	struct counted c;

	(void)state;
	count(&c, &fixture_small, s.event);
	c.past[0] = NAN;
	share = measure_of(&c.f.m, &s);
	expect_eq(cpu_items_init(&items, &c.f.m, &share, GROUP_LLC, CPU_ITEMS_ALL), 0);
	assert_true(fabs(items.items[0].history.values[0] - (450 - 63)) < 1e-9); /* of three */
	cpu_items_done(&items);
	done(&c);
}

/* The same value is the same bar in the panel of any node. */
static void bars_of_all_nodes_have_one_scale(void **state)
{
	const struct screen s = screen_of(SWITCH, SHAPE_BARS);
	struct fixture_cfg cfg = fixture_small;
	struct cpu_items items;
	struct measure rate;
	struct counted c;

	(void)state;
	cfg.cpus_per_node = 4;
	count(&c, &cfg, SWITCH);
	rate = measure_of(&c.f.m, &s);
	expect_eq(cpu_items_init(&items, &c.f.m, &rate, GROUP_CPU, 0), 0);
	expect_eq(items.nr, 4);
	assert_true(fabs(items.items[3].part - 600.0 / 1200) < 1e-9);
	assert_true(fabs(items.largest - 1200) < 1e-9);
	cpu_items_done(&items);
	done(&c);
}

static void what_cannot_be_counted_is_a_sentence_at_every_size(void **state)
{
	static const uint16_t sizes[][2] = {
		{ 20, 5 }, { 80, 24 }, { 240, 70 }, { 1, 1 }, { 3, 9 }
	};
	struct fixture_cfg cfg = fixture_small;
	struct counted c;

	(void)state;
	cfg.cpus_per_node = 4;
	count(&c, &cfg, "perf:hw:cycles");
	c.event.why = "cannot count 'cycles': no hardware counters on this machine";
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (int shape = 0; shape < SHAPES; shape++) {
			struct screen s = screen_of("perf:hw:cycles", (enum view_shape)shape);
			char *text = screen_draw("default", &c.f.m, &s, sizes[i][0], sizes[i][1]);

			if (sizes[i][0] >= 20)
				assert_true(screen_has(text, "cannot count"));
			if (sizes[i][0] >= 80) {
				char *first = strstr(text, "hardware counters");

				assert_non_null(first);
				assert_null(strstr(first + 1, "hardware counters")); /* once */
			}
			free(text);
		}
	}
	done(&c);
}

/* Numbers of another event, or of none, are not shown for it. */
static void values_belong_to_their_event(void **state)
{
	struct counted c;

	(void)state;
	count(&c, &fixture_small, "perf:sw:page-faults");
	expect_title(&c.f.m, "default", SWITCH, " (sched:sched_switch) -/s avg - ");
	c.f.m.event = NULL;
	expect_title(&c.f.m, "default", SWITCH, " (sched:sched_switch) -/s avg - ");
	expect_title(&c.f.m, "default", "no event at all", " 8 CPUs busy ");
	expect_title(&c.f.m, "default", EVENT_WORD_BUSY, " 8 CPUs busy ");
	done(&c);
}

static void a_recording_says_that_it_has_none(void **state)
{
	struct screen s = screen_of(SWITCH, SHAPE_BARS);
	struct counted c;
	char *text;

	(void)state;
	count(&c, &fixture_small, SWITCH);
	c.f.m.event = NULL;
	c.f.m.play =
		(const struct machine_play *)(const void *)&c; /* that there is one is enough */
	text = screen_draw("default", &c.f.m, &s, 80, 24);
	assert_true(screen_has(text, "this is a recording"));
	free(text);
	done(&c);
}

static void a_long_name_gives_way_to_the_numbers(void **state)
{
	char word[160], *line;
	struct counted c;

	(void)state;
	memset(word, 'n', sizeof(word));
	memcpy(word, "kprobe:", 7);
	word[sizeof(word) - 1] = '\0';
	count(&c, &fixture_small, word);
	line = title_line(&c.f.m, "default", word);
	assert_true(screen_has(line, "nnn...) 5400/s avg 675 max 1200 min 150 "));
	free(line);
	done(&c);
}

static void thousands_are_separated_if_asked_for(void **state)
{
	struct screen s = screen_of(SWITCH, SHAPE_BARS);
	struct counted c;
	char *text;

	(void)state;
	count(&c, &fixture_small, SWITCH);
	c.f.cpus[3].event_per_s = 1234567;
	s.is_localized = true;
	text = screen_draw("default", &c.f.m, &s, 80, 24);
	assert_true(screen_has(text, "1,234,567"));
	free(text);
	done(&c);
}

static void a_busy_cpu_among_512_is_seen_by_its_event(void **state)
{
	struct fixture_cfg cfg = fixture_small;
	struct screen s = screen_of(SWITCH, SHAPE_BARS);
	struct counted c;
	char *text;

	(void)state;
	cfg.nr_cpus = 512;
	cfg.cpus_per_node = 512;
	cfg.nr_threads = 0;
	count(&c, &cfg, SWITCH);
	for (uint32_t cpu = 0; cpu < 512; cpu++) {
		c.f.cpus[cpu].event_per_s = cpu == 300 ? 5000 : 0;
		c.f.cpus[cpu].busy = 0;
	}
	text = screen_draw("default", &c.f.m, &s, 80, 24);
	assert_true(screen_has(text, "\u2588"));
	free(text);
	done(&c);
}

/* The peer cut the newest ones off. */
static void the_newest_is_at_the_right_at_any_width(void **state)
{
	static const uint16_t widths[] = { 120, 80, 44, 30 };
	struct counted c;

	(void)state;
	count(&c, &fixture_small, SWITCH);
	for (uint32_t i = 0; i < 8 * NR_VALUES; i++)
		c.past[i] = i % NR_VALUES == NR_VALUES - 1 ? 1000 : 1;
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		struct screen s = screen_of(SWITCH, SHAPE_SPARKS);
		char *text = screen_draw("default", &c.f.m, &s, widths[i], 40);
		char *line = screen_line(text, 1); /* CPU 0 */

		assert_true(screen_has(line, "\u2588 "));
		assert_false(screen_has(line, "\u2588\u2581")); /* nothing behind it */
		free(line);
		free(text);
	}
	done(&c);
}

static const char *const names[] = { "sw:cpu-clock", "sched:sched_switch", "sched:sched_waking",
	                             "syscalls:sys_enter_read" };

static void the_list_is_searched(void **state)
{
	struct machine_event_list list = { .names = names, .nr = 4, .source = "tracefs" };
	struct screen s = { .selected = 9 };
	struct fixture f;
	char *text;

	(void)state;
	fixture_init(&f, &fixture_small);
	f.m.event_list = &list;
	expect_golden("events", &f.m, s, 80, 12, "tui-event-list.txt");
	expect_eq(view_find("events")->rows(&f.m, &s), 4);
	snprintf(s.search, sizeof(s.search), "wak");
	text = screen_draw("events", &f.m, &s, 80, 12);
	assert_true(screen_has(text, "found 1") && screen_has(text, "sched:sched_waking"));
	assert_false(screen_has(text, "sched:sched_switch"));
	assert_true(screen_has(text, "# > wak_"));
	expect_eq(s.selected, 0);
	free(text);
	list.why = "this kernel has no kprobes";
	text = screen_draw("functions", &f.m, &s, 80, 12);
	assert_true(screen_has(text, "no kprobes") && screen_has(text, "Functions"));
	free(text);
	list = (struct machine_event_list){ .is_loading = true };
	text = screen_draw("events", &f.m, &s, 80, 12);
	assert_true(screen_has(text, "reading the list"));
	free(text);
	fixture_done(&f);
}

/* The peer counted rows in 16 bits. */
static void the_last_of_seventy_thousand_can_be_selected(void **state)
{
	enum { NR = 70000 };
	const char **many = calloc(NR, sizeof(*many));
	struct machine_event_list list = { .names = many, .nr = NR };
	struct screen s = { .selected = NR - 1 };
	struct fixture f;
	char *text;

	(void)state;
	assert_non_null(many);
	for (size_t i = 0; i < NR; i++)
		many[i] = i == NR - 1 ? "the_very_last" : "function";
	fixture_init(&f, &fixture_small);
	f.m.event_list = &list;
	expect_eq(view_find("functions")->rows(&f.m, &s), NR);
	text = screen_draw("functions", &f.m, &s, 80, 24);
	assert_true(screen_has(text, "the_very_last"));
	expect_eq(s.selected, NR - 1);
	free(text);
	fixture_done(&f);
	free(many);
}

/* screen_draw() looks at every cell. */
static void hostile_names_and_sizes_do_no_harm(void **state)
{
	static const uint16_t sizes[][2] = { { 20, 5 }, { 80, 24 }, { 240, 70 }, { 1, 1 },
		                             { 3, 40 }, { 200, 2 }, { 0, 0 } };
	struct machine_event_list list = { .names = fixture_hostile_names,
		                           .nr = fixture_nr_hostile_names,
		                           .source = "\x1b[2J",
		                           .why = "\x1b[2J\xff" };
	struct fixture f;

	(void)state;
	fixture_init(&f, &fixture_small);
	f.m.event_list = &list;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (int k = 0; k < 3; k++) {
			struct screen s = { .selected = 5 };

			snprintf(s.search, sizeof(s.search), "%s",
			         k == 1   ? "e"
			         : k == 2 ? "\xff"
			                  : "");
			free(screen_draw("events", &f.m, &s, sizes[i][0], sizes[i][1]));
			free(screen_draw("functions", &f.m, &s, sizes[i][0], sizes[i][1]));
		}
	}
	fixture_done(&f);
}

static void impossible_counts_do_no_harm(void **state)
{
	static const double values[] = { NAN, INFINITY, -INFINITY, -1, 1e300, 0 };
	struct counted c;

	(void)state;
	count(&c, &fixture_small, SWITCH);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		for (uint32_t cpu = 0; cpu < 8; cpu++)
			c.f.cpus[cpu].event_per_s = values[i];
		for (uint32_t k = 0; k < 8 * NR_VALUES; k++)
			c.past[k] = values[i];
		for (int shape = 0; shape < SHAPES; shape++) {
			struct screen s = screen_of(SWITCH, (enum view_shape)shape);

			free(screen_draw("default", &c.f.m, &s, 80, 24));
			free(screen_draw("llc", &c.f.m, &s, 80, 24));
			free(screen_draw("node", &c.f.m, &s, 20, 5));
		}
	}
	done(&c);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_screens_are_as_they_were),
		cmocka_unit_test(the_title_has_name_sum_mean_and_extremes),
		cmocka_unit_test(only_what_is_known_counts),
		cmocka_unit_test(rates_of_groups_are_sums_and_shares_are_means),
		cmocka_unit_test(histories_of_groups_leave_out_what_is_unknown),
		cmocka_unit_test(bars_of_all_nodes_have_one_scale),
		cmocka_unit_test(what_cannot_be_counted_is_a_sentence_at_every_size),
		cmocka_unit_test(values_belong_to_their_event),
		cmocka_unit_test(a_recording_says_that_it_has_none),
		cmocka_unit_test(a_long_name_gives_way_to_the_numbers),
		cmocka_unit_test(thousands_are_separated_if_asked_for),
		cmocka_unit_test(a_busy_cpu_among_512_is_seen_by_its_event),
		cmocka_unit_test(the_newest_is_at_the_right_at_any_width),
		cmocka_unit_test(the_list_is_searched),
		cmocka_unit_test(the_last_of_seventy_thousand_can_be_selected),
		cmocka_unit_test(hostile_names_and_sizes_do_no_harm),
		cmocka_unit_test(impossible_counts_do_no_harm),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
