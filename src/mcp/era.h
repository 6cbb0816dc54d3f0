/*
 * mcp/era — what differs between the two eras of the protocol; the rest of the server does not know.
 *
 * Session era, 2024-11-05 to 2025-11-25: initialize agrees on a revision for the connection, or over HTTP for a
 * session. Stateless era, 2026-07-28: each request says in "_meta" which revision it is of, what its client can do
 * and which messages it wants; over HTTP, headers repeat part of that and must agree with it. Which era a message
 * is of is decided for each message alone, so one connection may use both.
 *
 * Pure, but for the writing of results. What comes in is untrusted.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/attr.h"
#include "base/json_write.h"
#include "mcp/link.h"
#include "mcp/message.h"

#define ERA_STATELESS_VERSION "2026-07-28"

struct mcp_headers;

enum mcp_era { ERA_SESSION = 1, ERA_STATELESS = 2, ERA_BOTH = 3 };

struct rpc_error {
	int code;
	char message[640];
	json_t *data; /* NULL = none; for rpc_error_done() */
};

/* code and a sentence; returns -1. */
int rpc_fail(struct rpc_error *e, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);
void rpc_error_done(struct rpc_error *e);

/* What a request says about itself. Borrowed from the message. */
struct era_facts {
	enum mcp_era era;
	int level; /* enum mcp_level, from which on it wants messages; -1 = none. Of the stateless era alone */
	const json_t *capabilities; /* of its client; NULL = none are known */
};

/*
 * The era of a request or notification, and what it says. headers are NULL where there is no HTTP. -1 with an error for
 * a message that breaks the rules of its era; the era is set nevertheless.
 */
MUST_USE int era_read(const struct message *m, const struct mcp_headers *headers,
                      struct era_facts *out, struct rpc_error *e);
/* One of ours of the session era; NULL = not known. */
const char *era_session_version(const char *version);
/* Whether a revision, known to us or not, is of the stateless era. */
bool era_is_stateless_version(const char *version);
bool era_has_batches(const char *session_version);

/* How an error goes out: a transport may have a status for it. is_refused: before a method ran. */
enum mcp_end era_end_of_error(enum mcp_era era, int code, bool is_refused);
/* The code for a resource that does not exist. */
int era_no_resource(enum mcp_era era);

/* How long a client may keep the result of a method, for itself alone. */
struct era_cache {
	bool is_cacheable;
	unsigned int ttl_ms;
};
struct era_result {
	struct era_cache cache;
	bool is_input_required; /* the client is to repeat the call with what is asked for */
	const json_t *
		subscription; /* the id of the request that a stream belongs to; NULL = it is none */
};
/* The members that end the object of a result. */
void era_put_result(struct json_writer *w, enum mcp_era era, const struct era_result *result);
/* The "_meta" of a notification on the stream of a subscription. */
void era_put_subscription(struct json_writer *w, const json_t *id);
/* A text or a whole number; null for anything else. */
void rpc_put_id(struct json_writer *w, const char *key, const json_t *id);

/* Whether a person can be asked by a form. */
bool era_can_elicit(const struct era_facts *facts);

/* The value of a header that may be written as =?base64?...?=: a new text; NULL = it is broken, or there is no memory. */
char *era_header_decode(const char *header);
