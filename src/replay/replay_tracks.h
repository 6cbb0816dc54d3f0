/*
 * replay/replay_tracks — what each task of a recording does at a moment: runs, waits, sleeps, and since when.
 *
 * What is found is remembered as long as it holds, so that moments in a row cost a search only for tasks that did something
 * between. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/source.h"
#include "base/attr.h"

enum replay_doing { REPLAY_UNKNOWN, REPLAY_RUNS, REPLAY_WAITS, REPLAY_SLEEPS };

struct replay_track {
	uint64_t since_ns; /* it does so, */
	uint64_t until_ns; /* up to here */
	int32_t cpu;       /* where it runs or ran last; -1 = unknown */
	int16_t prio;
	bool has_prio;
	char state;    /* as in struct machine_task */
	uint8_t doing; /* enum replay_doing */
};

struct replay_tracks {
	const struct source *s;
	struct replay_track *tracks; /* by task */
};

MUST_USE int replay_tracks_init(struct replay_tracks *t, const struct source *s); /* -ENOMEM */
void replay_tracks_done(struct replay_tracks *t);

/* Lent until the next call for that task. */
const struct replay_track *replay_tracks_at(struct replay_tracks *t, uint32_t task, uint64_t ts_ns);
