/*
 * record/record_facts — what a recording says about the machine and about what was asked for.
 *
 * Attributes: `topology` (the JSON of sys/topology_json), `filter` (which tasks were asked for; absent = all) and `boot_id`
 * (which run of which machine: the kernel makes a new one at each start).
 * CPUs with their capacities, where these differ. One thread; blocks on /proc only.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "trace/facts.h"

struct topology;

#define RECORD_FACTS_ATTRS 3U

struct record_facts {
	char *topology; /* JSON; NULL = unknown */
	char filter[256];
	char boot_id[40]; /* "" = unknown */
	struct trace_attr attrs[RECORD_FACTS_ATTRS];
	size_t nr_attrs;
	struct trace_cpu *cpus;
	size_t nr_cpus;
};

struct record_filter {
	uint32_t tgid;   /* 0 = any */
	uint32_t one_in; /* 0 and 1 = every wakeup */
	const char *const *cgroup;
	size_t nr_cgroup;
};

/* 0 or -ENOMEM; record_facts_done() in both cases. */
MUST_USE int record_facts_init(struct record_facts *f, const struct topology *topology,
                               const struct record_filter *filter);
void record_facts_done(struct record_facts *f);

/* Arguments of a process, as struct trace_callbacks wants them; ctx is unused. */
size_t record_cmdline(void *ctx, uint32_t tgid, char *buf, size_t size);
