/* Questions of tools to the person at the client, and the answers that come with the repeated call. */
#include <errno.h>
#include <string.h>

#include "mcp/server_priv.h"

/* What comes with a repeated call. We give no state away, so any that comes back is not ours. */
int check_input_responses(const struct mcp_request *r, struct rpc_error *e)
{
	const json_t *responses = json_object_get(r->params, "inputResponses");
	const char *key;
	json_t *value;

	if (r->said.era != ERA_STATELESS)
		return 0;
	if (json_object_get(r->params, "requestState"))
		return rpc_fail(e, RPC_INVALID_PARAMS,
		                "\"requestState\" was not issued by this server");
	if (responses && !json_is_object(responses))
		return rpc_fail(e, RPC_INVALID_PARAMS, "\"inputResponses\" must be an object");
	json_object_foreach((json_t *)responses, key, value)
	{
		if (!json_is_object(value))
			return rpc_fail(e, RPC_INVALID_PARAMS,
			                "the response to %.64s must be an object", key);
	}
	return 0;
}

bool call_can_ask(const struct tool_call *c)
{
	const struct mcp_request *r = c->request;

	return r && !c->serve && era_can_elicit(&r->said);
}

/* A form with one field, whose name is that of the answer. */
static json_t *form_of(const struct call_question *q)
{
	json_t *choices = q->choices ? json_array() : NULL;

	for (size_t i = 0; i < q->nr_choices; i++)
		(void)json_array_append_new(choices, json_string(q->choices[i]));
	return json_pack("{s:s,s:{s:{s:s,s:o*}},s:[s]}", "type", "object", "properties", q->key,
	                 "type", "string", "enum", choices, "required", q->key);
}

int call_ask(struct tool_call *c, const struct call_question *q)
{
	struct mcp_request *r = c->request;

	json_decref(r->input_requests);
	r->input_requests = json_pack("{s:{s:s,s:{s:s,s:o}}}", q->key, "method",
	                              "elicitation/create", "params", "message", q->message,
	                              "requestedSchema", form_of(q));
	return diag_set(c->d, -EAGAIN, NULL, "%s", q->message);
}

enum call_reply call_answer(const struct tool_call *c, const char *key, const char **out)
{
	const struct mcp_request *r = c->request;
	const json_t *response =
		r ? json_object_get(json_object_get(r->params, "inputResponses"), key) : NULL;
	const char *action = json_string_value(json_object_get(response, "action"));
	const char *text = json_string_value(
		json_object_get(json_object_get(response, "content"), key));

	if (!action || !call_can_ask(c))
		return CALL_NOT_ASKED;
	if (strcmp(action, "accept") != 0)
		return CALL_DECLINED;
	if (!text)
		return CALL_NOT_ASKED;
	*out = text;
	return CALL_ANSWERED;
}
