/* mcp/completion — values that begin like what was typed, at most 100 of them. An unknown reference has none. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct mcp_world;

#define COMPLETION_MAX 100U

struct completion {
	char *values[COMPLETION_MAX];
	size_t nr;
	size_t total;
};

void completion_of_prompt(const char *prompt, const char *arg, const char *value,
                          struct completion *out);
/* uri: a template, or a resource; arg: its variable; owner: whose traces. */
void completion_of_resource(struct mcp_world *w, uint64_t owner, const char *uri, const char *arg,
                            const char *value, struct completion *out);
void completion_done(struct completion *c);
