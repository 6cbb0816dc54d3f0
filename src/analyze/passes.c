/* analyze/passes — the table of all analyses, in the order in which a reader wants them. */
#include "analyze/passes.h"

#include "analyze/pass.h"

const struct pass *const passes[] = {
	&pass_summary,
	&pass_cpu_utilization,
	&pass_wasted_cores,
	&pass_explain,
};

const size_t nr_passes = sizeof(passes) / sizeof(passes[0]);
