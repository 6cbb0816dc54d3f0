/* bpf/counter — performance counters: the array of them, and what one would show by itself. */
#pragma once

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "abi/hist.h"

/* Counter i of CPU c is at i * nr_cpus + c. Sized and filled by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} counter_fds SEC(".maps");

/*
 * What a counter would show had it been on the PMU all the time. Counters that take turns are on it for a
 * tick or so each: only sums over many slices can be scaled, so this scales the count since the start. The
 * times are cut to 20 bits so that nothing overflows.
 */
static __always_inline __u64 scaled_count(const struct bpf_perf_event_value *v)
{
	__u32 cut = v->running ? hist_log2(v->running) : 0;
	__u64 enabled, running;

	if (!v->running || v->running >= v->enabled)
		return v->counter;
	cut = cut > 20 ? cut - 20 : 0;
	enabled = v->enabled >> cut;
	running = v->running >> cut;
	return v->counter / running * enabled + v->counter % running * enabled / running;
}
