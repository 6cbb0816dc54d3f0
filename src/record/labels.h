/*
 * record/labels — what users write into a recording to find it among others: --metadata KEY=VALUE. In the trace they are
 * attributes `metadata.KEY`. Plain data; pure.
 */
#pragma once

#include <stddef.h>

#include "base/attr.h"
#include "base/diag.h"
#include "trace/facts.h"

#define LABELS_MAX      16U
#define LABEL_KEY_MAX   64U
#define LABEL_VALUE_MAX 256U
#define LABEL_PREFIX    "metadata."

struct labels {
	char keys[LABELS_MAX][sizeof(LABEL_PREFIX) + LABEL_KEY_MAX]; /* with the prefix */
	struct trace_attr attrs[LABELS_MAX]; /* values are the caller's words */
	size_t nr;
};

/* Into one that is empty, and stays where it is. -EINVAL for what is not KEY=VALUE, a key twice, or one too many. */
MUST_USE int labels_parse(const char *const *words, size_t nr, struct labels *out, struct diag *d);
