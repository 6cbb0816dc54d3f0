/*
 * bpf/record — adds samples to histograms of abi/hist.h from BPF.
 *
 * The caller holds whatever serialises writers of that histogram (a run-queue lock, or the CPU itself with
 * interrupts off), so plain additions suffice. Readers may see a sample half added; counters only grow, so
 * the next read sets it right.
 */
#pragma once

#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "abi/hist.h"

static __always_inline void record_extremes(struct abi_extremes *e, __u32 epoch, __u64 ns,
                                            __u64 now, __u32 cpu)
{
	bool is_first = e->epoch != epoch;

	if (is_first || ns > e->max_ns) {
		e->max_ns = ns;
		e->max_at_ns = now;
		e->max_cpu = cpu;
	}
	if (is_first || ns < e->min_ns)
		e->min_ns = ns;
	if (is_first)
		e->epoch = epoch;
}

/* Into a slot that is known: where a duration counts in two histograms, it is looked for once. */
static __always_inline void record_at(struct abi_hist *h, __u64 slot, __u32 epoch, __u64 ns,
                                      __u64 now, __u32 cpu)
{
	barrier_var(slot);      /* or the compiler checks one copy and uses another */
	if (slot >= HIST_SLOTS) /* never: for the verifier */
		return;
	h->slots[slot]++;
	h->blocks |= 1U << (slot / HIST_BLOCK_SLOTS);
	h->sum_ns += ns;
	record_extremes(&h->extremes[epoch & 1], epoch, ns, now, cpu);
	h->count++;
}

static __always_inline void record_sample(struct abi_hist *h, __u32 epoch, __u64 ns, __u64 now,
                                          __u32 cpu)
{
	if ((__s64)ns < 0) /* clocks of two CPUs may differ by nanoseconds */
		ns = 0;
	record_at(h, hist_slot(ns), epoch, ns, now, cpu);
}
