/*
 * mcp/stdio_link — the server on two descriptors: one message per line, answers likewise. Nothing else is ever written there.
 *
 * Ends at the end of the input, after everything that was asked has been answered; at once when the reader of the answers
 * has gone, or when told to by a signal. A line longer than a message may be is refused, and the rest of it skipped.
 */
#pragma once

#include "base/attr.h"
#include "base/diag.h"
#include "mcp/server.h"

MUST_USE int mcp_stdio_run(struct mcp_server *s, int in_fd, int out_fd, struct diag *d);
