/* The methods that are about the protocol itself, and the table of all. */
#include <stdlib.h>
#include <string.h>

#include "mcp/prompt.h"
#include "mcp/resource.h"
#include "mcp/server_priv.h"

/* Entries of a list. More than there are tools: some clients never ask for a second page. */
#define PAGE 100U

/* The newest first. */
static const char *const versions[] = { MCP_LATEST, "2025-06-18", "2025-03-26", "2024-11-05" };
#define NR_VERSIONS (sizeof(versions) / sizeof(versions[0]))

static const char *const levels[] = {
	[MCP_DEBUG] = "debug",     [MCP_INFO] = "info",           [MCP_NOTICE] = "notice",
	[MCP_WARNING] = "warning", [MCP_ERROR] = "error",         [MCP_CRITICAL] = "critical",
	[MCP_ALERT] = "alert",     [MCP_EMERGENCY] = "emergency",
};

const char *level_name(enum mcp_level level)
{
	return levels[level];
}

static bool level_parse(const char *text, enum mcp_level *out)
{
	for (size_t i = 0; text && i < sizeof(levels) / sizeof(levels[0]); i++) {
		if (strcmp(levels[i], text) == 0) {
			*out = (enum mcp_level)i;
			return true;
		}
	}
	return false;
}

static const char *find_version(const char *version)
{
	for (size_t i = 0; i < NR_VERSIONS; i++)
		if (strcmp(versions[i], version) == 0)
			return versions[i];
	return NULL;
}

bool mcp_version_is_known(const char *version)
{
	return find_version(version) != NULL;
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
	"schedscope shows what the Linux scheduler does: what runs where, what waits for a CPU, for how long and why. For "
	"a recorded Perfetto trace start with load_perfetto_trace, then get_trace_summary; analyze_* tools answer one "
	"question each, explain_wait says why a task waited. For this machine use record_and_analyze, which needs no "
	"preparation; with --daemon also the stats:// resources and the live analyzers. Times are nanoseconds unless a key "
	"says otherwise; null means unknown, never 0. Answers are short by default: `truncated` and `page` say how to get "
	"more.";

/* Clients that ask for a revision that we do not know get our newest, and may leave. */
static int initialize(struct mcp_request *r, struct json_writer *w, struct rpc_error *e)
{
	const char *asked = json_string_value(json_object_get(r->params, "protocolVersion"));
	const json_t *client = json_object_get(r->params, "clientInfo");
	const char *version = asked ? find_version(asked) : NULL;

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
		version = versions[0];
	atomic_store(&r->conn->version, version);
	jw_string(w, "protocolVersion", version);
	put_capabilities(w);
	jw_begin_object(w, "serverInfo");
	jw_string(w, "name", "schedscope");
	jw_string(w, "title", "schedscope: the Linux scheduler, explained");
	jw_string(w, "version", SCHEDSCOPE_VERSION);
	jw_end_object(w);
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
		return rpc_fail(
			e, RPC_INVALID_PARAMS,
			"\"level\" must be one of debug, info, notice, warning, error, critical, alert, emergency");
	atomic_store(&r->conn->level, (int)level);
	return 0;
}

static const struct method methods[] = {
	{ "initialize", false, true, true, initialize },
	{ "ping", false, true, false, ping },
	{ "logging/setLevel", false, false, false, set_level },
	{ "tools/list", false, false, false, method_tools_list },
	{ "tools/call", true, false, false, method_tools_call },
	{ "resources/list", false, false, false, method_resources_list },
	{ "resources/templates/list", false, false, false, method_resources_templates },
	{ "resources/read", true, false, false, method_resources_read },
	{ "resources/subscribe", true, false, false, method_resources_subscribe },
	{ "resources/unsubscribe", true, false, false, method_resources_unsubscribe },
	{ "prompts/list", false, false, false, method_prompts_list },
	{ "prompts/get", false, false, false, method_prompts_get },
	{ "completion/complete", true, false, false, method_complete },
};

const struct method *method_find(const char *name)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (strcmp(methods[i].name, name) == 0)
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
