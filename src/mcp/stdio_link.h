/*
 * mcp/stdio_link — the server on two descriptors: one message per line, answers likewise. Nothing else is ever written there.
 *
 * Ends at the end of the input, after everything that was asked has been answered; at once when the
 * reader of the answers exits, or when stop_fd becomes readable (-1 = never), even while a client
 * does not read. A line longer than a message may be is refused, and its remainder skipped. The
 * descriptors stay the caller's.
 */
#pragma once

#include "base/attr.h"
#include "base/diag.h"
#include "mcp/server.h"

struct mcp_stdio_fds {
	int in;
	int out;
	int stop;
};

MUST_USE int mcp_stdio_run(struct mcp_server *s, const struct mcp_stdio_fds *fds, struct diag *d);
