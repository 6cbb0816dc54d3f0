/*
 * collect/bpf_cost — what our BPF programs cost, measured in short windows.
 *
 * The kernel's own run-time statistics cost about 80 ns per run, for all BPF programs of the machine, so
 * they are switched on for a moment only; the caller decides when (at most 100 ms per 10 s). Needs
 * CAP_SYS_ADMIN, of the broker's if there is one. Leaving the window open is harmless: the kernel ends it with the descriptor.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define BPF_COST_PROGRAMS 16

struct bpf_cost {
	int stats_fd; /* >= 0 while a window is open */
	size_t nr;
	int fds[BPF_COST_PROGRAMS];
	uint64_t start_ns[BPF_COST_PROGRAMS];
	uint64_t start_runs[BPF_COST_PROGRAMS];
	uint64_t run_ns; /* sums over all windows */
	uint64_t runs;
};

void bpf_cost_init(struct bpf_cost *c, const int *fds, size_t nr);
MUST_USE int bpf_cost_begin(struct bpf_cost *c); /* 0 or -errno; -EPERM without CAP_SYS_ADMIN */
void bpf_cost_end(struct bpf_cost *c);           /* no open window: nothing happens */
bool bpf_cost_ns_per_run(const struct bpf_cost *c, double *out); /* false: nothing measured */
