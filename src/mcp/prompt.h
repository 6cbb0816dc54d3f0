/* mcp/prompt — a prompt: one entry of one table; a text for an assistant, made from its arguments (which are texts). */
#pragma once

#include <stdio.h>

#include "base/attr.h"
#include "base/diag.h"
#include "mcp/tool.h"

struct prompt_arg {
	const char *name; /* NULL ends the list */
	const char *description;
	const char *const *choices; /* for completion; NULL = any */
};

struct prompt_values {
	const char *values[4]; /* by place of the argument; NULL = not given */
};

struct prompt {
	const char *name;
	const char *title;
	const char *description;
	const struct prompt_arg *args;
	/* Markdown. -EINVAL with a sentence for an argument that makes no sense. */
	int (*write)(const struct prompt_values *v, FILE *out, struct diag *d);
};

extern const struct prompt *const prompts[];
extern const size_t nr_prompts;

const struct prompt *prompt_find(const char *name); /* NULL if there is none */
