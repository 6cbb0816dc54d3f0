/* trigger://ID: conditions that clients wait for, each a resource of its client alone. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "mcp/resources/resources.h"
#include "mcp/trigger_service.h"
#include "mcp/world.h"

#define SCHEME "trigger://"

/* "ID?max_rate=5" */
static const char *id_of(const char *query, char id[TRIGGER_ID_LEN])
{
	size_t len = strcspn(query, "?");

	(void)snprintf(id, TRIGGER_ID_LEN, "%.*s", len < TRIGGER_ID_LEN ? (int)len : 0, query);
	return id;
}

static int read_trigger(struct mcp_world *w, const char *query, struct json_writer *out,
                        struct diag *d)
{
	char id[TRIGGER_ID_LEN];

	(void)d;
	return trigger_service_put(w->triggers, id_of(query, id), out);
}

static int begin(struct mcp_world *w, const char *query, struct diag *d)
{
	char id[TRIGGER_ID_LEN];

	(void)d;
	trigger_service_hold(w->triggers, id_of(query, id));
	return 0;
}

static void end(struct mcp_world *w, const char *query)
{
	char id[TRIGGER_ID_LEN];

	trigger_service_drop(w->triggers, id_of(query, id));
}

static uint64_t revision(struct mcp_world *w, const char *query)
{
	char id[TRIGGER_ID_LEN];

	return trigger_service_revision(w->triggers, id_of(query, id));
}

static void list(struct mcp_world *w, uint64_t owner, struct json_writer *out)
{
	struct trigger_line lines[TRIGGERS_PER_OWNER];
	uint32_t nr = trigger_service_list(w->triggers, owner, lines);
	char uri[sizeof(SCHEME) + TRIGGER_ID_LEN];

	for (uint32_t i = 0; i < nr; i++) {
		(void)snprintf(uri, sizeof(uri), SCHEME "%.16s", lines[i].id);
		jw_begin_object(out, NULL);
		jw_string(out, "uri", uri);
		jw_string(out, "name", lines[i].when);
		jw_string(out, "title", "Trigger");
		jw_string(out, "description",
		          "how often this held, and why; subscribe to be notified");
		jw_string(out, "mimeType", "application/json");
		jw_end_object(out);
	}
}

const struct resource resource_triggers = {
	.uri = SCHEME,
	.name = "triggers",
	.title = "Triggers",
	.description = "conditions that the tool live was given: how often each held, and why",
	.set = TOOLSET_LIVE,
	.needs_daemon = true,
	.list = list,
	.read = read_trigger,
	.begin = begin,
	.end = end,
	.revision = revision,
};
