/*
 * collect/sample/sample_facts — what a profile asks the machine before it begins: is the process there, and how does this
 * kernel pass what sched_switch says. Each refusal is one sentence.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

struct prof_cfg;

MUST_USE int sample_facts_process(uint32_t tgid, struct diag *d); /* -ESRCH */
/* Fills in what depends on the kernel. -ENOTSUP. */
MUST_USE int sample_facts_kernel(struct prof_cfg *cfg, struct diag *d);
