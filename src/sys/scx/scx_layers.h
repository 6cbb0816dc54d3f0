/*
 * sys/scx/scx_layers — which layer each task is in, as scx_layered keeps it: the number layer_id in the values of its task
 * storage "task_ctxs".
 *
 * Where layer_id lies is what the map's own type information says, so that other versions of the scheduler are read
 * right, and other schedulers with a map of that name not at all. Finding the map needs CAP_SYS_ADMIN. One thread.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"

struct scx_layers {
	int fd; /* of the map; closed by its finder */
	uint32_t value_bytes;
	uint32_t offset; /* of layer_id in a value, 4 bytes */
};

/* Of the scheduler in charge; -ENOENT: none keeps layers; -EPERM. */
MUST_USE int scx_layers_find(struct scx_layers *out);
/* *layer is untouched unless 0 is returned; -ENOENT: the task has none, or is gone. buf has room for a value. */
MUST_USE int scx_layers_of(const struct scx_layers *l, uint32_t tid, void *buf, uint32_t *layer);
