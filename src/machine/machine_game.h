/*
 * machine/machine_game — frames of a game that a compositor reports to mangoapp. Unknown is NAN;
 * texts are untrusted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"

struct machine_game {
	const char *reason; /* why there is no frame, and what helps; NULL = there is one */
	const char *
		note; /* how frames are read, if others may miss some or we do; NULL = all is well */
	uint32_t pid;
	const char *comm;   /* NULL = unknown */
	const char *engine; /* "" = not reported */
	uint32_t width, height, refresh_hz;
	bool has_hdr;
	double frame_ns;   /* from frame to frame, of the newest */
	double visible_ns; /* on the display */
	double latency_ns;
	double fps;         /* of the frames since the last time there were new ones */
	double age_s;       /* since the last frame came */
	uint64_t nr_frames; /* of this game, since the start */
	/* Frame by frame, or as many as could be seen; in ns. */
	struct machine_history frames, latencies;
	struct machine_history rates; /* of fps, one for each reading */
};
