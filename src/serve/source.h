/*
 * serve/source — where the numbers come from: this machine (source_live), or a recording (source_replay).
 *
 * step() adds to the sums what has happened since the last one; it does not wait. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "serve/sums.h"
#include "stat/stat_groups.h"

struct serve_source;

struct serve_source_ops {
	int (*step)(struct serve_source *src, struct sums *s, struct diag *d);
	/* Other groups from now on; after a failure nothing is counted any more. NULL = not possible. */
	int (*reload)(struct serve_source *src, const struct stat_groups *groups, struct sums *s,
	              struct diag *d);
	int (*fd)(const struct serve_source *src);          /* readable: step now; -1 = none */
	uint64_t (*now_ns)(const struct serve_source *src); /* of the clock of peaks */
	void (*close)(struct serve_source *src);
};

struct serve_source {
	const struct serve_source_ops *ops;
	char kernel[128]; /* "" = unknown */
	char machine[128];
	char host[256];         /* "" = unknown */
	char boot_id[40];       /* "" = unknown */
	double clock_to_unix_s; /* to be added to times of its clock; kept up by step() */
};

/* Dead when the source is closed, and not before. */
struct source_live_cfg {
	struct stat_groups groups;
};

/* Loads and attaches; takes rights, or a broker that has them. The notes of what is missing are logged. */
MUST_USE int source_live_open(const struct source_live_cfg *cfg, struct sums *s, struct diag *d,
                              struct serve_source **out);

struct source_replay_cfg {
	const char *path;
	double speed; /* 1 = as fast as it was recorded; 0 = all at once */
};

MUST_USE int source_replay_open(const struct source_replay_cfg *cfg, struct sums *s, struct diag *d,
                                struct serve_source **out);

static inline void serve_source_close(struct serve_source *src)
{
	if (src)
		src->ops->close(src);
}
