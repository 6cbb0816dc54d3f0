/* base/toml_scan — the words of TOML: names, values, comments; for base/toml only. Reads within len, never prints. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/toml.h"

#define TOML_DOT '\x1f' /* between the parts of a dotted name: a part in quotes may contain dots */

struct toml_scan {
	const char *text;
	size_t len, at;
	unsigned int line;
	struct diag *d;
};

struct toml_value {
	enum toml_type type;
	size_t begin, end;
	unsigned int line;
	int64_t integer;
};

int toml_scan_fail(const struct toml_scan *s, const char *what); /* -EINVAL */
/* Blanks, line ends and comments; false at the end of the text. */
bool toml_scan_skip(struct toml_scan *s);
/* Only blanks and a comment may follow on this line. */
MUST_USE int toml_scan_line_end(struct toml_scan *s);
/* A key; blanks after it are skipped. */
MUST_USE int toml_scan_name(struct toml_scan *s, char out[TOML_MAX_NAME]);
MUST_USE int toml_scan_value(struct toml_scan *s, struct toml_value *out);
/* A new string: what a string says, others as written; NULL without memory. */
char *toml_scan_text(const char *text, const struct toml_value *v);
