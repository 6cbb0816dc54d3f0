#include "sys/topology.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "sys/cpulist.h"

struct topology {
	struct topology_counts counts;
	struct topology_cpu *cpus;
	struct topology_node *nodes; /* ascending by id */
	int32_t *distances;          /* nr_nodes x nr_nodes, or NULL */
	enum topology_llc_source llc_source;
};

const struct topology_cpu topology_cpu_unknown = {
	.package = -1,
	.die = -1,
	.core = -1,
	.llc = -1,
	.node = -1,
	.thread = -1,
	.core_id = -1,
	.package_id = -1,
	.capacity = -1,
};

void topology_free(struct topology *t)
{
	if (!t)
		return;
	free(t->cpus);
	free(t->nodes);
	free(t->distances);
	free(t);
}

/*
 * Numbers the groups of one field from 0 in the order of their lowest CPU. What a CPU that is not online
 * says about its group is dropped: the kernel forgets it too. indexes has room for CPULIST_MAX.
 */
static uint32_t renumber(struct topology *t, size_t field_offset, int32_t *indexes)
{
	uint32_t nr = 0;

	memset(indexes, -1, CPULIST_MAX * sizeof(*indexes));
	for (uint32_t i = 0; i < t->counts.nr_cpu_ids; i++) {
		int32_t *group = (int32_t *)((char *)&t->cpus[i] + field_offset);

		if (*group < 0 || *group >= CPULIST_MAX || !t->cpus[i].is_online) {
			*group = -1;
			continue;
		}
		if (indexes[*group] < 0)
			indexes[*group] = (int32_t)nr++;
		*group = indexes[*group];
	}
	return nr;
}

static void count_cpus(struct topology *t, int32_t *scratch)
{
	struct topology_counts *c = &t->counts;

	for (uint32_t i = 0; i < c->nr_cpu_ids; i++) {
		c->nr_possible += t->cpus[i].is_possible;
		c->nr_online += t->cpus[i].is_online;
	}
	c->nr_packages = renumber(t, offsetof(struct topology_cpu, package), scratch);
	c->nr_dies = renumber(t, offsetof(struct topology_cpu, die), scratch);
	c->nr_cores = renumber(t, offsetof(struct topology_cpu, core), scratch);
	c->nr_llcs = renumber(t, offsetof(struct topology_cpu, llc), scratch);
}

static int node_index(const struct topology *t, int32_t id)
{
	uint32_t lo = 0, hi = t->counts.nr_nodes;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->nodes[mid].id == id)
			return (int)mid;
		if (t->nodes[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return -1;
}

static int collect_node_ids(const struct topology_table *table, struct cpulist *out)
{
	if (table->nodes) {
		cpulist_for_each(id, table->nodes)
		{
			int err = cpulist_add(out, (uint32_t)id);

			if (err)
				return err;
		}
		return 0;
	}
	for (uint32_t i = 0; i < table->nr_cpus; i++) {
		int32_t node = table->cpus[i].node;
		int err = node < 0 ? 0 : cpulist_add(out, (uint32_t)node);

		if (err)
			return err;
	}
	return 0;
}

static int add_nodes(struct topology *t, const struct topology_table *table)
{
	SCOPED(cpulist_done) struct cpulist ids = { 0 };
	size_t nr_pairs;
	int err = collect_node_ids(table, &ids);

	if (err || !ids.nr)
		return err;
	if (ids.nr > TOPOLOGY_MAX_NODES)
		return -E2BIG;
	t->nodes = calloc(ids.nr, sizeof(*t->nodes));
	if (!t->nodes)
		return -ENOMEM;
	cpulist_for_each(id, &ids) t->nodes[t->counts.nr_nodes++].id = id;
	for (uint32_t i = 0; i < t->counts.nr_cpu_ids; i++) {
		struct topology_cpu *cpu = &t->cpus[i];
		int idx = cpu->is_online ? node_index(t, cpu->node) : -1;

		if (idx < 0)
			cpu->node = -1;
		else
			t->nodes[idx].nr_cpus++;
	}
	if (!table->nodes || !table->distances)
		return 0;
	nr_pairs = (size_t)ids.nr * ids.nr;
	t->distances = malloc(nr_pairs * sizeof(*t->distances));
	if (!t->distances)
		return -ENOMEM;
	memcpy(t->distances, table->distances, nr_pairs * sizeof(*t->distances));
	return 0;
}

int topology_new(const struct topology_table *table, struct diag *d, struct topology **out)
{
	SCOPED(scoped_topology) struct topology *t = calloc(1, sizeof(*t));
	SCOPED(scoped_free) int32_t *scratch = malloc(CPULIST_MAX * sizeof(*scratch));
	uint32_t nr = table->nr_cpus;
	int err;

	if (nr > CPULIST_MAX)
		return diag_set(d, -E2BIG, NULL, "more than %d CPUs", CPULIST_MAX);
	if (!nr)
		return diag_set(d, -EINVAL, NULL, "the topology names no CPU");
	if (t)
		t->cpus = calloc(nr, sizeof(*t->cpus));
	if (!t || !scratch || !t->cpus)
		return diag_set(d, -ENOMEM, NULL, "cannot hold the CPU topology");
	memcpy(t->cpus, table->cpus, nr * sizeof(*t->cpus));
	t->counts.nr_cpu_ids = nr;
	t->llc_source = table->llc_source;
	count_cpus(t, scratch);
	err = add_nodes(t, table);
	if (err)
		return diag_set(d, err, NULL, "cannot hold the NUMA nodes");
	*out = TAKE_PTR(t);
	return 0;
}

const struct topology_counts *topology_counts(const struct topology *t)
{
	return &t->counts;
}

uint32_t topology_possible(const struct topology *t, uint32_t *out)
{
	uint32_t nr = 0;

	for (uint32_t cpu = 0; cpu < t->counts.nr_cpu_ids; cpu++)
		if (t->cpus[cpu].is_possible)
			out[nr++] = cpu;
	return nr;
}

int topology_online(const struct topology *t, struct cpulist *out)
{
	int err = 0;

	for (uint32_t cpu = 0; !err && cpu < t->counts.nr_cpu_ids; cpu++)
		if (t->cpus[cpu].is_online)
			err = cpulist_add(out, cpu);
	return err;
}

const struct topology_cpu *topology_cpu(const struct topology *t, uint32_t cpu)
{
	if (cpu >= t->counts.nr_cpu_ids || !t->cpus[cpu].is_possible)
		return NULL;
	return &t->cpus[cpu];
}

const struct topology_node *topology_node(const struct topology *t, uint32_t idx)
{
	return idx < t->counts.nr_nodes ? &t->nodes[idx] : NULL;
}

int topology_distance(const struct topology *t, int32_t from_id, int32_t to_id)
{
	int from = node_index(t, from_id);
	int to = node_index(t, to_id);

	if (!t->distances || from < 0 || to < 0)
		return -1;
	return t->distances[(size_t)from * t->counts.nr_nodes + (size_t)to];
}

enum topology_llc_source topology_llc_source(const struct topology *t)
{
	return t->llc_source;
}

const char *topology_llc_note(const struct topology *t)
{
	switch (t->llc_source) {
	case TOPOLOGY_LLC_DIE:
		return "caches are unknown here, so dies stand for last-level caches";
	case TOPOLOGY_LLC_PACKAGE:
		return "caches and dies are unknown here, so packages stand for last-level caches";
	case TOPOLOGY_LLC_UNKNOWN:
		return "caches, dies and packages are unknown here, so last-level caches are too";
	case TOPOLOGY_LLC_CACHE:
	case TOPOLOGY_LLC_FILE:
		break;
	}
	return NULL;
}
