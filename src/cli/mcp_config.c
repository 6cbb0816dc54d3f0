#include "cli/mcp_config.h"

#include <errno.h>
#include <string.h>

#include "base/json_write.h"

/* The token stays out of settings files where the client can read it from its environment. */
#define TOKEN_OF_ENVIRONMENT "Bearer ${SCHEDSCOPE_TOKEN}"

struct client {
	const char *name;
	const char *where;   /* the file */
	const char *group;   /* the object that holds servers */
	const char *url_key; /* NULL = starts servers only */
	bool has_type;       /* wants "type" */
	bool is_toml;
};

const char *const mcp_clients[] = { "claude-desktop", "claude-code", "cursor",
	                            "vscode",         "windsurf",    "zed",
	                            "gemini-cli",     "codex",       NULL };

static const struct client clients[] = {
	{ .name = "claude-desktop",
	  .where = "claude_desktop_config.json (Settings, Developer, Edit Config)",
	  .group = "mcpServers" },
	{ .name = "claude-code",
	  .where = ".mcp.json in the project's folder",
	  .group = "mcpServers",
	  .url_key = "url",
	  .has_type = true },
	{ .name = "cursor",
	  .where = "~/.cursor/mcp.json, or .cursor/mcp.json in the project's folder",
	  .group = "mcpServers",
	  .url_key = "url" },
	{ .name = "vscode",
	  .where = ".vscode/mcp.json in the project's folder",
	  .group = "servers",
	  .url_key = "url",
	  .has_type = true },
	{ .name = "windsurf",
	  .where = "~/.codeium/windsurf/mcp_config.json",
	  .group = "mcpServers",
	  .url_key = "serverUrl" },
	{ .name = "zed",
	  .where = "~/.config/zed/settings.json",
	  .group = "context_servers",
	  .url_key = "url" },
	{ .name = "gemini-cli",
	  .where = "~/.gemini/settings.json",
	  .group = "mcpServers",
	  .url_key = "httpUrl" },
	{ .name = "codex", .where = "~/.codex/config.toml", .url_key = "url", .is_toml = true },
};

static void put_args(struct json_writer *w, const char *key, const struct mcp_config *cfg)
{
	jw_begin_array(w, key);
	for (size_t i = 0; i < cfg->nr_args; i++)
		jw_string(w, NULL, cfg->args[i]);
	jw_end_array(w);
}

static int print_json(const struct client *c, const struct mcp_config *cfg, FILE *out)
{
	struct json_writer w;

	jw_init(&w, out, true);
	jw_begin_object(&w, NULL);
	jw_begin_object(&w, c->group);
	jw_begin_object(&w, "schedscope");
	if (c->has_type)
		jw_string(&w, "type", cfg->url ? "http" : "stdio");
	if (cfg->url) {
		jw_string(&w, c->url_key, cfg->url);
	} else {
		jw_string(&w, "command", cfg->program);
		put_args(&w, "args", cfg);
	}
	if (cfg->url && cfg->has_token) {
		jw_begin_object(&w, "headers");
		jw_string(&w, "Authorization", TOKEN_OF_ENVIRONMENT);
		jw_end_object(&w);
	}
	jw_end_object(&w);
	jw_end_object(&w);
	jw_end_object(&w);
	return jw_finish(&w);
}

/* A text of JSON is one of TOML too. */
static int print_toml(const struct client *c, const struct mcp_config *cfg, FILE *out)
{
	struct json_writer w;
	int err;

	fprintf(out, "[mcp_servers.schedscope]\n%s = ", cfg->url ? c->url_key : "command");
	jw_init(&w, out, false);
	jw_string(&w, NULL, cfg->url ? cfg->url : cfg->program);
	err = jw_finish(&w);
	if (!err && !cfg->url) {
		fputs("args = ", out);
		put_args(&w, NULL, cfg);
		err = jw_finish(&w);
	}
	if (cfg->url && cfg->has_token)
		fputs("bearer_token_env_var = \"SCHEDSCOPE_TOKEN\"\n", out);
	return err;
}

int mcp_config_print(int client, const struct mcp_config *cfg, FILE *out, const char **where,
                     struct diag *d)
{
	const struct client *c = &clients[client];
	int err;

	if (cfg->url && !c->url_key)
		return diag_set(d, -ENOTSUP, "leave --http out: it starts the server itself",
		                "%s reaches no server over HTTP from its settings", c->name);
	err = c->is_toml ? print_toml(c, cfg, out) : print_json(c, cfg, out);
	if (err)
		return diag_set(d, err, NULL, "cannot write the settings: %s", strerror(-err));
	*where = c->where;
	return 0;
}
