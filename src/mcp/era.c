#include "mcp/era.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "mcp/era_priv.h"
#include "mcp/server_priv.h"

#define KEY_VERSION      "io.modelcontextprotocol/protocolVersion"
#define KEY_CLIENT       "io.modelcontextprotocol/clientInfo"
#define KEY_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define KEY_LEVEL        "io.modelcontextprotocol/logLevel"
#define KEY_SERVER       "io.modelcontextprotocol/serverInfo"
#define KEY_SUBSCRIPTION "io.modelcontextprotocol/subscriptionId"

/* Of the session era, the newest first. */
static const char *const versions[] = { MCP_LATEST, "2025-06-18", "2025-03-26", "2024-11-05" };

int rpc_fail(struct rpc_error *e, int code, const char *fmt, ...)
{
	va_list args;

	rpc_error_done(e);
	e->code = code;
	va_start(args, fmt);
	vsnprintf(e->message, sizeof(e->message), fmt, args);
	va_end(args);
	return -1;
}

void rpc_error_done(struct rpc_error *e)
{
	json_decref(e->data);
	e->data = NULL;
}

const char *era_session_version(const char *version)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (strcmp(versions[i], version) == 0)
			return versions[i];
	return NULL;
}

/* Revisions are dates, so their order is that of their texts. */
bool era_is_stateless_version(const char *version)
{
	return version && strcmp(version, ERA_STATELESS_VERSION) >= 0;
}

bool era_has_batches(const char *session_version)
{
	return session_version && strcmp(session_version, "2025-03-26") == 0;
}

static const json_t *meta_of(const struct message *m)
{
	const json_t *meta = json_object_get(m->params, "_meta");

	return json_is_object(meta) ? meta : NULL;
}

/* Of its four keys, two are required. */
static int read_meta(const struct message *m, struct era_facts *out, struct rpc_error *e)
{
	const json_t *meta = meta_of(m), *client = json_object_get(meta, KEY_CLIENT),
		     *level = json_object_get(meta, KEY_LEVEL);
	enum mcp_level from;

	out->capabilities = json_object_get(meta, KEY_CAPABILITIES);
	if (!meta)
		return rpc_fail(e, RPC_INVALID_PARAMS, "\"params\" needs an object \"_meta\"");
	if (!json_is_string(json_object_get(meta, KEY_VERSION)))
		return rpc_fail(e, RPC_INVALID_PARAMS,
		                "\"_meta\" needs a text \"" KEY_VERSION "\"");
	if (!json_is_object(out->capabilities))
		return rpc_fail(e, RPC_INVALID_PARAMS,
		                "\"_meta\" needs an object \"" KEY_CAPABILITIES "\"");
	if (client && !json_is_string(json_object_get(client, "name")))
		return rpc_fail(e, RPC_INVALID_PARAMS,
		                "\"" KEY_CLIENT "\" must be an object with a name");
	if (level && !level_parse(json_string_value(level), &from))
		return rpc_fail(e, RPC_INVALID_PARAMS, "\"" KEY_LEVEL "\" must be " LEVELS_TEXT);
	if (level)
		out->level = (int)from;
	return 0;
}

static int fail_version(struct rpc_error *e, const char *version)
{
	(void)rpc_fail(e, RPC_UNSUPPORTED_VERSION,
	               "protocol version %.32s is not supported; " ERA_STATELESS_VERSION
	               " is, and older ones by initialize",
	               version);
	e->data = json_pack("{s:[s],s:s}", "supported", ERA_STATELESS_VERSION, "requested",
	                    version);
	return -1;
}

static int check_request(const struct message *m, const struct mcp_headers *headers,
                         struct era_facts *out, struct rpc_error *e)
{
	const char *version;

	if (read_meta(m, out, e))
		return -1;
	version = json_string_value(json_object_get(meta_of(m), KEY_VERSION));
	if (headers && era_check_headers(m, headers, version, e))
		return -1;
	if (strcmp(version, ERA_STATELESS_VERSION) != 0)
		return fail_version(e, version);
	return headers ? era_need_headers(m, headers, e) : 0;
}

int era_read(const struct message *m, const struct mcp_headers *headers, struct era_facts *out,
             struct rpc_error *e)
{
	const json_t *claim = json_object_get(meta_of(m), KEY_VERSION);
	bool is_by_header = headers && era_is_stateless_version(headers->version);

	*out = (struct era_facts){ .era = claim || is_by_header ? ERA_STATELESS : ERA_SESSION,
		                   .level = -1 };
	if (out->era == ERA_SESSION)
		return 0;
	if (!claim && strcmp(m->method, "initialize") == 0)
		return rpc_fail(e, RPC_HEADER_MISMATCH,
		                "initialize is of another revision than MCP-Protocol-Version says");
	if (m->kind == MESSAGE_REQUEST)
		return check_request(m, headers, out, e);
	return headers ? era_check_headers(m, headers, json_string_value(claim), e) : 0;
}

enum mcp_end era_end_of_error(enum mcp_era era, int code, bool is_refused)
{
	if (era == ERA_STATELESS && code == RPC_NO_METHOD)
		return MCP_LAST_NO_METHOD;
	if (era == ERA_STATELESS && (is_refused || code == RPC_MISSING_CAPABILITY))
		return MCP_LAST_REFUSED;
	return MCP_LAST;
}

int era_no_resource(enum mcp_era era)
{
	return era == ERA_STATELESS ? RPC_INVALID_PARAMS : RPC_NO_RESOURCE;
}

void rpc_put_id(struct json_writer *w, const char *key, const json_t *id)
{
	if (json_is_string(id))
		jw_bytes(w, key, json_string_value(id), json_string_length(id));
	else if (json_is_integer(id))
		jw_i64(w, key, json_integer_value(id));
	else
		jw_null(w, key);
}

void era_put_subscription(struct json_writer *w, const json_t *id)
{
	jw_begin_object(w, "_meta");
	rpc_put_id(w, KEY_SUBSCRIPTION, id);
	jw_end_object(w);
}

void era_put_result(struct json_writer *w, enum mcp_era era, const struct era_result *result)
{
	if (era != ERA_STATELESS)
		return;
	jw_string(w, "resultType", result->is_input_required ? "input_required" : "complete");
	if (result->cache.is_cacheable) {
		jw_u64(w, "ttlMs", result->cache.ttl_ms);
		jw_string(w, "cacheScope", "private");
	}
	jw_begin_object(w, "_meta");
	if (result->subscription)
		rpc_put_id(w, KEY_SUBSCRIPTION, result->subscription);
	jw_begin_object(w, KEY_SERVER);
	jw_string(w, "name", SERVER_NAME);
	jw_string(w, "version", schedscope_version);
	jw_end_object(w);
	jw_end_object(w);
}

/* An empty object is a form, too: the url is the newer of the two. */
bool era_can_elicit(const struct era_facts *facts)
{
	const json_t *elicitation = json_object_get(facts->capabilities, "elicitation");

	return facts->era == ERA_STATELESS && json_is_object(elicitation) &&
	       (json_object_get(elicitation, "form") || !json_object_get(elicitation, "url"));
}
