#include "mcp/schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXT 4096U
#define MAX_LIST 256U
#define FAR_AWAY \
	UINT16_MAX /* limits from there on are checked, and not worth telling every client */

static const char *type_name(enum arg_type type)
{
	switch (type) {
	case ARG_STRING:
		return "string";
	case ARG_INTEGER:
		return "integer";
	case ARG_NUMBER:
		return "number";
	case ARG_BOOL:
		return "boolean";
	case ARG_STRINGS:
	case ARG_OBJECTS:
		return "array";
	case ARG_OBJECT:
		break;
	}
	return "object";
}

static void put_choices(struct json_writer *w, const char *const *choices)
{
	jw_begin_array(w, "enum");
	for (size_t i = 0; choices[i]; i++)
		jw_string(w, NULL, choices[i]);
	jw_end_array(w);
}

/* A default is one plain value, written in our own tables. */
static void put_default(struct json_writer *w, const struct arg *a)
{
	json_t *value = json_loads(a->fallback, JSON_DECODE_ANY, NULL);

	if (json_is_string(value))
		jw_string(w, "default", json_string_value(value));
	else if (json_is_integer(value))
		jw_i64(w, "default", json_integer_value(value));
	else if (json_is_boolean(value))
		jw_bool(w, "default", json_is_true(value));
	else if (json_is_real(value))
		jw_double(w, "default", json_real_value(value), 6);
	json_decref(value);
}

static void put_arg(struct json_writer *w, const struct arg *a)
{
	jw_begin_object(w, a->name);
	jw_string(w, "type", type_name(a->type));
	if (a->type == ARG_STRINGS || a->type == ARG_OBJECTS) {
		jw_begin_object(w, "items");
		jw_string(w, "type", a->type == ARG_STRINGS ? "string" : "object");
		if (a->type == ARG_STRINGS && a->choices)
			put_choices(w, a->choices);
		jw_end_object(w);
	} else if (a->choices) {
		put_choices(w, a->choices);
	}
	if (a->type == ARG_INTEGER || a->type == ARG_NUMBER)
		jw_i64(w, "minimum", a->min);
	if ((a->type == ARG_INTEGER || a->type == ARG_NUMBER) && a->max < FAR_AWAY)
		jw_i64(w, "maximum", a->max);
	jw_string(w, "description", a->description);
	if (a->fallback)
		put_default(w, a);
	jw_end_object(w);
}

static void put_required(struct json_writer *w, const struct arg *args)
{
	bool has_any = false;

	for (const struct arg *a = args; a && a->name; a++) {
		if (!a->is_required)
			continue;
		if (!has_any)
			jw_begin_array(w, "required");
		has_any = true;
		jw_string(w, NULL, a->name);
	}
	if (has_any)
		jw_end_array(w);
}

void schema_put_args(struct json_writer *w, const char *key, const struct arg *args)
{
	jw_begin_object(w, key);
	jw_string(w, "type", "object");
	jw_begin_object(w, "properties");
	for (const struct arg *a = args; a && a->name; a++)
		put_arg(w, a);
	jw_end_object(w);
	put_required(w, args);
	jw_bool(w, "additionalProperties", false);
	jw_end_object(w);
}

static void put_types(struct json_writer *w, const char *types)
{
	char one[16];

	if (!strchr(types, '|')) {
		jw_string(w, "type", types);
		return;
	}
	jw_begin_array(w, "type");
	while (*types) {
		size_t len = strcspn(types, "|");

		snprintf(one, sizeof(one), "%.*s", (int)len, types);
		jw_string(w, NULL, one);
		types += len + (types[len] == '|');
	}
	jw_end_array(w);
}

void schema_put_output(struct json_writer *w, const char *key, const struct out_field *fields)
{
	jw_begin_object(w, key);
	jw_string(w, "type", "object");
	jw_begin_object(w, "properties");
	for (const struct out_field *f = fields; f && f->name; f++) {
		jw_begin_object(w, f->name);
		put_types(w, f->types);
		if (f->description)
			jw_string(w, "description", f->description);
		jw_end_object(w);
	}
	jw_end_object(w);
	jw_end_object(w);
}

static int bad(const struct arg *a, struct diag *d, const char *want)
{
	return diag_set(d, -EINVAL, NULL, "\"%s\" must be %s", a->name, want);
}

static int check_choice(const struct arg *a, const char *text, struct diag *d)
{
	char known[512] = "";
	size_t len = 0;

	if (!a->choices)
		return strlen(text) > MAX_TEXT ? bad(a, d, "shorter than 4096 bytes") : 0;
	for (size_t i = 0; a->choices[i]; i++) {
		if (strcmp(a->choices[i], text) == 0)
			return 0;
		if (len < sizeof(known))
			len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s",
			                        i ? ", " : "", a->choices[i]);
	}
	return diag_set(d, -EINVAL, NULL, "\"%s\" must be one of %s, not \"%.64s\"", a->name, known,
	                text);
}

static int bad_number(const struct arg *a, struct diag *d)
{
	const char *what = a->type == ARG_INTEGER ? "a whole number" : "a number";
	char want[96];

	if (a->max == INT64_MAX)
		snprintf(want, sizeof(want), "%s, %lld or more", what, (long long)a->min);
	else
		snprintf(want, sizeof(want), "%s from %lld to %lld", what, (long long)a->min,
		         (long long)a->max);
	return bad(a, d, want);
}

/* A number as it came, or from a text that is one. New reference, NULL if it is none. */
static json_t *number_of(const struct arg *a, const json_t *value)
{
	const char *text = json_string_value(value);
	char *end = NULL;
	double real;

	if (text && *text) {
		errno = 0;
		if (a->type == ARG_INTEGER) {
			long long whole = strtoll(text, &end, 10);

			return errno || *end ? NULL : json_integer(whole);
		}
		real = strtod(text, &end);
		return errno || *end ? NULL : json_real(real);
	}
	if (a->type == ARG_INTEGER && json_is_real(value)) {
		real = json_real_value(value);
		if (real < -9e15 || real > 9e15 || real != (double)(long long)real)
			return NULL;
		return json_integer((long long)real);
	}
	if (a->type == ARG_INTEGER ? json_is_integer(value) : json_is_number(value))
		return json_copy((json_t *)value);
	return NULL;
}

static int check_list(const struct arg *a, const json_t *value, struct diag *d)
{
	size_t i;
	json_t *item;
	int err = 0;

	if (!json_is_array(value) || json_array_size(value) > MAX_LIST)
		return bad(a, d, "a list of at most 256");
	json_array_foreach((json_t *)value, i, item)
	{
		if (a->type == ARG_OBJECTS ? !json_is_object(item) : !json_is_string(item))
			return bad(a, d,
			           a->type == ARG_OBJECTS ? "a list of objects"
			                                  : "a list of texts");
		if (!err && a->type == ARG_STRINGS)
			err = check_choice(a, json_string_value(item), d);
	}
	return err;
}

/* The value as the tool gets it; a new reference. */
static int take(const struct arg *a, const json_t *value, struct diag *d, json_t **out)
{
	int err = 0;

	switch (a->type) {
	case ARG_INTEGER:
	case ARG_NUMBER:
		*out = number_of(a, value);
		if (*out && json_number_value(*out) >= (double)a->min &&
		    json_number_value(*out) <= (double)a->max)
			return 0;
		return bad_number(a, d);
	case ARG_STRING:
		err = json_is_string(value) ? check_choice(a, json_string_value(value), d)
		                            : bad(a, d, "a text");
		break;
	case ARG_BOOL:
		err = json_is_boolean(value) ? 0 : bad(a, d, "true or false");
		break;
	case ARG_OBJECT:
		err = json_is_object(value) ? 0 : bad(a, d, "an object");
		break;
	case ARG_STRINGS:
	case ARG_OBJECTS:
		err = check_list(a, value, d);
		break;
	}
	*out = err ? NULL : json_incref((json_t *)value);
	return err;
}

static int refuse_unknown(const struct arg *args, const json_t *given, struct diag *d)
{
	char known[512] = "";
	size_t len = 0;
	const char *key;
	json_t *value;

	for (const struct arg *a = args; a && a->name; a++)
		if (len < sizeof(known))
			len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s",
			                        a == args ? "" : ", ", a->name);
	json_object_foreach((json_t *)given, key, value)
	{
		const struct arg *a = args;

		while (a && a->name && strcmp(a->name, key) != 0)
			a++;
		if (!a || !a->name)
			return diag_set(d, -EINVAL, NULL,
			                "there is no argument \"%.64s\"; known are: %s", key,
			                known[0] ? known : "none");
	}
	return 0;
}

static int fill(const struct arg *args, const json_t *given, struct diag *d, json_t *out)
{
	for (const struct arg *a = args; a && a->name; a++) {
		const json_t *value = json_object_get(given, a->name);
		json_t *taken = NULL;
		int err = 0;

		if (value && !json_is_null(value))
			err = take(a, value, d, &taken);
		else if (a->is_required)
			err = diag_set(d, -EINVAL, NULL, "\"%s\" is missing: %s", a->name,
			               a->description);
		else if (a->fallback)
			taken = json_loads(a->fallback, JSON_DECODE_ANY, NULL);
		if (err) {
			json_decref(taken);
			return err;
		}
		if (taken && json_object_set_new(out, a->name, taken))
			return diag_set(d, -ENOMEM, NULL, "out of memory");
	}
	return 0;
}

int schema_check(const struct arg *args, const json_t *given, struct diag *d, json_t **out)
{
	json_t *made = json_object();
	int err = refuse_unknown(args, given, d);

	if (!err)
		err = made ? fill(args, given, d, made)
		           : diag_set(d, -ENOMEM, NULL, "out of memory");
	if (err) {
		json_decref(made);
		return err;
	}
	*out = made;
	return 0;
}
