/* model/tasks_priv — what the files of model/tasks share. */
#pragma once

#include "model/tasks.h"

#define NR_PAGES 4096U /* tids below 2^22, Linux's limit, are found without hashing */

struct map;
struct task_cgroups;
struct task_names;

struct tasks {
	struct tasks_cfg cfg;
	struct tasks_hook hook;
	struct tasks_loss loss;
	uint32_t nr;
	struct task **chunks; /* entries never move */
	uint32_t *pages[NR_PAGES];
	struct map *high; /* tids that Linux would not give, from files */
	/* Exited tasks, by time of exit; the first is evicted first. */
	uint32_t dead_first;
	uint32_t dead_last;
	struct task_names *names;
	struct task_cgroups *cgroups;
};
