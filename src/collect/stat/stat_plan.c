#include "collect/stat/stat_plan.h"

#include <string.h>

#include "abi/event.h"

/* Which group keeps a metric. */
static const uint32_t metric_group[STAT_METRICS] = {
	[STAT_DELAY_WOKEN] = STAT_GROUP_LATENCY,   [STAT_DELAY_PREEMPTED] = STAT_GROUP_LATENCY,
	[STAT_SLICE_VOLUNTARY] = STAT_GROUP_SLICE, [STAT_SLICE_INVOLUNTARY] = STAT_GROUP_SLICE,
	[STAT_SLEEP_S] = STAT_GROUP_SLEEP,         [STAT_SLEEP_D] = STAT_GROUP_SLEEP,
	[STAT_SLEEP_OTHER] = STAT_GROUP_SLEEP,     [STAT_WAKING] = STAT_GROUP_WAKING,
	[STAT_DSQ_LATENCY] = STAT_GROUP_DSQ,
};

/* Gives each metric that is on its place behind struct stat_task; returns the size of the whole. */
static uint32_t lay_out(uint32_t groups, struct stat_cfg *cfg)
{
	__s8 next = 0;

	for (int m = 0; m < STAT_METRICS; m++) {
		cfg->index[m] = -1;
		if ((groups & metric_group[m]) && m < STAT_STORED_METRICS)
			cfg->index[m] = next++;
	}
	return (uint32_t)(sizeof(struct stat_task) + (size_t)next * sizeof(struct abi_hist));
}

bool stat_plan_has_dsqs(const struct scx_plan *scx)
{
	return scx->kinds & EV_BIT(EV_DSQ_LEAVE);
}

void stat_plan_make(const struct stat_request *req, const struct stat_kernel *kernel,
                    struct stat_plan *out)
{
	struct stat_cfg *cfg = &out->cfg;
	uint32_t groups = req->groups;

	memset(out, 0, sizeof(*out));
	/* An outlier is a wait for a CPU: it needs the times that the latency group keeps. */
	if (req->outlier_ns)
		groups |= STAT_GROUP_LATENCY;
	cfg->value_bytes = lay_out(groups, cfg);
	cfg->has_delay = !!(groups & STAT_GROUP_LATENCY);
	cfg->has_depth = (groups & STAT_GROUP_LATENCY) && !req->is_for_screen;
	cfg->has_slice = !!(groups & STAT_GROUP_SLICE);
	cfg->has_sleep = !!(groups & STAT_GROUP_SLEEP);
	cfg->has_idle = !!(groups & STAT_GROUP_SLEEP);
	cfg->has_waking = !!(groups & STAT_GROUP_WAKING);
	cfg->is_from_waking = req->is_from_waking && (cfg->has_delay || cfg->has_sleep);
	cfg->has_times = req->is_for_screen && cfg->has_delay && cfg->has_slice;
	cfg->has_dsq = (groups & STAT_GROUP_DSQ) && stat_plan_has_dsqs(&kernel->scx);
	if (cfg->has_dsq) {
		cfg->dsq_at = (__u8)kernel->scx.dsq_at;
		cfg->is_dsq_by_kprobe = kernel->scx.way == SCX_BY_KPROBE;
		out->scx = kernel->scx;
	}
	cfg->has_history = req->outlier_ns != 0;
	cfg->may_create = kernel->may_create_storage;
	cfg->switch_args = (__u8)kernel->switch_args;
	cfg->filter_cgroup = req->is_cgroup_only;
	cfg->is_cgroup_v1 = req->is_cgroup_v1;
	cfg->filter_tid = req->tid;
	cfg->filter_tgid = req->tgid;
	cfg->nr_counters = req->nr_counters;
	cfg->nr_cpus = req->nr_cpus;
	cfg->outlier_ns = req->outlier_ns;
	cfg->open_wait_ns = cfg->has_delay ? req->open_wait_ns : 0;
	cfg->ring_wake_bytes = req->ring_bytes / 4;
	out->wants_wakeup = cfg->has_delay || cfg->has_sleep || cfg->has_waking;
	out->wants_waking = cfg->has_waking || cfg->is_from_waking;
	out->wants_migrate = !!(groups & STAT_GROUP_MIGRATION);
	out->wants_flush = req->nr_counters != 0;
	/* Counters and the group waking change by themselves, which only the walk over all tasks finds. */
	out->wants_asking = req->is_for_screen && !req->nr_counters && !cfg->has_waking;
	cfg->notes_changes = out->wants_asking;
}
