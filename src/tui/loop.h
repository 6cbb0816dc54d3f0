/*
 * tui/loop — shows a machine on the terminal until the user has enough: looks, draws, reads keys.
 *
 * A look happens once per tick, with what the visible view needs; a frame is drawn after a key, and at most once per
 * frame time after a look. Messages of base/log go to the pane of the screen meanwhile. One thread.
 */
#pragma once

#include "base/attr.h"
#include "base/diag.h"
#include "tui/config.h"

struct machine;
struct machine_wish;

struct loop_cfg {
	struct config *config;
	void *ctx;
	/* The machine over the time since the last look, lent until the next. */
	int (*look)(void *ctx, const struct machine_wish *wish, struct diag *d,
	            const struct machine **out);
	/* Starts a recording: where it goes, into text. NULL = there is none. */
	int (*record)(void *ctx, char *text, size_t size, struct diag *d);
	/* What has happened to it: true once, with a line in text. NULL = nothing to tell. */
	bool (*news)(void *ctx, char *text, size_t size);
	const char *first_message; /* NULL = none */
};

MUST_USE int loop_run(const struct loop_cfg *cfg, struct diag *d);
