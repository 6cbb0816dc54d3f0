/*
 * tui/views/profile_pane — all that is known of one function of a profile: where it is, which tasks
 * are in it, through which callers.
 */
#pragma once

#include "profile/machine_profile.h"
#include "tui/view.h"

#define PROFILE_PLACE_BYTES 256
/* "file.c:12", only the last part of the path; "-" where it is unknown. */
const char *profile_place(const char *file, uint32_t line, char buf[static PROFILE_PLACE_BYTES]);

void profile_pane_draw(const struct machine *m, const struct machine_profile_row *row,
                       const struct screen *s, struct grid *g, struct area a);
