/* machine/machine_past — the last MACHINE_HISTORY values of something, in one piece of memory that can be lent. */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "machine/machine.h"

/* Zeroed it is empty, and takes no memory. */
struct machine_past {
	double *values; /* twice as many as are remembered, so that they rarely move */
	uint32_t first;
	uint32_t nr;
};

MUST_USE int machine_past_add(struct machine_past *p, double value); /* 0 or -ENOMEM */
void machine_past_done(struct machine_past *p);                      /* empty again */
struct machine_history machine_past_show(const struct machine_past *p);
