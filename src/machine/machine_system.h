/*
 * machine/machine_system — CPUs, memory, network, pressure, sched_ext's state: what /proc and /sys
 * report of the whole.
 *
 * Rates are over the time since the part was last read. CPUs are all that the machine may have; those that /proc/stat
 * does not name are offline. busy is all but idle and iowait, so it holds what a hypervisor has stolen, too.
 * Frequencies and sched_ext are read once a second, frequencies by a thread that may take its
 * time. One thread. Blocks on /proc and on /sys/kernel only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "machine/machine.h"
#include "machine/machine_tasks.h"

struct machine_system;

MUST_USE int machine_system_new(const char *root, struct diag *d, struct machine_system **out);
void machine_system_free(struct machine_system *s); /* NULL is fine */

/* needs: bits of enum machine_need; everything else is unchanged. 0 or -ENOMEM. */
MUST_USE int machine_system_refresh(struct machine_system *s, uint32_t needs, uint64_t now_ns);

/* How many tasks wait for each CPU, once per refresh; order NULL = unknown. 0 or -ENOMEM. */
MUST_USE int machine_system_show_waiting(struct machine_system *s,
                                         const struct machine_task *threads,
                                         const struct machine_order *order);
struct machine_cpu *machine_system_cpus(struct machine_system *s, size_t *nr);
const struct machine_memory *machine_system_memory(const struct machine_system *s);
const struct machine_net *machine_system_nets(const struct machine_system *s, size_t *nr);
const char *machine_system_scx_state(
	const struct machine_system *s); /* NULL = the kernel has none */
const char *machine_system_scheduler(const struct machine_system *s); /* NULL = none */
enum machine_ext machine_system_ext(const struct machine_system *s);
