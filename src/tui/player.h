/*
 * tui/player — playing a recording: what the user requested since the last refresh, and the line
 * that shows the position.
 *
 * A refresh advances by one interval when it is due and nothing else was requested. An interval is
 * as long as the tick times the speed, so that nothing is left out: slower is finer. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "machine/machine_play.h"
#include "tui/grid.h"

#define PLAYER_MAX_SPEED 10 /* as a power of two, and as slow */

struct player {
	int speed;     /* power of two; 0 = as it happened */
	int64_t steps; /* asked for */
};

/* "1", "-10", ...; "start", "end". */
void player_seek(struct player *p, const char *where);
void player_change_speed(struct player *p, int by);
/* What the next refresh is to do; clears the request. is_turn: it is due. */
void player_take(struct player *p, uint32_t tick_ms, bool is_paused, bool is_turn,
                 struct machine_play_request *out);
bool player_is_at_end(const struct machine_play *play);
void player_draw(const struct machine_play *play, bool is_paused, struct grid *g, int y);
