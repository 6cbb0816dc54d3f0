/*
 * screen_draw — what a frame costs: every view of a synthetic machine with few and with many threads, drawn again and
 * again. Of several rounds the best counts, in CPU time. A frame should not cost more for threads that are not shown.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../tests/tui/fixture.h"

#define ROUNDS      5
#define FEW         100U
#define MANY        50000U
#define FRAMES_A_S  4
#define BAR_CPU_PCT 2.0
#define BAR_GROWTH  3.0 /* of a frame of threads: both fill the screen, one has 500 times as many */
#define MIN_FRAMES  10
#define NS_PER_S    1000000000ULL
#define ROUND_NS    (NS_PER_S / 20)

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static double frame_us(const struct view *v, const struct machine *m, const struct screen *from,
                       struct grid *g)
{
	double best = 0;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t start = now_ns(), spent = 0;
		int frames = 0;
		double us;

		for (; frames < MIN_FRAMES || spent < ROUND_NS; frames++) {
			struct screen s = *from;

			if (grid_reset(g, g->width, g->height))
				exit(1);
			v->draw(m, &s, g, (struct area){ 0, 0, g->width, g->height });
			spent = now_ns() - start;
		}
		us = (double)spent / frames / 1000;
		if (round == 0 || us < best)
			best = us;
	}
	return best;
}

static void print_threads(const char *name, struct screen s, const struct fixture *few,
                          const struct fixture *many, struct grid *g)
{
	const struct view *v = view_find("threads");
	double a = frame_us(v, &few->m, &s, g);

	printf("%-12s %10.1f %10.1f\n", name, a, frame_us(v, &many->m, &s, g));
}

int main(void)
{
	struct fixture_cfg cfg = fixture_small;
	struct fixture few, many;
	double few_threads = 0, many_threads = 0, worst = 0;
	struct grid g;
	struct screen s = { .tick_ms = 250, .selected_tid = FIXTURE_TID };

	setlocale(LC_CTYPE, "C.UTF-8");
	cfg.nr_threads = FEW;
	fixture_init(&few, &cfg);
	cfg.nr_threads = MANY;
	fixture_init(&many, &cfg);
	if (grid_init(&g, 240, 70))
		return 1;
	printf("us of CPU a frame, 240x70, 8 CPUs\n%-12s %10s %10s\n", "view", "100 thr",
	       "50000 thr");
	for (size_t i = 0; i < nr_views; i++) {
		double a = frame_us(views[i], &few.m, &s, &g);
		double b = frame_us(views[i], &many.m, &s, &g);

		printf("%-12s %10.1f %10.1f\n", views[i]->id, a, b);
		if (views[i] == view_find("threads")) {
			few_threads = a;
			many_threads = b;
		}
		worst = b > worst ? b : worst;
	}
	print_threads("filtered", (struct screen){ .filter = "nginx" }, &few, &many, &g);
	print_threads("at the end", (struct screen){ .selected = (int)MANY }, &few, &many, &g);
	grid_done(&g);
	fixture_done(&few);
	fixture_done(&many);
	printf("screen-draw-growth %.2f %.1f %s\n", many_threads / few_threads, BAR_GROWTH,
	       many_threads / few_threads <= BAR_GROWTH ? "pass" : "fail");
	printf("screen-draw-cpu-pct %.3f %.1f %s\n", worst * FRAMES_A_S / 1e4, BAR_CPU_PCT,
	       worst * FRAMES_A_S / 1e4 <= BAR_CPU_PCT ? "pass" : "fail");
	return 0;
}
