/* What kernels from 6.12 to 7.2 offer to a scheduler of sched_ext, as far as ours use it. */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#define KERNEL_TYPE __attribute__((preserve_access_index))
#define WEAK        __ksym __weak

#define SCX_DSQ_GLOBAL   ((1ULL << 63) | 1)
#define SCX_DSQ_LOCAL    ((1ULL << 63) | 2)
#define SCX_DSQ_LOCAL_ON (3ULL << 62) /* | CPU */

struct sched_ext_entity {
	__u64 slice;
	__u64 dsq_vtime;
	__u32 weight;
} KERNEL_TYPE;

struct task_struct {
	int pid;
	int static_prio;
	char comm[16];
	struct sched_ext_entity scx;
} KERNEL_TYPE;

enum scx_exit_kind {
	SCX_EXIT_NONE,
};

struct scx_exit_info {
	enum scx_exit_kind kind;
	long long exit_code;
	char *msg;
} KERNEL_TYPE;

struct bpf_iter_scx_dsq {
	__u64 opaque[6];
};

struct scx_bpf_dsq_insert_vtime_args {
	__u64 dsq_id;
	__u64 slice;
	__u64 vtime;
	__u64 enq_flags;
};

/* Only what all kernels have: libbpf refuses members that the running one lacks. */
struct sched_ext_ops {
	int (*select_cpu)(struct task_struct *p, int prev_cpu, __u64 wake_flags);
	void (*enqueue)(struct task_struct *p, __u64 enq_flags);
	void (*dispatch)(int cpu, struct task_struct *prev);
	void (*running)(struct task_struct *p);
	void (*stopping)(struct task_struct *p, bool runnable);
	void (*enable)(struct task_struct *p);
	int (*init)(void);
	void (*exit)(struct scx_exit_info *info);
	__u32 timeout_ms;
	__u64 flags;
	char name[128];
};

extern int scx_bpf_select_cpu_dfl(struct task_struct *p, int prev_cpu, __u64 wake_flags,
                                  bool *is_idle) __ksym;
extern void scx_bpf_error_bstr(char *fmt, unsigned long long *data, __u32 data__sz) __ksym;
extern void scx_bpf_exit_bstr(long long exit_code, char *fmt, unsigned long long *data,
                              __u32 data__sz) __ksym;
extern int scx_bpf_create_dsq(__u64 dsq_id, int node) __ksym;
extern int scx_bpf_dsq_nr_queued(__u64 dsq_id) __ksym;
extern int scx_bpf_task_cpu(const struct task_struct *p) __ksym;
extern int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, __u64 dsq_id, __u64 flags) __ksym;
extern struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it) __ksym;
extern void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) __ksym;
/* Linux 6.12 */
extern void scx_bpf_dispatch(struct task_struct *p, __u64 dsq_id, __u64 slice,
                             __u64 enq_flags) WEAK;
extern void scx_bpf_dispatch_vtime(struct task_struct *p, __u64 dsq_id, __u64 slice, __u64 vtime,
                                   __u64 enq_flags) WEAK;
extern bool scx_bpf_consume(__u64 dsq_id) WEAK;
extern bool scx_bpf_dispatch_from_dsq(struct bpf_iter_scx_dsq *it, struct task_struct *p,
                                      __u64 dsq_id, __u64 enq_flags) WEAK;
extern bool scx_bpf_dispatch_vtime_from_dsq(struct bpf_iter_scx_dsq *it, struct task_struct *p,
                                            __u64 dsq_id, __u64 enq_flags) WEAK;
extern void scx_bpf_dispatch_from_dsq_set_slice(struct bpf_iter_scx_dsq *it, __u64 slice) WEAK;
extern void scx_bpf_dispatch_from_dsq_set_vtime(struct bpf_iter_scx_dsq *it, __u64 vtime) WEAK;
/* later ones */
extern bool scx_bpf_dsq_insert___v2(struct task_struct *p, __u64 dsq_id, __u64 slice,
                                    __u64 enq_flags) WEAK;
extern void scx_bpf_dsq_insert_vtime(struct task_struct *p, __u64 dsq_id, __u64 slice, __u64 vtime,
                                     __u64 enq_flags) WEAK;
extern bool scx_bpf_dsq_move_to_local___v2(__u64 dsq_id, __u64 enq_flags) WEAK;
extern bool scx_bpf_dsq_move_vtime(struct bpf_iter_scx_dsq *it, struct task_struct *p, __u64 dsq_id,
                                   __u64 enq_flags) WEAK;
extern void scx_bpf_dsq_move_set_slice(struct bpf_iter_scx_dsq *it, __u64 slice) WEAK;
extern void scx_bpf_dsq_move_set_vtime(struct bpf_iter_scx_dsq *it, __u64 vtime) WEAK;
extern void scx_bpf_dsq_insert(struct task_struct *p, __u64 dsq_id, __u64 slice,
                               __u64 enq_flags) WEAK;
extern bool __scx_bpf_dsq_insert_vtime(struct task_struct *p,
                                       struct scx_bpf_dsq_insert_vtime_args *args) WEAK;
extern bool scx_bpf_dsq_move_to_local(__u64 dsq_id) WEAK;
extern bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it, struct task_struct *p, __u64 dsq_id,
                             __u64 enq_flags) WEAK;
