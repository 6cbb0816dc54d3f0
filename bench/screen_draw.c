/*
 * screen_draw — what a frame costs: every view of a synthetic machine with few and with many threads, drawn again and
 * again, each time after another refresh. Of several rounds the best counts, in CPU time. BUSY threads do something, in
 * both machines; a frame should not cost more for the others, which are not shown.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../tests/tui/fixture.h"
#include "tui/task_matches.h"

#define ROUNDS      5
#define FEW         800U
#define MANY        50000U
#define BUSY        100U
#define FRAMES_A_S  4
#define BAR_CPU_PCT 2.0
#define BAR_GROWTH \
	1.75 /* one has 60 times as many, and its memory is in no cache; a read of each would be 2 and more */
#define MIN_FRAMES 10
#define NS_PER_S   1000000000ULL
#define ROUND_NS   (NS_PER_S / 20)

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* As after another refresh, in which those did something that always do. */
static void refresh_again(struct fixture *f)
{
	struct fixture_order *const orders[] = { &f->thread_order, &f->process_order };

	f->m.refresh_nr++;
	/* Who did nothing came from no queue. */
	f->scx.nr_tasks = f->process_order.pub.nr_active;
	for (size_t i = 0; i < 2; i++) {
		orders[i]->pub.changed = orders[i]->pub.active;
		orders[i]->pub.nr_changed = orders[i]->pub.nr_active;
		orders[i]->pub.is_all_changed = false;
	}
}

static double round_us(const struct view *v, struct fixture *f, const struct screen *from,
                       struct grid *g)
{
	uint64_t start = now_ns(), spent = 0;
	int frames = 0;

	for (; frames < MIN_FRAMES || spent < ROUND_NS; frames++) {
		struct screen s = *from;

		if (grid_reset(g, g->width, g->height))
			exit(1);
		v->draw(&f->m, &s, g, (struct area){ 0, 0, g->width, g->height });
		refresh_again(f);
		spent = now_ns() - start;
	}
	return (double)spent / frames / 1000;
}

struct result {
	double growth; /* the largest */
	double us;
};

/* Rounds of both take turns: whatever else the machine does then, it does to both. */
static void measure(const char *name, const struct view *v, struct screen s,
                    struct fixture *const fixtures[2], struct grid *g, struct result *worst)
{
	double us[2] = { 0 };

	for (int round = 0; round < 2 * ROUNDS; round++) {
		double one = round_us(v, fixtures[round % 2], &s, g);

		if (round < 2 || one < us[round % 2])
			us[round % 2] = one;
	}
	printf("%-14s %10.1f %10.1f\n", name, us[0], us[1]);
	if (!worst)
		return;
	worst->us = us[1] > worst->us ? us[1] : worst->us;
	worst->growth = us[1] / us[0] > worst->growth ? us[1] / us[0] : worst->growth;
}

static void make(struct fixture *f, uint32_t nr_threads)
{
	struct fixture_cfg cfg = fixture_small;

	cfg.nr_threads = nr_threads;
	fixture_init(f, &cfg);
	fixture_make_order(f, nr_threads / BUSY);
}

int main(void)
{
	struct fixture few, many, *const fixtures[] = { &few, &many };
	const struct view *threads = view_find("threads");
	struct screen s = { .tick_ms = 250, .selected_tid = FIXTURE_TID };
	struct result worst = { 0 };
	struct grid g;

	setlocale(LC_CTYPE, "C.UTF-8");
	make(&few, FEW);
	make(&many, MANY);
	if (grid_init(&g, 240, 70) || task_matches_new(&s.matches))
		return 1;
	printf("us of CPU a frame, 240x70, 8 CPUs\n%-14s %6u thr %6u thr\n", "view", FEW, MANY);
	for (size_t i = 0; i < nr_views; i++)
		measure(views[i]->id, views[i], s, fixtures, &g, &worst);
	s.selected = (int)MANY;
	s.selected_tid = 0;
	measure("at the end", threads, s, fixtures, &g, &worst);
	s.selected = 0;
	snprintf(s.filter, sizeof(s.filter), "nginx");
	measure("filtered", threads, s, fixtures, &g, &worst);
	s.filter[0] = '\0';
	s.sort = SORT_NAME;
	measure("by name", threads, s, fixtures, &g, NULL);
	task_matches_free(s.matches);
	grid_done(&g);
	fixture_done(&few);
	fixture_done(&many);
	printf("screen-draw-growth %.2f %.1f %s\n", worst.growth, BAR_GROWTH,
	       worst.growth <= BAR_GROWTH ? "pass" : "fail");
	printf("screen-draw-cpu-pct %.3f %.1f %s\n", worst.us * FRAMES_A_S / 1e4, BAR_CPU_PCT,
	       worst.us * FRAMES_A_S / 1e4 <= BAR_CPU_PCT ? "pass" : "fail");
	return 0;
}
