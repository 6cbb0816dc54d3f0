/*
 * collect/cgroup_part — in which cgroup every task is when the event stream begins, and the paths of cgroups.
 *
 * In the hierarchy that has the controller "cpu" (sys/cgroup_mount). What changes later comes from the programs of
 * bpf/events_cgroup.bpf.h. A kernel without cgroups, or one that does not say, has nothing to report: no failure. Reading
 * takes one run of a BPF iterator and one walk over the directories. One thread. Never prints.
 */
#pragma once

#include <stdint.h>

#include "abi/event_cfg.h"
#include "abi/sink.h"
#include "base/attr.h"

struct bpf_program;
struct cgroup_part;
struct loaded;

/* Before loading: finds the hierarchy, and configures the programs for it. *out is NULL if there is none. */
MUST_USE int cgroup_part_open(struct ev_cfg *cfg, struct cgroup_part **out);
void cgroup_part_close(struct cgroup_part *p); /* NULL is fine, here and below */
/* When the programs are attached, so that no change is missed; with the rights that loading takes. */
MUST_USE int cgroup_part_read(struct cgroup_part *p, const struct loaded *events,
                              const struct bpf_program *lister);
/* Hands on what was read, as of ts_ns, and forgets it. */
MUST_USE int cgroup_part_emit(struct cgroup_part *p, uint64_t ts_ns, const struct ev_sink *sink);
