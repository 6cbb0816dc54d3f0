/*
 * machine/parts/zoom_tables — what the kernel keeps of one thread (collect/zoom_collector), as a screen shows it.
 *
 * Names are lent from the reading. Pure.
 */
#pragma once

#include "collect/zoom_collector.h"
#include "machine/machine_zoom.h"

struct zoom_tables {
	struct machine_waker wakers[ZOOM_WAKERS];
	struct machine_rival rivals[ZOOM_RIVALS];
	struct machine_zoom_wait waits[ZOOM_WAITS];
};

/* Fills in all that comes from the kernel; other fields of out stay. */
void zoom_tables_fill(struct zoom_tables *t, const struct zoom_reading *r,
                      struct machine_zoom *out);
