/* The methods that are about the protocol itself, and the table of all. */
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "mcp/prompt.h"
#include "mcp/resource.h"
#include "mcp/server_priv.h"

/* Entries of a list. More than there are tools: some clients never ask for a second page. */
#define PAGE 100U

static const char *const levels[] = {
	[MCP_DEBUG] = "debug",     [MCP_INFO] = "info",           [MCP_NOTICE] = "notice",
	[MCP_WARNING] = "warning", [MCP_ERROR] = "error",         [MCP_CRITICAL] = "critical",
	[MCP_ALERT] = "alert",     [MCP_EMERGENCY] = "emergency",
};

const char *level_name(enum mcp_level level)
{
	return levels[level];
}

bool level_parse(const char *text, enum mcp_level *out)
{
	for (size_t i = 0; text && i < sizeof(levels) / sizeof(levels[0]); i++) {
		if (strcmp(levels[i], text) == 0) {
			*out = (enum mcp_level)i;
			return true;
		}
	}
	return false;
}

static void put_flag(struct json_writer *w, const char *key, const char *name, bool value)
{
	jw_begin_object(w, key);
	jw_bool(w, name, value);
	jw_end_object(w);
}

static void put_capabilities(struct json_writer *w)
{
	jw_begin_object(w, "capabilities");
	put_flag(w, "prompts", "listChanged", false);
	jw_begin_object(w, "resources");
	jw_bool(w, "subscribe", true);
	jw_bool(w, "listChanged", false);
	jw_end_object(w);
	put_flag(w, "tools", "listChanged", false);
	jw_begin_object(w, "logging");
	jw_end_object(w);
	jw_begin_object(w, "completions");
	jw_end_object(w);
	jw_end_object(w);
}

static const char *const instructions =
	"schedscope shows what the Linux scheduler does: what runs where, what waits for a CPU, a lock or a disk, for how long and "
	"why. Start with record (this machine, now) or load (a file): both answer with findings, the worst first, each with "
	"its evidence and the next call ready to send. explain says why one task waited or slept; blame who kept whom waiting; "
	"analyze, query and timeline answer what is left open. Times are nanoseconds unless a key says otherwise; null means unknown, "
	"never 0. Answers are short by default: truncated and page say how to get more.";

/* Clients that ask for a revision that we do not know get our newest, and may leave. */
static int initialize(struct mcp_request *r, struct json_writer *w, struct rpc_error *e)
{
	const char *asked = json_string_value(json_object_get(r->params, "protocolVersion"));
	const json_t *client = json_object_get(r->params, "clientInfo");
	const char *version = asked ? era_session_version(asked) : NULL;

	if (!asked)
		return rpc_fail(e, RPC_INVALID_PARAMS,
		                "initialize needs a text \"protocolVersion\"");
	if (!json_is_object(json_object_get(r->params, "capabilities")))
		return rpc_fail(e, RPC_INVALID_PARAMS,
		                "initialize needs an object \"capabilities\"");
	if (!json_is_string(json_object_get(client, "name")))
		return rpc_fail(e, RPC_INVALID_PARAMS,
		                "initialize needs an object \"clientInfo\" with a name");
	if (!version)
		version = MCP_LATEST;
	atomic_store(&r->conn->version, version);
	jw_string(w, "protocolVersion", version);
	put_capabilities(w);
	jw_begin_object(w, "serverInfo");
	jw_string(w, "name", SERVER_NAME);
	jw_string(w, "title", "schedscope: the Linux scheduler, explained");
	jw_string(w, "version", schedscope_version);
	jw_end_object(w);
	jw_string(w, "instructions", instructions);
	return 0;
}

static int discover(struct mcp_request *r, struct json_writer *w, struct rpc_error *e)
{
	(void)r;
	(void)e;
	jw_begin_array(w, "supportedVersions");
	jw_string(w, NULL, ERA_STATELESS_VERSION);
	jw_end_array(w);
	put_capabilities(w);
	jw_string(w, "instructions", instructions);
	return 0;
}

static int ping(struct mcp_request *r, struct json_writer *w, struct rpc_error *e)
{
	(void)r;
	(void)w;
	(void)e;
	return 0;
}

static int set_level(struct mcp_request *r, struct json_writer *w, struct rpc_error *e)
{
	const char *text = json_string_value(json_object_get(r->params, "level"));
	enum mcp_level level;

	(void)w;
	if (!level_parse(text, &level))
		return rpc_fail(e, RPC_INVALID_PARAMS, "\"level\" must be " LEVELS_TEXT);
	atomic_store(&r->conn->level, (int)level);
	return 0;
}

/* These lists stay the same as long as the server runs; a restart may have other options. */
#define LIST_CACHE           \
	{                    \
		true, 300000 \
	}
/* Which resources there are, and what they hold, is of this moment. */
#define READ_CACHE      \
	{               \
		true, 0 \
	}

static const struct method methods[] = {
	{ "initialize", ERA_SESSION, false, true, true, { 0 }, initialize },
	{ "ping", ERA_SESSION, false, true, false, { 0 }, ping },
	{ "logging/setLevel", ERA_SESSION, false, false, false, { 0 }, set_level },
	{ "server/discover", ERA_STATELESS, false, false, false, LIST_CACHE, discover },
	{ "tools/list", ERA_BOTH, false, false, false, LIST_CACHE, method_tools_list },
	{ "tools/call", ERA_BOTH, true, false, false, { 0 }, method_tools_call },
	{ "resources/list", ERA_BOTH, false, false, false, READ_CACHE, method_resources_list },
	{ "resources/templates/list", ERA_BOTH, false, false, false, LIST_CACHE,
	  method_resources_templates },
	{ "resources/read", ERA_BOTH, true, false, false, READ_CACHE, method_resources_read },
	{ "resources/subscribe", ERA_SESSION, true, false, false, { 0 }, method_resources_subscribe },
	{ "resources/unsubscribe",
	  ERA_SESSION,
	  true,
	  false,
	  false,
	  { 0 },
	  method_resources_unsubscribe },
	{ "subscriptions/listen", ERA_STATELESS, true, false, false, { 0 }, method_listen },
	{ "prompts/list", ERA_BOTH, false, false, false, LIST_CACHE, method_prompts_list },
	{ "prompts/get", ERA_BOTH, false, false, false, { 0 }, method_prompts_get },
	{ "completion/complete", ERA_BOTH, true, false, false, { 0 }, method_complete },
};

const struct method *method_find(enum mcp_era era, const char *name)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if ((methods[i].eras & era) && strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

int list_page(const struct mcp_request *r, size_t nr, size_t *from, size_t *to, struct rpc_error *e)
{
	const json_t *cursor = json_object_get(r->params, "cursor");
	const char *text = json_string_value(cursor);
	unsigned long at = 0;
	char *end = NULL;

	if (cursor && !json_is_null(cursor)) {
		at = text && *text >= '1' && *text <= '9' ? strtoul(text, &end, 10) : 0;
		if (!end || *end || at >= nr)
			return rpc_fail(e, RPC_INVALID_PARAMS,
			                "\"cursor\" was not issued by this server");
	}
	*from = at;
	*to = nr - at > PAGE ? at + PAGE : nr;
	return 0;
}

void list_put_next(struct json_writer *w, size_t to, size_t nr)
{
	char text[24];

	if (to >= nr)
		return;
	snprintf(text, sizeof(text), "%zu", to);
	jw_string(w, "nextCursor", text);
}
