/*
 * sys/bpf/bpf_progs — the BPF programs loaded in the kernel, and how their run times develop.
 *
 * Each refresh adds a sample to every loaded program and drops those that were unloaded. The kernel
 * counts runs only on request: bpf_progs_count() does, and costs about 80 ns per run of any program
 * until its descriptor is closed. Bounded: BPF_PROGS_MAX programs, BPF_PROG_SAMPLES samples each,
 * the oldest are evicted. Needs CAP_BPF (or CAP_SYS_ADMIN). One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

#define BPF_PROGS_MAX    4096U
#define BPF_PROG_SAMPLES 100U

struct bpf_prog_sample {
	uint64_t ts_ns;
	uint64_t run_ns;
	uint64_t runs;
};

struct bpf_prog {
	uint32_t id;
	uint32_t type; /* the kernel's number */
	uint32_t verified_insns;
	uint32_t uid; /* of the user that loaded it */
	uint32_t nr_maps;
	uint32_t btf_id;        /* 0 = none */
	uint32_t attach_btf_id; /* of struct_ops: the struct; 0 = none */
	uint32_t jited_bytes;   /* 0 = it is interpreted, or we may not know */
	bool is_gpl;
	uint64_t loaded_ns; /* boot time */
	uint64_t misses;    /* runs left out, for it was running there already */
	char name[16];
	uint64_t run_ns; /* since it was loaded, while runs were counted */
	uint64_t runs;
	uint32_t nr_samples;
	struct bpf_prog_sample *samples; /* the oldest first */
	bool is_seen;
};

struct bpf_progs {
	struct bpf_prog *progs; /* by id */
	size_t nr, room;
	bool is_cut; /* there are more */
};

/* Run times of one call: means of the intervals between samples, in which there were calls, and how these are spread. */
struct bpf_prog_times {
	double avg_ns, p50_ns, p90_ns, p99_ns;
	double min_ns, max_ns;
	uint32_t nr_intervals;
	double calls_per_sec;
};

MUST_USE int bpf_progs_read(struct bpf_progs *p, uint64_t now_ns, struct diag *d);
void bpf_progs_done(struct bpf_progs *p); /* a zeroed one is fine */
/* A descriptor; runs are counted until it is closed. Or -errno. */
MUST_USE int bpf_progs_count(void);
/* False while there was no call. */
bool bpf_prog_times(const struct bpf_prog *p, struct bpf_prog_times *out);
/* "kprobe", "tracing", "struct_ops", ...; "other" for what we do not know. */
const char *bpf_prog_type_name(uint32_t type);
