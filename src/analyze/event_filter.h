/*
 * analyze/event_filter — which events a client wants: by type, CPU, task, name and latency, and one in how many.
 *
 * An empty list is no restriction; all that is given must hold. An event's pid is "pid", else "next_pid", else
 * "prev_pid"; its tgid "tgid", else "next_tgid"; its name "comm", else "next_comm", else "prev_comm"; its
 * latency "next_dsq_lat_us", else "latency_us". An event without a filtered field does not pass. Sampling is
 * by the event's number, so that the same events pass each time. The expression is compiled once. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

struct diag;
struct event_filter;
struct report_node;

struct event_filter_cfg {
	const char *const *event_types;
	uint32_t nr_event_types;
	const uint32_t *cpus;
	uint32_t nr_cpus;
	const uint32_t *pids;
	uint32_t nr_pids;
	const uint32_t *tgids;
	uint32_t nr_tgids;
	const char *comm_regex; /* NULL = none */
	bool has_min_latency;
	double min_latency_us;
	double sample_rate; /* 0 to 1; 1 = all */
};

/* Lists are copied. -EINVAL with a diag for an expression or a rate that is none, or -ENOMEM. */
MUST_USE int event_filter_new(const struct event_filter_cfg *cfg, struct diag *d,
                              struct event_filter **out);
void event_filter_free(struct event_filter *f); /* NULL is fine */
bool event_filter_passes(const struct event_filter *f, const struct report_node *event,
                         uint64_t number);
/* Searches for the name that were given up at a limit: those events did not pass, and might have. NULL is fine. */
uint64_t event_filter_nr_aborted(const struct event_filter *f);
