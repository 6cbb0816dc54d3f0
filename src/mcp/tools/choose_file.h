/*
 * mcp/tools/choose_file — which file a path means: itself, or, if it is a folder that is no recording itself, the recording in it.
 *
 * Of several the person at the client is asked, where that can be; other clients get an error that lists them, the newest first.
 */
#pragma once

#include "base/attr.h"

struct tool_call;

/* A new text; or what the tool is to return. */
MUST_USE int call_choose_file(struct tool_call *call, const char *path, char **out);
