/*
 * session/machine_part — a part of the machine that is measured only while someone looks at it: power, events, ...
 *
 * A part is a table entry of machine_parts.c. It is opened when one of its needs is first wished; look() then comes with
 * every look at the machine that wishes it, after CPUs and tasks are known, and puts its results into the machine: a
 * pointer of its own, members of the CPUs. When nobody wishes it any more, rest() comes once: it lets go of whatever
 * costs (counters, samples, programs). Nothing here fails the look: what cannot be had is a reason in the part's own
 * data, or a line in the log. No part blocks: what may hang is asked by a thread of the part's own. One thread.
 */
#pragma once

#include <stdint.h>

#include "analyze/machine.h"
#include "base/attr.h"
#include "base/diag.h"
#include "session/machine_log.h"
#include "session/machine_source.h"

struct machine_cpu;
struct machine_tasks;

struct machine_part_look {
	const struct machine_wish *wish;
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
	void (*look)(void *part, const struct machine_part_look *l);
	void (*rest)(void *part); /* NULL = it costs nothing */
	void (*close)(void *part);
};

struct machine_parts;

MUST_USE int machine_parts_new(const struct machine_source_cfg *cfg, struct machine_parts **out);
void machine_parts_free(struct machine_parts *p); /* NULL is fine */
void machine_parts_look(struct machine_parts *p, const struct machine_part_look *l);
