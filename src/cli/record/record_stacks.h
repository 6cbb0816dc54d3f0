/* cli/record/record_stacks — the words of `record --stacks`, taken apart. */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "base/loss.h"

#define RECORD_STACKS_DEFAULT "cpu"

extern const char *const record_stack_names[]; /* by EV_SAMPLE_*; ends with NULL */

extern const char *const record_unwind_names[]; /* by enum record_unwind; ends with NULL */
#define RECORD_UNWIND_DETAILS                                                                                               \
	"table: by what files have for exceptions (.eh_frame), without frame pointers; code without, as of JITs, by frame " \
	"pointers. fp: by frame pointers alone, which costs less. auto: table where the kernel can, else fp; fp on x86-64."

/* A reason why names are missing, as a warning; cleared. */
void record_show_remark(struct diag *remark);
/* A warning for each. */
void record_show_losses(const struct losses *losses);
/* STACK_BIT() of each, 0 for NULL; -EINVAL for a word that is none. */
MUST_USE int record_stacks_parse(const char *list, uint32_t *out, struct diag *d);
