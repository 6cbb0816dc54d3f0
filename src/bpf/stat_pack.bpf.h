/*
 * bpf/stat_pack — records on their way to user space: see STAT_REC_PACKED.
 *
 * A record is put together in per-CPU memory and sent in one piece; a task that lived for a millisecond is a
 * tenth of its histograms. The length is kept in memory rather than in a variable, so that the verifier does
 * not follow every length that a record could have.
 */
#pragma once

#include <linux/bpf.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

#include "abi/stat.h"

#define PACKED_BLOCK (HIST_BLOCK_SLOTS * sizeof(__u32))

struct stat_scratch {
	__u32 len;
	__u32 pad_;
	char bytes[8192];
};

/* The drain can be interrupted by a switch on its CPU, which may have a record to send itself. */
enum { SCRATCH_RING, SCRATCH_DRAIN, SCRATCHES };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCHES);
	__type(key, __u32);
	__type(value, struct stat_scratch);
} scratches SEC(".maps");

/* n is a constant. */
static __always_inline void pack_bytes(struct stat_scratch *s, const void *from, __u32 n)
{
	__u64 at = s->len;

	barrier_var(at);
	if (at > sizeof(s->bytes) - n) /* never: the largest record fits */
		return;
	bpf_probe_read_kernel(s->bytes + at, n, from);
	s->len = (__u32)at + n;
}

static __always_inline void pack_hist(struct stat_scratch *s, struct abi_hist *h)
{
	__u32 blocks = h->blocks;

	pack_bytes(s, h, offsetof(struct abi_hist, blocks));
	pack_bytes(s, &(__u64){ blocks }, sizeof(__u64)); /* others may be in use by now */
	for (int b = 0; b < HIST_BLOCKS; b++)
		if (blocks & (1U << b))
			pack_bytes(s, &h->slots[b * HIST_BLOCK_SLOTS], PACKED_BLOCK);
}

static __always_inline void pack_depth(struct stat_scratch *s, struct stat_depth *d)
{
	__u32 blocks = d->blocks;

	pack_bytes(s, d, offsetof(struct stat_depth, blocks));
	pack_bytes(s, &(__u64){ blocks }, sizeof(__u64));
	for (int b = 0; b < STAT_DEPTH_BLOCKS; b++)
		if (blocks & (1U << b))
			pack_bytes(s, &d->slots[b * HIST_BLOCK_SLOTS], PACKED_BLOCK);
}
