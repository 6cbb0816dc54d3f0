/*
 * machine/machine_attach — opens what attaches programs in a separate thread.
 *
 * The kernel verifies our programs for some hundred milliseconds: a screen must not freeze for
 * that. The thread has ended when poll() says so; what it opened belongs to the caller from then
 * on.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

struct machine_attach;

/* open() runs in that thread; a result that is not taken is closed. */
struct machine_attach_cfg {
	int (*open)(uint32_t arg, struct diag *d, void **out);
	void (*close)(void *opened); /* NULL is fine */
	uint32_t arg;
};

MUST_USE int machine_attach_start(const struct machine_attach_cfg *cfg,
                                  struct machine_attach **out); /* 0 or -errno */
/* False while it runs. Then a is freed, and *out is set, or NULL with the reason in d. */
MUST_USE bool machine_attach_poll(struct machine_attach *a, struct diag *d, void **out);
void machine_attach_cancel(struct machine_attach *a); /* waits for it, and closes; NULL is fine */
