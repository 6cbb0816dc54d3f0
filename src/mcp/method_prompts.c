/* prompts/list, prompts/get, completion/complete. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/completion.h"
#include "mcp/prompt.h"
#include "mcp/server_priv.h"

#define MAX_VALUES (sizeof(((struct prompt_values *)0)->values) / sizeof(char *))

static void put_prompt(struct json_writer *w, const struct prompt *p)
{
	jw_begin_object(w, NULL);
	jw_string(w, "name", p->name);
	jw_string(w, "title", p->title);
	jw_string(w, "description", p->description);
	jw_begin_array(w, "arguments");
	for (const struct prompt_arg *a = p->args; a && a->name; a++) {
		jw_begin_object(w, NULL);
		jw_string(w, "name", a->name);
		jw_string(w, "description", a->description);
		jw_bool(w, "required", false);
		jw_end_object(w);
	}
	jw_end_array(w);
	jw_end_object(w);
}

int method_prompts_list(struct mcp_request *r, struct json_writer *w, struct rpc_error *e)
{
	size_t from, to;

	if (list_page(r, nr_prompts, &from, &to, e))
		return -1;
	jw_begin_array(w, "prompts");
	for (size_t i = from; i < to; i++)
		put_prompt(w, prompts[i]);
	jw_end_array(w);
	list_put_next(w, to, nr_prompts);
	return 0;
}

const struct prompt *prompt_find(const char *name)
{
	for (size_t i = 0; i < nr_prompts; i++)
		if (strcmp(prompts[i]->name, name) == 0)
			return prompts[i];
	return NULL;
}

/* Arguments are texts; numbers are taken too, as some clients send them. */
static int take_values(const struct prompt *p, const json_t *given, char numbers[][24],
                       struct prompt_values *out, struct rpc_error *e)
{
	const char *key;
	json_t *value;

	*out = (struct prompt_values){ 0 };
	json_object_foreach((json_t *)given, key, value)
	{
		size_t i = 0;

		while (p->args && p->args[i].name && strcmp(p->args[i].name, key) != 0)
			i++;
		if (!p->args || !p->args[i].name || i >= MAX_VALUES)
			return rpc_fail(e, RPC_INVALID_PARAMS,
			                "the prompt %s has no argument %.64s", p->name, key);
		if (json_is_integer(value)) {
			snprintf(numbers[i], 24, "%lld", (long long)json_integer_value(value));
			out->values[i] = numbers[i];
		} else if (json_is_string(value)) {
			out->values[i] = json_string_value(value);
		} else {
			return rpc_fail(e, RPC_INVALID_PARAMS, "the argument %.64s must be a text",
			                key);
		}
	}
	return 0;
}

static int put_message(struct json_writer *w, const struct prompt *p,
                       const struct prompt_values *values, struct rpc_error *e)
{
	struct diag d = { 0 };
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int err = out ? p->write(values, out, &d) : -1;

	if (out && fclose(out) != 0)
		err = -1;
	if (err) {
		free(text);
		return rpc_fail(e, d.what[0] ? RPC_INVALID_PARAMS : RPC_INTERNAL, "%s",
		                d.what[0] ? d.what : "out of memory");
	}
	jw_string(w, "description", p->description);
	jw_begin_array(w, "messages");
	jw_begin_object(w, NULL);
	jw_string(w, "role", "user");
	jw_begin_object(w, "content");
	jw_string(w, "type", "text");
	jw_bytes(w, "text", text, len);
	jw_end_object(w);
	jw_end_object(w);
	jw_end_array(w);
	free(text);
	return 0;
}

int method_prompts_get(struct mcp_request *r, struct json_writer *w, struct rpc_error *e)
{
	const char *name = json_string_value(json_object_get(r->params, "name"));
	const json_t *given = json_object_get(r->params, "arguments");
	const struct prompt *p = name ? prompt_find(name) : NULL;
	char numbers[MAX_VALUES][24];
	struct prompt_values values;

	if (!name)
		return rpc_fail(e, RPC_INVALID_PARAMS, "prompts/get needs a text \"name\"");
	if (!p)
		return rpc_fail(e, RPC_INVALID_PARAMS,
		                "there is no prompt %.64s; prompts/list lists them", name);
	if (given && !json_is_object(given))
		return rpc_fail(e, RPC_INVALID_PARAMS, "\"arguments\" must be an object");
	if (take_values(p, given, numbers, &values, e))
		return -1;
	return put_message(w, p, &values, e);
}

static void put_completion(struct json_writer *w, const struct completion *c)
{
	jw_begin_object(w, "completion");
	jw_begin_array(w, "values");
	for (size_t i = 0; i < c->nr; i++)
		jw_string(w, NULL, c->values[i]);
	jw_end_array(w);
	jw_u64(w, "total", c->total);
	jw_bool(w, "hasMore", c->total > c->nr);
	jw_end_object(w);
}

/* An unknown reference has no values, which is not an error. */
int method_complete(struct mcp_request *r, struct json_writer *w, struct rpc_error *e)
{
	const json_t *ref = json_object_get(r->params, "ref"),
		     *arg = json_object_get(r->params, "argument");
	const char *type = json_string_value(json_object_get(ref, "type"));
	const char *name = json_string_value(json_object_get(arg, "name"));
	const char *value = json_string_value(json_object_get(arg, "value"));
	const char *of;
	struct completion c = { 0 };

	if (!type || !name || !value)
		return rpc_fail(
			e, RPC_INVALID_PARAMS,
			"completion/complete needs \"ref\" with a type and \"argument\" with name and value");
	of = json_string_value(
		json_object_get(ref, strcmp(type, "ref/prompt") == 0 ? "name" : "uri"));
	if (of && strcmp(type, "ref/prompt") == 0)
		completion_of_prompt(of, name, value, &c);
	else if (of && strcmp(type, "ref/resource") == 0)
		completion_of_resource(&r->conn->server->world, r->owner, of, name, value, &c);
	put_completion(w, &c);
	completion_done(&c);
	return 0;
}
