/* replay/replay_waits — the longest waits of a recording, for the bar that shows the position. */
#pragma once

#include <stddef.h>

#include "analyze/scope.h"
#include "base/attr.h"
#include "machine/machine_play.h"

#define REPLAY_WAITS_MAX 32U

/* By their ends; to be freed, names are lent by the recording. One pass over all waits. -ENOMEM. */
MUST_USE int replay_waits_find(const struct scope *sc, struct machine_play_wait **out, size_t *nr);
