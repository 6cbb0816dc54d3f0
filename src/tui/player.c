#include "tui/player.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tui/format.h"

#define MS_NS     1000000ULL
#define MIN_BAR   8
#define WALL_FROM 100    /* cells, for the wall clock */
#define MARK      0x25c6 /* a diamond */

void player_seek(struct player *p, const char *where)
{
	int64_t sum;

	if (strcmp(where, "start") == 0)
		p->steps = INT64_MIN;
	else if (strcmp(where, "end") == 0)
		p->steps = INT64_MAX;
	else if (!__builtin_add_overflow(p->steps, strtoll(where, NULL, 10), &sum))
		p->steps = sum;
}

void player_change_speed(struct player *p, int by)
{
	p->speed += by;
	if (p->speed > PLAYER_MAX_SPEED)
		p->speed = PLAYER_MAX_SPEED;
	if (p->speed < -PLAYER_MAX_SPEED)
		p->speed = -PLAYER_MAX_SPEED;
}

void player_change_step(struct player *p, int by)
{
	p->step += by;
	if (p->step > PLAYER_MAX_SPEED)
		p->step = PLAYER_MAX_SPEED;
	if (p->step < -PLAYER_MAX_SPEED)
		p->step = -PLAYER_MAX_SPEED;
}

/* Which interval a moment belongs to that something ended at. */
static int64_t number_of(const struct machine_play *play, uint64_t at_ns)
{
	if (at_ns <= play->start_ns || !play->interval_ns)
		return 0;
	return (int64_t)((at_ns - play->start_ns) / play->interval_ns);
}

static int64_t shown_number(const struct machine_play *play)
{
	return number_of(play, play->position_ns - (play->position_ns > play->start_ns));
}

const struct machine_play_wait *player_seek_wait(struct player *p, const struct machine_play *play,
                                                 bool is_back)
{
	const struct machine_play_wait *to = NULL;
	int64_t shown = shown_number(play) + p->steps;

	if (!play->nr_waits)
		return NULL;
	for (size_t i = 0; i < play->nr_waits; i++) {
		const struct machine_play_wait *w = &play->waits[i];
		int64_t number = number_of(play, w->end_ns);

		if (is_back ? number < shown : number > shown && !to)
			to = w;
	}
	/* Around the ends. */
	if (!to)
		to = &play->waits[is_back ? play->nr_waits - 1 : 0];
	p->steps = number_of(play, to->end_ns) - shown_number(play);
	return to;
}

static uint64_t scaled(uint64_t ns, int power)
{
	return power < 0 ? ns >> -power : ns << power;
}

uint64_t player_period_ns(const struct player *p, uint32_t tick_ms)
{
	uint64_t ns = scaled(tick_ms * MS_NS, p->step - p->speed);

	return ns < PLAYER_MIN_MS * MS_NS ? PLAYER_MIN_MS * MS_NS : ns;
}

/* So many that the speed is kept. */
static int64_t steps_of_turn(const struct player *p, uint32_t tick_ms)
{
	uint64_t ns = scaled(tick_ms * MS_NS, p->step - p->speed);

	return ns && ns < PLAYER_MIN_MS * MS_NS ? (int64_t)(PLAYER_MIN_MS * MS_NS / ns) : 1;
}

static double speed_of(const struct player *p)
{
	double factor = (double)(1U << abs(p->speed));

	return p->speed < 0 ? 1 / factor : factor;
}

void player_take(struct player *p, uint32_t tick_ms, bool is_paused, bool is_turn,
                 struct machine_play_request *out)
{
	*out = (struct machine_play_request){
		.interval_ns = scaled(tick_ms * MS_NS, p->step),
		.steps = p->steps,
		.speed = speed_of(p),
		.is_paused = is_paused,
	};
	if (!p->steps && is_turn && !is_paused)
		out->steps = steps_of_turn(p, tick_ms);
	p->steps = 0;
}

bool player_is_at_end(const struct machine_play *play)
{
	return play->position_ns >= play->end_ns;
}

static void speed_text(double speed, char *out, size_t size)
{
	if (speed < 1)
		(void)snprintf(out, size, "1/%.0f", 1 / speed);
	else
		(void)snprintf(out, size, "x%.0f", speed);
}

static void wall_text(uint64_t unix_ns, char *out, size_t size)
{
	time_t seconds = (time_t)(unix_ns / 1000000000ULL);
	char day[32] = "";
	struct tm when;

	out[0] = '\0';
	if (!unix_ns || !gmtime_r(&seconds, &when) ||
	    !strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &when))
		return;
	(void)snprintf(out, size, "  %s.%03u UTC", day, (unsigned int)(unix_ns / MS_NS % 1000));
}

/* Where the longest waits ended. */
static void draw_marks(const struct machine_play *play, struct grid *g, struct area a)
{
	double span = (double)(play->end_ns - play->start_ns);

	for (size_t i = 0; i < play->nr_waits && span > 0; i++) {
		double part = (double)(play->waits[i].end_ns - play->start_ns) / span;
		int x = (int)(part * a.width);

		if (part >= 0 && x <= a.width)
			grid_fill(g,
			          (struct area){ a.x + (x < a.width ? x : a.width - 1), a.y, 1, 1 },
			          STYLE_BAD, MARK);
	}
}

void player_draw(const struct machine_play *play, bool is_paused, struct grid *g, int y)
{
	double at = (double)(play->position_ns - play->start_ns),
	       span = (double)(play->end_ns - play->start_ns);
	char right[128], speed[16], wall[64] = "", interval[FORMAT_BYTES];
	int x, width;

	speed_text(play->speed, speed, sizeof(speed));
	if (g->width >= WALL_FROM)
		wall_text(play->unix_ns, wall, sizeof(wall));
	(void)snprintf(right, sizeof(right), " %.3f of %.3f s  %s  %s/step", at / 1e9, span / 1e9,
	               speed, format_ns(interval, (double)play->interval_ns));
	x = grid_text(g, 0, y, g->width, is_paused ? STYLE_WARNING : STYLE_KEY,
	              is_paused ? "paused " : "playing ");
	width = g->width - x - (int)strlen(right) - (int)strlen(wall);
	if (width >= MIN_BAR) {
		grid_fill(g, (struct area){ x, y, width, 1 }, STYLE_DIM, 0x2500);
		grid_bar(g, x, y, width, span > 0 ? at / span : 1, STYLE_USER);
		draw_marks(play, g, (struct area){ x, y, width, 1 });
		x += width;
	}
	x += grid_text(g, x, y, g->width - x, STYLE_TEXT, right);
	grid_text(g, x, y, g->width - x, STYLE_DIM, wall);
}
