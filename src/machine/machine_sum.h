/* machine/machine_sum — a process as the sum of its threads, from any source. Pure. */
#pragma once

#include "machine/machine.h"

/* No thread yet: nothing is known. Its identity and distributions stay. */
void machine_sum_clear(struct machine_task *sum);
/*
 * Rates and shares add up: what is unknown adds nothing, and a sum is unknown while all its parts are. The state is R or D
 * if any thread's is, else that of the main thread, which also says where it ran last and how it is scheduled.
 */
void machine_sum_add(struct machine_task *sum, const struct machine_task *thread);

/*
 * Processes that are shown as one. Memory that they share counts for each of them; percentiles are those of the worst, the
 * largest latency is exact; its number is the lowest, class and cgroup are known where all agree.
 */
void machine_sum_begin_group(struct machine_task *sum); /* its name stays */
void machine_sum_add_process(struct machine_task *sum, const struct machine_task *process);

/* The rates and shares alone, for callers that already know the number of threads and their leader. */
void machine_sum_clear_rates(struct machine_task *sum);
void machine_sum_add_rates(struct machine_task *sum, const struct machine_task *thread);
