#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"
#include "machine/machine_game.h"
#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/parts.h"
#include "tui/views/task_table.h"
#include "tui/views/views.h"

#define NAME_CELLS  9
#define VALUE_CELLS 7
#define STALE_S     3.0
#define TASKS_MIN   5
#define FRAMES_ROWS 9 /* with a frame */

/* The screen as the table of threads needs it: the game is its process. */
static struct screen of_game(const struct machine *m, const struct screen *s)
{
	struct screen own = *s;

	own.process = m->game ? m->game->pid : 0;
	return own;
}

static int rows(const struct machine *m, const struct screen *s)
{
	struct screen own = of_game(m, s);

	return m->game && !m->game->reason ? task_table_thread_rows(m, &own) : 0;
}

static void title_of(const struct machine_game *game, char out[static 128])
{
	snprintf(out, 128, " %.32s:%u %ux%u:%u%s%s%.40s ", game->comm ? game->comm : "?", game->pid,
	         game->width, game->height, game->refresh_hz, game->has_hdr ? " HDR" : "",
	         game->engine && game->engine[0] ? " " : "", game->engine ? game->engine : "");
}

static int by_value(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

/* Of the frames that are remembered; p10000 is the percentile times 100. */
static double frame_percentile(struct machine_history h, uint32_t p10000)
{
	double sorted[MACHINE_HISTORY];
	uint32_t nr = h.nr < MACHINE_HISTORY ? h.nr : MACHINE_HISTORY;

	if (!nr)
		return NAN;
	memcpy(sorted, h.values + h.nr - nr, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), by_value);
	return sorted[percentile_rank(nr, p10000) - 1];
}

/* Name, value, and its past as bars of one cell each. */
static void draw_line(const char *name, const char *value, const struct machine_history *h,
                      struct grid *g, struct area a)
{
	int spark = a.width - NAME_CELLS - VALUE_CELLS - 2;

	grid_text(g, a.x, a.y, NAME_CELLS, STYLE_DIM, name);
	grid_right(g, a.x + NAME_CELLS, a.y, VALUE_CELLS, STYLE_TEXT, value);
	if (spark > 0 && h)
		grid_spark(g, a.x + NAME_CELLS + VALUE_CELLS + 2, a.y, spark,
		           (struct grid_series){ h->values, h->nr, 0 }, STYLE_TEXT);
}

static void draw_frames(const struct machine_game *game, const struct screen *s, struct grid *g,
                        struct area a)
{
	char fps[FORMAT_BYTES], frame[FORMAT_BYTES], visible[FORMAT_BYTES], latency[FORMAT_BYTES],
		p99[FORMAT_BYTES], worst[FORMAT_BYTES], nr[FORMAT_BYTES];
	const struct {
		const char *name, *value;
		const struct machine_history *history;
	} lines[] = {
		{ "fps", format_count(fps, game->fps, false), &game->rates },
		{ "frame", format_ns(frame, game->frame_ns), &game->frames },
		{ "latency", format_ns(latency, game->latency_ns), &game->latencies },
		{ "frame p99", format_ns(p99, frame_percentile(game->frames, 9900)), NULL },
		{ "slowest", format_ns(worst, frame_percentile(game->frames, 10000)), NULL },
		{ "displayed", format_ns(visible, game->visible_ns), NULL },
		{ "frames", format_count(nr, (double)game->nr_frames, s->is_localized), NULL },
	};

	for (int i = 0; i < (int)(sizeof(lines) / sizeof(lines[0])) && i < a.height; i++)
		draw_line(lines[i].name, lines[i].value, lines[i].history, g,
		          (struct area){ a.x, a.y + i, a.width, 1 });
}

/* Old frames must not be taken for new ones. */
static void right_of(const struct machine_game *game, const struct screen *s, char out[static 96])
{
	char age[FORMAT_BYTES];

	parts_right(s, out, 96);
	if (game->age_s >= STALE_S)
		snprintf(out, 96, " no frame for %s ", format_ns(age, game->age_s * 1e9));
}

static void draw_threads(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	struct screen own = of_game(m, s);

	task_table_draw_threads(m, &own, g, a);
	own.process = s->process;
	*s = own;
}

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	const struct machine_game *game = m->game;
	char title[128], right[96];
	struct area top;

	if (!game || game->reason) {
		struct area rest = parts_with_cpus(m, s, g, a);

		parts_sentence(g, panel_begin(g, rest, " MangoApp ", NULL), STYLE_DIM,
		               game ? game->reason : "frames of games are not read here");
		return;
	}
	title_of(game, title);
	right_of(game, s, right);
	a = parts_with_cpus(m, s, g, a);
	top = a;
	top.height = a.height >= FRAMES_ROWS + TASKS_MIN ? FRAMES_ROWS
	             : a.height >= FRAMES_ROWS           ? 4
	                                                 : a.height;
	if (game->note && a.height >= FRAMES_ROWS) {
		table_view_text(g, a.x, a.y + a.height - 1, a.width, STYLE_WARNING, game->note);
		a.height--;
	}
	draw_frames(game, s, g, panel_begin(g, top, title, right));
	a.y += top.height;
	a.height -= top.height;
	if (a.height >= 2)
		draw_threads(m, s, g, a);
}

const struct view view_game = {
	.id = "game",
	.title = "MangoApp",
	.state = "MangoApp",
	.what = "frames of a game (mangoapp), and the latency of its threads",
	.needs = MACHINE_CPUS | MACHINE_TASKS | MACHINE_LATENCY | MACHINE_GAME,
	.draw = draw,
	.rows = rows,
};
