/* cli/top_replay — `schedscope top FILE`: a recording in the views of the screen. Needs no privilege, and keeps none. */
#pragma once

#include <stdint.h>

#include "analyze/pass.h"
#include "base/attr.h"
#include "base/diag.h"

struct config;

/* Which tasks the screen shows. */
struct top_tasks {
	uint32_t tgid;      /* only this process; 0 = all */
	const char *filter; /* the words of its filter at the start */
	enum pass_by by;    /* which are one row of the blame view */
};

/* Loads the file as analyze does, then plays it. */
MUST_USE int top_replay(const char *path, struct config *config, const struct top_tasks *tasks,
                        struct diag *d);
/* Off a terminal: the summary of the file. The exit code. */
MUST_USE int top_replay_summary(const char *path);
