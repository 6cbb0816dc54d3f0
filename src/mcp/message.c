#include "mcp/message.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

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

static bool is_of_number(char c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/*
 * A whole number that 64 bits do not hold becomes a real one, and one that no real number holds a very large one: at most two
 * bytes more than it has, and the end of a text.
 */
static size_t put_number(char *out, const char *text, size_t len)
{
	memcpy(out, text, len);
	if (isinf(strtod(text, NULL)))
		return (size_t)sprintf(out, "%s", text[0] == '-' ? "-1e308" : "1e308");
	errno = 0;
	if (strspn(text, "-0123456789") >= len)
		(void)strtoll(text, NULL, 10);
	if (errno != ERANGE)
		return len;
	return len + (size_t)sprintf(out + len, "e0");
}

/* A new text, terminated, whose numbers all fit. text is terminated. Quoted text stays as it is. */
static char *fit_numbers(const char *text, size_t len, size_t *out_len)
{
	char *out = malloc(2 * len + 2);
	bool in_text = false;
	size_t nr = 0, step;

	for (size_t i = 0; out && i < len; i += step) {
		step = 1;
		if (!in_text && is_of_number(text[i])) {
			while (i + step < len && is_of_number(text[i + step]))
				step++;
			nr += put_number(out + nr, text + i, step);
			continue;
		}
		if (in_text && text[i] == '\\' && i + 1 < len)
			step = 2;
		else if (text[i] == '"')
			in_text = !in_text;
		memcpy(out + nr, text + i, step);
		nr += step;
	}
	*out_len = nr;
	return out;
}

/*
 * Again, for a message with a number that is too large: as a real number it does no harm, and the
 * request gets an answer that its sender can match, from the code that checks that number.
 */
static json_t *parse_large(const char *text, size_t len, json_error_t *error)
{
	SCOPED(scoped_free) char *copy = strndup(text, len);
	SCOPED(scoped_free) char *fitting = copy ? fit_numbers(copy, strlen(copy), &len) : NULL;

	return fitting ? json_loadb(fitting, len, JSON_REJECT_DUPLICATES, error) : NULL;
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
	if (!value && json_error_code(&error) == json_error_numeric_overflow)
		value = parse_large(text, len, &error);
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
