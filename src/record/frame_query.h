/*
 * record/frame_query — where the functions are that a recording knows by place alone: what record/frame_names looks up.
 *
 * Plain values, so that one process can ask and another one look up. Of each file its path and its build id, of each frame
 * the place in its file. A frame has the number that it has in the recording.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"

#define FRAME_FILES_MAX  65536U
#define FRAME_PLACES_MAX (1U << 22)
#define FRAME_ID_MAX     20U
#define FRAME_RELEASE    65U

struct arena;
struct trace_info;

enum { FRAME_UNWANTED = UINT32_MAX, FRAME_KERNEL = UINT32_MAX - 1 };

struct frame_file {
	const char *path;
	uint8_t build_id[FRAME_ID_MAX];
	uint8_t nr_build_id;
};

struct frame_place {
	uint64_t at; /* in the file, or the address in the kernel; of a caller inside of its call */
	uint32_t file; /* of the query, or one of the above */
	uint32_t pad_;
};

struct frame_query {
	char release[FRAME_RELEASE]; /* of the kernel; "" = unknown */
	uint64_t kernel_text;        /* the address of its _text; 0 = unknown */
	struct frame_file *files;    /* each build id once */
	uint32_t nr_files;
	struct frame_place *places; /* by frame; beyond FRAME_PLACES_MAX they are left out */
	size_t nr_places;
	struct arena *mem; /* of the paths; NULL = they are lent */
};

/* *out stays NULL where there is nothing to look up. Paths are lent by the info. -ENOMEM. */
MUST_USE int frame_query_new(const struct trace_info *info, struct frame_query **out);
void frame_query_free(struct frame_query *q); /* NULL is fine */
DEFINE_SCOPED(frame_query, frame_query_free)
