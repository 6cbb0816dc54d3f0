/* collect/tracing — may we trace here, and what must the programs know about this kernel? */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/switch_args.h"
#include "base/attr.h"
#include "base/diag.h"

struct tracing {
	enum abi_switch_args switch_args;
	uint8_t measures;        /* EV_MEASURES_* that this kernel allows */
	bool may_create_storage; /* task storage can be allocated under scheduler locks: Linux 6.4 */
};

/* what is the subject of the sentence: "scheduling statistics". -EPERM, or -ENOTSUP without BTF. */
MUST_USE int tracing_probe(const char *what, struct tracing *out, struct diag *d);
