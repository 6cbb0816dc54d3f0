/*
 * bpf/events_ring — from an event to its place in a ring: maps, reserving, stamping, waking the reader.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

#include "abi/event_cfg.h"

const volatile struct ev_cfg cfg = {};

/* Off until all programs are attached: our own attaching is not part of the record. */
__u32 is_open;

struct inner_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

/* Sized and filled by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct inner_ring);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ev_cpu);
} cpus SEC(".maps");

/* A record under way. */
struct slot {
	struct ev_cpu *c;
	void *ring;
	struct ev_hdr *rec;
};

static __always_inline struct ev_cpu *this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cpus, &zero);
}

static __always_inline struct context_cpu *context_here(void)
{
	struct ev_cpu *c = this_cpu();

	return c ? &c->context : NULL;
}

/*
 * A uprobe program may be preempted (since Linux 6.0) while another of its kind runs on this CPU; a
 * sample may interrupt another sample's program. Tracepoint programs do not nest. kind is a
 * constant.
 */
static __always_inline void count_up(__u64 *counter, __u8 kind)
{
	if (kind == EV_PROBE || kind == EV_SAMPLE)
		__sync_fetch_and_add(counter, 1);
	else
		(*counter)++;
}

/*
 * A stack takes as much room as twenty switches. Where a reader cannot keep up, stacks are lost before anything else:
 * without them a trace is poorer, without switches it is wrong.
 */
static __always_inline bool has_room(void *ring, __u8 kind)
{
	return kind != EV_SAMPLE || bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) < cfg.stack_bytes;
}

/*
 * NULL when there is no room, or no reader yet. size is a constant. Check the result at once, and
 * only once: before Linux 6.3, the verifier takes a record that is checked a second time for one
 * that may be NULL.
 */
static __always_inline void *begin(struct slot *s, __u8 kind, __u32 size)
{
	s->c = this_cpu();
	if (!s->c || !is_open)
		return NULL;
	count_up(&s->c->seen[kind & (EV_KIND_MAX - 1)], kind);
	s->ring = bpf_map_lookup_elem(&rings, &s->c->ring);
	s->rec = s->ring && has_room(s->ring, kind) ? bpf_ringbuf_reserve(s->ring, size, 0) : NULL;
	if (!s->rec) {
		count_up(&s->c->lost[kind & (EV_KIND_MAX - 1)], kind);
		return NULL;
	}
	s->rec->ts_ns = bpf_ktime_get_boot_ns();
	s->rec->size = (__u16)size;
	s->rec->kind = kind;
	s->rec->flags = (__u8)((s->c->context.hard ? EV_FLAG_HARDIRQ : 0) |
	                       (s->c->context.soft ? EV_FLAG_SOFTIRQ : 0));
	s->rec->cpu = s->c->cpu;
	return s->rec;
}

/* The reader polls; it is woken only when a ring fills up, which is checked now and then. */
static __always_inline void end(struct slot *s)
{
	__u64 flags = BPF_RB_NO_WAKEUP;

	if (!(++s->c->nr_records % EV_WAKE_CHECK) &&
	    bpf_ringbuf_query(s->ring, BPF_RB_AVAIL_DATA) >= cfg.wake_bytes)
		flags = BPF_RB_FORCE_WAKEUP;
	bpf_ringbuf_submit(s->rec, flags);
}
