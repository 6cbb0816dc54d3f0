#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen.h"
#include "tui/format.h"

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
	struct screen s = { 0 };

	(void)state;
	screen_golden("scheduler", &f.m, s, 80, 24, "tui-scheduler-80.txt");
	screen_golden("scheduler", &f.m, s, 130, 10, "tui-scheduler-130.txt");
	screen_golden("scheduler", &f.m, s, 20, 5, "tui-scheduler-20.txt");
	screen_golden("memory", &f.m, s, 80, 24, "tui-memory-80.txt");
	screen_golden("memory", &f.m, s, 20, 5, "tui-memory-20.txt");
	screen_golden("memory", &f.m, s, 120, 38, "tui-memory-120.txt");
	screen_golden("network", &f.m, s, 80, 10, "tui-network-80.txt");
	screen_golden("network", &f.m, s, 20, 5, "tui-network-20.txt");
	screen_golden("bpf", &f.m, s, 80, 10, "tui-bpf-80.txt");
	screen_golden("bpf", &f.m, s, 20, 5, "tui-bpf-20.txt");
	screen_golden("heat", &f.m, s, 80, 24, "tui-heat-80.txt");
	screen_golden("heat", &f.m, s, 20, 5, "tui-heat-20.txt");
	screen_golden("log", &f.m, s, 80, 8, "tui-log-80.txt");
	screen_golden("log", &f.m, s, 20, 5, "tui-log-20.txt");
}

static void queues_have_their_numbers_and_names(void **state)
{
	struct screen s = { .shape = SHAPE_TABLE };
	char *text = screen_draw("scheduler", &f.m, &s, 130, 24);

	(void)state;
	assert_true(screen_has(text, " simple, enabled: 6 queues "));
	assert_true(screen_has(text, "global"));
	for (uint32_t i = 2; i < fixture_small.nr_dsqs; i++) {
		char id[16], p99[FORMAT_BYTES], depth[FORMAT_BYTES];
		char *line;

		snprintf(id, sizeof(id), " 0x%x ", i);
		line = screen_find(text, id);
		assert_true(screen_has(line, format_ns(p99, (double)(2000ULL << i))));
		assert_true(screen_has(line, format_count(depth, 500.0 * i, false)));
		free(line);
	}
	free(text);
}

/* With more than 300 of them the peer shows only the first. */
static void every_queue_can_be_scrolled_to(void **state)
{
	struct fixture_cfg cfg = fixture_small;
	struct screen s = { .sort = SORT_TID, .selected = 399 };
	struct fixture many;
	char *text;

	(void)state;
	cfg.nr_dsqs = 400;
	fixture_init(&many, &cfg);
	expect_eq(view_find("scheduler")->rows(&many.m, &s), 400);
	text = screen_draw("scheduler", &many.m, &s, 80, 24);
	/* In the order of ids the built-in one is the last. */
	assert_true(screen_has(text, "global"));
	assert_true(screen_has(text, "0x18f"));
	free(text);
	strcpy(s.filter, "0x18F");
	expect_eq(view_find("scheduler")->rows(&many.m, &s), 1);
	fixture_done(&many);
}

static void a_kernel_without_sched_ext_is_reported(void **state)
{
	struct fixture_cfg cfg = fixture_small;
	struct screen s = { 0 };
	struct fixture none;
	char *text;

	(void)state;
	cfg.nr_dsqs = 0;
	fixture_init(&none, &cfg);
	text = screen_draw("scheduler", &none.m, &s, 80, 24);
	assert_true(screen_has(text, "this kernel has no sched_ext"));
	free(text);
	none.m.scx_state = "disabled";
	text = screen_draw("scheduler", &none.m, &s, 80, 24);
	assert_true(screen_has(text, "The kernel's own classes, sched_ext disabled"));
	free(text);
	fixture_done(&none);
}

static void memory_adds_up_and_unknown_is_not_zero(void **state)
{
	struct screen s = { 0 };
	char *text = screen_draw("memory", &f.m, &s, 80, 24), *line;
	char used[FORMAT_BYTES], part[FORMAT_BYTES];
	const struct machine_memory *m = &f.m.memory;

	(void)state;
	line = screen_find(text, " used  ");
	assert_true(screen_has(line, format_kib(used, m->total_kib - m->available_kib)));
	assert_true(
		screen_has(line, format_percent(part, (double)(m->total_kib - m->available_kib) /
	                                                      (double)m->total_kib)));
	free(line);
	line = screen_find(text, "swapped out/s");
	assert_true(screen_has(line, " - "));
	free(line);
	line = screen_find(text, "CPU pressure");
	assert_true(screen_has(line, "3.1"));
	free(line);
	free(text);
}

/* Where there is no room for all lines they scroll; as numbers alone all have room on the smallest screen. */
static void every_line_of_memory_can_be_read(void **state)
{
	struct screen s = { 0 };
	const struct view *v = view_find("memory");
	char *text = screen_draw("memory", &f.m, &s, 80, 24);
	int nr = v->rows(&f.m, &s);

	(void)state;
	expect_eq(nr, 32); /* all but the one that this kernel does not report */
	assert_false(screen_has(text, "slab unreclaimable"));
	free(text);
	s.selected = nr - 1;
	text = screen_draw("memory", &f.m, &s, 80, 24);
	assert_true(screen_has(text, " swap  "));
	assert_false(screen_has(text, " used  "));
	free(text);
	s.shape = SHAPE_TABLE;
	text = screen_draw("memory", &f.m, &s, 80, 22);
	for (size_t i = 0; i < 4; i++) {
		static const char *const words[] = { " used ", " swap ", "slab reclaimable",
			                             "pages swapped out/s" };

		assert_true(screen_has(text, words[i]));
	}
	assert_false(screen_has(text, "NFS unstable"));
	free(text);
}

static void memory_and_networks_are_shown_over_time(void **state)
{
	static const double half[] = { 0.25, 0.5 }, bytes[] = { NAN, 1024, 4096 };
	struct screen s = { .shape = SHAPE_SPARKS };
	struct machine_net nets[3];
	struct machine m = f.m;
	char *text;

	(void)state;
	m.memory.past.used = (struct machine_history){ half, 2 };
	m.memory.past.cpu_some = (struct machine_history){ half, 2 };
	text = screen_draw("memory", &m, &s, 120, 40);
	assert_true(screen_has(text, "last 500ms"));
	assert_true(screen_has(text, " CPU pressure, some %: 3.1, up to 50.0 "));
	assert_true(screen_has(text, "pages swapped out/s: - "));
	free(text);
	memcpy(nets, f.nets, sizeof(nets));
	nets[2].rx_history = (struct machine_history){ bytes, 3 };
	m.nets = nets;
	text = screen_draw("network", &m, &s, 120, 40);
	assert_true(screen_has(text, "in: 4.00K/s, up to 4.00K/s"));
	assert_true(screen_has(text, " packets in: -/s"));
	assert_false(screen_has(text, "INTERFACE"));
	free(text);
	s.shape = SHAPE_BARS;
	text = screen_draw("network", &m, &s, 120, 40);
	assert_true(screen_has(text, "INTERFACE") && screen_has(text, "in: 4.00K/s"));
	free(text);
	s.shape = SHAPE_TABLE;
	text = screen_draw("network", &m, &s, 120, 40);
	assert_true(screen_has(text, "INTERFACE") && !screen_has(text, "up to"));
	free(text);
}

/* What is called per second is per second, whatever the tick is. */
static void the_total_of_the_network_is_its_sum(void **state)
{
	struct screen s = { 0 };
	char *text = screen_draw("network", &f.m, &s, 80, 10);
	char *line = screen_find(text, " total ");
	char sum[FORMAT_BYTES];
	double rx = 0;

	(void)state;
	for (uint32_t i = 0; i < fixture_small.nr_nets; i++)
		rx += f.nets[i].rx_bytes_per_s;
	assert_true(screen_has(line, format_bytes(sum, rx)));
	free(line);
	free(text);
}

static void the_cost_of_programs_is_summed_in_the_title(void **state)
{
	struct screen s = { 0 };
	char *text = screen_draw("bpf", &f.m, &s, 80, 10), title[64], sum[FORMAT_BYTES];
	double cost = 0;

	(void)state;
	for (uint32_t i = 0; i < fixture_small.nr_programs; i++)
		cost += isnan(f.programs[i].cpu) ? 0 : f.programs[i].cpu;
	snprintf(title, sizeof(title), "BPF programs 5, %s%% of a CPU", format_percent(sum, cost));
	assert_true(screen_has(text, title));
	free(text);
	for (uint32_t i = 0; i < fixture_small.nr_programs; i++)
		f.programs[i].cpu = NAN;
	text = screen_draw("bpf", &f.m, &s, 80, 10);
	assert_true(screen_has(text, "cost not measured"));
	free(text);
	strcpy(s.filter, "STRUCT");
	expect_eq(view_find("bpf")->rows(&f.m, &s), 3);
}

static void counts_of_the_heat_map_are_those_in_sight(void **state)
{
	struct screen s = { 0 };
	char *text = screen_draw("heat", &f.m, &s, 120, 24);
	uint64_t drawn = 120 - 4 - 8 - 9; /* cells: without frame, labels and counts */

	(void)state;
	for (uint32_t row = 3; row < 12; row++) {
		char label[FORMAT_BYTES], count[FORMAT_BYTES + 4];
		uint64_t sum = 0;
		char *line;

		format_ns(label, 1000.0 * (1U << (row - 1)));
		for (uint64_t i = 100 - (drawn < 100 ? drawn : 100); i < 100; i++)
			sum += f.heat[i][row];
		line = screen_find(text, label);
		snprintf(count, sizeof(count), " %s ", format_count(label, (double)sum, false));
		if (!screen_has(line, count))
			print_message("# no '%s' in '%s'\n", count, line);
		assert_true(screen_has(line, count));
		free(line);
	}
	free(text);
}

static void a_single_slow_wakeup_is_seen_in_the_heat(void **state)
{
	static uint32_t columns[8][MACHINE_HEAT_ROWS];
	struct machine m = f.m;
	struct screen s = { 0 };
	char *text;

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		columns[i][3] = 1000000;
	columns[4][23] = 1;
	m.heat = (struct machine_heat){ (const uint32_t(*)[MACHINE_HEAT_ROWS])columns, 8, 1000000 };
	text = screen_draw("heat", &m, &s, 80, 30);
	assert_true(screen_has(text, "\u2591"));
	assert_true(screen_has(text, "\u2588"));
	free(text);
	text = screen_draw("heat", &m, &s, 20, 5);
	assert_true(screen_has(text, "\u2591"));
	free(text);
}

static void losses_and_notices_come_first(void **state)
{
	struct machine m = f.m;
	struct screen s = { 0 };
	char *text;

	(void)state;
	m.lost = 42;
	m.notice = "latencies need BPF: run as root";
	text = screen_draw("log", &m, &s, 80, 10);
	assert_true(screen_has(text, "42 events lost since the start"));
	assert_true(screen_has(text, m.notice));
	assert_true(strstr(text, "registered") < strstr(text, "started"));
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_screens_are_as_they_were),
		cmocka_unit_test(queues_have_their_numbers_and_names),
		cmocka_unit_test(every_queue_can_be_scrolled_to),
		cmocka_unit_test(a_kernel_without_sched_ext_is_reported),
		cmocka_unit_test(memory_adds_up_and_unknown_is_not_zero),
		cmocka_unit_test(every_line_of_memory_can_be_read),
		cmocka_unit_test(memory_and_networks_are_shown_over_time),
		cmocka_unit_test(the_total_of_the_network_is_its_sum),
		cmocka_unit_test(the_cost_of_programs_is_summed_in_the_title),
		cmocka_unit_test(counts_of_the_heat_map_are_those_in_sight),
		cmocka_unit_test(a_single_slow_wakeup_is_seen_in_the_heat),
		cmocka_unit_test(losses_and_notices_come_first),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
