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

#define WORDS(bytes) ((bytes) / sizeof(__u64))
#define BLOCK_WORDS  WORDS(HIST_BLOCK_SLOTS * sizeof(__u32))

/* In words, because records are made of them and a copy by words needs no helper. */
struct stat_scratch {
	__u64 len;
	__u64 words[1024];
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
static __always_inline void pack_words(struct stat_scratch *s, const void *from, __u64 n)
{
	__u64 at = s->len;

	barrier_var(at);
	if (at > sizeof(s->words) / sizeof(s->words[0]) - n) /* never: the largest record fits */
		return;
#pragma unroll
	for (__u64 i = 0; i < n; i++)
		s->words[at + i] = ((const __u64 *)from)[i];
	s->len = at + n;
}

/* The head of a histogram ends with the blocks; by the time it is copied, others may be in use. */
static __always_inline void pack_blocks(struct stat_scratch *s, __u32 blocks, const __u32 *slots,
                                        int nr_blocks)
{
	__u64 word = blocks;

	pack_words(s, &word, 1);
	for (int b = 0; b < nr_blocks; b++)
		if (blocks & (1U << b))
			pack_words(s, &slots[b * HIST_BLOCK_SLOTS], BLOCK_WORDS);
}

static __always_inline void pack_hist(struct stat_scratch *s, struct abi_hist *h)
{
	__u32 blocks = h->blocks;

	pack_words(s, h, WORDS(offsetof(struct abi_hist, blocks)));
	pack_blocks(s, blocks, h->slots, HIST_BLOCKS);
}

static __always_inline void pack_depth(struct stat_scratch *s, struct stat_depth *d)
{
	__u32 blocks = d->blocks;

	pack_words(s, d, WORDS(offsetof(struct stat_depth, blocks)));
	pack_blocks(s, blocks, d->slots, STAT_DEPTH_BLOCKS);
}
