/*
 * collect/events — the event stream out of the kernel, in time order, into a sink.
 *
 * Use: open, attach, then poll repeatedly; detach, and poll a last time. Only the requested kinds are
 * loaded; kinds that this kernel has no tracepoint for are left out and named by events_missing(). Losses
 * are counted by the kernel side per kind and CPU, and come as EV_LOST records at the place in the stream
 * where they happened. One thread; only events_poll() blocks. Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/event_cfg.h"
#include "abi/sink.h"
#include "base/attr.h"
#include "base/diag.h"
#include "collect/order.h"
#include "collect/probes.h"
#include "collect/stack_part.h"

struct cpulist;
struct events;

struct events_cfg {
	uint64_t kinds; /* EV_BIT() of each */
	enum abi_switch_args switch_args;
	uint8_t measures;         /* EV_MEASURES_*: quotas and steal, with switches */
	uint32_t tgid;            /* 0 = all */
	bool is_cgroup_only;      /* only tasks in the cgroups of events_add_cgroup() */
	bool is_cgroup_v1;        /* these are of v1's hierarchy of the controller cpu */
	bool is_scx_by_kprobe;    /* for tests: collect/scx_part */
	bool is_context_counted;  /* for tests: collect/context */
	bool is_quota_by_cpu;     /* for tests: as before Linux 6.18 */
	uint32_t nr_cpus;         /* highest possible one + 1 */
	const uint32_t *possible; /* those that the kernel may have, ascending */
	uint32_t nr_possible;
	const uint32_t *ring_of_cpu; /* nr_cpus numbers below nr_rings */
	uint32_t nr_rings;
	uint32_t ring_bytes; /* each; a power of two and a multiple of the page size */
	const struct events_probe *probes; /* of the user's choice; not kept */
	size_t nr_probes;
	/*
	 * Above 1: only so many wakeups are recorded, chosen by chance, each with what follows from it: the
	 * switch to the task and the one that ends that slice. The first record is EV_SAMPLING then.
	 */
	uint32_t one_in;
	/* What each slice counted comes as EV_PMU at its end. Counter i of CPU c is counter_fds[i * nr_cpus + c]. */
	uint32_t nr_counters; /* at most EV_PMU_MAX; needs EV_SWITCH */
	const int *counter_fds;
	/* Stacks come as EV_SAMPLE: collect/stack_part. Not with one_in, but for those of EV_SAMPLE_CPU. */
	uint32_t stacks; /* STACK_BIT() of each; 0 = none */
	uint32_t stack_frequency;
	enum stack_unwind stack_unwind;
	const struct cpulist *online; /* CPUs to sample */
};

struct events_totals {
	uint64_t seen[EV_KIND_MAX]; /* fired */
	uint64_t lost[EV_KIND_MAX];
	uint64_t missed; /* runs that the kernel skipped because a program was already running */
	struct order_stats order;
};

MUST_USE int events_open(const struct events_cfg *cfg, struct diag *d, struct events **out);
/* What stacks of EV_SAMPLE_CPU are sampled by; NULL = there are none. */
const char *events_stack_event(const struct events *e);
/* Of its stacks, as in collect/stack_part; NULL without any. */
struct stack_part *events_stacks(const struct events *e);
uint64_t events_missing(const struct events *e); /* kinds asked for that this kernel does not have */
uint8_t events_measures(const struct events *e); /* EV_MEASURES_* of those that were asked for */
/* One more wanted cgroup, alone or with all below it. */
MUST_USE int events_add_cgroup(struct events *e, uint64_t id, bool is_exact, struct diag *d);
/* From the return of this call on, events are recorded; our own attaching is not part of the record. */
MUST_USE int events_attach(struct events *e, struct diag *d);
uint64_t events_start_ns(const struct events *e); /* when that was: no record is older */

/*
 * CPUs have gone online or offline: stacks are sampled there, and counters read, as in events_cfg.
 * 0, or the first -errno of a CPU that stays without.
 */
MUST_USE int events_follow(struct events *e, const struct cpulist *online, const int *counter_fds);

/* Waits at most timeout_ms, less if a ring fills up, then hands on what is complete. */
MUST_USE int events_poll(struct events *e, int timeout_ms, const struct ev_sink *sink,
                         struct diag *d);
/* Stops the stream and delivers the remaining records. */
MUST_USE int events_finish(struct events *e, const struct ev_sink *sink, struct diag *d);
int events_watch_fd(const struct events *e); /* readable when a ring fills up, until the next poll */
void events_totals(const struct events *e, struct events_totals *out);
void events_close(struct events *e); /* NULL is fine */
