/* sys/scx/scx_state — is a sched_ext scheduler in charge, and which one? Blocks on /sys only. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct scx_state {
	bool is_supported; /* this kernel has sched_ext */
	bool is_enabled;   /* a scheduler is in charge */
	char state[32]; /* as the kernel says: "enabled", "disabled", ...; empty = not reported */
	char ops[128];  /* its name; empty = none */
	/* -1 = not reported */
	int64_t switch_all;  /* 1: it has all ordinary tasks, 0: only those that asked for it */
	int64_t nr_rejected; /* tasks that it refused, since boot */
	int64_t hotplug_seq; /* how often CPUs went online or offline */
	int64_t enable_seq;  /* how many schedulers there were */
};

/* root is "" or a copy of such a tree. */
void scx_state_read(const char *root, struct scx_state *out);
