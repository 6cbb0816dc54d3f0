#include "mcp/completion.h"

#include <stdlib.h>
#include <string.h>

#include "mcp/prompt.h"
#include "mcp/traces/trace_store.h"
#include "mcp/world.h"

static void offer(struct completion *c, const char *value, const char *typed)
{
	if (strncmp(value, typed, strlen(typed)) != 0)
		return;
	c->total++;
	if (c->nr < COMPLETION_MAX) {
		char *copy = strdup(value);

		if (copy)
			c->values[c->nr++] = copy;
	}
}

void completion_of_prompt(const char *prompt, const char *arg, const char *value,
                          struct completion *out)
{
	const struct prompt *p = prompt_find(prompt);

	for (const struct prompt_arg *a = p ? p->args : NULL; a && a->name; a++) {
		if (strcmp(a->name, arg) != 0 || !a->choices)
			continue;
		for (size_t i = 0; a->choices[i]; i++)
			offer(out, a->choices[i], value);
	}
}

struct offering {
	struct completion *out;
	const char *typed;
};

static void offer_trace(void *ctx, const struct trace_entry *e)
{
	struct offering *o = ctx;

	offer(o->out, e->id, o->typed);
}

void completion_of_resource(struct mcp_world *w, uint64_t owner, const char *uri, const char *arg,
                            const char *value, struct completion *out)
{
	struct offering o = { out, value };

	if (w->traces && strcmp(arg, "trace_id") == 0 && strstr(uri, "{trace_id}"))
		trace_store_each(w->traces, owner, offer_trace, &o);
}

void completion_done(struct completion *c)
{
	for (size_t i = 0; i < c->nr; i++)
		free(c->values[i]);
	*c = (struct completion){ 0 };
}
