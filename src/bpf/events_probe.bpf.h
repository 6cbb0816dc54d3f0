/* bpf/events_probe — the record of a probe that was hit. */
#pragma once

#include <bpf/bpf_helpers.h>

#include "bpf/events_filter.bpf.h"
#include "bpf/events_ring.bpf.h"

static __always_inline int put_probe(__u32 id, __u64 ip)
{
	struct ev_probe *e;
	struct slot s;

	if (!is_wanted(bpf_get_current_task_btf()))
		return 0;
	e = begin(&s, EV_PROBE, sizeof(*e));
	if (!e)
		return 0;
	e->probe = id;
	e->tid = current_tid();
	e->ip = ip;
	end(&s);
	return 0;
}
