/*
 * draw_demo VIEW WIDTH HEIGHT [CPUS [THREADS [SHAPE [GROUP [WORDS]]]]] — a view of the synthetic machine, as text.
 *
 * Words: proc, hostile, memory, network, freq, localized, threads, processes, details; anything else is the filter.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

static void take_word(const char *word, struct fixture_cfg *cfg, struct screen *s)
{
	if (strcmp(word, "proc") == 0) {
		cfg->is_proc = true;
		cfg->nr_dsqs = 0;
	} else if (strcmp(word, "hostile") == 0) {
		cfg->is_hostile = true;
	} else if (strcmp(word, "memory") == 0) {
		s->has_memory = true;
	} else if (strcmp(word, "network") == 0) {
		s->has_network = true;
	} else if (strcmp(word, "freq") == 0) {
		s->has_freq = true;
	} else if (strcmp(word, "localized") == 0) {
		s->is_localized = true;
	} else if (strcmp(word, "processes") == 0) {
		s->scheduler_page = 1;
	} else if (strcmp(word, "details") == 0) {
		s->scheduler_page = 2;
	} else if (strcmp(word, "threads") == 0) {
		s->process = FIXTURE_TID;
	} else {
		snprintf(s->filter, sizeof(s->filter), "%s", word);
	}
}

static uint32_t number(char **argv, int at, int argc, uint32_t otherwise)
{
	return at < argc ? (uint32_t)strtoul(argv[at], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	struct fixture_cfg cfg = fixture_small;
	struct screen s = { .tick_ms = 250, .selected_tid = FIXTURE_TID };
	const struct view *v = argc > 3 ? view_find(argv[1]) : NULL;
	struct fixture f;
	struct grid g;

	setlocale(LC_ALL, "C.UTF-8");
	if (!v) {
		fprintf(stderr,
		        "usage: draw_demo VIEW WIDTH HEIGHT [CPUS THREADS SHAPE GROUP WORDS]\n");
		return 2;
	}
	cfg.nr_cpus = number(argv, 4, argc, cfg.nr_cpus);
	cfg.cpus_per_llc = cfg.nr_cpus > 4 ? cfg.nr_cpus / 4 : cfg.nr_cpus;
	cfg.cpus_per_node = cfg.nr_cpus > 8 ? (cfg.nr_cpus + 1) / 2 : cfg.nr_cpus;
	cfg.nr_threads = number(argv, 5, argc, cfg.nr_threads);
	s.shape = (enum view_shape)number(argv, 6, argc, SHAPE_BARS);
	s.group = (enum view_group)number(argv, 7, argc, GROUP_CPU);
	for (int i = 8; i < argc; i++)
		take_word(argv[i], &cfg, &s);
	fixture_init(&f, &cfg);
	if (grid_init(&g, (uint16_t)number(argv, 2, argc, 80), (uint16_t)number(argv, 3, argc, 24)))
		return 1;
	v->draw(&f.m, &s, &g, (struct area){ 0, 0, g.width, g.height });
	grid_print(&g, stdout);
	grid_done(&g);
	fixture_done(&f);
	return 0;
}
