#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/cpulist.h"
#include "sys/topology.h"

#define FILE_CAP          (512UL << 10) /* a list of 65536 single CPUs still fits */
#define MAX_CACHE_INDEXES 16

/* -1 for a file that is missing, holds no number, or holds the kernel's own -1. */
static int32_t read_number(int dir_fd, const char *path)
{
	SCOPED(scoped_free) char *text = NULL;
	uint64_t value;

	if (text_read_file_at(dir_fd, path, FILE_CAP, &text))
		return -1;
	text_chomp(text);
	return text_to_u64(text, &value) && value <= INT32_MAX ? (int32_t)value : -1;
}

static int read_list(int dir_fd, const char *path, struct cpulist *out)
{
	SCOPED(scoped_free) char *text = NULL;
	int err = text_read_file_at(dir_fd, path, FILE_CAP, &text);

	return err ? err : cpulist_parse(text, out);
}

/*
 * CPUs that share something all name the same list, so its lowest member names the group; -1 where the
 * list is missing or does not hold the CPU itself. *out_place is the CPU's place in the list.
 */
static int32_t read_group(int dir_fd, const char *path, uint32_t cpu, int32_t *out_place)
{
	SCOPED(cpulist_done) struct cpulist l = { 0 };
	int32_t place = 0;

	if (read_list(dir_fd, path, &l) || !cpulist_has(&l, cpu))
		return -1;
	for (int i = cpulist_next(&l, 0); out_place && i < (int)cpu; place++)
		i = cpulist_next(&l, (uint32_t)i + 1);
	if (out_place)
		*out_place = place;
	return cpulist_next(&l, 0);
}

/* The highest level counts; where only its list is missing, a lower cache is not used. */
static int32_t read_llc(int dir_fd, uint32_t cpu)
{
	int32_t best_level = 0, llc = -1;

	for (int i = 0; i < MAX_CACHE_INDEXES; i++) {
		SCOPED(scoped_free) char *type = NULL;
		char path[64];
		int32_t level;

		snprintf(path, sizeof(path), "cache/index%d/level", i);
		level = read_number(dir_fd, path);
		if (level <= best_level)
			continue;
		snprintf(path, sizeof(path), "cache/index%d/type", i);
		if (text_read_file_at(dir_fd, path, FILE_CAP, &type) == 0 &&
		    !strncmp(type, "Instruction", strlen("Instruction")))
			continue;
		snprintf(path, sizeof(path), "cache/index%d/shared_cpu_list", i);
		llc = read_group(dir_fd, path, cpu, NULL);
		best_level = level;
	}
	return llc;
}

static void read_cpu(int cpus_fd, uint32_t nr, struct topology_cpu *cpu)
{
	SCOPED(scoped_close) int fd = -1;
	char name[32];

	snprintf(name, sizeof(name), "cpu%u", nr);
	fd = openat(cpus_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	cpu->package = read_group(fd, "topology/package_cpus_list", nr, NULL);
	cpu->die = read_group(fd, "topology/die_cpus_list", nr, NULL);
	cpu->core = read_group(fd, "topology/core_cpus_list", nr, &cpu->thread);
	cpu->llc = read_llc(fd, nr);
	cpu->core_id = read_number(fd, "topology/core_id");
	cpu->package_id = read_number(fd, "topology/physical_package_id");
	cpu->capacity = read_number(fd, "cpu_capacity");
}

struct topology_reader {
	struct topology_cpu *cpus;
	uint32_t nr_cpus;
	struct cpulist nodes;
	int32_t *distances;
};

static void scoped_reader(struct topology_reader *r)
{
	free(r->cpus);
	free(r->distances);
	cpulist_done(&r->nodes);
}

/* Containers show some of the three lists only; what is online is also present, and so on. */
static int read_masks(int cpus_fd, struct topology_reader *r)
{
	SCOPED(cpulist_done) struct cpulist possible = { 0 };
	SCOPED(cpulist_done) struct cpulist present = { 0 };
	SCOPED(cpulist_done) struct cpulist online = { 0 };
	SCOPED(cpulist_done) struct cpulist isolated = { 0 };
	bool has_possible = read_list(cpus_fd, "possible", &possible) == 0;
	bool has_present = read_list(cpus_fd, "present", &present) == 0;
	bool has_online = read_list(cpus_fd, "online", &online) == 0;
	int last = cpulist_last(&possible);

	if (!has_possible && !has_present && !has_online)
		return -ENOENT;
	if (cpulist_last(&present) > last)
		last = cpulist_last(&present);
	if (cpulist_last(&online) > last)
		last = cpulist_last(&online);
	if (read_list(cpus_fd, "isolated", &isolated) == -ENOMEM)
		return -ENOMEM;
	r->nr_cpus = (uint32_t)(last + 1);
	r->cpus = calloc(r->nr_cpus + 1, sizeof(*r->cpus));
	if (!r->cpus)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->nr_cpus; i++) {
		struct topology_cpu *cpu = &r->cpus[i];

		*cpu = topology_cpu_unknown;
		cpu->is_online = cpulist_has(has_online    ? &online
		                             : has_present ? &present
		                                           : &possible,
		                             i);
		cpu->is_present = cpu->is_online ||
		                  cpulist_has(has_present ? &present : &possible, i);
		cpu->is_possible = cpu->is_present || cpulist_has(&possible, i);
		cpu->is_isolated = cpulist_has(&isolated, i);
	}
	return 0;
}

static void read_distances(int nodes_fd, int node, int32_t *row, uint32_t nr)
{
	SCOPED(scoped_free) char *text = NULL;
	char path[48];
	char *word, *rest;
	uint64_t value;

	snprintf(path, sizeof(path), "node%d/distance", node);
	if (text_read_file_at(nodes_fd, path, FILE_CAP, &text))
		return;
	word = strtok_r(text, " \n", &rest);
	for (uint32_t i = 0; i < nr && word; i++, word = strtok_r(NULL, " \n", &rest))
		if (text_to_u64(word, &value) && value <= INT32_MAX)
			row[i] = (int32_t)value;
}

/* Kernels without NUMA have no such directory: the nodes stay unknown. */
static int read_nodes(const char *sys_root, struct topology_reader *r)
{
	SCOPED(scoped_close) int fd = -1;
	char path[PATH_MAX];
	uint32_t idx = 0;

	snprintf(path, sizeof(path), "%s/devices/system/node", sys_root);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || read_list(fd, "online", &r->nodes) || !r->nodes.nr)
		return 0;
	if (r->nodes.nr > TOPOLOGY_MAX_NODES)
		return -E2BIG;
	r->distances = malloc((size_t)r->nodes.nr * r->nodes.nr * sizeof(*r->distances));
	if (!r->distances)
		return -ENOMEM;
	memset(r->distances, -1, (size_t)r->nodes.nr * r->nodes.nr * sizeof(*r->distances));
	cpulist_for_each(node, &r->nodes)
	{
		SCOPED(cpulist_done) struct cpulist cpus = { 0 };

		read_distances(fd, node, r->distances + (size_t)idx++ * r->nodes.nr, r->nodes.nr);
		snprintf(path, sizeof(path), "node%d/cpulist", node);
		if (read_list(fd, path, &cpus))
			continue;
		for (uint32_t i = 0; i < r->nr_cpus; i++)
			if (cpulist_has(&cpus, i))
				r->cpus[i].node = node;
	}
	return 0;
}

/* Intel's hybrid machines have a PMU per kind of core. */
static bool read_hybrid_types(const char *sys_root, struct topology_reader *r)
{
	static const struct {
		const char *pmu;
		enum topology_core_type type;
	} kinds[] = {
		{ "cpu_core", TOPOLOGY_CORE_PERFORMANCE },
		{ "cpu_atom", TOPOLOGY_CORE_EFFICIENCY },
		{ "cpu_lowpower", TOPOLOGY_CORE_LOW_POWER },
	};
	bool is_found = false;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		SCOPED(cpulist_done) struct cpulist cpus = { 0 };
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/devices/%s/cpus", sys_root, kinds[k].pmu);
		if (read_list(AT_FDCWD, path, &cpus))
			continue;
		is_found = true;
		for (uint32_t i = 0; i < r->nr_cpus; i++)
			if (cpulist_has(&cpus, i))
				r->cpus[i].core_type = kinds[k].type;
	}
	return is_found;
}

static void types_from_capacity(struct topology_reader *r)
{
	int32_t min = INT32_MAX, max = -1;

	for (uint32_t i = 0; i < r->nr_cpus; i++) {
		int32_t capacity = r->cpus[i].capacity;

		if (!r->cpus[i].is_online || capacity < 0)
			continue;
		min = capacity < min ? capacity : min;
		max = capacity > max ? capacity : max;
	}
	for (uint32_t i = 0; i < r->nr_cpus && min < max; i++) {
		struct topology_cpu *cpu = &r->cpus[i];

		if (!cpu->is_online || cpu->capacity < 0)
			continue;
		if (cpu->capacity == max)
			cpu->core_type = TOPOLOGY_CORE_PERFORMANCE;
		else if (cpu->capacity == min)
			cpu->core_type = TOPOLOGY_CORE_EFFICIENCY;
		else
			cpu->core_type = TOPOLOGY_CORE_MIDDLE;
	}
}

/* Substitutes are used only where they cover every online CPU: a mix would compare unlike numbers. */
static enum topology_llc_source choose_llc(struct topology_reader *r)
{
	bool has_llc = false, has_die = true, has_package = true;

	for (uint32_t i = 0; i < r->nr_cpus; i++) {
		const struct topology_cpu *cpu = &r->cpus[i];

		if (!cpu->is_online)
			continue;
		has_llc |= cpu->llc >= 0;
		has_die &= cpu->die >= 0;
		has_package &= cpu->package >= 0;
	}
	if (has_llc)
		return TOPOLOGY_LLC_CACHE;
	if (!has_die && !has_package)
		return TOPOLOGY_LLC_UNKNOWN;
	for (uint32_t i = 0; i < r->nr_cpus; i++)
		r->cpus[i].llc = has_die ? r->cpus[i].die : r->cpus[i].package;
	return has_die ? TOPOLOGY_LLC_DIE : TOPOLOGY_LLC_PACKAGE;
}

int topology_read(const char *sys_root, struct diag *d, struct topology **out)
{
	SCOPED(scoped_reader) struct topology_reader r = { 0 };
	SCOPED(scoped_close) int fd = -1;
	struct topology_table table;
	char path[PATH_MAX];
	int err;

	snprintf(path, sizeof(path), "%s/devices/system/cpu", sys_root);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return diag_set(d, -errno, "is sysfs mounted?", "cannot open '%s'", path);
	err = read_masks(fd, &r);
	if (err)
		return diag_set(d, err, "is sysfs mounted?", "cannot read the CPUs in '%s'", path);
	for (uint32_t i = 0; i < r.nr_cpus; i++)
		if (r.cpus[i].is_online)
			read_cpu(fd, i, &r.cpus[i]);
	err = read_nodes(sys_root, &r);
	if (err)
		return diag_set(d, err, NULL, "cannot read the NUMA nodes of '%s'", sys_root);
	if (!read_hybrid_types(sys_root, &r))
		types_from_capacity(&r);
	table = (struct topology_table){ r.cpus, r.nr_cpus, r.nodes.nr ? &r.nodes : NULL,
		                         r.distances, choose_llc(&r) };
	return topology_new(&table, d, out);
}
