/*
 * tui/loop — shows a machine on the terminal until the user quits: refreshes, draws, reads keys.
 *
 * The machine is refreshed once per tick, with what the visible view needs; a frame is drawn after
 * a key, and at most once per frame time after a refresh. Messages of base/log go to the pane of
 * the screen meanwhile. One thread.
 */
#pragma once

#include <limits.h>

#include "base/attr.h"
#include "base/diag.h"
#include "tui/config.h"

struct machine;
struct machine_request;

struct loop_cfg {
	struct config *config;
	void *ctx;
	/* The machine over the time since the last refresh, lent until the next. */
	int (*refresh)(void *ctx, const struct machine_request *request, struct diag *d,
	               const struct machine **out);
	/* Starts a recording: where it goes, into text. NULL = there is none. */
	int (*record)(void *ctx, char *text, size_t size, struct diag *d);
	/* The same, with a report when it is over. NULL = there is none. */
	int (*report)(void *ctx, char *text, size_t size, struct diag *d);
	/* Arms the flight recorder, or ends it; text says which. NULL = there is none. */
	int (*arm)(void *ctx, char *text, size_t size, struct diag *d);
	/* Seconds that an armed one keeps, and its share of a CPU (NAN = unknown); 0 = not armed. NULL = there is none. */
	double (*kept)(void *ctx, double *cpu);
	/* What has happened to it: true once, with a line in text. NULL = nothing to report. */
	bool (*message)(void *ctx, char *text, size_t size);
	/* Saves settings, as config_store() does, which it is where this is NULL. */
	int (*save)(void *ctx, const char *text, struct diag *d, char path[PATH_MAX]);
	const char *first_message; /* NULL = none */
	const char *filter;        /* of tasks, at the start; NULL = none */
};

MUST_USE int loop_run(const struct loop_cfg *cfg, struct diag *d);
