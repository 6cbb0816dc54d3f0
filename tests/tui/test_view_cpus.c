#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen.h"
#include "tui/format.h"
#include "tui/views/cpu_items.h"

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
	struct fixture_cfg cfg = fixture_small;
	struct fixture big;

	(void)state;
	screen_golden("default", &f.m, (struct screen){ .has_freq = true }, 80, 24,
	              "tui-default-80.txt");
	screen_golden("default", &f.m, (struct screen){ 0 }, 20, 5, "tui-default-20.txt");
	screen_golden("default", &f.m,
	              (struct screen){
			      .shape = SHAPE_SPARKS, .has_memory = true, .has_network = true },
	              80, 36, "tui-default-sparks.txt");
	screen_golden("default", &f.m, (struct screen){ .shape = SHAPE_TABLE }, 120, 26,
	              "tui-default-table.txt");
	screen_golden("llc", &f.m, (struct screen){ 0 }, 80, 24, "tui-llc-80.txt");
	screen_golden("node", &f.m, (struct screen){ .shape = SHAPE_TABLE }, 240, 16,
	              "tui-node-240.txt");
	cfg.nr_cpus = 384;
	cfg.cpus_per_llc = 16;
	cfg.cpus_per_node = 192;
	fixture_init(&big, &cfg);
	screen_golden("default", &big.m, (struct screen){ 0 }, 80, 24, "tui-default-384.txt");
	fixture_done(&big);
}

/* cmocka compares floats, which are too coarse. */
static void expect_close(double a, double b, double tolerance)
{
	assert_true(fabs(a - b) <= tolerance);
}

/* Sums are made here the simple way. */
static void expect_group(enum view_group group, uint32_t size)
{
	struct cpu_items c;

	expect_eq(cpu_items_init(&c, &f.m, NULL, group, CPU_ITEMS_ALL), 0);
	expect_eq(c.nr, f.m.nr_cpus / size);
	for (uint32_t i = 0; i < c.nr; i++) {
		double busy = 0, switches = 0, high = 0, newest = 0;

		for (uint32_t cpu = i * size; cpu < (i + 1) * size; cpu++) {
			const struct machine_history *h = &f.cpus[cpu].busy_history;

			busy += fixture_busy(cpu);
			switches += 100.0 * (cpu + 1);
			high = fixture_busy(cpu) > high ? fixture_busy(cpu) : high;
			newest += h->values[h->nr - 1];
		}
		expect_close(c.items[i].busy, busy / (double)size, 1e-9);
		expect_close(c.items[i].busy_max, high, 1e-9);
		expect_close(c.items[i].switches_per_s, switches, 1e-9);
		expect_close(c.items[i].history.values[c.items[i].history.nr - 1],
		             newest / (double)size, 1e-9);
		expect_eq(c.items[i].nr_cpus, size);
		expect_eq(c.items[i].wait.p99_ns, 1000 * ((i + 1) * size - 1 + 5));
		expect_eq(c.items[i].wait.count, 50 * size);
	}
	cpu_items_done(&c);
}

static void groups_are_means_sums_and_the_worst(void **state)
{
	(void)state;
	expect_group(GROUP_LLC, 4);
	expect_group(GROUP_NODE, 8);
	expect_group(GROUP_CPU, 1);
}

/* One CPU has been there for less long: what it did not do then is not 0. */
static void a_history_that_has_just_begun_is_not_padded(void **state)
{
	struct machine_history *late = &f.cpus[1].busy_history, before = *late;
	double newest = 0, older = 0;
	struct cpu_items c;

	(void)state;
	*late = (struct machine_history){ before.values + before.nr - 1, 1 };
	for (uint32_t cpu = 0; cpu < 4; cpu++) {
		const struct machine_history *h = &f.cpus[cpu].busy_history;

		newest += h->values[h->nr - 1] / 4;
		older += cpu == 1 ? 0 : h->values[h->nr - 2] / 3;
	}
	expect_eq(cpu_items_init(&c, &f.m, NULL, GROUP_LLC, CPU_ITEMS_ALL), 0);
	expect_eq(c.items[0].history.nr, MACHINE_HISTORY);
	expect_close(c.items[0].history.values[MACHINE_HISTORY - 1], newest, 1e-9);
	expect_close(c.items[0].history.values[MACHINE_HISTORY - 2], older, 1e-9);
	cpu_items_done(&c);
	/* And one of nothing has no values at all. */
	for (uint32_t cpu = 0; cpu < 4; cpu++)
		f.cpus[cpu].busy_history.nr = 0;
	expect_eq(cpu_items_init(&c, &f.m, NULL, GROUP_LLC, CPU_ITEMS_ALL), 0);
	expect_eq(c.items[0].history.nr, 0);
	cpu_items_done(&c);
	for (uint32_t cpu = 0; cpu < 4; cpu++)
		f.cpus[cpu].busy_history.nr = before.nr;
	*late = before;
}

static void every_cpu_is_on_the_screen_with_its_number(void **state)
{
	struct screen s = { 0 };
	char *text = screen_draw("default", &f.m, &s, 80, 24);

	(void)state;
	for (uint32_t cpu = 0; cpu < 8; cpu++) {
		char *line = screen_line(text, 1 + (int)(cpu % 4)), value[FORMAT_BYTES];

		assert_true(screen_has(line, format_percent(value, fixture_busy(cpu))));
		free(line);
	}
	free(text);
}

static void totals_stand_in_the_title(void **state)
{
	struct screen s = { 0 };
	char *text = screen_draw("default", &f.m, &s, 80, 24);
	char title[128], mean[FORMAT_BYTES], low[FORMAT_BYTES], high[FORMAT_BYTES];
	double sum = 0, min = 1, max = 0;

	(void)state;
	for (uint32_t cpu = 0; cpu < 8; cpu++) {
		sum += fixture_busy(cpu);
		min = fixture_busy(cpu) < min ? fixture_busy(cpu) : min;
		max = fixture_busy(cpu) > max ? fixture_busy(cpu) : max;
	}
	snprintf(title, sizeof(title), " 8 CPUs busy %s%% min %s max %s ",
	         format_percent(mean, sum / 8), format_percent(low, min),
	         format_percent(high, max));
	assert_true(screen_has(text, title));
	free(text);
}

/* All of them at any size, so that none is lost: here one cell each. */
static void a_busy_cpu_among_512_idle_ones_is_seen(void **state)
{
	static const struct {
		uint16_t width, height;
	} sizes[] = { { 20, 6 }, { 80, 24 }, { 240, 70 } };
	struct fixture_cfg cfg = fixture_small;
	struct fixture big;

	(void)state;
	cfg.nr_cpus = 512;
	cfg.cpus_per_node = 512;
	cfg.nr_threads = 0;
	fixture_init(&big, &cfg);
	big.m.wait.count = 0;
	for (uint32_t busy = 0; busy < 512; busy += 73) {
		for (uint32_t cpu = 0; cpu < 512; cpu++)
			big.cpus[cpu].busy = cpu == busy ? 1 : 0;
		for (size_t i = 0; i < 3; i++) {
			struct screen s = { 0 };
			char *text = screen_draw("default", &big.m, &s, sizes[i].width,
			                         sizes[i].height);

			/* As a full block, or as a number besides that of the title. */
			assert_true(screen_has(text, "\u2588") ||
			            screen_has(strstr(text, "100.0") + 1, "100.0"));
			free(text);
		}
	}
	fixture_done(&big);
}

/* The peer ended on odd counts, and lost CPUs. */
static void odd_counts_lose_no_cpu(void **state)
{
	static const uint32_t counts[] = { 1, 3, 5, 7, 13, 21 };

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct fixture_cfg cfg = fixture_small;
		struct fixture odd;

		cfg.nr_cpus = counts[i];
		cfg.cpus_per_node = counts[i];
		fixture_init(&odd, &cfg);
		odd.cpus[counts[i] - 1].busy = 0.123;
		for (int shape = 0; shape < SHAPES; shape++) {
			struct screen s = { .shape = (enum view_shape)shape };
			char *text = screen_draw("default", &odd.m, &s, 80, 60);

			assert_true(screen_has(text, "12.3"));
			free(text);
		}
		fixture_done(&odd);
	}
}

static void a_cpu_that_is_offline_is_reported_and_not_counted(void **state)
{
	struct screen s = { 0 };
	struct fixture off;
	char *text;

	(void)state;
	fixture_init(&off, &fixture_small);
	for (uint32_t cpu = 1; cpu < 8; cpu++)
		off.cpus[cpu].is_online = false;
	off.cpus[0].busy = 0.5;
	text = screen_draw("default", &off.m, &s, 80, 24);
	assert_true(screen_has(text, "busy 50.0%"));
	assert_true(screen_has(text, "off"));
	free(text);
	fixture_done(&off);
}

static void nodes_have_panels_of_their_own(void **state)
{
	struct fixture_cfg cfg = fixture_small;
	struct screen s = { 0 };
	struct fixture two;
	char *text;

	(void)state;
	cfg.cpus_per_node = 4;
	fixture_init(&two, &cfg);
	text = screen_draw("default", &two.m, &s, 80, 30);
	assert_true(screen_has(text, "Node 0: 4 CPUs") && screen_has(text, "Node 1: 4 CPUs"));
	free(text);
	s.group = GROUP_LLC;
	text = screen_draw("default", &two.m, &s, 80, 30);
	assert_true(screen_has(text, "2 LLCs"));
	free(text);
	fixture_done(&two);
}

static void unknown_topology_is_one_group(void **state)
{
	struct fixture_cfg cfg = fixture_small;
	struct screen s = { 0 };
	struct fixture flat;
	char *text;

	(void)state;
	cfg.cpus_per_node = cfg.cpus_per_llc = 0;
	fixture_init(&flat, &cfg);
	text = screen_draw("llc", &flat.m, &s, 80, 24);
	assert_true(screen_has(text, "LLC ?"));
	assert_true(screen_has(text, "cpus 0-7"));
	free(text);
	fixture_done(&flat);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_screens_are_as_they_were),
		cmocka_unit_test(groups_are_means_sums_and_the_worst),
		cmocka_unit_test(a_history_that_has_just_begun_is_not_padded),
		cmocka_unit_test(every_cpu_is_on_the_screen_with_its_number),
		cmocka_unit_test(totals_stand_in_the_title),
		cmocka_unit_test(a_busy_cpu_among_512_idle_ones_is_seen),
		cmocka_unit_test(odd_counts_lose_no_cpu),
		cmocka_unit_test(a_cpu_that_is_offline_is_reported_and_not_counted),
		cmocka_unit_test(nodes_have_panels_of_their_own),
		cmocka_unit_test(unknown_topology_is_one_group),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
