/*
 * bpf/profile_rows — from a hit to its row: filter the task, walk both stacks, store each once,
 * count the row.
 *
 * Runs in interrupts, also in those that cannot be masked: all maps are preallocated, and a program
 * that finds a map locked by the one it interrupted counts a loss. Stacks are distinguished by a
 * hash of 64 bits, so that none replaces another as in the kernel's own table of stacks.
 */
#pragma once

#include <linux/bpf.h>
#include <linux/errno.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "abi/profile.h"
#include "bpf/kernel.bpf.h"
#include "bpf/task.bpf.h"
#include "bpf/unwind.bpf.h"
#include "bpf/wanted.bpf.h"

#define SCRATCHES 4 /* hits at a time on a CPU */

const volatile struct prof_cfg cfg = {};

/* Off until everything is attached, and again before it is detached. */
__u32 is_open;
/* Of the rows and stacks that are written now. */
__u32 generation;
/* Out of cfg.max_samples. */
__u64 nr_taken;

/* Sized by user space, like rows. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct prof_stack_key);
	__type(value, struct prof_stack);
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct prof_key);
	__type(value, struct prof_row);
} rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_cpu);
} cpus SEC(".maps");

/* By CPU; sized by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_busy);
} busy_cpus SEC(".maps");

/* The wanted process and its children: tgid -> start of the process; 0 = whenever. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u64);
} family SEC(".maps");

/* Rings of user space, by CPU; one where nothing is copied. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} copies SEC(".maps");

struct profile_scratch {
	__u32 is_busy;
	__u32 pad_;
	struct prof_key key; /* of the row */
	struct prof_stack_key stack_key;
	struct unwind_walk walk;
	struct prof_copy note;
	struct prof_stack stack;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCHES);
	__type(key, __u32);
	__type(value, struct profile_scratch);
} scratches SEC(".maps");

static __always_inline struct prof_cpu *this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cpus, &zero);
}

/* A uprobe's program may be preempted by another of its kind. */
static __always_inline void count(__u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

static __always_inline bool is_here(void)
{
	return cfg.cpu == PROF_ANY_CPU || bpf_get_smp_processor_id() == cfg.cpu;
}

static __always_inline bool is_in_family(struct task_struct *p)
{
	__u32 tgid = (__u32)p->tgid;
	__u64 *start_ns = bpf_map_lookup_elem(&family, &tgid);

	return start_ns && (!*start_ns || *start_ns == p->group_leader->start_boottime);
}

static __always_inline bool is_wanted(struct task_struct *p)
{
	if (cfg.filter_tgid && !is_in_family(p))
		return false;
	return !cfg.filter_cgroup || is_cgroup_wanted(p, cfg.is_cgroup_v1);
}

static __always_inline bool is_full(void)
{
	return cfg.max_samples && nr_taken >= cfg.max_samples;
}

/* One of max_samples; never one more. */
static __always_inline bool take_one(void)
{
	if (!cfg.max_samples)
		return true;
	if (nr_taken >= cfg.max_samples)
		return false;
	if (__sync_fetch_and_add(&nr_taken, 1) < cfg.max_samples)
		return true;
	__sync_fetch_and_add(&nr_taken, -1);
	return false;
}

static __always_inline void give_back(void)
{
	if (cfg.max_samples)
		__sync_fetch_and_add(&nr_taken, -1);
}

/*
 * A program that was interrupted or preempted keeps its slot until it is done. It stays on its CPU,
 * so a program that interrupts it finds another slot.
 */
static __always_inline struct profile_scratch *scratch_get(void)
{
	struct profile_scratch *s;

	for (__u32 i = 0; i < SCRATCHES; i++) {
		__u32 which = i;

		s = bpf_map_lookup_elem(&scratches, &which);
		if (s && !__sync_lock_test_and_set(&s->is_busy, 1))
			return s;
	}
	return NULL;
}

static __always_inline void scratch_put(struct profile_scratch *s)
{
	__sync_lock_test_and_set(&s->is_busy, 0);
}

static __noinline __u64 hash_stack(const struct prof_stack *s, __u32 nr)
{
	__u64 h = cfg.seed ^ nr ^ (__u64)s->end << 32;

	for (__u32 i = 0; i < PROF_DEPTH; i++) {
		if (i >= nr)
			break;
		h = (h ^ s->ips[i]) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	return h ? h : 1;
}

/* The stack in s, once. Its hash in *out. An error: no room. */
static __always_inline long keep_stack(struct profile_scratch *s, __u64 *out)
{
	long err;

	*out = hash_stack(&s->stack, s->stack.nr);
	s->stack_key.hash = *out;
	s->stack_key.generation = s->key.generation;
	if (bpf_map_lookup_elem(&stacks, &s->stack_key))
		return 0;
	err = bpf_map_update_elem(&stacks, &s->stack_key, &s->stack, BPF_NOEXIST);
	return err == -EEXIST ? 0 : err;
}

/* Its hash in *out; 0 = there is none. An error: no room. */
static __always_inline long put_stack(void *ctx, struct prof_cpu *c, struct profile_scratch *s,
                                      __u64 flags, __u64 *out)
{
	long bytes = bpf_get_stack(ctx, s->stack.ips, sizeof(s->stack.ips), flags);

	*out = 0;
	if (bytes < 0)
		count(&c->no_stack);
	if (bytes <= 0)
		return 0;
	s->stack.nr = (__u32)bytes / sizeof(s->stack.ips[0]);
	s->stack.end = flags & BPF_F_USER_STACK && cfg.by_tables ? PROF_END_NO_TABLE
	                                                         : PROF_END_NOT_KNOWN;
	return keep_stack(s, out);
}

/* Apart from its caller: the verifier goes through it once. */
static __noinline bool walk_user(struct profile_scratch *s)
{
	return s && unwind_user(&s->walk, bpf_get_current_task_btf(), &s->stack, cfg.pc_mask);
}

/* A task that exits has given its memory back, and its stack with it. */
static __always_inline bool has_user_side(void)
{
	struct task_struct *p = bpf_get_current_task_btf();

	return p->mm && !(p->flags & PF_KTHREAD);
}

/*
 * Its registers and stack go to user space, and a number stands for them; with what tables gave, if they are used, too. An
 * error: no room in the ring.
 */
static __always_inline long put_copy(void *ctx, struct prof_cpu *c, struct profile_scratch *s,
                                     __u64 *out)
{
	struct prof_copy *note = &s->note; /* the stack follows it */
	bool is_beside = cfg.by_tables && cfg.by_copies == PROF_COPIES_ALL;
	__u64 bytes = sizeof(*note) + (is_beside ? sizeof(s->stack) : 0);

	note->number = (__sync_fetch_and_add(&c->nr_copies, 1) + 1) << PROF_CPU_BITS |
	               bpf_get_smp_processor_id();
	note->ts_ns = bpf_ktime_get_boot_ns();
	note->tgid = (__u32)(bpf_get_current_pid_tgid() >> 32);
	*out = note->number;
	s->key.is_copy = 1;
	if (is_beside && !walk_user(s))
		s->stack.nr = 0;
	return bpf_perf_event_output(ctx, &copies, BPF_F_CURRENT_CPU, note, bytes);
}

static __always_inline long put_user_stack(void *ctx, struct prof_cpu *c, struct profile_scratch *s,
                                           __u64 *out)
{
	if (cfg.by_copies == PROF_COPIES_ALL)
		return put_copy(ctx, c, s, out);
	if (cfg.by_tables && walk_user(s))
		return keep_stack(s, out);
	if (cfg.by_copies == PROF_COPIES_EARLY && has_user_side() && !put_copy(ctx, c, s, out))
		return 0;
	s->key.is_copy = 0;
	return put_stack(ctx, c, s, BPF_F_USER_STACK, out);
}

/* Of the current task. An error: no room for a stack. */
static __always_inline long fill_key(void *ctx, struct prof_cpu *c, struct profile_scratch *s,
                                     struct task_struct *p)
{
	struct prof_key *key = &s->key;
	__u64 kernel = 0, user = 0;
	long err = 0;

	key->generation = *(volatile __u32 *)&generation; /* once: both stacks and the row */
	key->is_copy = 0;
	if (!cfg.no_kernel)
		err = put_stack(ctx, c, s, 0, &kernel);
	if (!err && !cfg.no_user)
		err = put_user_stack(ctx, c, s, &user);
	key->kernel = kernel;
	key->user = user;
	key->start_ns = p->start_boottime;
	key->exec = p->self_exec_id;
	key->cgroup = cfg.by_cgroup ? task_cgroup_id(p, cfg.is_cgroup_v1) : 0;
	key->tgid = (__u32)p->tgid;
	key->tid = (__u32)p->pid;
	bpf_get_current_comm(key->comm, sizeof(key->comm));
	return err;
}

/* The kernel's part alone, and a name in place of a task. An error: no room for a stack. */
static __always_inline long fill_interrupt(void *ctx, struct prof_cpu *c, struct profile_scratch *s)
{
	const char name[sizeof(s->key.comm)] =
		"interrupt"; /* not static: older libbpf cannot place those */
	struct prof_key *key = &s->key;
	__u64 kernel = 0;
	long err = 0;

	key->generation = *(volatile __u32 *)&generation;
	if (!cfg.no_kernel)
		err = put_stack(ctx, c, s, 0, &kernel);
	key->kernel = kernel;
	key->user = key->start_ns = key->exec = key->cgroup = 0;
	key->tgid = key->tid = key->is_copy = 0;
	__builtin_memcpy(key->comm, name, sizeof(key->comm));
	return err;
}

static __always_inline long new_row(const struct prof_key *key, __u64 value, __u64 at_ns)
{
	struct prof_row row = {
		.count = 1,
		.value = value,
		.first_ns = at_ns,
		.last_ns = at_ns,
		.cpu = bpf_get_smp_processor_id(),
	};

	return bpf_map_update_elem(&rows, key, &row, BPF_NOEXIST);
}

static __always_inline long add_to_row(const struct prof_key *key, __u64 value, __u64 at_ns)
{
	struct prof_row *row = bpf_map_lookup_elem(&rows, key);
	long err = row ? -EEXIST : new_row(key, value, at_ns);

	if (err != -EEXIST)
		return err;
	if (!row) /* another CPU was faster */
		row = bpf_map_lookup_elem(&rows, key);
	if (!row)
		return -ENOENT;
	count(&row->count);
	__sync_fetch_and_add(&row->value, value);
	row->last_ns = at_ns;
	row->cpu = bpf_get_smp_processor_id();
	return 0;
}

/* What the CPU at hand runs from now on. */
static __always_inline void note_busy(struct task_struct *p)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct prof_busy *here = bpf_map_lookup_elem(&busy_cpus, &cpu);

	if (here)
		here->is_busy = p->pid && is_wanted(p);
}

static long count_busy(__u32 cpu, __u32 *nr)
{
	struct prof_busy *there = bpf_map_lookup_elem(&busy_cpus, &cpu);

	if (there && *(volatile __u32 *)&there->is_busy)
		(*nr)++;
	return 0;
}

/* The share of a sample in the wall-clock time that it stands for; its own CPU is busy. */
static __always_inline __u64 wall_share(void)
{
	__u32 nr = 0;

	bpf_loop(cfg.nr_cpus, count_busy, &nr, 0);
	return nr > 1 ? cfg.wall_ns / nr : cfg.wall_ns;
}

static __always_inline void count_row(struct prof_cpu *c, long err)
{
	count(&c->seen);
	if (err) {
		count(&c->lost);
		give_back();
	} else {
		count(&c->kept);
	}
}

static __always_inline bool is_turn(struct prof_cpu *c)
{
	return cfg.every <= 1 || !((__sync_fetch_and_add(&c->nr_hits, 1) + 1) % cfg.every);
}

/* The current task, here and now. */
static __always_inline int take_sample(void *ctx, __u64 value)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct prof_cpu *c = this_cpu();
	struct profile_scratch *s;
	long err = -EBUSY;

	if (!c || !is_open)
		return 0;
	if (cfg.wall_ns)
		note_busy(p); /* also before the first switch of this CPU */
	if (!is_here())
		return 0;
	if (!p->pid) {
		count(&c->idle);
		return 0;
	}
	if (!is_wanted(p) || !is_turn(c) || !take_one())
		return 0;
	s = scratch_get();
	if (s) {
		err = fill_key(ctx, c, s, p);
		if (!err)
			err = add_to_row(&s->key, cfg.wall_ns ? wall_share() : value,
			                 bpf_ktime_get_boot_ns());
		scratch_put(s);
	}
	count_row(c, err);
	return 0;
}
