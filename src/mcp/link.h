/*
 * mcp/link — the way to one client, given by a transport.
 *
 * send() takes one whole JSON text, from any thread, and must not block for long: the transport
 * handles a client that does not read. exchange is what the transport gave with the message that is
 * being answered, NULL for unsolicited messages; anything but MCP_MORE ends it.
 */
#pragma once

#include <stddef.h>

enum mcp_end {
	MCP_MORE,
	MCP_LAST,           /* without a text: there is no answer */
	MCP_LAST_REFUSED,   /* an error: the request breaks the rules of the protocol */
	MCP_LAST_NO_METHOD, /* an error: there is no such method */
};

struct mcp_link {
	void (*send)(void *ctx, void *exchange, const char *text, size_t len, enum mcp_end end);
	void *ctx;
};
