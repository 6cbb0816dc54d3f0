/* Power, bandwidth, frames, and what the keys u and H add to the panels of CPUs. */
#include "../unit.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../render/golden.h"
#include "fixture_sensors.h"
#include "screen.h"
#include "tui/app.h"
#include "tui/format.h"

static struct fixture f;

static int setup(void **state)
{
	struct fixture_cfg cfg = fixture_small;

	(void)state;
	cfg.cpus_per_node = 4;
	setlocale(LC_CTYPE, "C.UTF-8");
	fixture_init(&f, &cfg);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_done(&f);
	return 0;
}

static void expect_golden(const char *view, struct screen s, uint16_t width, uint16_t height,
                          const char *name)
{
	char *text = screen_draw(view, &f.m, &s, width, height);

	golden_compare(name, text);
	free(text);
}

static void the_screens_are_as_they_were(void **state)
{
	struct screen s = { .tick_ms = 250 }, sparks = s, table = s, panel = s;

	(void)state;
	sparks.shape = SHAPE_SPARKS;
	table.shape = SHAPE_TABLE;
	panel.has_uncore = panel.has_pressure = true;
	expect_golden("power", s, 80, 24, "tui-power-80.txt");
	expect_golden("power", sparks, 130, 30, "tui-power-sparks.txt");
	expect_golden("power", table, 160, 30, "tui-power-table.txt");
	expect_golden("power", s, 20, 5, "tui-power-20.txt");
	expect_golden("bandwidth", s, 80, 40, "tui-bandwidth-80.txt");
	expect_golden("bandwidth", sparks, 120, 30, "tui-bandwidth-sparks.txt");
	expect_golden("bandwidth", table, 80, 12, "tui-bandwidth-table.txt");
	expect_golden("bandwidth", s, 20, 5, "tui-bandwidth-20.txt");
	expect_golden("game", s, 80, 30, "tui-game-80.txt");
	expect_golden("game", s, 20, 5, "tui-game-20.txt");
	expect_golden("default", panel, 80, 24, "tui-default-sensors.txt");
}

static void watts_are_those_of_the_machine(void **state)
{
	struct screen s = { .shape = SHAPE_TABLE };
	char *text = screen_draw("power", &f.m, &s, 160, 30);
	char part[64], value[FORMAT_BYTES];
	double sum = 0;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		char *line;

		snprintf(part, sizeof(part), "package %u", i);
		line = screen_find(text, part);
		assert_true(screen_has(line, format_watts(value, fixture_watts(i))));
		assert_true(screen_has(line, format_watts(value, fixture_watts(i) / 2)));
		assert_true(screen_has(line, "125W"));
		assert_true(screen_has(line, format_celsius(value, 61 + i)));
		sum += fixture_watts(i);
		free(line);
	}
	snprintf(part, sizeof(part), " Power %s ", format_watts(value, sum));
	assert_true(screen_has(text, part));
	snprintf(part, sizeof(part), "platform %s", format_watts(value, sum + 30));
	assert_true(screen_has(text, part));
	free(text);
}

/* The peer has watts per core that are 0, memory that is a fifth of the package, uncore made up. */
static void no_sensor_no_column(void **state)
{
	struct screen s = { .shape = SHAPE_TABLE };
	char *text = screen_draw("power", &f.m, &s, 110, 30), *line;

	(void)state;
	assert_false(screen_has(text, "DRAM"));
	assert_true(screen_has(text, "CORES") && screen_has(text, "UNCORE"));
	line = screen_find(text, " CPU ");
	assert_false(screen_has(line, "W")); /* of a CPU there are no watts */
	free(line);
	free(text);
	for (uint32_t i = 0; i < 2; i++) {
		f.sensors->packages[i].dram_watts = 3;
		f.sensors->packages[i].core_watts = NAN;
		f.sensors->packages[i].uncore_mhz = NAN;
		f.sensors->packages[i].throttles_per_s = NAN;
	}
	text = screen_draw("power", &f.m, &s, 240, 30);
	assert_true(screen_has(text, "DRAM"));
	assert_false(screen_has(text, "CORES"));
	assert_false(screen_has(text, "UNC.FREQ"));
	assert_false(screen_has(text, "THROT/s"));
	free(text);
}

static void one_core_of_amd_is_not_called_all(void **state)
{
	struct screen s = { .shape = SHAPE_TABLE };
	char *text;

	(void)state;
	for (uint32_t i = 0; i < 2; i++)
		f.sensors->packages[i].has_single_core = true;
	text = screen_draw("power", &f.m, &s, 240, 30);
	assert_true(screen_has(text, "1 CORE"));
	assert_false(screen_has(text, "CORES"));
	free(text);
}

static void every_cpu_can_be_scrolled_to(void **state)
{
	struct fixture_cfg cfg = fixture_small;
	struct screen s = { .selected = 383 };
	struct fixture many;
	char *text;

	(void)state;
	cfg.nr_cpus = 384;
	cfg.cpus_per_node = 192;
	fixture_init(&many, &cfg);
	expect_eq(view_find("power")->rows(&many.m, &s), 384);
	text = screen_draw("power", &many.m, &s, 80, 24);
	assert_true(screen_has(text, "383"));
	assert_true(screen_has(text, "C10%"));
	free(text);
	fixture_done(&many);
}

static void missing_sensors_are_one_sentence(void **state)
{
	static const struct {
		const char *view, *words;
	} views_of[] = { { "power", "virtual machines have none" },
		         { "bandwidth", "mount -t resctrl resctrl /sys/fs/resctrl" },
		         { "game", "start the game with 'gamescope --mangoapp'" } };
	struct machine m = f.m;
	struct machine_power power = { .reason = "no sensors here (virtual machines have none)" };
	struct machine_bandwidth bandwidth = {
		.reason = "resctrl is not mounted: mount -t resctrl resctrl /sys/fs/resctrl"
	};
	struct machine_game game = {
		.reason = "mangoapp not available: start the game with 'gamescope --mangoapp'"
	};

	(void)state;
	m.power = &power;
	m.bandwidth = &bandwidth;
	m.game = &game;
	for (size_t i = 0; i < 3; i++) {
		struct screen s = { 0 };
		char *text = screen_draw(views_of[i].view, &m, &s, 120, 24);

		assert_true(screen_has(text, views_of[i].words));
		expect_eq(view_find(views_of[i].view)->rows(&m, &s), 0);
		free(text);
		/* Broken between words where it is too long. */
		text = screen_draw(views_of[i].view, &m, &s, 30, 10);
		assert_false(screen_has(text, "\u2026"));
		free(text);
	}
	m.power = NULL;
	m.bandwidth = NULL;
	m.game = NULL;
	for (size_t i = 0; i < 3; i++) {
		struct screen s = { 0 };

		free(screen_draw(views_of[i].view, &m, &s, 80, 24));
	}
}

static void a_note_is_shown_beside_the_numbers(void **state)
{
	struct screen s = { 0 };
	char *text;

	(void)state;
	f.sensors->power.note = "/sys/class/hwmon/hwmon4/temp6_input does not answer";
	f.sensors->bandwidth.note = "3 counts are not available now";
	f.sensors->game.note = "frames are copied, and process 77 takes them";
	text = screen_draw("power", &f.m, &s, 100, 24);
	assert_true(screen_has(text, f.sensors->power.note));
	assert_true(screen_has(text, "package 1"));
	free(text);
	text = screen_draw("bandwidth", &f.m, &s, 100, 24);
	assert_true(screen_has(text, f.sensors->bandwidth.note));
	free(text);
	text = screen_draw("game", &f.m, &s, 100, 30);
	assert_true(screen_has(text, f.sensors->game.note));
	free(text);
}

static void bandwidth_is_summed_in_titles(void **state)
{
	struct screen s = { 0 };
	char *text = screen_draw("bandwidth", &f.m, &s, 160, 40), title[128];
	char sum[FORMAT_BYTES], max[FORMAT_BYTES], p95[FORMAT_BYTES], mean[FORMAT_BYTES];
	double total = 0;

	(void)state;
	for (uint32_t i = 0; i < f.sensors->bandwidth.nr_llcs; i++)
		total += fixture_bytes(i, BANDWIDTH_TOTAL);
	/* 1 to 8 MiB, each as often: the largest, the 95th of 100 and the mean of them. */
	snprintf(title, sizeof(title), " LLC total %s/s  max %s p95 %s avg %s ",
	         format_bytes(sum, total), format_bytes(max, 8 * 1048576.0),
	         format_bytes(p95, 8 * 1048576.0), format_bytes(mean, 4.5 * 1048576.0));
	assert_true(screen_has(text, title));
	assert_true(screen_has(text, "resctrl [local_bw,total_bw,occupancy], 2 groups"));
	free(text);
	f.sensors->bandwidth.has[BANDWIDTH_OCCUPANCY] = false;
	text = screen_draw("bandwidth", &f.m, &s, 160, 40);
	assert_false(screen_has(text, "occupancy"));
	free(text);
}

static void caches_are_in_their_order(void **state)
{
	struct screen s = { .shape = SHAPE_TABLE };
	char *text = screen_draw("bandwidth", &f.m, &s, 100, 12), *line, value[FORMAT_BYTES];

	(void)state;
	assert_true(strstr(text, "LLC 0") < strstr(text, "LLC 1"));
	line = screen_find(text, "LLC 1");
	assert_true(screen_has(line, format_bytes(value, fixture_bytes(1, BANDWIDTH_REMOTE))));
	free(line);
	expect_eq(view_find("bandwidth")->rows(&f.m, &s),
	          f.sensors->bandwidth.nr_llcs + f.sensors->bandwidth.nr_nodes);
	free(text);
}

static int by_value(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

static double frame_rank(size_t rank)
{
	double sorted[MACHINE_HISTORY];

	memcpy(sorted, f.sensors->frames, sizeof(sorted));
	qsort(sorted, MACHINE_HISTORY, sizeof(*sorted), by_value);
	return sorted[rank - 1];
}

static void a_game_has_its_frames_and_threads(void **state)
{
	struct screen s = { .selected = 2 };
	char *text = screen_draw("game", &f.m, &s, 120, 40), *line, value[FORMAT_BYTES];

	(void)state;
	assert_true(screen_has(text, " portal:1000 2560x1440:144 vkd3d "));
	line = screen_find(text, "fps ");
	assert_true(screen_has(line, "120"));
	free(line);
	line = screen_find(text, "frame ");
	assert_true(screen_has(line, format_ns(value, 8333333)));
	free(line);
	line = screen_find(text, "latency ");
	assert_true(screen_has(line, format_ns(value, 31000000)));
	free(line);
	/* The 254th of 256. */
	line = screen_find(text, "frame p99 ");
	assert_true(screen_has(line, format_ns(value, frame_rank(254))));
	free(line);
	line = screen_find(text, "slowest ");
	assert_true(screen_has(line, format_ns(value, 10900000)));
	free(line);
	line = screen_find(text, "displayed ");
	assert_true(screen_has(line, "-")); /* not reported */
	free(line);
	assert_true(screen_has(text, "[1000]: 4 threads"));
	expect_eq(view_find("game")->rows(&f.m, &s), FIXTURE_THREADS);
	expect_eq(s.selected, 2);
	assert_true(s.selected_tid >= FIXTURE_TID && s.selected_tid < FIXTURE_TID + 4);
	expect_eq(s.process, 0); /* other views show all */
	assert_false(screen_has(text, "no frame for"));
	free(text);
	f.sensors->game.age_s = 12;
	text = screen_draw("game", &f.m, &s, 120, 40);
	assert_true(screen_has(text, "no frame for 12.0s"));
	free(text);
}

static void spoil(double value)
{
	struct fixture_sensors *s = f.sensors;

	for (size_t i = 0; i < s->power.nr_packages; i++) {
		struct machine_power_package *p = &s->packages[i];

		p->watts = p->core_watts = p->dram_watts = p->limit_watts = p->most_watts = value;
		p->celsius = p->critical_celsius = p->throttled = p->uncore_mhz = value;
	}
	for (size_t i = 0; i < s->power.nr_cpus; i++)
		s->cpus[i].celsius = s->cpus[i].throttled = s->cpus[i].idle[3] = value;
	s->idles[2].part = s->idles[2].stay_us = s->idles[2].entries_per_s = value;
	s->batteries[0].level = s->batteries[0].watts = s->batteries[0].seconds_left = value;
	s->power.watts = s->power.platform_watts = value;
	for (int k = 0; k < BANDWIDTHS; k++)
		s->llcs[0].values[k] = s->nodes[1].values[k] = value;
	s->game.fps = s->game.frame_ns = s->game.latency_ns = s->game.age_s = value;
	for (uint32_t i = 0; i < MACHINE_HISTORY; i += 3)
		s->watts[i] = s->bytes[i] = s->frames[i] = value;
}

static void impossible_numbers_do_no_harm(void **state)
{
	static const double values[] = { NAN, INFINITY, -INFINITY, -1, 1e300 };
	static const char *const ids[] = { "power", "bandwidth", "game" };

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		spoil(values[i]);
		for (size_t v = 0; v < 3 * SHAPES; v++) {
			struct screen s = { .shape = (enum view_shape)(v % SHAPES) };

			free(screen_draw(ids[v / SHAPES], &f.m, &s, 80, 40));
			free(screen_draw(ids[v / SHAPES], &f.m, &s, 160, 40));
		}
	}
}

static void press(struct app *a, uint32_t key)
{
	expect_eq(app_press(a, &f.m, (struct app_input){ .key = key }), 0);
}

static void uncore_and_pressure_come_with_their_keys(void **state)
{
	static struct config config;
	static struct app a;
	struct screen none;
	char *text;

	(void)state;
	config_init(&config);
	app_init(&a, &config);
	assert_false(app_request(&a).needs & (MACHINE_UNCORE | MACHINE_PRESSURE));
	none = a.screen;
	text = screen_draw("default", &f.m, &none, 100, 24);
	assert_false(screen_has(text, "uncore"));
	assert_false(screen_has(text, "hw200"));
	free(text);
	press(&a, 'u');
	press(&a, 'H');
	expect_eq(app_request(&a).needs & (MACHINE_UNCORE | MACHINE_PRESSURE),
	          MACHINE_UNCORE | MACHINE_PRESSURE);
	text = screen_draw("default", &f.m, &a.screen, 100, 30);
	/* The mean of a node, which is that of its package; not a sum over its CPUs. */
	assert_true(screen_has(text, "uncore 1.50G"));
	assert_true(screen_has(text, "uncore 2.00G"));
	assert_true(screen_has(text, "hw200"));
	assert_false(screen_has(text, "hw0"));
	free(text);
	a.screen.shape = SHAPE_TABLE;
	text = screen_draw("default", &f.m, &a.screen, 240, 40);
	assert_true(screen_has(text, "UNCORE") && screen_has(text, "HWPRES"));
	free(text);
	for (uint32_t i = 0; i < f.m.nr_cpus; i++)
		f.cpus[i].uncore_mhz = f.cpus[i].hw_pressure = NAN;
	text = screen_draw("default", &f.m, &a.screen, 240, 40);
	assert_false(screen_has(text, "UNCORE") || screen_has(text, "HWPRES"));
	free(text);
	press(&a, 'u');
	press(&a, 'H');
	assert_false(app_request(&a).needs & (MACHINE_UNCORE | MACHINE_PRESSURE));
	config_done(&config);
}

static char *whole_screen(struct app *a, const struct machine *m)
{
	struct grid g;
	size_t size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	expect_eq(grid_init(&g, 120, 24), 0);
	app_draw(a, m, &g);
	grid_print(&g, out);
	expect_eq(fclose(out), 0);
	grid_done(&g);
	return text;
}

static void what_the_keys_cannot_show_is_reported(void **state)
{
	static struct config config;
	static struct app a;
	struct machine m = f.m;
	char *text;

	(void)state;
	config_init(&config);
	app_init(&a, &config);
	m.no_pressure = "no hardware pressure: it needs BPF";
	text = whole_screen(&a, &m);
	assert_true(screen_has(text, m.no_pressure));
	free(text);
	m.no_uncore = "no uncore frequencies: only Intel's driver has them";
	text = whole_screen(&a, &m);
	assert_true(screen_has(text, m.no_uncore));
	free(text);
	config_done(&config);
}

static void views_are_reached_by_their_keys(void **state)
{
	static struct config config;
	static struct app a;

	(void)state;
	config_init(&config);
	app_init(&a, &config);
	press(&a, 'W');
	assert_string_equal(a.view->id, "power");
	assert_true(app_request(&a).needs & MACHINE_POWER);
	press(&a, 'B');
	assert_string_equal(a.view->id, "bandwidth");
	assert_true(app_request(&a).needs & MACHINE_BANDWIDTH);
	press(&a, 'm');
	assert_string_equal(a.view->id, "game");
	assert_true(app_request(&a).needs & MACHINE_GAME);
	free(whole_screen(&a, &f.m));
	press(&a, KEY_OF_ENTER); /* into one of its threads, and back */
	assert_string_equal(a.view->id, "task");
	press(&a, KEY_OF_ESC);
	assert_string_equal(a.view->id, "game");
	press(&a, 'm');
	assert_string_equal(a.view->id, "bandwidth");
	config_done(&config);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define FRESH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		FRESH(the_screens_are_as_they_were),
		FRESH(watts_are_those_of_the_machine),
		FRESH(no_sensor_no_column),
		FRESH(one_core_of_amd_is_not_called_all),
		FRESH(every_cpu_can_be_scrolled_to),
		FRESH(missing_sensors_are_one_sentence),
		FRESH(a_note_is_shown_beside_the_numbers),
		FRESH(bandwidth_is_summed_in_titles),
		FRESH(caches_are_in_their_order),
		FRESH(a_game_has_its_frames_and_threads),
		FRESH(impossible_numbers_do_no_harm),
		FRESH(uncore_and_pressure_come_with_their_keys),
		FRESH(what_the_keys_cannot_show_is_reported),
		FRESH(views_are_reached_by_their_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
