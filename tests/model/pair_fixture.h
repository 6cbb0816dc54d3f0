/* tests/model/pair_fixture — builds records one call each, pushes them, and keeps the rows that come out. */
#pragma once

#include "../unit.h"

#include <stdbool.h>

#include "model/pair.h"

#define MAX_ROWS 256

struct fixture {
	struct tasks *tasks;
	struct pair *pair;
	struct ev_sink sink;
	struct ev_sink also;       /* gets each record after the state machine, if set */
	struct pair_breaks breaks; /* after done() */
	uint32_t nr_switches, nr_slices, nr_waits, nr_sleeps, nr_wakeups, nr_migrations;
	uint32_t nr_spans, nr_counters, nr_marks, nr_idles, nr_gaps, nr_begun, nr_ended;
	uint32_t nr_dsqs, nr_runs, nr_pmus, nr_throttles, nr_steals;
	struct pair_switch switches[MAX_ROWS];
	struct pair_slice slices[MAX_ROWS];
	struct pair_wait waits[MAX_ROWS];
	struct pair_sleep sleeps[MAX_ROWS];
	struct pair_wakeup wakeups[MAX_ROWS];
	struct pair_migration migrations[MAX_ROWS];
	struct pair_span spans[MAX_ROWS];
	struct pair_counter counters[MAX_ROWS];
	struct pair_mark marks[MAX_ROWS];
	struct pair_idle idles[MAX_ROWS];
	struct pair_gap gaps[MAX_ROWS];
	struct pair_dsq dsqs[MAX_ROWS];
	struct pair_run runs[MAX_ROWS];
	struct pair_pmu pmus[MAX_ROWS];
	struct pair_throttle throttles[MAX_ROWS];
	struct pair_steal steals[MAX_ROWS];
};

/* A cmocka setup and teardown: *state is a struct fixture with nr_cpus unset (CPUs show up by themselves). */
int fixture_setup(void **state);
int fixture_teardown(void **state);

uint32_t task_of(const struct fixture *f, uint32_t tid);
void push(struct fixture *f, const void *rec);
void sw(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t prev, uint32_t next, uint32_t state);
void waking(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint32_t waker);
void wakeup(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint32_t target);
void wakeup_new(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint32_t waker);
void migrate(struct fixture *f, uint64_t ts, uint32_t tid, uint32_t from, uint32_t to);
void forked(struct fixture *f, uint64_t ts, uint32_t parent, uint32_t tid, const char *comm);
void exec(struct fixture *f, uint64_t ts, uint32_t tid, uint32_t old_tid, const char *comm);
void exiting(struct fixture *f, uint64_t ts, uint32_t tid);
void freed(struct fixture *f, uint64_t ts, uint32_t tid);
void lost(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t kind, uint64_t count);
void softirq(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t vector, bool is_exit);
/* The same in the time of a task. */
void softirq_in(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint32_t vector,
                bool is_exit);
void irq(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t nr, bool is_exit);
/* The quota of that cgroup, 20 ms in 100, takes a task off its CPU, just after its switch. */
void throttle(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint64_t cgroup);
/* Refills all CPUs but one, or all for EVERY_CPU. */
#define EVERY_CPU UINT32_MAX
void refill(struct fixture *f, uint64_t ts, uint64_t cgroup, uint32_t but_cpu);
/* A thread of the process 100, started at ts. */
void thread_of(struct fixture *f, uint64_t ts, uint32_t tid, const char *comm);
/* It is about to sleep in a call: the record before its switch. */
void push_sleep(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint16_t call,
                uint64_t arg, uint64_t second);
void steal(struct fixture *f, uint64_t ts, uint32_t cpu, uint64_t ns);
void measures(struct fixture *f, uint32_t flags);
void done(struct fixture *f, uint64_t ts);
