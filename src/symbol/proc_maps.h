/*
 * symbol/proc_maps — the lines of /proc/PID/maps. Pure; lines that are none are skipped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/scan.h"

#define PROC_MAPS_PATH_MAX 4200 /* PATH_MAX, and what the kernel writes behind it */

struct proc_maps_line {
	uint64_t start, end, offset, inode;
	uint32_t dev_major, dev_minor;
	bool is_executable;
	bool is_deleted; /* "(deleted)" is cut off the path */
	char path[PROC_MAPS_PATH_MAX];
};

/* The next mapping; false at the end. */
bool proc_maps_next(struct scan *text, struct proc_maps_line *out);
/* Cuts " (deleted)" off a path; whether it was there. */
bool proc_maps_undelete(char *path);
