/*
 * profile/profile_read — a profile that was written before, to compare with.
 *
 * Reads folded text and the JSON of `schedscope profile --json` with stacks. Untrusted: sizes and depths are capped,
 * what cannot be a profile gets one clear sentence with the line where it goes wrong.
 */
#pragma once

#include "base/attr.h"
#include "base/diag.h"
#include "profile/profile.h"

MUST_USE int profile_read_file(const char *path, struct diag *d, struct profile **out);
/* The same of a text; name is what messages call it. The text is read, not kept. */
MUST_USE int profile_read_text(const char *text, const char *name, struct diag *d,
                               struct profile **out);

/* Placeholder for the functions that a list of the heaviest left out. */
#define PROFILE_NOT_LISTED "[not listed]"
