/*
 * session/sensor_desk — reads sensors in a thread of its own, so that one that never answers stops nobody.
 *
 * A reading is asked for, at most one at a time, and taken when it is there. A file that has not answered for a while is
 * named, left out from then on, and its thread is left behind with it; the others are read by another one. That happens
 * a few times at most. Nothing here waits, closing neither. All calls but read() come from one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "sys/sensor_file.h"

struct sensor_desk;

struct sensor_desk_cfg {
	const char *root;        /* "" or a copy of such a tree */
	uint64_t (*clock)(void); /* boot time in ns; NULL: the real one */
	/* By the thread: a new reading, or NULL without memory. what is the asker's. */
	void *(*read)(const struct sensor_files *f, uint64_t (*clock)(void), uint32_t what);
	void (*free)(void *reading); /* NULL is fine */
};

MUST_USE int sensor_desk_open(const struct sensor_desk_cfg *cfg,
                              struct sensor_desk **out); /* -errno */
void sensor_desk_close(struct sensor_desk *d);           /* NULL is fine */
/* Nothing happens while one is on its way. */
void sensor_desk_ask(struct sensor_desk *d, uint32_t what);
/* The reading that was asked for, which is the caller's now; NULL while there is none. */
void *sensor_desk_take(struct sensor_desk *d);
/* The file that did not answer last, as a path; NULL = all did. */
const char *sensor_desk_hung(const struct sensor_desk *d);
