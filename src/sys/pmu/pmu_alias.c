#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/pmu/pmu_internal.h"

#define HW(n) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##n
#define SW(n) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##n
#define CACHE(c, o, r)                                                         \
	((uint64_t)PERF_COUNT_HW_CACHE_##c | PERF_COUNT_HW_CACHE_OP_##o << 8 | \
	 PERF_COUNT_HW_CACHE_RESULT_##r << 16)
#define HC(c, o, r) PERF_TYPE_HW_CACHE, CACHE(c, o, r)

/* clang-format off */
const struct pmu_generic pmu_generics[] = {
	{ "cycles", "cpu-cycles", "hardware", "CPU cycles, at the current frequency", HW(CPU_CYCLES) },
	{ "instructions", NULL, "hardware", "retired instructions", HW(INSTRUCTIONS) },
	{ "cache-references", NULL, "hardware", "cache accesses, mostly of the last level", HW(CACHE_REFERENCES) },
	{ "cache-misses", NULL, "hardware", "cache misses, mostly of the last level", HW(CACHE_MISSES) },
	{ "branches", "branch-instructions", "hardware", "retired branches", HW(BRANCH_INSTRUCTIONS) },
	{ "branch-misses", NULL, "hardware", "mispredicted branches", HW(BRANCH_MISSES) },
	{ "bus-cycles", NULL, "hardware", "bus cycles", HW(BUS_CYCLES) },
	{ "stalled-cycles-frontend", "idle-cycles-frontend", "hardware", "cycles without instructions to issue", HW(STALLED_CYCLES_FRONTEND) },
	{ "stalled-cycles-backend", "idle-cycles-backend", "hardware", "cycles in which nothing could be issued", HW(STALLED_CYCLES_BACKEND) },
	{ "ref-cycles", NULL, "hardware", "CPU cycles, at a constant frequency", HW(REF_CPU_CYCLES) },

	{ "L1-dcache-loads", NULL, "cache", "level 1 data cache loads", HC(L1D, READ, ACCESS) },
	{ "L1-dcache-load-misses", NULL, "cache", "level 1 data cache load misses", HC(L1D, READ, MISS) },
	{ "L1-dcache-stores", NULL, "cache", "level 1 data cache stores", HC(L1D, WRITE, ACCESS) },
	{ "L1-icache-loads", NULL, "cache", "level 1 instruction cache loads", HC(L1I, READ, ACCESS) },
	{ "L1-icache-load-misses", NULL, "cache", "level 1 instruction cache load misses", HC(L1I, READ, MISS) },
	{ "LLC-loads", NULL, "cache", "last level cache loads", HC(LL, READ, ACCESS) },
	{ "LLC-load-misses", NULL, "cache", "last level cache load misses", HC(LL, READ, MISS) },
	{ "LLC-stores", NULL, "cache", "last level cache stores", HC(LL, WRITE, ACCESS) },
	{ "LLC-store-misses", NULL, "cache", "last level cache store misses", HC(LL, WRITE, MISS) },
	{ "dTLB-loads", NULL, "cache", "data TLB lookups of loads", HC(DTLB, READ, ACCESS) },
	{ "dTLB-load-misses", NULL, "cache", "data TLB misses of loads", HC(DTLB, READ, MISS) },
	{ "dTLB-stores", NULL, "cache", "data TLB lookups of stores", HC(DTLB, WRITE, ACCESS) },
	{ "dTLB-store-misses", NULL, "cache", "data TLB misses of stores", HC(DTLB, WRITE, MISS) },
	{ "iTLB-loads", NULL, "cache", "instruction TLB lookups", HC(ITLB, READ, ACCESS) },
	{ "iTLB-load-misses", NULL, "cache", "instruction TLB misses", HC(ITLB, READ, MISS) },
	{ "branch-loads", NULL, "cache", "branch predictor lookups", HC(BPU, READ, ACCESS) },
	{ "branch-load-misses", NULL, "cache", "branch predictor misses", HC(BPU, READ, MISS) },
	{ "node-loads", NULL, "cache", "loads from the local memory node", HC(NODE, READ, ACCESS) },
	{ "node-load-misses", NULL, "cache", "loads from another memory node", HC(NODE, READ, MISS) },

	{ "cpu-clock", NULL, "software", "time on the CPU's clock, in ns", SW(CPU_CLOCK) },
	{ "task-clock", NULL, "software", "time on the task's clock, in ns", SW(TASK_CLOCK) },
	{ "page-faults", "faults", "software", "page faults", SW(PAGE_FAULTS) },
	{ "context-switches", "cs", "software", "context switches", SW(CONTEXT_SWITCHES) },
	{ "cpu-migrations", "migrations", "software", "moves of a task to another CPU", SW(CPU_MIGRATIONS) },
	{ "minor-faults", NULL, "software", "page faults served from memory", SW(PAGE_FAULTS_MIN) },
	{ "major-faults", NULL, "software", "page faults served from storage", SW(PAGE_FAULTS_MAJ) },
	{ "alignment-faults", NULL, "software", "unaligned accesses fixed by the kernel", SW(ALIGNMENT_FAULTS) },
	{ "emulation-faults", NULL, "software", "instructions emulated by the kernel", SW(EMULATION_FAULTS) },
	{ "cgroup-switches", NULL, "software", "context switches to another cgroup", SW(CGROUP_SWITCHES) },
	{ 0 },
};

/*
 * The AMD codes are those of Zen (family 17h): 0x64 counts requests to the L2, 0x43 the fills of demand
 * loads by their source. 0x18e, the L1I's tag lookups, came with Zen 3 (family 19h).
 */
const struct pmu_alias pmu_aliases[] = {
	{ .name = "l1d-miss", .title = "L1D Read Misses", .description = "level 1 data cache read misses",
	  .cache_config = CACHE(L1D, READ, MISS), .cache_title = "L1D Read Misses" },
	{ .name = "l1i-miss", .title = "L1I Cache Misses", .description = "level 1 instruction cache misses",
	  .amd_config = 0x10000188e, .amd_family = 0x19,
	  .cache_config = CACHE(L1I, READ, MISS), .cache_title = "L1I Cache Misses" },
	{ .name = "l2-miss", .title = "L2 Cache Misses", .description = "level 2 cache misses",
	  .amd_config = 0x964, .amd_family = 0x17, .sysfs = "l2d_cache_refill" },
	{ .name = "l3-miss", .title = "L3 Misses (DRAM Fills)", .description = "last level cache misses",
	  .amd_config = 0xd843, .amd_family = 0x17,
	  .cache_config = CACHE(LL, READ, MISS), .cache_title = "Last Level Cache Read Misses" },
	{ 0 },
};
/* clang-format on */

const struct pmu_generic *pmu_generic_find(const char *name)
{
	for (const struct pmu_generic *g = pmu_generics; g->name; g++)
		if (strcasecmp(name, g->name) == 0 || (g->other && strcasecmp(name, g->other) == 0))
			return g;
	return NULL;
}

const struct pmu_alias *pmu_alias_find(const char *name)
{
	for (const struct pmu_alias *a = pmu_aliases; a->name; a++)
		if (strcmp(name, a->name) == 0)
			return a;
	return NULL;
}

/* "vendor_id" of x86 and s390, "CPU implementer" of arm64. */
static const struct {
	const char *id;
	const char *name;
} vendors[] = {
	{ "AuthenticAMD", "AMD" },
	{ "GenuineIntel", "Intel" },
	{ "HygonGenuine", "Hygon" },
	{ "CentaurHauls", "Centaur" },
	{ "  Shanghai  ", "Zhaoxin" },
	{ "IBM/S390", "IBM" },
	{ "0x41", "Arm" },
	{ "0x42", "Broadcom" },
	{ "0x43", "Cavium" },
	{ "0x46", "Fujitsu" },
	{ "0x48", "HiSilicon" },
	{ "0x4e", "NVIDIA" },
	{ "0x50", "Applied Micro" },
	{ "0x51", "Qualcomm" },
	{ "0x61", "Apple" },
	{ "0xc0", "Ampere" },
};

static void vendor_set(struct pmu_vendor *v, const char *id)
{
	v->is_amd = strcmp(id, "AuthenticAMD") == 0;
	for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++)
		if (strcmp(id, vendors[i].id) == 0) {
			snprintf(v->name, sizeof(v->name), "%s", vendors[i].name);
			return;
		}
	text_printable(v->name, sizeof(v->name), id, strlen(id));
}

/* The value of "key<spaces>: value", or NULL when the line has another key. */
static const char *value_of(const char *line, const char *key)
{
	size_t len = strlen(key);

	if (strncmp(line, key, len) != 0)
		return NULL;
	line += len;
	line += strspn(line, " \t");
	if (*line != ':')
		return NULL;
	line++;
	return *line == ' ' ? line + 1 : line;
}

void pmu_vendor_read(const char *cpuinfo, struct pmu_vendor *out)
{
	SCOPED(scoped_fclose) FILE *f = fopen(cpuinfo, "re");
	struct pmu_vendor v = { .name = "unknown" };
	char line[4096];

	/* The first CPU represents all: no machine mixes vendors. */
	while (f && fgets(line, sizeof(line), f) && line[0] != '\n') {
		const char *value;

		line[strcspn(line, "\n")] = '\0';
		value = value_of(line, "vendor_id");
		if (!value)
			value = value_of(line, "CPU implementer");
		if (value && *value)
			vendor_set(&v, value);
		value = value_of(line, "cpu family");
		if (value && !text_to_u64(value, &v.family))
			v.family = 0;
	}
	*out = v;
}
