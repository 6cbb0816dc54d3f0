/*
 * tests/tui/screen_demo CPUS THREADS [hostile] — the whole screen over a synthetic machine of that size, for test_screen.py.
 * Its numbers stand still, but it is looked at as any other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "tui/loop.h"

static int refresh(void *ctx, const struct machine_request *request, struct diag *d,
                   const struct machine **out)
{
	struct fixture *f = ctx;

	(void)request;
	(void)d;
	*out = &f->m;
	return 0;
}

int main(int argc, char **argv)
{
	struct fixture_cfg cfg = { .cpus_per_llc = 8,
		                   .cpus_per_node = 64,
		                   .nr_dsqs = 20,
		                   .nr_nets = 5,
		                   .nr_programs = 30,
		                   .nr_symbols = 400 };
	struct diag d = { 0 };
	struct config config;
	struct fixture f;
	char text[512];
	int err;

	if (argc < 3)
		return 2;
	cfg.nr_cpus = (uint32_t)strtoul(argv[1], NULL, 10);
	cfg.nr_threads = (uint32_t)strtoul(argv[2], NULL, 10);
	cfg.is_hostile = argc > 3 && strcmp(argv[3], "hostile") == 0;
	config_init(&config);
	fixture_init(&f, &cfg);
	err = loop_run(&(struct loop_cfg){ .config = &config, .ctx = &f, .refresh = refresh }, &d);
	fixture_done(&f);
	config_done(&config);
	if (err) {
		diag_format(&d, text, sizeof(text));
		fprintf(stderr, "%s\n", text);
	}
	return err ? 1 : 0;
}
