/*
 * bpf/kernel — the kernel's types as far as the programs read them.
 *
 * Declared by hand with preserve_access_index: CO-RE finds the fields in the running kernel, so these need
 * neither the right order nor the right size, and a build needs no BTF of the build host. Fields that some
 * kernels lack are read behind bpf_core_field_exists(); a name with three underscores ("flavour") is
 * another release's layout of the same type.
 */
#pragma once

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
	__u64 id; /* a cgroup's id; the same number that user space sees as inode */
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	struct kernfs_node *kn;
	struct cgroup_root *root;
	int level;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

enum cgroup_subsys_id { cpu_cgrp_id };

struct cgroup___ancestors { /* Linux 6.1: pointers */
	struct cgroup *ancestors[1];
};

struct cgroup___ancestor_ids { /* before: ids */
	__u64 ancestor_ids[1];
};

struct css_set {
	struct cgroup_subsys_state *subsys[1]; /* by enum cgroup_subsys_id */
	struct cgroup *dfl_cgrp;               /* on the v2 hierarchy */
};

struct task_struct;

struct list_head {
	struct list_head *next;
};

struct timerqueue_node {
	long long expires; /* CLOCK_MONOTONIC, of all timers here */
};

struct hrtimer {
	struct timerqueue_node node;
	void *function;
};

struct sched_dl_entity {
	__u64 dl_runtime;
	__u64 dl_period;
	unsigned int dl_throttled : 1;
	unsigned int dl_yielded : 1;
	struct hrtimer dl_timer; /* until the next period */
};

struct rt_rq {
	int rt_throttled; /* with CONFIG_RT_GROUP_SCHED, or before Linux 6.12 */
};

struct cfs_bandwidth { /* the quota of a cgroup */
	long long period;
	__u64 quota;
	struct hrtimer period_timer;
	struct hrtimer slack_timer;
	struct list_head throttled_cfs_rq;
};

struct task_group {
	struct cgroup_subsys_state css;
	struct cfs_bandwidth cfs_bandwidth;
};

struct cfs_rq {
	struct rq *rq;
	struct task_group *tg;
	long long runtime_remaining;
	__u64 throttled_clock; /* since when; 0 = it is not, or has no tasks */
	struct list_head throttled_list;
	unsigned int throttled : 1; /* an int before 6.18 */
	int throttle_count;         /* its cgroup, or those above, are throttled */
	unsigned int h_nr_queued;   /* Linux 6.14 */
	unsigned int h_nr_runnable; /* Linux 6.14: without tasks whose dequeue is delayed */
};

struct cfs_rq___delayed { /* Linux 6.13 */
	unsigned int h_nr_delayed;
};

struct rq {
	unsigned int nr_running;
	int cpu;
	struct task_struct *curr;
	struct cfs_rq cfs;
	struct rt_rq rt;
	__u64 clock;
	__u64 prev_steal_time_rq; /* CONFIG_PARAVIRT_TIME_ACCOUNTING */
};

struct rq___delayed {
	struct cfs_rq___delayed cfs;
};

struct sched_entity {
	struct sched_entity *parent; /* of its cgroup */
	struct cfs_rq *cfs_rq;
	unsigned char sched_delayed; /* Linux 6.12: asleep, though still in the queue */
};

struct thread_info {
	__u32 cpu;           /* Linux 5.16 */
	__u64 preempt_count; /* arm64; x86 keeps it with the CPU */
};

struct thread_info___x86 {
	__u32 status;
};

struct thread_info___arm64 {
	unsigned long flags;
};

/* What user space had in its registers when it entered the kernel. */
struct pt_regs___entry_x86 {
	unsigned long si, di;
	unsigned long orig_ax; /* number of the system call; -1 = came by something else */
};

struct pt_regs___entry_arm64 {
	__u64 regs[31];
	__u64 orig_x0;
	__s32 syscallno; /* -1 = none */
};

struct task_struct___cpu { /* before 5.16 on arm64 and others */
	__u32 cpu;
};

struct task_struct___state { /* before 5.14 */
	long state;
};

struct task_struct___rt { /* PREEMPT_RT */
	int softirq_disable_cnt;
};

struct refcount_struct {
	struct {
		int counter;
	} refs;
};

struct scx_dispatch_q { /* Linux 6.12, like all of sched_ext */
	__u32 nr;
	__u64 id;
};

struct sched_ext_entity {
	struct scx_dispatch_q *dsq; /* that it is in */
	int holding_cpu;            /* has taken it from there and is about to move it; -1 = none */
	__u64 slice;
	__u64 dsq_vtime;
};

struct sched_ext_ops {
	char name[128];
};

enum scx_exit_kind { SCX_EXIT_NONE };

struct scx_exit_info {
	enum scx_exit_kind kind;
	long long exit_code;
	char *msg;
};

struct scx_sched { /* Linux 6.16 */
	struct scx_exit_info *exit_info;
};

struct cpumask {
	unsigned long bits[16]; /* as many as the kernel was built for */
};

struct signal_struct {
	struct list_head thread_head; /* the threads of the process, by their thread_node */
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int on_cpu; /* int; a byte since 7.x: CO-RE resizes unsigned ones only */
	unsigned int on_rq;  /* likewise; 1 = queued */
	int exit_state;
	unsigned int flags; /* PF_* */
	int prio;
	int normal_prio; /* without what it inherits from a waiter for a lock */
	unsigned int policy;
	int nr_cpus_allowed;
	struct cpumask cpus_mask; /* cpus_ptr is another one while migration is disabled */
	struct sched_entity se;
	struct sched_dl_entity dl;
	struct sched_dl_entity *dl_server; /* on whose time it runs; Linux 6.8 */
	struct sched_ext_entity scx;
	int pid;              /* what user space calls tid */
	int tgid;             /* what user space calls pid */
	struct mm_struct *mm; /* none of threads of the kernel, and of what exits */
	struct task_struct *group_leader;
	struct list_head thread_node;
	struct signal_struct *signal;
	__u64 start_boottime;
	__u64 self_exec_id; /* programs that it has been, by exec */
	char comm[16];
	struct css_set *cgroups;
	unsigned long core_cookie; /* CONFIG_SCHED_CORE */
	unsigned char throttled;   /* Linux 6.18 */
};

struct gendisk {
	int major;
	int first_minor;
};

struct request_queue {
	struct gendisk *disk;
};

enum req_flag_bits { __REQ_SYNC, __REQ_META, __REQ_FUA, __REQ_PREFLUSH, __REQ_RAHEAD };

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	__u64 __sector; /* ~0 = none */
};

struct net_device {
	char name[16];
};

struct sk_buff {
	struct net_device *dev;
	unsigned int len;
};

struct super_block {
	__u32 s_dev;
};

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
};

struct file {
	struct inode *f_inode;
};

struct irqaction {
	const char *name;
};

struct work_struct {
	void *func;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

/* Flags of a task: it has no user space of its own, so no system call either. */
#define PF_IO_WORKER   0x00000010
#define PF_USER_WORKER 0x00004000 /* Linux 6.4 */
#define PF_KTHREAD     0x00200000

/* Task states (include/linux/sched.h); stable since 4.14 but for NOLOAD's neighbours. */
#define TASK_INTERRUPTIBLE   0x0001
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_REPORT          0x007f /* what may be passed to user space */
#define TASK_DEAD            0x0080
#define TASK_NOLOAD          0x0400
#define TASK_RTLOCK_WAIT     0x1000
#define TASK_FROZEN          0x8000
