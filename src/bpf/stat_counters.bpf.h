/* bpf/stat_counters — performance counters, charged to tasks. */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

#include "bpf/stat_maps.bpf.h"

/* Adds what the counters of this CPU moved since the last look to the task that made them move. */
static __always_inline void count_counters(struct stat_task *st, struct stat_cpu *c, __u32 tid,
                                           __u32 cpu)
{
	struct bpf_perf_event_value v;
	bool is_mine = st && c->counters_tid == tid;
	__u64 delta, enabled, running;

	for (__u32 i = 0; i < STAT_COUNTERS; i++) {
		if (i >= cfg.nr_counters)
			break;
		if (bpf_perf_event_read_value(&counter_fds, i * cfg.nr_cpus + cpu, &v, sizeof(v)))
			continue;
		delta = v.counter - c->counters[i].value;
		enabled = v.enabled - c->counters[i].enabled_ns;
		running = v.running - c->counters[i].running_ns;
		c->counters[i].value = v.counter;
		c->counters[i].enabled_ns = v.enabled;
		c->counters[i].running_ns = v.running;
		if (!is_mine || (__s64)delta < 0)
			continue;
		/* Shared hardware: scale to the whole slice, in 1/1024 so that nothing overflows. */
		if (running && running < enabled) {
			delta = delta * ((enabled << 10) / running) >> 10;
			c->multiplexed++;
		}
		st->counters[i] += delta;
	}
	if (is_mine) {
		st->counter_slices++;
		st->nr_samples++;
	}
}
