/*
 * sys/sensors/sensor_file — small files of /sys, read so that one that never answers can be named and left out.
 *
 * Some sensors answer after seconds, or hang with their hardware: may_read() is asked before each file, by the thread
 * that reads, and can note its name. Blocks on the file. Nothing is kept.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define SENSOR_TEXT 64U
#define SENSOR_PATH 256U
#define SENSOR_LIST 2048U /* names of a folder that are read */

struct sensor_files {
	const char *root; /* "" or a copy of such a tree */
	/* False leaves the file out; path is without root. NULL = all are read. */
	bool (*may_read)(void *ctx, const char *path);
	void *ctx;
};

/* The first line, without white space at its end. 0 or -errno; -ENODATA if it is empty. */
MUST_USE int sensor_text(const struct sensor_files *f, char out[SENSOR_TEXT], const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/* The same as a number; -EINVAL for anything else. */
MUST_USE int sensor_u64(const struct sensor_files *f, uint64_t *out, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
MUST_USE int sensor_i64(const struct sensor_files *f, int64_t *out, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

struct sensor_names {
	char (*names)[SENSOR_TEXT];
	size_t nr;
};

/* Names in a folder that begin so, 2 before 10; none if there is no such folder. Longer names are left out. */
void sensor_list(const struct sensor_files *f, const char *folder, const char *prefix,
                 struct sensor_names *out);
void scoped_sensor_names(struct sensor_names *n);
/* The number that follows a prefix to the end of the text, or -1. */
int32_t sensor_number(const char *text, const char *prefix);
