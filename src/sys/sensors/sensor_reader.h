/*
 * sys/sensors/sensor_reader — reads sensors in a separate thread, so that one that never answers
 * blocks nothing else.
 *
 * A reading is requested, at most one at a time, and taken when it is ready. A file that has not
 * answered for a while is reported, skipped from then on, and its thread is abandoned with it; the
 * others are read by another one. That happens a few times at most. Nothing here waits, not even
 * closing. All calls but read() come from one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "sys/sensors/sensor_file.h"

struct sensor_reader;

struct sensor_reader_cfg {
	const char *root;        /* "" or a copy of such a tree */
	uint64_t (*clock)(void); /* boot time in ns; NULL: the real one */
	/* By the thread: a new reading, or NULL without memory. what is the asker's. */
	void *(*read)(const struct sensor_files *f, uint64_t (*clock)(void), uint32_t what);
	void (*free)(void *reading); /* NULL is fine */
};

MUST_USE int sensor_reader_open(const struct sensor_reader_cfg *cfg,
                                struct sensor_reader **out); /* -errno */
void sensor_reader_close(struct sensor_reader *d);           /* NULL is fine */
/* Nothing happens while one is on its way. */
void sensor_reader_ask(struct sensor_reader *d, uint32_t what);
/* The reading that was asked for, which is the caller's now; NULL while there is none. */
void *sensor_reader_take(struct sensor_reader *d);
/* The file that did not answer last, as a path; NULL = all did. */
const char *sensor_reader_hung(const struct sensor_reader *d);
