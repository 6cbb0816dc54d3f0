/*
 * machine/machine_usage — memory, pressure and network of the machine: from what /proc counts since boot to rates, and to
 * what they were before.
 *
 * Rates are over the time since the part was last read. Histories begin anew when a part was left out for a refresh:
 * their values follow each other. Pure.
 */
#pragma once

#include "base/attr.h"
#include "machine/machine.h"
#include "machine/machine_past.h"
#include "sys/proc/sys_stats.h"

/* A count, where there is one. */
struct machine_count {
	bool is_known;
	uint64_t value;
};

/* Zeroed, it has seen nothing. */
struct machine_usage {
	struct machine_memory memory;
	struct machine_memory_before {
#define X(member) struct machine_count member;
		MACHINE_PAGING_LIST(X)
		MACHINE_PRESSURE_LIST(X)
#undef X
	} before;
	struct machine_memory_pasts {
		struct machine_past used, swap_used;
#define X(member) struct machine_past member;
		MACHINE_PAGING_LIST(X)
		MACHINE_PRESSURE_LIST(X)
#undef X
	} pasts;
	uint64_t memory_ns, pressure_ns;
	struct machine_net nets[SYS_NETS_MAX];
	struct machine_net_before {
		struct sys_net counts; /* the name, too */
		struct machine_past rx, tx, rx_packets, tx_packets;
	} nets_before[SYS_NETS_MAX];
	size_t nr_nets;
	uint64_t nets_ns;
};

/* parts: bits of enum sys_stats_part that were read just now; only those change. 0 or -ENOMEM. */
MUST_USE int machine_usage_take(struct machine_usage *u, const struct sys_stats *now,
                                uint32_t parts, uint64_t now_ns);
void machine_usage_done(struct machine_usage *u);
