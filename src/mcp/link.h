/*
 * mcp/link — the way to one client, given by a transport.
 *
 * send() takes one whole JSON text, from any thread, and must not block for long: the transport
 * handles a client that does not read. exchange is what the transport gave with the message that is
 * being answered, NULL for unsolicited messages; is_last ends it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct mcp_link {
	void (*send)(void *ctx, void *exchange, const char *text, size_t len, bool is_last);
	void *ctx;
};
