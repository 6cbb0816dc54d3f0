/*
 * trace/facts — what a trace says about the machine and itself; provided by the caller.
 *
 * Plain values. Texts that are NULL and numbers that are 0 are unknown and not written.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One moment on four clocks, read as close together as can be; but boot time, 0 is unknown. */
struct trace_clocks {
	uint64_t boot_ns;
	uint64_t mono_ns;
	uint64_t real_ns;
	uint64_t raw_ns;
};

struct trace_system {
	const char *
		sysname; /* "Linux"; without it and release, states are read as those of an old kernel */
	const char *release;
	const char *version;
	const char *machine;
	const char *machine_name;
	uint32_t nr_cpus;
	uint32_t page_bytes;
	uint32_t hz;
	uint64_t ram_bytes;
};

struct trace_cpu {
	const char *processor;
	const uint32_t *khz; /* frequencies that it can run at */
	size_t nr_khz;
	uint32_t capacity; /* 1024 = the largest of the machine */
};

struct trace_attr {
	const char *key;
	const char *text; /* NULL: number counts */
	int64_t number;
};

struct trace_uuid {
	uint64_t msb;
	uint64_t lsb;
};

/* A number with the name that the kernel gives it in /proc; names that Perfetto does not know are left out. */
struct trace_pair {
	const char *name;
	uint64_t value;
};

struct trace_cpu_times {
	uint32_t cpu;
	/* Since boot: user, nice, system, idle, iowait, irq, softirq, steal. */
	uint64_t ns[8];
};

struct trace_net {
	const char *name;
	/* Since boot: bytes, packets, errors, drops received; the same sent. */
	uint64_t values[8];
};

/* How the machine does at one moment; parts may be empty. */
struct trace_sys_stats {
	uint64_t ts_ns;
	const struct trace_cpu_times *cpus;
	size_t nr_cpus;
	const struct trace_pair *memory; /* of /proc/meminfo, kB */
	size_t nr_memory;
	const struct trace_pair *paging; /* of /proc/vmstat */
	size_t nr_paging;
	const struct trace_pair *pressure; /* cpu.some, cpu.full, io.some, ...; ns */
	size_t nr_pressure;
	uint64_t forks;      /* 0 = unknown */
	const uint32_t *khz; /* by CPU; 0 = unknown */
	size_t nr_khz;
	const struct trace_net *nets;
	size_t nr_nets;
};

#define TRACE_CODE_MAX     16U /* inlined calls at one address */
#define TRACE_BUILD_ID_MAX 20U

/* A function at an address, and where it was written. */
struct trace_code {
	const char *name;
	const char *file;
	uint32_t line;
};

/* What is at an address. Texts must hold until the next question. */
struct trace_place {
	struct trace_code code[TRACE_CODE_MAX]; /* innermost first: all but the last are inlined */
	uint32_t nr_code;
	/* The file that is mapped there; of the kernel, what it calls the part: "kernel", a module. */
	const char *path;
	uint8_t build_id[TRACE_BUILD_ID_MAX];
	uint32_t nr_build_id;
	uint64_t start, end, offset;
	uint64_t rel_pc; /* as the file counts; the address itself where that is unknown */
};

/* What stacks were sampled by, see EV_SAMPLE_*; for those of CPUs. */
struct trace_sampling {
	const char *event; /* "cycles", "cpu-clock" */
	uint64_t frequency;
};
