/*
 * render/flame — a profile as a picture: one SVG or HTML page that needs nothing else.
 *
 * Width is value, rows are callers below callees; kernel, user, inlined and JIT code have their own hues. The page
 * zooms on a click, searches by regular expression, shows name, module, line, value and share, works with the
 * keyboard, and prints what it was made of (event, rate, duration, losses). With `before`, colours show the
 * change: red grew, blue shrank, in shares of the whole. Frames narrower than can be seen are left out and counted
 * in a note.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/attr.h"
#include "profile/profile.h"

struct flame_cfg {
	const char *title;            /* NULL = made of the facts */
	const struct profile *before; /* NULL = no difference */
	bool is_by_thread; /* the lowest rows are process and thread, else the process alone */
	bool is_icicle;    /* roots on top */
	bool is_figure;    /* of another page: see flame_figure(), which sets it */
};

/* -EIO with errno's reason if it cannot be written. */
MUST_USE int flame_svg(const struct profile *p, const struct flame_cfg *cfg, FILE *out);
/*
 * An svg element for a page that has flame_style() in its own style: without a script, names and values as titles, and without
 * frames narrower than a letter.
 */
MUST_USE int flame_figure(const struct profile *p, const struct flame_cfg *cfg, FILE *out);
const char *flame_style(void);
MUST_USE int flame_html(const struct profile *p, const struct flame_cfg *cfg, FILE *out);
