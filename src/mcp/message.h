/*
 * mcp/message — one JSON-RPC 2.0 message as it came in, taken apart; untrusted.
 *
 * A request has a method and an id (a text or a whole number), a notification has no id, a response
 * has neither method. What is none of these is an error with the code that JSON-RPC gives it, and
 * with the id if there was a usable one. A notification is never an error, whatever its parameters
 * are, since there is no way to report it. Size and depth are capped. Pure.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "base/attr.h"

#define MESSAGE_MAX_BYTES (4U << 20)
#define MESSAGE_MAX_DEPTH 64

enum rpc_code {
	RPC_PARSE_ERROR = -32700,
	RPC_INVALID_REQUEST = -32600,
	RPC_NO_METHOD = -32601,
	RPC_INVALID_PARAMS = -32602,
	RPC_INTERNAL = -32603,
	RPC_NO_RESOURCE = -32002,
	/* Of the stateless era. */
	RPC_HEADER_MISMATCH = -32020,
	RPC_MISSING_CAPABILITY = -32021,
	RPC_UNSUPPORTED_VERSION = -32022,
};

enum message_kind { MESSAGE_REQUEST, MESSAGE_NOTIFICATION, MESSAGE_RESPONSE, MESSAGE_BAD };

/* Members are borrowed from the JSON value that it was read from. */
struct message {
	enum message_kind kind;
	const json_t *id;     /* NULL = none */
	const char *method;   /* of requests and notifications */
	const json_t *params; /* an object; NULL = none */
	enum rpc_code code;   /* of MESSAGE_BAD */
	const char *why;      /* of MESSAGE_BAD: one sentence */
};

/* The JSON value of a text, an object or an array (a batch); NULL and *why if there is none. */
json_t *message_parse(const char *text, size_t len, const char **why);
/* One object of it. */
void message_read(const json_t *value, struct message *out);
