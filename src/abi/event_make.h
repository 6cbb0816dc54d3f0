/* abi/event_make — records with a text, made in user space. */
#pragma once

#include "abi/event.h"

struct ev_cgroup_named {
	struct ev_cgroup_info info;
	char path[EV_CGROUP_PATH_MAX];
};

/* A longer path is cut. */
void ev_make_cgroup_info(struct ev_cgroup_named *out, __u64 cgroup, const char *path, __u64 ts_ns);
