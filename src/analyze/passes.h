/* analyze/passes — every analysis by name, for the table. */
#pragma once

struct pass;

extern const struct pass pass_summary;
extern const struct pass pass_cpu_utilization;
extern const struct pass pass_wasted_cores;
extern const struct pass pass_explain;
