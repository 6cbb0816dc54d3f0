/*
 * sys/sensors/mango — frames of a game, as its compositor reports them to mangoapp through a System
 * V message queue.
 *
 * As long as another program takes the messages out, they are only copied (MSG_COPY, which needs a kernel with
 * CONFIG_CHECKPOINT_RESTORE), so that it misses nothing. If no other program does, the queue would be full
 * after seconds and the compositor would stop writing: then they are removed, as mangoapp would do. If the
 * kernel cannot copy they are taken in any case, and mango_frames.is_taking says so. A message for which a
 * program is already waiting never is in the queue: of frames that are received at once, few are seen. Never
 * blocks, never creates a queue. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"

#define MANGO_FRAMES_MAX 1024U /* of a read; older ones are left out */
#define MANGO_ENGINE     40U

struct mango_frame {
	uint32_t pid;
	uint64_t app_ns;     /* from frame to frame, of the game; 0 = not reported */
	uint64_t visible_ns; /* from frame to frame, on the display; 0 = not reported */
	uint64_t latency_ns; /* UINT64_MAX = not reported */
	uint32_t width, height;
	uint16_t refresh_hz;
	uint8_t upscale, sharpness; /* of FSR */
	bool has_hdr, is_steam_focused;
	char engine[MANGO_ENGINE + 1];
};

struct mango_frames {
	const struct mango_frame
		*frames; /* that are new, the newest last; lent until the next refresh */
	size_t nr;
	bool is_taking;  /* messages are gone for others */
	pid_t other;     /* that removes them; 0 = none */
	uint32_t nr_odd; /* messages that are none of version 1 */
	uint64_t sent_s; /* when the last one was sent, in seconds since 1970; 0 = never */
};

struct mango;

/* path and number 65 make the key, as everywhere. -ENOMEM. */
MUST_USE int mango_open(const char *path, struct mango **out);
void mango_close(struct mango *m); /* NULL is fine; the queue stays */
/* 0; -ENOENT: there is no queue (yet); -EACCES: not ours to read; other -errno. */
MUST_USE int mango_read(struct mango *m, struct mango_frames *out);
/* A message as it lies in the queue, type first; false if it is none of version 1. */
MUST_USE bool mango_decode(const void *message, size_t bytes, struct mango_frame *out);
