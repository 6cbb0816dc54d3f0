/*
 * analyze/profile_read — a profile that was written before, to compare with.
 *
 * Reads folded text and the JSON of `schedscope profile --json` with stacks. Untrusted: sizes and depths are capped,
 * what cannot be a profile gets one clear sentence with the line where it goes wrong.
 */
#pragma once

#include "analyze/profile.h"
#include "base/attr.h"
#include "base/diag.h"

MUST_USE int profile_read_file(const char *path, struct diag *d, struct profile **out);
