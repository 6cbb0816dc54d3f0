/*
 * tests/analyze/noisy_world — records of 40 tasks on two CPUs that wait and run for random times, calm and busy in turns: recordings
 * of the same world with other seeds do not differ but by chance.
 */
#pragma once

#include "pass_fixture.h"

#define NOISY_WORLD_NS 800000000.0

/* Waits are so many times as long as usual, of one name (task-0) and of all. */
struct noisy_world {
	uint64_t seed;
	double factor_of_first, factor_of_all;
	double end_ns; /* 0 = NOISY_WORLD_NS */
};

/* The stream is ended, so that analyses can run. */
void noisy_world_make(struct pass_fixture *p, struct noisy_world w);
