/* mcp/era_priv — what the files of the eras share. */
#pragma once

#include "mcp/era.h"

/* Those that are there must agree with the body; version is what that claims, NULL = nothing. */
MUST_USE int era_check_headers(const struct message *m, const struct mcp_headers *headers,
                               const char *version, struct rpc_error *e);
/* Those that a request must have. */
MUST_USE int era_need_headers(const struct message *m, const struct mcp_headers *headers,
                              struct rpc_error *e);
