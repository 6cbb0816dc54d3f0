/*
 * trace/facts — what a trace says about the machine and itself; given by the caller, who knows.
 *
 * Plain values. Texts that are NULL and numbers that are 0 are unknown and not written.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* One moment on four clocks, read as close together as can be. */
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
