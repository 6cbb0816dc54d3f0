/* analyses/devices/softirqs — softirqs by vector, by CPU and by the task that was interrupted, collected once for the analyses that show them. */
#pragma once

#include <stdint.h>

#include "analyze/buckets.h"
#include "analyze/scope.h"
#include "base/attr.h"

struct softirqs {
	struct scope sc;
	struct buckets vectors, cpus, tasks; /* cpus and tasks: pairs with the vector */
	uint64_t total, total_ns;
};

/* As struct pass_work has them: of a struct with only the scope set. -ENOMEM. */
MUST_USE int softirqs_collect(void *softirqs);
void softirqs_done(void *softirqs);
/* Members softirq_nr and softirq_name. */
void softirqs_report_vector(struct report *r, uint32_t vector);
