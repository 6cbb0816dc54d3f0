/*
 * tui/player — playing a recording: what the user asked for since the last look, and the line that shows where one is.
 *
 * A look goes on by one interval when its time has come and nothing else was asked for. An interval is as long as the tick
 * times the speed, so that nothing is left out: slower is finer. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/machine.h"
#include "analyze/machine_play.h"
#include "tui/grid.h"

#define PLAYER_MAX_SPEED 10 /* as a power of two, and as slow */

struct player {
	int speed;     /* power of two; 0 = as it happened */
	int64_t steps; /* asked for */
};

/* "1", "-10", ...; "start", "end". */
void player_seek(struct player *p, const char *where);
void player_change_speed(struct player *p, int by);
double player_speed(const struct player *p);
/* What the next look is to do; nothing is asked for any more then. is_turn: its time has come. */
void player_take(struct player *p, uint32_t tick_ms, bool is_paused, bool is_turn,
                 struct machine_play_wish *out);
bool player_is_at_end(const struct machine_play *play);
void player_draw(const struct machine_play *play, bool is_paused, struct grid *g, int y);
