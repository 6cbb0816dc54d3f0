#include "mcp/tools/choose_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "mcp/tool.h"
#include "mcp/traces/trace_store.h"
#include "mcp/world.h"

#define KEY "file"

static int take(struct tool_call *call, const struct trace_folder *f, const char *name, char **out)
{
	if (asprintf(out, "%s/%s", f->path, name) < 0)
		return diag_set(call->d, -ENOMEM, NULL, "out of memory");
	return 0;
}

/* As many names as there is room for. */
static int refuse(struct tool_call *call, const struct trace_folder *f)
{
	char names[sizeof(((struct diag *)0)->hint)] = "";
	size_t len = 0;

	for (uint32_t i = 0; i < f->nr && len < sizeof(names); i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "",
		                        f->files[i].name);
	return diag_set(call->d, -EINVAL, names, "the folder holds %u recordings; name one of them",
	                f->nr_all);
}

static int ask(struct tool_call *call, const struct trace_folder *f)
{
	const char *names[TRACE_FOLDER_MAX];
	char message[128];
	const struct call_question q = { KEY, message, names, f->nr };

	(void)snprintf(message, sizeof(message), "The folder holds %u recordings. Which one?",
	               f->nr_all);
	for (uint32_t i = 0; i < f->nr; i++)
		names[i] = f->files[i].name;
	return call_ask(call, &q);
}

/* The answer is one of the names that were offered, not a path. */
static int choose(struct tool_call *call, const struct trace_folder *f, char **out)
{
	const char *name = NULL;
	enum call_reply reply = call_answer(call, KEY, &name);

	for (uint32_t i = 0; reply == CALL_ANSWERED && i < f->nr; i++)
		if (strcmp(f->files[i].name, name) == 0)
			return take(call, f, name, out);
	if (reply == CALL_DECLINED || !call_can_ask(call))
		return refuse(call, f);
	return ask(call, f);
}

int call_choose_file(struct tool_call *call, const char *path, char **out)
{
	SCOPED(scoped_free) struct trace_folder *f = calloc(1, sizeof(*f));

	if (!f)
		return diag_set(call->d, -ENOMEM, NULL, "out of memory");
	if (trace_store_is_perf_folder(call->world->traces, path) ||
	    !trace_store_folder(call->world->traces, path, f)) {
		*out = strdup(path);
		return *out ? 0 : diag_set(call->d, -ENOMEM, NULL, "out of memory");
	}
	if (!f->nr)
		return diag_set(call->d, -ENOENT, "name a trace file",
		                "the folder '%.128s' holds no recording", path);
	return f->nr == 1 ? take(call, f, f->files[0].name, out) : choose(call, f, out);
}
