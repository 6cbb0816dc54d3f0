/* bpf/stat_counters — performance counters, charged to tasks. */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

#include "bpf/counter.bpf.h"
#include "bpf/stat_maps.bpf.h"

/*
 * Adds the increments of this CPU's counters since the last read to the task that caused them. An
 * estimate may be below an earlier one; it then counts nothing until it is above again.
 */
static __always_inline void count_counters(struct stat_task *st, struct stat_cpu *c, __u32 tid,
                                           __u32 cpu)
{
	struct bpf_perf_event_value v;
	bool is_mine = st && c->running_tid == tid;
	__u64 count;

	for (__u32 i = 0; i < STAT_COUNTERS; i++) {
		if (i >= cfg.nr_counters)
			break;
		if (bpf_perf_event_read_value(&counter_fds, i * cfg.nr_cpus + cpu, &v, sizeof(v))) {
			c->counters[i] = 0; /* the next one on this CPU begins there */
			continue;
		}
		count = scaled_count(&v);
		c->multiplexed += v.running < v.enabled;
		if (count <= c->counters[i])
			continue;
		if (is_mine)
			st->counters[i] += count - c->counters[i];
		c->counters[i] = count;
	}
	if (is_mine) {
		st->counter_slices++;
		st->nr_samples++;
	}
}
