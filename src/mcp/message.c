#include "mcp/message.h"

#include <stdbool.h>
#include <string.h>

/* jansson parses by recursion: what is too deep is refused before it starts. Brackets inside texts do not count. */
static bool is_too_deep(const char *text, size_t len)
{
	bool in_text = false;
	int depth = 0;

	for (size_t i = 0; i < len; i++) {
		if (in_text) {
			if (text[i] == '\\')
				i++;
			else if (text[i] == '"')
				in_text = false;
		} else if (text[i] == '"') {
			in_text = true;
		} else if (text[i] == '{' || text[i] == '[') {
			if (++depth > MESSAGE_MAX_DEPTH)
				return true;
		} else if (text[i] == '}' || text[i] == ']') {
			depth--;
		}
	}
	return false;
}

json_t *message_parse(const char *text, size_t len, const char **why)
{
	json_error_t error = { 0 };
	json_t *value;

	*why = "the message is not JSON";
	if (len > MESSAGE_MAX_BYTES) {
		*why = "the message is larger than 4 MiB";
		return NULL;
	}
	if (is_too_deep(text, len)) {
		*why = "the message is nested too deeply";
		return NULL;
	}
	value = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!value && json_error_code(&error) == json_error_duplicate_key)
		*why = "the message has a name twice in one object";
	else if (!value && json_error_code(&error) == json_error_null_character)
		*why = "the message holds a NUL character";
	else if (!value && json_error_code(&error) == json_error_numeric_overflow)
		*why = "the message holds a number that is too large";
	if (value && !json_is_object(value) && !json_is_array(value)) {
		*why = "a message is an object";
		json_decref(value);
		return NULL;
	}
	return value;
}

static void refuse(struct message *m, const char *why)
{
	m->kind = MESSAGE_BAD;
	m->code = RPC_INVALID_REQUEST;
	m->why = why;
}

void message_read(const json_t *value, struct message *out)
{
	const json_t *id = json_object_get(value, "id");
	const json_t *method = json_object_get(value, "method");
	const char *version = json_string_value(json_object_get(value, "jsonrpc"));
	bool is_answer = json_object_get(value, "result") || json_object_get(value, "error");

	*out = (struct message){ .kind = id ? MESSAGE_REQUEST : MESSAGE_NOTIFICATION };
	if (json_is_string(id) || json_is_integer(id))
		out->id = id;
	out->method = json_string_value(method);
	if (json_is_object(json_object_get(value, "params")))
		out->params = json_object_get(value, "params");
	if (!json_is_object(value))
		refuse(out, "a message is an object");
	else if (!version || strcmp(version, "2.0") != 0)
		refuse(out, "\"jsonrpc\" must be \"2.0\"");
	else if (!method && is_answer)
		out->kind = MESSAGE_RESPONSE;
	else if (!out->method)
		refuse(out, "\"method\" must be a text");
	else if (id && !out->id)
		refuse(out, "\"id\" must be a text or a whole number");
	else if (id && json_object_get(value, "params") && !out->params)
		refuse(out, "\"params\" must be an object");
}
