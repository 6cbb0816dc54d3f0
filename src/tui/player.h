/*
 * tui/player — playing a recording: what the user requested since the last refresh, and the line
 * that shows the position.
 *
 * A refresh advances by one interval, the step, when it is due and nothing else was requested. How long a step is, and how
 * fast steps follow each other, are chosen apart: at speed 1 a step of 250 ms is shown for 250 ms. Where steps would follow
 * each other faster than PLAYER_MIN_MS, several are taken at once. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "machine/machine_play.h"
#include "tui/grid.h"

#define PLAYER_MAX_SPEED 10 /* as a power of two, and as slow; steps likewise */
#define PLAYER_MIN_MS    50U

struct player {
	int speed;     /* power of two; 0 = as it happened */
	int step;      /* power of two; 0 = as long as the tick */
	int64_t steps; /* asked for */
};

/* "1", "-10", ...; "start", "end". */
void player_seek(struct player *p, const char *where);
void player_change_speed(struct player *p, int by);
void player_change_step(struct player *p, int by);
/* To the next of the longest waits, or the one before; which one. NULL = there is none. */
const struct machine_play_wait *player_seek_wait(struct player *p, const struct machine_play *play,
                                                 bool is_back);
/* From one refresh to the next. */
uint64_t player_period_ns(const struct player *p, uint32_t tick_ms);
/* What the next refresh is to do; clears the request. is_turn: it is due. */
void player_take(struct player *p, uint32_t tick_ms, bool is_paused, bool is_turn,
                 struct machine_play_request *out);
bool player_is_at_end(const struct machine_play *play);
void player_draw(const struct machine_play *play, bool is_paused, struct grid *g, int y);
