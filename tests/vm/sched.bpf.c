/*
 * Schedulers for the tests in virtual machines. Each counts what it does, per task and dispatch queue: what
 * schedscope says is held against that. Nothing here is shared with src/.
 *
 *   fifo     all in the kernel's global queue
 *   vtime    two queues of its own per pair of CPUs, in the order of weighted vtime
 *   layered  a queue per layer: niced tasks wait in the second, from which they are moved to the first; the layer
 *            of a task is in a map like that of scx_layered
 *   ways     spinners go through every way into a queue that the kernel has: insertions of both kinds in old and new
 *            forms, to the queue of a CPU, moves by iterator with another slice or vtime
 *   stall    like fifo, but never runs a task that is called "stallme": the kernel ejects it
 *   fail     like fifo, until a task called "stallme" comes: then it says that it failed
 *   leave    the same, but it goes with a code and a word
 *
 * One object for Linux 6.12 to 7.2, whose functions have other names: the loader takes what is there.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "sched_account.bpf.h"
#include "sched_kernel.bpf.h"

#define SLICE_NS       20000000ULL /* the kernel's own, which it refills by itself */
#define SWITCH_PARTIAL (1ULL << 3)
#define DSQ_VTIME      100ULL /* + 2 * pair of CPUs + 0 or 1 */
#define NR_PAIRS       8ULL
#define DSQ_LAYER      200ULL              /* + layer */
#define STALL_COMM     0x656d6c6c617473ULL /* "stallme" */
#define DSQ_WAYS       300ULL /* first in, first out; by vtime; the same again for those that are moved */
#define MOVED_NS       7000000ULL
#define LEAVE_CODE     4660

char LICENSE[] SEC("license") = "GPL";

enum {
	WAY_INSERT,
	WAY_INSERT_V2,
	WAY_INSERT_VTIME,
	WAY_INSERT_VTIME_ARGS,
	WAY_LOCAL_ON,
	INSERT_WAYS,
	WAY_MOVE = INSERT_WAYS,
	WAY_MOVE_VTIME,
	WAY_TURNS, /* not a way: counts dispatches */
	WAYS,
};

/* The beginning of what scx_layered keeps of a task, under the same name. */
struct task_ctx {
	int pid;
	int last_cpu;
	__u32 layer_id;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_ctx);
} task_ctxs SEC(".maps");

/* How often a task came from the queues of layers on a CPU, in each layer; the last one is none. */
struct layer_runs {
	__u64 runs[3];
	__u64 layer; /* the latest */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_ENTRIES);
	__type(key, __u32);
	__type(value, struct layer_runs);
} layer_runs SEC(".maps");

__u64 vtime_now;
__u64 exit_kind;
__s64 exit_code;
char exit_message[128];
__u64 ways[WAYS]; /* how often each way was gone */
__u64 at_queues;  /* CPUs that move tasks between queues, or take them */

static void insert(struct task_struct *p, __u64 dsq_id, __u64 enq_flags)
{
	__u64 since_ns = bpf_ktime_get_ns();

	count_insert(p, dsq_id, 0);
	begin_placing(p, dsq_id, since_ns);
	if (&scx_bpf_dsq_insert)
		scx_bpf_dsq_insert(p, dsq_id, SLICE_NS, enq_flags);
	else
		scx_bpf_dispatch(p, dsq_id, SLICE_NS, enq_flags);
}

static void insert_vtime(struct task_struct *p, __u64 dsq_id, __u64 vtime, __u64 enq_flags)
{
	struct scx_bpf_dsq_insert_vtime_args args = { dsq_id, SLICE_NS, vtime, enq_flags };
	__u64 since_ns = bpf_ktime_get_ns();

	count_insert(p, dsq_id, vtime);
	begin_placing(p, dsq_id, since_ns);
	if (&__scx_bpf_dsq_insert_vtime)
		__scx_bpf_dsq_insert_vtime(p, &args);
	else
		scx_bpf_dispatch_vtime(p, dsq_id, SLICE_NS, vtime, enq_flags);
}

static bool move_to_local(__u64 dsq_id)
{
	bool has_moved = &scx_bpf_dsq_move_to_local ? scx_bpf_dsq_move_to_local(dsq_id)
	                                            : scx_bpf_consume(dsq_id);

	if (has_moved)
		count_out(dsq_id);
	return has_moved;
}

/* All of them: an idle CPU takes the task at once. */
static int select_cpu(struct task_struct *p, int prev_cpu, __u64 wake_flags)
{
	bool is_idle = false;
	int cpu = scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, &is_idle);

	if (is_idle)
		insert(p, SCX_DSQ_LOCAL, 0);
	return cpu;
}

SEC("struct_ops/fifo_select_cpu")
int BPF_PROG(fifo_select_cpu, struct task_struct *p, int prev_cpu, __u64 wake_flags)
{
	return select_cpu(p, prev_cpu, wake_flags);
}

SEC("struct_ops/fifo_enqueue")
void BPF_PROG(fifo_enqueue, struct task_struct *p, __u64 enq_flags)
{
	insert(p, SCX_DSQ_GLOBAL, enq_flags);
}

SEC("struct_ops/fifo_running")
void BPF_PROG(fifo_running, struct task_struct *p)
{
	count_run(p);
}

SEC("struct_ops/fifo_stopping")
void BPF_PROG(fifo_stopping, struct task_struct *p, bool runnable)
{
	count_stop(p);
}

SEC("struct_ops/fifo_exit")
void BPF_PROG(fifo_exit, struct scx_exit_info *info)
{
	exit_code = info->exit_code;
	bpf_probe_read_kernel_str(exit_message, sizeof(exit_message), info->msg);
	exit_kind = (__u64)info->kind;
}

SEC("struct_ops/vtime_enqueue")
void BPF_PROG(vtime_enqueue, struct task_struct *p, __u64 enq_flags)
{
	__u64 pair = (__u64)scx_bpf_task_cpu(p) / 2 % NR_PAIRS;
	__u64 dsq_id = DSQ_VTIME + 2 * pair + ((__u32)p->pid & 1);
	__u64 vtime = p->scx.dsq_vtime, least = vtime_now - SLICE_NS;

	/* Who slept long may not make up for all of it. */
	if ((long long)(vtime - least) < 0)
		vtime = least;
	count_in(p, dsq_id);
	insert_vtime(p, dsq_id, vtime, enq_flags);
}

SEC("struct_ops/vtime_dispatch")
void BPF_PROG(vtime_dispatch, int cpu, struct task_struct *prev)
{
	__u64 pair = (__u64)cpu / 2;

	for (__u64 i = 0; i < 2 * NR_PAIRS; i++)
		if (move_to_local(DSQ_VTIME + (2 * pair + i) % (2 * NR_PAIRS)))
			return;
}

SEC("struct_ops/vtime_running")
void BPF_PROG(vtime_running, struct task_struct *p)
{
	count_run(p);
	if ((long long)(p->scx.dsq_vtime - vtime_now) > 0)
		vtime_now = p->scx.dsq_vtime;
}

SEC("struct_ops/vtime_stopping")
void BPF_PROG(vtime_stopping, struct task_struct *p, bool runnable)
{
	__u32 weight = p->scx.weight ? p->scx.weight : 1;

	count_stop(p);
	p->scx.dsq_vtime += (SLICE_NS - p->scx.slice) * 100 / weight;
}

SEC("struct_ops/vtime_enable")
void BPF_PROG(vtime_enable, struct task_struct *p)
{
	p->scx.dsq_vtime = vtime_now;
}

SEC("struct_ops/vtime_init")
int BPF_PROG(vtime_init)
{
	int err = 0;

	for (__u64 i = 0; !err && i < 2 * NR_PAIRS; i++)
		err = scx_bpf_create_dsq(DSQ_VTIME + i, -1);
	return err;
}

static struct layer_runs *layer_runs_of(__u32 tid)
{
	struct layer_runs zero = { 0 }, *runs = bpf_map_lookup_elem(&layer_runs, &tid);

	if (runs)
		return runs;
	bpf_map_update_elem(&layer_runs, &tid, &zero, BPF_NOEXIST);
	return bpf_map_lookup_elem(&layer_runs, &tid);
}

SEC("struct_ops/layered_enqueue")
void BPF_PROG(layered_enqueue, struct task_struct *p, __u64 enq_flags)
{
	struct task_ctx *t = bpf_task_storage_get(&task_ctxs, p, NULL,
	                                          BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u32 layer = p->static_prio > 120;
	struct layer_runs *runs;

	if (t) {
		t->pid = p->pid;
		t->last_cpu = scx_bpf_task_cpu(p);
		t->layer_id = layer;
		runs = layer_runs_of((__u32)p->pid);
		if (runs)
			runs->layer = layer;
	}
	count_in(p, DSQ_LAYER + layer);
	insert(p, DSQ_LAYER + layer, enq_flags);
}

SEC("struct_ops/layered_running")
void BPF_PROG(layered_running, struct task_struct *p)
{
	struct task_ctx *t = bpf_task_storage_get(&task_ctxs, p, NULL, 0);
	__u32 layer = t ? t->layer_id : 2;
	struct layer_runs *runs;
	struct place *at = place_of(p);
	bool is_queued = at && (at->dsq_id == DSQ_LAYER || at->dsq_id == DSQ_LAYER + 1);

	count_run(p);
	if (!is_queued)
		return;
	runs = layer_runs_of((__u32)p->pid);
	if (runs && layer <= 2)
		runs->runs[layer]++;
}

/* The first of the second layer to the end of the first layer. */
static void promote(void)
{
	struct bpf_iter_scx_dsq it;
	struct task_struct *p;
	struct account *a;
	struct place *at;
	__u64 since_ns = bpf_ktime_get_ns();

	if (!bpf_iter_scx_dsq_new(&it, DSQ_LAYER + 1, 0)) {
		p = bpf_iter_scx_dsq_next(&it);
		if (p && (&scx_bpf_dsq_move ? scx_bpf_dsq_move(&it, p, DSQ_LAYER, 0)
		                            : scx_bpf_dispatch_from_dsq(&it, p, DSQ_LAYER, 0))) {
			count_out(DSQ_LAYER + 1);
			count_in(p, DSQ_LAYER);
			a = account_of(p, DSQ_LAYER + 1);
			at = place_of(p);
			if (a && at) {
				a->moves++;
				a->wait_ns += bpf_ktime_get_ns() - at->at_ns;
				count_insert(p, DSQ_LAYER, 0);
				count_placing(p, DSQ_LAYER + 1, since_ns);
				count_placing(p, DSQ_LAYER, since_ns);
			}
		}
	}
	bpf_iter_scx_dsq_destroy(&it);
}

static void layered_take(void)
{
	if (move_to_local(DSQ_LAYER))
		return;
	promote();
	if (!move_to_local(DSQ_LAYER))
		move_to_local(DSQ_LAYER + 1);
}

/* One CPU at a time: what is moved must be counted before another one runs it. Who comes too early finds nothing. */
SEC("struct_ops/layered_dispatch")
void BPF_PROG(layered_dispatch, int cpu, struct task_struct *prev)
{
	if (!__sync_fetch_and_add(&at_queues, 1))
		layered_take();
	__sync_fetch_and_add(&at_queues, -1);
}

SEC("struct_ops/layered_init")
int BPF_PROG(layered_init)
{
	int err = scx_bpf_create_dsq(DSQ_LAYER, -1);

	return err ? err : scx_bpf_create_dsq(DSQ_LAYER + 1, -1);
}

/* The verifier does not know how large a remainder is, and the compiler, which does, would leave the mask out. */
static void count_way(__u64 way)
{
	asm volatile("" : "+r"(way));
	__sync_fetch_and_add(&ways[way & (WAYS - 1)], 1);
}

/* A form that this kernel does not have gives way to the one that it has. */
static void insert_way(struct task_struct *p, __u64 way, __u64 enq_flags)
{
	__u64 vtime = p->scx.dsq_vtime;

	if (way == WAY_INSERT_V2 && &scx_bpf_dsq_insert___v2) {
		count_insert(p, DSQ_WAYS, 0);
		scx_bpf_dsq_insert___v2(p, DSQ_WAYS, SLICE_NS, enq_flags);
	} else if (way == WAY_INSERT_VTIME && &scx_bpf_dsq_insert_vtime) {
		count_insert(p, DSQ_WAYS + 1, vtime);
		scx_bpf_dsq_insert_vtime(p, DSQ_WAYS + 1, SLICE_NS, vtime, enq_flags);
	} else if (way == WAY_INSERT_VTIME || way == WAY_INSERT_VTIME_ARGS) {
		insert_vtime(p, DSQ_WAYS + 1, vtime, enq_flags);
	} else if (way == WAY_LOCAL_ON) {
		count_insert(p, SCX_DSQ_LOCAL, 0);
		if (&scx_bpf_dsq_insert)
			scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL_ON | (__u32)scx_bpf_task_cpu(p),
			                   SLICE_NS, enq_flags);
		else
			scx_bpf_dispatch(p, SCX_DSQ_LOCAL_ON | (__u32)scx_bpf_task_cpu(p), SLICE_NS,
			                 enq_flags);
	} else {
		insert(p, DSQ_WAYS, enq_flags);
	}
	count_way(way);
}

SEC("struct_ops/ways_enqueue")
void BPF_PROG(ways_enqueue, struct task_struct *p, __u64 enq_flags)
{
	struct place *at = place_of(p);

	if (at && *(__u64 *)p->comm == SPIN_COMM)
		insert_way(p, at->nr++ % INSERT_WAYS, enq_flags);
	else
		insert(p, SCX_DSQ_GLOBAL, enq_flags);
}

static void count_move(struct task_struct *p, __u64 from, __u64 to, __u64 vtime, __u64 way)
{
	struct account *a = account_of(p, from);
	struct place *at = place_of(p);

	if (!a || !at)
		return;
	a->moves++;
	a->wait_ns += bpf_ktime_get_ns() - at->at_ns;
	count_insert(p, to, vtime);
	count_way(way);
}

/* The first of the queue without order, with a shorter slice, to the other one. */
static void move_first(void)
{
	struct bpf_iter_scx_dsq it;
	struct task_struct *p;

	if (!bpf_iter_scx_dsq_new(&it, DSQ_WAYS, 0)) {
		p = bpf_iter_scx_dsq_next(&it);
		if (&scx_bpf_dsq_move_set_slice)
			scx_bpf_dsq_move_set_slice(&it, MOVED_NS);
		else
			scx_bpf_dispatch_from_dsq_set_slice(&it, MOVED_NS);
		if (p && (&scx_bpf_dsq_move ? scx_bpf_dsq_move(&it, p, DSQ_WAYS + 2, 0)
		                            : scx_bpf_dispatch_from_dsq(&it, p, DSQ_WAYS + 2, 0)))
			count_move(p, DSQ_WAYS, DSQ_WAYS + 2, 0, WAY_MOVE);
	}
	bpf_iter_scx_dsq_destroy(&it);
}

/* The first by vtime, with another vtime. */
static void move_first_vtime(void)
{
	struct bpf_iter_scx_dsq it;
	struct task_struct *p;
	__u64 vtime;

	if (!bpf_iter_scx_dsq_new(&it, DSQ_WAYS + 1, 0)) {
		p = bpf_iter_scx_dsq_next(&it);
		vtime = p ? p->scx.dsq_vtime + MOVED_NS : 0;
		if (&scx_bpf_dsq_move_set_vtime)
			scx_bpf_dsq_move_set_vtime(&it, vtime);
		else
			scx_bpf_dispatch_from_dsq_set_vtime(&it, vtime);
		if (p && (&scx_bpf_dsq_move_vtime
		                  ? scx_bpf_dsq_move_vtime(&it, p, DSQ_WAYS + 3, 0)
		                  : scx_bpf_dispatch_vtime_from_dsq(&it, p, DSQ_WAYS + 3, 0)))
			count_move(p, DSQ_WAYS + 1, DSQ_WAYS + 3, vtime, WAY_MOVE_VTIME);
	}
	bpf_iter_scx_dsq_destroy(&it);
}

static bool take(__u64 dsq_id)
{
	return &scx_bpf_dsq_move_to_local___v2 ? scx_bpf_dsq_move_to_local___v2(dsq_id, 0)
	                                       : move_to_local(dsq_id);
}

static void ways_take(void)
{
	__u32 turn = (__u32)__sync_fetch_and_add(&ways[WAY_TURNS], 1);

	/* Some are moved, some not. */
	if (turn % 2)
		move_first();
	if (turn % 3)
		move_first_vtime();
	for (__u64 i = 0; i < 4; i++)
		if (take(DSQ_WAYS + (turn + i) % 4))
			return;
}

SEC("struct_ops/ways_dispatch")
void BPF_PROG(ways_dispatch, int cpu, struct task_struct *prev)
{
	if (!__sync_fetch_and_add(&at_queues, 1))
		ways_take();
	__sync_fetch_and_add(&at_queues, -1);
}

SEC("struct_ops/ways_init")
int BPF_PROG(ways_init)
{
	int err = 0;

	for (__u64 i = 0; !err && i < 4; i++)
		err = scx_bpf_create_dsq(DSQ_WAYS + i, -1);
	return err;
}

/* Inserts nothing, so that all tasks come by the queue. */
SEC("struct_ops/stall_select_cpu")
int BPF_PROG(stall_select_cpu, struct task_struct *p, int prev_cpu, __u64 wake_flags)
{
	return prev_cpu;
}

SEC("struct_ops/stall_enqueue")
void BPF_PROG(stall_enqueue, struct task_struct *p, __u64 enq_flags)
{
	__u64 comm = *(__u64 *)p->comm;

	if (comm != STALL_COMM)
		insert(p, SCX_DSQ_GLOBAL, enq_flags);
}

SEC("struct_ops/fail_enqueue")
void BPF_PROG(fail_enqueue, struct task_struct *p, __u64 enq_flags)
{
	static char words[] = "cannot go on with %d";
	unsigned long long data[] = { LEAVE_CODE };

	if (*(__u64 *)p->comm == STALL_COMM)
		scx_bpf_error_bstr(words, data, sizeof(data));
	insert(p, SCX_DSQ_GLOBAL, enq_flags);
}

SEC("struct_ops/leave_enqueue")
void BPF_PROG(leave_enqueue, struct task_struct *p, __u64 enq_flags)
{
	static char words[] = "that was all";
	unsigned long long data[] = { 0 };

	if (*(__u64 *)p->comm == STALL_COMM)
		scx_bpf_exit_bstr(LEAVE_CODE, words, data, 0);
	insert(p, SCX_DSQ_GLOBAL, enq_flags);
}

SEC(".struct_ops")
struct sched_ext_ops fifo_ops = {
	.select_cpu = (void *)fifo_select_cpu,
	.enqueue = (void *)fifo_enqueue,
	.running = (void *)fifo_running,
	.stopping = (void *)fifo_stopping,
	.exit = (void *)fifo_exit,
	.name = "vm_fifo",
};

/* Has only those that ask for it: SCHED_EXT. */
SEC(".struct_ops")
struct sched_ext_ops partial_ops = {
	.select_cpu = (void *)stall_select_cpu,
	.enqueue = (void *)fifo_enqueue,
	.running = (void *)fifo_running,
	.stopping = (void *)fifo_stopping,
	.exit = (void *)fifo_exit,
	.flags = SWITCH_PARTIAL,
	.name = "vm_partial",
};

SEC(".struct_ops")
struct sched_ext_ops vtime_ops = {
	.select_cpu = (void *)fifo_select_cpu,
	.enqueue = (void *)vtime_enqueue,
	.dispatch = (void *)vtime_dispatch,
	.running = (void *)vtime_running,
	.stopping = (void *)vtime_stopping,
	.enable = (void *)vtime_enable,
	.init = (void *)vtime_init,
	.exit = (void *)fifo_exit,
	.name = "vm_vtime",
};

SEC(".struct_ops")
struct sched_ext_ops layered_ops = {
	.select_cpu = (void *)fifo_select_cpu,
	.enqueue = (void *)layered_enqueue,
	.dispatch = (void *)layered_dispatch,
	.running = (void *)layered_running,
	.stopping = (void *)fifo_stopping,
	.init = (void *)layered_init,
	.exit = (void *)fifo_exit,
	.name = "vm_layered",
};

SEC(".struct_ops")
struct sched_ext_ops ways_ops = {
	.select_cpu = (void *)stall_select_cpu,
	.enqueue = (void *)ways_enqueue,
	.dispatch = (void *)ways_dispatch,
	.running = (void *)vtime_running,
	.stopping = (void *)vtime_stopping,
	.enable = (void *)vtime_enable,
	.init = (void *)ways_init,
	.exit = (void *)fifo_exit,
	.name = "vm_ways",
};

SEC(".struct_ops")
struct sched_ext_ops stall_ops = {
	.select_cpu = (void *)stall_select_cpu,
	.enqueue = (void *)stall_enqueue,
	.running = (void *)fifo_running,
	.stopping = (void *)fifo_stopping,
	.exit = (void *)fifo_exit,
	.timeout_ms = 1000,
	.name = "vm_stall",
};

SEC(".struct_ops")
struct sched_ext_ops fail_ops = {
	.select_cpu = (void *)stall_select_cpu,
	.enqueue = (void *)fail_enqueue,
	.running = (void *)fifo_running,
	.stopping = (void *)fifo_stopping,
	.exit = (void *)fifo_exit,
	.name = "vm_fail",
};

SEC(".struct_ops")
struct sched_ext_ops leave_ops = {
	.select_cpu = (void *)stall_select_cpu,
	.enqueue = (void *)leave_enqueue,
	.running = (void *)fifo_running,
	.stopping = (void *)fifo_stopping,
	.exit = (void *)fifo_exit,
	.name = "vm_leave",
};
