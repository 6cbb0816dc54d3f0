/* bpf/events_pmu — what the counters of a CPU moved during the slice that ends. */
#pragma once

#include <linux/bpf.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

#include "abi/event_cfg.h"
#include "bpf/counter.bpf.h"
#include "bpf/events_ring.bpf.h"

/*
 * Reads all counters of this CPU; their increments since the last read go to values, which may be
 * NULL. An estimate of a multiplexed counter may be below an earlier one: it then has not moved.
 */
static __always_inline void read_counters(struct ev_cpu *c, __u64 *values)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct bpf_perf_event_value v;
	__u64 count, moved;

	for (__u32 i = 0; i < EV_PMU_MAX; i++) {
		if (i >= cfg.nr_counters)
			break;
		moved = EV_PMU_UNKNOWN;
		if (bpf_perf_event_read_value(&counter_fds, i * cfg.nr_cpus + cpu, &v, sizeof(v))) {
			c->counters[i] = 0; /* the next one on this CPU begins there */
		} else {
			count = scaled_count(&v);
			moved = count > c->counters[i] ? count - c->counters[i] : 0;
			c->counters[i] += moved;
		}
		if (values)
			values[i] = moved;
	}
}

/* The slice of prev, which is wanted and was seen to begin. */
static __always_inline void fill_pmu(struct ev_pmu *e, struct ev_cpu *c, __u32 prev_tid)
{
	e->tid = prev_tid;
	e->nr = cfg.nr_counters;
	read_counters(c, (__u64 *)(e + 1));
}
