/*
 * collect/stat/stat_plan — which programs to load and what they keep, for the groups that were asked for.
 *
 * Pure: decides from facts about the kernel, loads nothing. Nothing that no group needs is loaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/stat.h"
#include "collect/scx_plan.h"

/* Facts about the running kernel that change how the programs are set up. */
struct stat_kernel {
	enum abi_switch_args switch_args;
	bool may_create_storage; /* task storage can be allocated under scheduler locks: Linux 6.4 */
	struct scx_plan scx;     /* for STAT_SCX_KINDS; only used for the group dsq */
};

/* What the group dsq asks of a kernel, in the words of the event stream. */
#define STAT_SCX_KINDS (EV_BIT(EV_DSQ_LEAVE) | EV_BIT(EV_DSQ_DEPTH) | EV_BIT(EV_SCX_STATE))

struct stat_request {
	uint32_t groups;       /* bits of enum stat_group */
	uint32_t tid;          /* 0 = any */
	uint32_t tgid;         /* 0 = any */
	bool is_cgroup_only;   /* only tasks in the wanted cgroups */
	bool is_cgroup_v1;     /* cgroups are those of v1's hierarchy of the controller cpu */
	uint64_t outlier_ns;   /* 0 = off */
	uint64_t open_wait_ns; /* waits that last for longer are in each drain; 0 = off */
	bool is_from_waking;   /* woken tasks wait from sched_waking on, which is loaded for that */
	uint32_t nr_counters;
	uint32_t nr_cpus; /* possible CPUs */
	uint32_t ring_bytes;
	/* Drains come often: they cost nothing for unchanged tasks. Times of tasks instead of depths. */
	bool is_for_screen;
};

struct stat_plan {
	struct stat_cfg cfg;
	bool wants_waking;  /* load on_waking */
	bool wants_migrate; /* load on_migrate */
	bool wants_wakeup;  /* load on_wakeup and on_wakeup_new */
	bool wants_flush;   /* load flush_counters */
	bool wants_asking;  /* load drain_asked, if the kernel lets it */
	struct scx_plan
		scx; /* which of its programs we have are to be loaded, and where they attach */
};

/* Whether dispatch queues can be traced on a kernel at all. */
bool stat_plan_has_dsqs(const struct scx_plan *scx);
void stat_plan_make(const struct stat_request *req, const struct stat_kernel *kernel,
                    struct stat_plan *out);
