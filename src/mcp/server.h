/*
 * mcp/server — the Model Context Protocol: methods, connections, notifications. Transports bring messages and take answers.
 *
 * Both eras of the protocol (mcp/era). One server, many connections. mcp_conn_take() answers quick methods at once, on the
 * caller's thread, and hands tools and resources to a pool of threads; so ping, cancellation and other calls go on while one
 * takes long. Every request gets exactly one answer, a cancelled one none, a notification none.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "mcp/link.h"
#include "mcp/world.h"

struct mcp_server;
struct mcp_conn;

MUST_USE int mcp_server_new(const struct mcp_cfg *cfg, struct diag *d, struct mcp_server **out);
/* All connections must have been freed. */
void mcp_server_free(struct mcp_server *s); /* NULL is fine */

MUST_USE int mcp_conn_new(struct mcp_server *s, const struct mcp_link *link, struct mcp_conn **out);
/*
 * The owner of what requests without a session make; before the first message. One that outlives
 * the connection (mcp_server_new_owner()), or 0 for none. By default they belong to the connection.
 */
void mcp_conn_set_owner(struct mcp_conn *c, uint64_t owner);
/* A number that is no other owner's, ever. */
uint64_t mcp_server_new_owner(struct mcp_server *s);
/* Cancels what runs for it and waits for that; nothing is sent any more. NULL is fine. */
void mcp_conn_free(struct mcp_conn *c);
/* Waits until everything that was taken is answered; false if that takes longer than so many milliseconds (0 = forever). */
bool mcp_conn_drain(struct mcp_conn *c, unsigned int timeout_ms);

enum mcp_taken {
	MCP_ANSWERED,  /* the answer comes, or came, through the link */
	MCP_REFUSED,   /* no message of the protocol; the error went through the link */
	MCP_NO_ANSWER, /* a notification or response */
};
/* Of a message over HTTP, as far as the protocol has rules for them; NULL = absent. */
struct mcp_headers {
	const char *version; /* MCP-Protocol-Version */
	const char *method;  /* Mcp-Method */
	const char *name;    /* Mcp-Name */
};
/*
 * On any thread, on several at once too; none may run or begin when the connection is freed. headers are NULL where there
 * is no HTTP.
 */
enum mcp_taken mcp_conn_take(struct mcp_conn *c, const char *text, size_t len,
                             const struct mcp_headers *headers, void *exchange);
/* Cancels what came with this exchange: the answer can no longer be delivered. */
void mcp_conn_abandon(struct mcp_conn *c, const void *exchange);
bool mcp_conn_is_initialized(const struct mcp_conn *c);
/* Whether it has taken a message of the stateless era, which needs no initialize. */
bool mcp_conn_is_stateless(const struct mcp_conn *c);
const char *mcp_conn_version(const struct mcp_conn *c); /* as agreed by initialize; NULL before */
bool mcp_conn_has_subscriptions(
	const struct mcp_conn *c); /* for which something is collected; takes no lock */
/* What tools/list lists for it unless a request says otherwise: bits of enum toolset; 0 = as the server was started. */
void mcp_conn_choose_tools(struct mcp_conn *c, unsigned int toolsets);

/* To every connection that wants messages of that level. */
void mcp_server_log(struct mcp_server *s, enum mcp_level level, const char *logger,
                    const char *text);
