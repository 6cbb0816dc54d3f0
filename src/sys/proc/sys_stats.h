/*
 * sys/proc/sys_stats — how the whole machine does: CPU times, memory, paging, pressure, network, frequencies.
 *
 * All counts are since boot, as the kernel has them; callers subtract for rates. What this kernel
 * does not report is absent. The parsers take any text, are bounded by the room that they are
 * given, and skip lines that are not what they should be. Blocks on /proc and /sys only. One thread
 * per struct.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define SYS_PAIR_NAME 32
#define SYS_NET_NAME  16
#define SYS_NETS_MAX  64
#define SYS_PAIRS_MAX 256
#define SYS_CPUS_MAX  8192

struct sys_pair {
	char name[SYS_PAIR_NAME]; /* as the kernel spells it */
	uint64_t value;
};

enum { /* the order of /proc/stat */
       SYS_USER,
       SYS_NICE,
       SYS_SYSTEM,
       SYS_IDLE,
       SYS_IOWAIT,
       SYS_IRQ,
       SYS_SOFTIRQ,
       SYS_STEAL,
       SYS_TIMES
};

struct sys_cpu {
	uint32_t cpu; /* the kernel's number */
	uint64_t ns[SYS_TIMES];
};

struct sys_net {
	char name[SYS_NET_NAME];
	uint64_t rx_bytes, rx_packets, rx_errors, rx_drops;
	uint64_t tx_bytes, tx_packets, tx_errors, tx_drops;
};

struct sys_pairs {
	struct sys_pair items[SYS_PAIRS_MAX];
	size_t nr;
};

struct sys_stats {
	struct sys_cpu *cpus; /* online ones */
	size_t nr_cpus;
	bool has_forks;
	uint64_t forks;
	struct sys_pairs memory;   /* MemFree, ...; kB */
	struct sys_pairs paging;   /* pgfault, ...; mostly pages */
	struct sys_pairs pressure; /* cpu.some, cpu.full, io.some, ...; ns */
	struct sys_net nets[SYS_NETS_MAX];
	size_t nr_nets;
	uint32_t *khz; /* by CPU; 0 = unknown */
	size_t nr_khz;
};

/* "MemFree:  123 kB" or "pgfault 123" per line; names that are too long are skipped. */
void sys_pairs_parse(const char *text, struct sys_pairs *out);
/* /proc/pressure/RESOURCE; adds RESOURCE.some and RESOURCE.full. */
void sys_pressure_parse(const char *text, const char *resource, struct sys_pairs *out);
/* The lines cpuN of /proc/stat with hz ticks a second; how many were put. */
size_t sys_cpus_parse(const char *text, uint64_t hz, struct sys_cpu *out, size_t cap);
/* The line "processes" of /proc/stat. */
MUST_USE bool sys_forks_parse(const char *text, uint64_t *out);
/* /proc/net/dev; how many were put. */
size_t sys_nets_parse(const char *text, struct sys_net *out, size_t cap);

/*
 * A zeroed struct is a first one; read again and again, then done. root is "" or a copy of such a tree.
 * Frequencies cost an interrupt of each CPU on some machines: only with nr_cpus > 0, CPUs below it. 0 or -ENOMEM.
 */
MUST_USE int sys_stats_read(const char *root, uint32_t nr_cpus, struct sys_stats *s);

/* The same for a part of it: what is not requested stays as it was, except frequencies. */
enum sys_stats_part {
	SYS_PART_TIMES = 1,
	SYS_PART_MEMORY = 2, /* paging, too */
	SYS_PART_PRESSURE = 4,
	SYS_PART_NETS = 8,
	SYS_PART_ALL = 15,
};
MUST_USE int sys_stats_read_parts(const char *root, uint32_t parts, uint32_t nr_cpus,
                                  struct sys_stats *s);
void sys_stats_done(struct sys_stats *s);
