/* machine/parts/game — frames of a game, from mangoapp's queue (sys/sensors/mango), read as often as the settings say. */
#pragma once

#include "machine/parts/part.h"

extern const struct machine_part machine_part_game;
