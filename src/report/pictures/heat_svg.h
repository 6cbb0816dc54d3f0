/* report/pictures/heat_svg — wakeup latency over time as a heat map: brighter is more often. */
#pragma once

#include <stdio.h>

#include "base/attr.h"
#include "report/data.h"

/* <figure id="heat">; nothing for NULL. -ENOMEM. */
MUST_USE int heat_svg(const struct report_heat *h, FILE *out);
