/* session/machine_sum — a process as the sum of its threads, wherever they come from. Pure. */
#pragma once

#include "analyze/machine.h"

/* No thread yet: nothing is known. Who it is, and its distributions, stay. */
void machine_sum_clear(struct machine_task *sum);
/*
 * Rates and shares add up: what is unknown adds nothing, and a sum is unknown while all its parts are. The state is R or D
 * if any thread's is, else that of the main thread, which also says where it ran last and how it is scheduled.
 */
void machine_sum_add(struct machine_task *sum, const struct machine_task *thread);

/* The rates and shares alone, for those who know by other means how many threads there are and who leads them. */
void machine_sum_clear_rates(struct machine_task *sum);
void machine_sum_add_rates(struct machine_task *sum, const struct machine_task *thread);
