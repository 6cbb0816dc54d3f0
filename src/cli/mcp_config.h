/* cli/mcp_config — what to write into the settings of an MCP client, so that it starts or reaches this server. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/diag.h"

/* The names of clients, ended by NULL; for an option. */
extern const char *const mcp_clients[];

struct mcp_config {
	const char *program;     /* absolute */
	const char *const *args; /* after it, "mcp" first */
	size_t nr_args;
	const char *url; /* of a server over HTTP; NULL = the client starts it */
	bool has_token;  /* which the client has to send */
};

/* The settings on out, and in *where (static) the file that takes them. -ENOTSUP: it cannot reach a server over HTTP. */
MUST_USE int mcp_config_print(int client, const struct mcp_config *cfg, FILE *out,
                              const char **where, struct diag *d);
