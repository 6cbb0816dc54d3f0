/* cli/record_stacks — the words of `record --stacks`, taken apart. */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "base/loss.h"

#define RECORD_STACKS_DEFAULT "cpu"

extern const char *const record_stack_names[]; /* by EV_SAMPLE_*; ends with NULL */

/* A reason why names are missing, as a warning; cleared. */
void record_show_remark(struct diag *remark);
/* A warning for each. */
void record_show_losses(const struct losses *losses);
/* STACK_BIT() of each, 0 for NULL; -EINVAL for a word that is none. */
MUST_USE int record_stacks_parse(const char *list, uint32_t *out, struct diag *d);
