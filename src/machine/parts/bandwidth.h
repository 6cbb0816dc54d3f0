/*
 * machine/parts/bandwidth — memory traffic by cache and node, from resctrl, while it is shown; once
 * a second at most.
 *
 * Each interval is that between two readings. A new group has no rate yet, and a removed one has
 * none any more. Counts that the hardware does not have ready are left out of the sums, which the
 * note says.
 */
#pragma once

#include "machine/parts/part.h"

extern const struct machine_part machine_part_bandwidth;
