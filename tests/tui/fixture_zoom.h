/*
 * tests/tui/fixture_zoom — one thread of a synthetic machine, closely; numbers follow from their place.
 *
 * Waker i began FIXTURE_WAITS >> i waits; rival i held the CPU for FIXTURE_RIVAL_NS >> i, times 10 - i. The first waker is
 * an interrupt, the last rival no task. Wait i is the i-th before the last.
 */
#pragma once

#include "fixture.h"
#include "machine/machine_zoom.h"

#define FIXTURE_WAKERS   6U
#define FIXTURE_RIVALS   8U
#define FIXTURE_LAST     40U
#define FIXTURE_WAITS    6400U
#define FIXTURE_RIVAL_NS 512000000ULL
#define FIXTURE_NOW_NS   9000000000ULL

struct fixture_zoom {
	struct machine_zoom zoom;
	struct machine_waker wakers[FIXTURE_WAKERS];
	struct machine_rival rivals[FIXTURE_RIVALS];
	struct machine_zoom_wait last[FIXTURE_LAST];
};

/* Of the thread with that index; the machine of f shows it. */
void fixture_zoom_init(struct fixture_zoom *z, struct fixture *f, uint32_t thread, bool is_hostile);
uint64_t fixture_wait_ns(uint32_t i);
const char *fixture_rival_name(uint32_t i, bool is_hostile);
