/*
 * bpf/events_cgroup — in which cgroup tasks are, in the hierarchy that cfg names, and what cgroups are called.
 *
 * Switches cost nothing for it: a new task is where its parent is unless it says otherwise, and the kernel has a
 * tracepoint for every move. User space asks for all tasks once, at the beginning.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/event_cfg.h"
#include "bpf/events_ring.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/task.bpf.h"

#define MAX_THREADS 65536 /* of a process that is moved as a whole */

static __always_inline __u64 cgroup_id_of(struct task_struct *p)
{
	return task_cgroup_id(p, cfg.is_cgroup_v1);
}

static __always_inline void put_cgroup(__u32 tid, __u64 id)
{
	struct slot s;
	struct ev_cgroup *e = begin(&s, EV_CGROUP, sizeof(*e));

	if (!e)
		return;
	e->tid = tid;
	e->flags = 0;
	e->cgroup = id;
	end(&s);
}

/* By clone3() with CLONE_INTO_CGROUP, or if the parent was moved meanwhile. */
static __always_inline void cgroup_of_child(struct task_struct *parent, struct task_struct *child)
{
	__u64 id;

	if (cfg.cgroup_hierarchy < 0)
		return;
	id = cgroup_id_of(child);
	if (id != cgroup_id_of(parent))
		put_cgroup((__u32)child->pid, id);
}

struct moved_process {
	__u64 head, node; /* struct list_head * */
	__u64 cgroup;
};

static long put_thread(__u32 i, struct moved_process *m)
{
	struct task_struct *p;

	(void)i;
	if (!m->node || m->node == m->head)
		return 1;
	p = (void *)(m->node - bpf_core_field_offset(struct task_struct, thread_node));
	put_cgroup((__u32)BPF_CORE_READ(p, pid), m->cgroup);
	if (bpf_probe_read_kernel(&m->node, sizeof(m->node), (void *)m->node))
		return 1;
	return 0;
}

static __always_inline bool is_asked_for(struct cgroup *cgrp)
{
	return cgrp->root->hierarchy_id == cfg.cgroup_hierarchy;
}

/*
 * The kernel reports the move of a process once. It lets no thread begin or exit meanwhile: those on the list are those that
 * were moved.
 */
static __always_inline int put_move(struct cgroup *cgrp, struct task_struct *p, bool is_process)
{
	struct moved_process m = { .cgroup = cgrp->kn->id };

	if (!is_asked_for(cgrp))
		return 0;
	if (!is_process) {
		put_cgroup((__u32)p->pid, m.cgroup);
		return 0;
	}
	m.head = (__u64)p->signal + bpf_core_field_offset(struct signal_struct, thread_head);
	if (!bpf_probe_read_kernel(&m.node, sizeof(m.node), (void *)m.head))
		bpf_loop(MAX_THREADS, put_thread, &m, 0);
	return 0;
}

SEC("tp_btf/cgroup_attach_task")
int on_cgroup_attach(__u64 *ctx)
{
	return put_move((struct cgroup *)ctx[0], (struct task_struct *)ctx[2], (__u8)ctx[3]);
}

/* All tasks of a cpuset of v1 that has no CPU left, one by one. */
SEC("tp_btf/cgroup_transfer_tasks")
int on_cgroup_transfer(__u64 *ctx)
{
	return put_move((struct cgroup *)ctx[0], (struct task_struct *)ctx[2], false);
}

static __always_inline int put_path(struct cgroup *cgrp, const void *path)
{
	struct ev_cgroup_info *e;
	struct slot s;
	long len;

	if (!is_asked_for(cgrp))
		return 0;
	e = begin(&s, EV_CGROUP_INFO, sizeof(*e) + EV_CGROUP_PATH_MAX);
	if (!e)
		return 0;
	e->cgroup = cgrp->kn->id;
	__builtin_memset(e + 1, 0, EV_CGROUP_PATH_MAX);
	len = bpf_probe_read_kernel_str(e + 1, EV_CGROUP_PATH_MAX, path);
	/* Room is there for the longest path; only what this one needs is read. */
	e->hdr.size = (__u16)(sizeof(*e) + (len > 0 ? (len + 7) & ~7UL : 8));
	end(&s);
	return 0;
}

SEC("tp_btf/cgroup_mkdir")
int on_cgroup_mkdir(__u64 *ctx)
{
	return put_path((struct cgroup *)ctx[0], (const void *)ctx[1]);
}

SEC("tp_btf/cgroup_rename")
int on_cgroup_rename(__u64 *ctx)
{
	return put_path((struct cgroup *)ctx[0], (const void *)ctx[1]);
}

SEC("iter/task")
int list_cgroups(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct ev_task_cgroup row = {};

	if (!p)
		return 0;
	row.tid = (__u32)p->pid;
	row.cgroup = cgroup_id_of(p);
	bpf_seq_write(ctx->meta->seq, &row, sizeof(row));
	return 0;
}
