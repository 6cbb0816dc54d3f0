/*
 * machine/parts/part — a part of the machine that is measured only while it is shown: power,
 * events, ...
 *
 * A part is a table entry of machine_parts.c. It is opened when one of its needs is first
 * requested; refresh() is then called with every refresh of the machine that requests it, after CPUs
 * and tasks are known, and puts its results into the machine: its own pointer, members of the CPUs.
 * When it is no longer requested, suspend() is called once: it releases whatever has a cost (counters,
 * samples, programs). Nothing here fails the refresh: what is not available is a reason in the
 * part's own data, or a line in the log. No part blocks: what may hang is done by the part's own
 * thread. One thread.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "machine/machine.h"
#include "machine/machine_log.h"
#include "machine/machine_source.h"

struct machine_cpu;
struct machine_tasks;

struct machine_part_refresh {
	const struct machine_request *request;
	uint64_t now_ns;
	struct machine *machine;
	struct machine_cpu *cpus;    /* of the machine: parts may fill in their members */
	struct machine_tasks *tasks; /* likewise */
	struct machine_log *log;
};

struct machine_part {
	const char *name;
	uint32_t needs; /* any of these wakes it */
	int (*open)(const struct machine_source_cfg *cfg, struct diag *d, void **out);
	void (*refresh)(void *part, const struct machine_part_refresh *l);
	void (*suspend)(void *part); /* NULL = it costs nothing */
	void (*close)(void *part);
};

struct machine_parts;

MUST_USE int machine_parts_new(const struct machine_source_cfg *cfg, struct machine_parts **out);
void machine_parts_free(struct machine_parts *p); /* NULL is fine */
void machine_parts_refresh(struct machine_parts *p, const struct machine_part_refresh *r);
