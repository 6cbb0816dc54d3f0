/*
 * mcp/schema — the arguments of a tool: one table from which the JSON schema, the checks and the defaults all follow.
 *
 * A table ends with an entry without name. What a client sends is untrusted: types, ranges and choices are checked,
 * unknown names are refused with the known ones, and absent arguments become their defaults. Numbers in texts ("42") are
 * accepted where a number is asked for, as some clients send them. Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "base/json_write.h"

enum arg_type {
	ARG_STRING,
	ARG_INTEGER,
	ARG_NUMBER,
	ARG_BOOL,
	ARG_STRINGS, /* a list of texts */
	ARG_OBJECT,  /* checked by the tool itself */
	ARG_OBJECTS,
};

struct arg {
	const char *name;
	const char *description;
	const char *const *choices; /* of texts, ended by NULL; NULL = any */
	const char *fallback; /* the default as JSON, such as "20" or "\"all\""; NULL = none */
	int64_t min, max;     /* of numbers: every one has a range; INT64_MAX = no upper end */
	enum arg_type type;
	bool is_required;
};

/* The members of a result, for its schema: types are separated by | as in "integer|null". */
struct out_field {
	const char *name;
	const char *types;
	const char *description; /* NULL = none */
};

/* {"type":"object","properties":{...},"required":[...],"additionalProperties":false} under key. */
void schema_put_args(struct json_writer *w, const char *key, const struct arg *args);
/* Further members are allowed: results may grow. */
void schema_put_output(struct json_writer *w, const char *key, const struct out_field *fields);

/*
 * A new object with every argument that was given or has a default. -EINVAL with a sentence that names the argument. given
 * may be NULL.
 */
MUST_USE int schema_check(const struct arg *args, const json_t *given, struct diag *d,
                          json_t **out);
