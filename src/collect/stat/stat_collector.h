/*
 * collect/stat/stat_collector — loads the aggregating BPF programs, attaches them, drains what they keep.
 *
 * Records (abi/stat.h) reach the callback from inside drain and consume calls. The order of use is open,
 * [set_cgroups], attach, then drain once per interval and consume when the ring's descriptor is readable;
 * detach before the last drain, so that nothing is half counted. All calls come from one thread. Never
 * prints. Nothing stays attached when the process dies: the kernel frees it with the descriptors.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/stat.h"
#include "base/attr.h"
#include "base/diag.h"
#include "collect/stat/stat_plan.h"

struct stat_collector;

/* epoch: the one that has ended, whose peaks no longer change. */
typedef void stat_dsq_fn(void *ctx, const struct stat_dsq_key *key, const struct stat_dsq *dsq,
                         uint32_t epoch);
typedef void stat_record_fn(void *ctx, const struct stat_rec *rec, size_t len);

struct stat_collector_cfg {
	struct stat_plan plan;
	const uint32_t *possible; /* CPUs that the kernel may have, ascending */
	uint32_t nr_possible;
	const struct stat_cpu_place *places; /* one per possible CPU; NULL = unknown */
	const int *counter_fds;              /* nr_counters * nr_cpus; -1 = no counter there */
	uint32_t ring_bytes;                 /* a power of two; 0 picks one */
};

struct stat_drain {
	uint64_t took_ns;  /* all of it */
	uint64_t read_ns;  /* without what the callback did */
	uint64_t nr_tasks; /* that may have changed */
	uint64_t bytes;
};

struct stat_totals {
	uint64_t events[STAT_EVENTS];
	uint64_t lost[STAT_LOST_KINDS];
	uint64_t missed; /* runs that the kernel skipped because a program was already running */
	uint64_t bad_records; /* that did not add up */
	uint64_t multiplexed; /* counter deltas that had to be scaled */
};

MUST_USE int stat_collector_open(const struct stat_collector_cfg *cfg, struct diag *d,
                                 struct stat_collector **out);
MUST_USE int stat_collector_attach(struct stat_collector *c, struct diag *d);

/* Replaces the wanted cgroups; tasks are filtered again if the set has changed. */
struct stat_cgroup {
	uint64_t id;
	bool is_exact; /* without its descendants */
};
MUST_USE int stat_collector_set_cgroups(struct stat_collector *c, const struct stat_cgroup *wanted,
                                        size_t nr, struct diag *d);

/* CPUs have gone online or offline: counters as in the configuration. 0 or -errno. */
MUST_USE int stat_collector_counters(struct stat_collector *c, const int *fds);
int stat_collector_ring_fd(const struct stat_collector *c); /* for epoll: readable = consume soon */
void stat_collector_consume(struct stat_collector *c, stat_record_fn *fn, void *ctx);
/* At at_ns, which is now: what tasks have counted. After consume(), which has those that have exited. */
MUST_USE int stat_collector_drain(struct stat_collector *c, uint64_t at_ns, stat_record_fn *fn,
                                  void *ctx, struct stat_drain *info, struct diag *d);

/*
 * The dispatch queues, after a drain; those of replaced schedulers are delivered for the last time.
 * Calls fn for none without the group dsq.
 */
MUST_USE int stat_collector_dsqs(struct stat_collector *c, stat_dsq_fn *fn, void *ctx,
                                 struct diag *d);

/* As of the last drain; cpu below the number of possible CPUs. */
const struct stat_cpu *stat_collector_cpu(const struct stat_collector *c, uint32_t cpu);
/* Tasks that moved to it so far; false = not counted. */
bool stat_collector_arrivals(const struct stat_collector *c, uint32_t cpu, uint64_t *out);
void stat_collector_totals(const struct stat_collector *c, struct stat_totals *out);

/* Descriptors of the attached programs, for measuring their cost. Returns how many. */
size_t stat_collector_program_fds(const struct stat_collector *c, int *fds, size_t cap);

void stat_collector_detach(struct stat_collector *c);
void stat_collector_close(struct stat_collector *c); /* NULL is fine */
