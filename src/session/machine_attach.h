/*
 * session/machine_attach — opens a machine_latency in a thread of its own.
 *
 * The kernel checks our programs for some hundred milliseconds before it lets them in: a screen must not stand still
 * for that. The thread is over when poll() says so; what it opened belongs to the caller from then on.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

struct machine_attach;
struct machine_latency;

MUST_USE int machine_attach_start(uint32_t tgid, struct machine_attach **out); /* 0 or -errno */
/* False while it goes on. Then a is gone, and *out is there, or NULL with the reason in d. */
MUST_USE bool machine_attach_poll(struct machine_attach *a, struct diag *d,
                                  struct machine_latency **out);
void machine_attach_cancel(struct machine_attach *a); /* waits for it, and closes; NULL is fine */
