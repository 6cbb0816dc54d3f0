/*
 * session/left_state — what still holds of records that are no longer there.
 *
 * A ring of records explains itself only together with what came before: who the tasks are and what they are
 * called, where they may run, what runs on each CPU, what probes mean, which sched_ext scheduler is on. Each
 * record that leaves the ring is given to this module; what it then tells is the state just before the oldest
 * record that is left. Bounded: tasks as model/tasks, with one set of CPUs each, one switch and one frequency
 * per CPU, LEFT_PROBES names of probes. One thread. Pure.
 */
#pragma once

#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"

#define LEFT_PROBES 256U

struct left_state;

/* -ENOMEM */
MUST_USE int left_state_new(uint32_t nr_cpus, struct left_state **out);
void left_state_free(struct left_state *s); /* NULL is fine */
void left_state_take(struct left_state *s, const struct ev_hdr *rec);

/*
 * As records of before ts_ns. A CPU's last switch comes with its own time, unless it was before since_ns:
 * a task that has had its CPU for days must not make a trace of days.
 */
MUST_USE int left_state_tell(const struct left_state *s, const struct ev_sink *sink, uint64_t ts_ns,
                             uint64_t since_ns);
