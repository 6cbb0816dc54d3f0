#include "../unit.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "screen.h"

static const struct {
	uint16_t width, height;
} sizes[] = { /* the first are those that sanitizers see */
	      { 20, 5 },  { 80, 24 }, { 240, 70 }, { 1, 1 },    { 3, 40 },
	      { 200, 2 }, { 24, 5 },  { 40, 12 },  { 130, 30 }, { 0, 0 }
};

#define NR_SIZES (IS_SANITIZED ? 4 : sizeof(sizes) / sizeof(sizes[0]))

static int setup(void **state)
{
	(void)state;
	return setlocale(LC_CTYPE, "C.UTF-8") ? 0 : -1;
}

static void draw_shapes(const char *view, const struct machine *m, const struct screen *from,
                        size_t size)
{
	/* Only these have them. */
	bool has_cpus = strcmp(view, "default") == 0 || strcmp(view, "llc") == 0 ||
	                strcmp(view, "power") == 0 || strcmp(view, "bandwidth") == 0;

	for (int shape = 0; shape < (has_cpus ? SHAPES : 1); shape++) {
		for (int group = 0; group < (has_cpus ? GROUPS : 1); group++) {
			struct screen s = *from;

			s.shape = (enum view_shape)shape;
			s.group = (enum view_group)group;
			free(screen_draw(view, m, &s, sizes[size].width, sizes[size].height));
			/* Once more with what the first one settled. */
			free(screen_draw(view, m, &s, sizes[size].width, sizes[size].height));
		}
	}
}

static void draw_all(const struct fixture_cfg *cfg)
{
	struct screen s = { .selected = 3,
		            .has_freq = true,
		            .has_memory = true,
		            .has_network = true,
		            .tick_ms = 250 };
	struct fixture f;

	fixture_init(&f, cfg);
	for (size_t v = 0; v < nr_views; v++) {
		for (size_t i = 0; i < NR_SIZES; i++) {
			s.selected_tid = 0;
			draw_shapes(views[v]->id, &f.m, &s, i);
			s.selected_tid = FIXTURE_TID + 2;
			s.is_localized = !s.is_localized;
			draw_shapes(views[v]->id, &f.m, &s, i);
		}
	}
	fixture_done(&f);
}

static void every_view_of_every_machine_at_every_size(void **state)
{
	static const uint32_t cpus[] = { 1, 2, 7, 20, 512 };

	(void)state;
	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		struct fixture_cfg cfg = fixture_small;

		cfg.nr_cpus = cpus[i];
		cfg.cpus_per_llc = (cpus[i] + 7) / 8;
		cfg.cpus_per_node = (cpus[i] + 1) / 2;
		cfg.nr_threads = 100;
		draw_all(&cfg);
	}
}

static void a_machine_of_nothing(void **state)
{
	(void)state;
	draw_all(&(struct fixture_cfg){ 0 });
	draw_all(&(struct fixture_cfg){ .nr_cpus = 4, .is_proc = true });
}

static void hostile_names_reach_no_cell(void **state)
{
	struct fixture_cfg cfg = fixture_small;

	(void)state;
	cfg.is_hostile = true;
	cfg.nr_nets = 12;
	cfg.nr_programs = 12;
	draw_all(&cfg); /* screen_draw() looks at every cell */
}

static void many_nodes_many_queues(void **state)
{
	struct fixture_cfg cfg = fixture_small;

	(void)state;
	cfg.nr_cpus = 512;
	cfg.cpus_per_llc = 1;
	cfg.cpus_per_node = 4;
	cfg.nr_dsqs = 400;
	draw_all(&cfg);
}

static void fifty_thousand_threads(void **state)
{
	struct fixture_cfg cfg = fixture_small;
	struct fixture f;

	(void)state;
	cfg.nr_threads = 50000;
	fixture_init(&f, &cfg);
	for (size_t i = 0; i < NR_SIZES; i++) {
		struct screen s = { .selected = 49999 };
		char *text = screen_draw("threads", &f.m, &s, sizes[i].width, sizes[i].height);

		if (sizes[i].height > 4 && sizes[i].width >= 20) {
			expect_eq(s.selected, 49999);
			assert_true(screen_has(text, "50000"));
		}
		free(text);
	}
	fixture_done(&f);
}

static void impossible_numbers_do_no_harm(void **state)
{
	static const double values[] = { NAN, INFINITY, -INFINITY, -1, 1e300 };
	struct fixture f;

	(void)state;
	fixture_init(&f, &fixture_small);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct screen s = { .selected_tid = FIXTURE_TID };

		for (uint32_t k = 0; k < 8; k++) {
			f.cpus[k].busy = f.cpus[k].mhz = f.cpus[k].switches_per_s = values[i];
			f.threads[k].run = f.threads[k].wait = values[i];
			f.processes[k].run = f.processes[k].voluntary_per_s = values[i];
			f.processes[k].latency.max_ns = UINT64_MAX;
		}
		for (uint32_t k = 0; k < MACHINE_HISTORY * 9; k++)
			f.history[k] = values[i];
		f.m.interval_s = values[i];
		f.m.own_cpu = values[i];
		for (size_t v = 0; v < nr_views; v++)
			for (size_t size = 0; size < 3; size++)
				draw_shapes(views[v]->id, &f.m, &s, size);
	}
	fixture_done(&f);
}

static void views_are_found_by_id_and_by_state(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_views; i++) {
		assert_ptr_equal(view_find(views[i]->id), views[i]);
		assert_ptr_equal(view_find(views[i]->state), views[i]);
		assert_non_null(views[i]->title);
		assert_non_null(views[i]->what);
	}
	assert_null(view_find("nothing"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_view_of_every_machine_at_every_size),
		cmocka_unit_test(a_machine_of_nothing),
		cmocka_unit_test(hostile_names_reach_no_cell),
		cmocka_unit_test(many_nodes_many_queues),
		cmocka_unit_test(fifty_thousand_threads),
		cmocka_unit_test(impossible_numbers_do_no_harm),
		cmocka_unit_test(views_are_found_by_id_and_by_state),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
