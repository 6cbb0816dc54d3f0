/* cli/record/record_pmu — the words of `record --pmu`, taken apart. */
#pragma once

#include <stddef.h>

#include "abi/event.h"
#include "base/attr.h"
#include "base/diag.h"
#include "base/opt.h"
#include "sys/pmu/pmu.h"

/* Names of the events to count; the pointers are into the names. */
struct record_pmu {
	char names[EV_PMU_MAX][PMU_NAME_MAX];
	const char *words[EV_PMU_MAX];
	size_t nr;
};

/* Into one that is empty. -EINVAL for a name that is missing or too long, or one too many. */
MUST_USE int record_pmu_parse(const struct opt_list *list, struct record_pmu *out, struct diag *d);
