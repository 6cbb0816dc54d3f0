/*
 * base/toml — reads settings written in TOML, and changes single values without touching the rest of the text.
 *
 * A subset: tables, bare, quoted and dotted keys, strings, integers, booleans, numbers and arrays. Arrays of tables,
 * strings over several lines, inline tables and dates are kept as they are and read as TOML_OTHER. The text is
 * untrusted: size, depth and number of entries have limits, and an error names the line. A change edits the text, so
 * comments, order and what is not understood stay.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "base/diag.h"

#define TOML_MAX_BYTES   ((size_t)256 * 1024)
#define TOML_MAX_ENTRIES 4096U
#define TOML_MAX_NAME    256U /* bytes of a key, and of the path of a table */

/* A table is the line [NAME] itself; its key is empty. */
enum toml_type { TOML_STRING, TOML_INTEGER, TOML_BOOLEAN, TOML_ARRAY, TOML_OTHER, TOML_TABLE };

struct toml_entry {
	char *table; /* "keymap", "a.b"; "" at the top */
	char *key;   /* without quotes */
	enum toml_type type;
	char *text;      /* of a string: what it says; of others: as written */
	int64_t integer; /* also of a boolean */
	unsigned int line;
	bool is_dotted;    /* written outside its table, as a.b = 1 */
	size_t begin, end; /* of the value, in the document's text */
};

struct toml {
	char *text; /* ends in NUL */
	size_t len;
	struct toml_entry *entries; /* in order */
	size_t nr, room;
};

/* -EINVAL with the line, -EFBIG, -ENOMEM. */
MUST_USE int toml_parse(const char *text, size_t len, struct diag *d, struct toml **out);
void toml_free(struct toml *t); /* NULL is fine */
DEFINE_SCOPED(toml, toml_free)

/* NULL = absent. If a key occurs twice, the last one counts. */
const struct toml_entry *toml_find(const struct toml *t, const char *table, const char *key);

/*
 * Strings of an array, one by one: *at starts at 0; false at the end or at a value that is not a
 * string. buf ends in NUL.
 */
MUST_USE bool toml_array_next(const struct toml_entry *e, size_t *at, char *buf, size_t size);

/*
 * Sets a key to a value that is written as given (toml_quote() for strings); adds key and table where they are
 * missing. On failure the document is as it was.
 */
MUST_USE int toml_set(struct toml *t, const char *table, const char *key, const char *value,
                      struct diag *d);
/* Quotes and escapes; -ENOSPC if it does not fit. */
MUST_USE int toml_quote(const char *s, char *buf, size_t size);
