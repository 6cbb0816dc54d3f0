/* sys/scx_state — is a sched_ext scheduler in charge, and which one? Blocks on /sys only. */
#pragma once

#include <stdbool.h>

struct scx_state {
	bool is_supported; /* this kernel has sched_ext */
	bool is_enabled;   /* a scheduler is in charge */
	char state[32];    /* as the kernel says: "enabled", "disabled", ...; empty = not told */
	char ops[128];     /* its name; empty = none */
};

/* root is "" or a copy of such a tree. */
void scx_state_read(const char *root, struct scx_state *out);
