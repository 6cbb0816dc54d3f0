/* session/machine_game — frames of a game, from mangoapp's queue (sys/mango), read as often as the settings say. */
#pragma once

#include "session/machine_part.h"

extern const struct machine_part machine_part_game;
