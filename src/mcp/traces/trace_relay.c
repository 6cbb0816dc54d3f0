#include "mcp/traces/trace_relay.h"

#include <errno.h>

#include "base/cleanup.h"
#include "mcp/traces/trace_store.h"
#include "mcp/world.h"

int trace_relay(struct tool_call *c, const char *id, bool with_id, struct trace_answer *out)
{
	struct trace_store *store = c->world->traces;
	struct trace_child *child;
	char own_id[TRACE_ID_LEN];
	int err;

	if (!store)
		return diag_set(c->d, -EINVAL, NULL, "this server keeps no traces");
	err = trace_store_borrow(store, c->owner, id, c->d, &child);
	if (err)
		return err;
	trace_store_id(store, child, own_id);
	err = trace_child_run(child, c, own_id, out);
	trace_store_return(store, child);
	if (!err && with_id)
		jw_string(c->out, "trace_id", own_id);
	return err;
}

int trace_relay_call(struct tool_call *c)
{
	SCOPED(scoped_trace_answer) struct trace_answer answer = { 0 };
	int err = trace_relay(c, call_string(c, "trace_id"), true, &answer);

	if (!err)
		jw_raw_members(c->out, answer.json, answer.len);
	return err;
}
