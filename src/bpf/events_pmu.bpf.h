/* bpf/events_pmu — what the counters of a CPU moved during the slice that ends. */
#pragma once

#include <linux/bpf.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

#include "abi/event_cfg.h"
#include "bpf/counter.bpf.h"
#include "bpf/events_ring.bpf.h"

/*
 * Reads all counters of this CPU; what they moved since the last look goes to values, which may be NULL. An
 * estimate of a counter that shares its place may fall behind an earlier one: it then has not moved.
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
		if (!bpf_perf_event_read_value(&counter_fds, i * cfg.nr_cpus + cpu, &v,
		                               sizeof(v))) {
			count = scaled_count(&v);
			moved = count > c->counters[i] ? count - c->counters[i] : 0;
			c->counters[i] += moved;
		}
		if (values)
			values[i] = moved;
	}
}

/*
 * At a switch, before its own record: the slice of prev, if it is wanted and we saw it begin. The time of the record;
 * 0 if there is none.
 */
static __always_inline __u64 put_pmu(struct ev_cpu *c, __u32 prev_tid)
{
	struct ev_pmu *e;
	struct slot s;
	__u64 ts_ns;

	if (!prev_tid || c->shown_tid != prev_tid) {
		read_counters(c, NULL);
		return 0;
	}
	e = begin(&s, EV_PMU, (__u32)(sizeof(*e) + cfg.nr_counters * sizeof(__u64)));
	if (!e) {
		read_counters(c, NULL);
		return 0;
	}
	e->tid = prev_tid;
	e->nr = cfg.nr_counters;
	read_counters(c, (__u64 *)(e + 1));
	ts_ns = e->hdr.ts_ns;
	end(&s);
	return ts_ns;
}
