/*
 * session/machine_source — a machine, looked at again and again, for a screen.
 *
 * With privileges and BTF from BPF (session/stat_session's counters: latency, slices, sleeps, migrations per thread), else
 * from /proc alone; then struct machine.notice says what is missing. Only what a view asks for is collected: needs. A look
 * never blocks for long: what hangs (a /proc entry, a socket) is left out and told. One thread.
 */
#pragma once

#include <stdint.h>

#include "analyze/machine.h"
#include "base/attr.h"
#include "base/diag.h"

enum machine_need {
	MACHINE_CPUS = 1,
	MACHINE_TASKS = 2,
	MACHINE_LATENCY = 4, /* of tasks and CPUs: BPF */
	MACHINE_DSQS = 8,
	MACHINE_MEMORY = 16,
	MACHINE_NET = 32,
	MACHINE_BPF = 64,
	MACHINE_HEAT = 128,
};

struct machine_source;

struct machine_source_cfg {
	bool is_proc_only;
	uint32_t tgid; /* only this process; 0 = all */
};

MUST_USE int machine_source_open(const struct machine_source_cfg *cfg, struct diag *d,
                                 struct machine_source **out);
void machine_source_close(struct machine_source *s); /* NULL is fine */
/* The interval since the last look; lent until the next. */
MUST_USE int machine_source_look(struct machine_source *s, uint32_t needs, struct diag *d,
                                 const struct machine **out);
