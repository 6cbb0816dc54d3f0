/*
 * session/machine_bandwidth — memory traffic by cache and node, from resctrl, while someone looks; once a second at most.
 *
 * Each interval is that between two readings. A group that is new has no rate yet, and one that is gone has none any
 * more. Counts that the hardware has not ready are left out of the sums, which the note tells.
 */
#pragma once

#include "session/machine_part.h"

extern const struct machine_part machine_part_bandwidth;
