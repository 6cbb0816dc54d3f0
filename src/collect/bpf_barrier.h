/*
 * collect/bpf_barrier — waits until every BPF program that runs now has ended.
 *
 * Programs that cannot sleep, as all of ours, run inside RCU read sections; those of uprobes, too (since Linux 6.0
 * inside a second kind of them, which covers the choice of programs). The kernel waits for a grace period of RCU after
 * each change of a map of maps, so that user space knows what programs see from then on. membarrier(2) would do as well,
 * but kernels that leave CPUs without ticks (nohz_full) refuse it. One thread.
 */
#pragma once

#include "base/attr.h"

struct bpf_barrier {
	int outer_fd, inner_fd; /* -1 = none */
};

/* Needs the right to make maps; later waiting does not. 0 or -errno, and then there is nothing to close. */
MUST_USE int bpf_barrier_open(struct bpf_barrier *b);
/* Some milliseconds. 0, or -errno: programs that ran before the call may still run. */
MUST_USE int bpf_barrier_wait(const struct bpf_barrier *b);
void bpf_barrier_close(struct bpf_barrier *b); /* one that was never opened must have -1 in both */
