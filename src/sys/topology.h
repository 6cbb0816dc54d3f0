/*
 * sys/topology — which CPUs share a core, a die, a last-level cache (LLC), a package, a node.
 *
 * Read once from sysfs, or built from a table; never changes afterwards, so any thread may read it.
 * Reading blocks on sysfs only. CPU numbers may have gaps, CPUs may be offline, and any part may be
 * missing: what is not known is -1. Packages, dies, cores and LLCs are numbered from 0 over the whole
 * machine in the order of their lowest CPU; nodes keep the kernel's numbers. Only online CPUs count.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "base/diag.h"

#define TOPOLOGY_MAX_NODES 1024 /* the kernel's own limit */

struct cpulist;
struct topology;

enum topology_core_type {
	TOPOLOGY_CORE_UNKNOWN, /* or all cores alike */
	TOPOLOGY_CORE_PERFORMANCE,
	TOPOLOGY_CORE_MIDDLE,
	TOPOLOGY_CORE_EFFICIENCY,
	TOPOLOGY_CORE_LOW_POWER,
};

/* What the LLC numbers were made from. */
enum topology_llc_source {
	TOPOLOGY_LLC_UNKNOWN,
	TOPOLOGY_LLC_CACHE,
	TOPOLOGY_LLC_DIE,     /* no cache information: dies are used instead */
	TOPOLOGY_LLC_PACKAGE, /* neither caches nor dies: packages are used instead */
	TOPOLOGY_LLC_FILE,    /* given by a topology file */
};

struct topology_cpu {
	int32_t package;
	int32_t die;
	int32_t core;
	int32_t llc;
	int32_t node;
	int32_t thread;  /* place among the CPUs of its core, 0 = first */
	int32_t core_id; /* the kernel's numbers, with gaps and repeats */
	int32_t package_id;
	int32_t capacity; /* 1..1024, the fastest core is 1024 */
	enum topology_core_type core_type;
	bool is_possible;
	bool is_present;
	bool is_online;
	bool is_isolated; /* from load balancing */
};

struct topology_node {
	int32_t id;
	uint32_t nr_cpus; /* 0 for a node of memory only */
};

struct topology_counts {
	uint32_t nr_cpu_ids; /* highest possible CPU + 1 */
	uint32_t nr_possible;
	uint32_t nr_online;
	uint32_t nr_packages;
	uint32_t nr_dies;
	uint32_t nr_cores;
	uint32_t nr_llcs;
	uint32_t nr_nodes; /* nodes without CPUs included */
};

/* The start of each entry of a table. */
extern const struct topology_cpu topology_cpu_unknown;

/*
 * An entry's index is its CPU. Groups may carry any numbers below CPULIST_MAX; they are renumbered.
 */
struct topology_table {
	const struct topology_cpu *cpus;
	uint32_t nr_cpus;
	const struct cpulist *nodes; /* NULL: those that the CPUs name */
	const int32_t *distances;    /* nodes x nodes, row by row; NULL: unknown */
	enum topology_llc_source llc_source;
};

/* sys_root is "/sys", or a copy of such a tree. */
MUST_USE int topology_read(const char *sys_root, struct diag *d, struct topology **out);
/* From a table made elsewhere, which is copied. */
MUST_USE int topology_new(const struct topology_table *table, struct diag *d,
                          struct topology **out);
void topology_free(struct topology *t); /* NULL is fine */
DEFINE_SCOPED(topology, topology_free)

const struct topology_counts *topology_counts(const struct topology *t);
/* Numbers of the possible CPUs, ascending; out has room for nr_cpu_ids. How many there are. */
uint32_t topology_possible(const struct topology *t, uint32_t *out);
/* Adds the CPUs that are online to the set. 0 or -ENOMEM. */
MUST_USE int topology_online(const struct topology *t, struct cpulist *out);
/* NULL for a CPU that is not possible. */
const struct topology_cpu *topology_cpu(const struct topology *t, uint32_t cpu);
const struct topology_node *topology_node(const struct topology *t,
                                          uint32_t idx); /* NULL at the end */
/* Between two nodes by their kernel numbers; 10 is local; -1 if unknown. */
int topology_distance(const struct topology *t, int32_t from_id, int32_t to_id);
enum topology_llc_source topology_llc_source(const struct topology *t);
/* A sentence for the user where something replaces caches, or NULL. */
const char *topology_llc_note(const struct topology *t);
