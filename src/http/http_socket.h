/* http/http_socket — the socket that an HTTP server listens on, and on which addresses it may. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "http/http_guard.h"

/* -EINVAL: other machines could reach it, which was not asked for, or needs a token. token_file: NULL = none. */
MUST_USE int http_address_check(const struct http_address *address, bool allows_remote,
                                const char *token_file, struct diag *d);
/* A descriptor that listens and does not block, or a negative errno; the port that it has got. */
MUST_USE int http_listen(const struct http_address *address, struct diag *d, uint16_t *port);
