/*
 * record/evicted_state — the state that evicted records have left.
 *
 * A ring of records is complete only together with the state before it: the tasks and their names,
 * where they may run, what runs on each CPU, what probes mean, which sched_ext scheduler is loaded.
 * Each record evicted from the ring is given to this module, which then has the state just before
 * the oldest remaining record. Bounded: tasks as model/tasks, with one set of CPUs each, one switch
 * and one frequency per CPU, EVICTED_PROBES names of probes. One thread. Pure.
 */
#pragma once

#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"

#define EVICTED_PROBES 256U

struct evicted_state;

/* -ENOMEM */
MUST_USE int evicted_state_new(uint32_t nr_cpus, struct evicted_state **out);
void evicted_state_free(struct evicted_state *s); /* NULL is fine */
void evicted_state_add(struct evicted_state *s, const struct ev_hdr *rec);

/*
 * As records from before ts_ns. A CPU's last switch keeps its own time, unless it was before
 * since_ns: a task that has had its CPU for days must not make a trace of days.
 */
MUST_USE int evicted_state_emit(const struct evicted_state *s, const struct ev_sink *sink,
                                uint64_t ts_ns, uint64_t since_ns);
