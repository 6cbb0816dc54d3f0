/* bpf/stat_maps — configuration and maps of the aggregating programs; abi/stat.h explains the values. */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/stat.h"

const volatile struct stat_cfg cfg = {};

/* Written by user space before each drain; see struct abi_hist. */
__u32 epoch = 1;
/* The moment that a drain is about: what has not ended is counted up to it. */
__u64 drained_ns = 0;
/* Counts the schedulers of sched_ext that took charge; whether one is in charge, or about to be. */
__u32 scheduler_nr = 1;
__u32 is_scx_on = 0;
__u32 is_scx_coming = 0;
/* By the parity of the epoch; emptied by user space. */
struct stat_changed changed[2] = {};
/* The tasks that user space requests, and how many of them did not fit into the ring. */
__u32 asked_tids[STAT_CHANGED_BATCH] = {};
__u32 nr_asked = 0;
__u32 nr_unsent = 0;
/* Moves when the wanted cgroups change. */
__u32 filter_generation = 1;

/* The value is a struct stat_task and cfg's histograms: user space creates the map with that size. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct stat_task);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct stat_waking);
} wakings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stat_cpu);
} cpus SEC(".maps");

/* Finished tasks and outliers. Sized by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

/* Indexed by CPU; sized by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stat_cpu_place);
} cpu_places SEC(".maps");

/*
 * Tasks that moved there, by CPU; sized by user space. Counted by the CPU that moves one, so with
 * an atomic addition.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} arrivals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stat_history);
} histories SEC(".maps");

/* Its stamp is written at an insertion, which is not always under the task's run-queue lock. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct stat_queued);
} queued SEC(".maps");

/*
 * By kprobe, instead of the stay in a task's storage; unused entries are evicted by the map. Sized
 * by user space.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stat_stay);
} stays_by_tid SEC(".maps");

/* Sized by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct stat_dsq_key);
	__type(value, struct stat_dsq);
} dsqs SEC(".maps");

/* Source of zeroes as large as a task's state: one copy instead of a loop. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__uint(value_size, 8192);
} zeroes SEC(".maps");

static __always_inline struct stat_cpu *this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cpus, &zero);
}

static __always_inline void count_lost(enum stat_lost kind)
{
	struct stat_cpu *c = this_cpu();

	if (c)
		c->lost[kind]++;
}
