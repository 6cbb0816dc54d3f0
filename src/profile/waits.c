#include "profile/waits.h"

#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 64 /* of functions in the tables, at most */

/* Sorted, without leading underscores. What the kernel marks as __sched, and what wakes, with the callbacks of wait queues. */
static const char *const scheduler[] = {
	"autoremove_wake_function",
	"bit_wait",
	"bit_wait_io",
	"bit_wait_io_timeout",
	"bit_wait_timeout",
	"child_wait_callback",
	"complete",
	"complete_all",
	"complete_on_current_cpu",
	"complete_with_flags",
	"cond_resched",
	"console_conditional_schedule",
	"context_switch",
	"default_wake_function",
	"do_nanosleep",
	"do_wait_for_common",
	"down",
	"down_common",
	"down_interruptible",
	"down_killable",
	"down_read",
	"down_read_interruptible",
	"down_read_killable",
	"down_read_nested",
	"down_timeout",
	"down_write",
	"down_write_killable",
	"down_write_nested",
	"dynamic_cond_resched",
	"dynamic_might_resched",
	"dynamic_preempt_schedule",
	"dynamic_preempt_schedule_notrace",
	"ep_autoremove_wake_function",
	"ep_poll_callback",
	"ep_poll_wakeup",
	"io_schedule",
	"io_schedule_timeout",
	"ldsem_down_read",
	"ldsem_down_write",
	"mutex_lock",
	"mutex_lock_common",
	"mutex_lock_interruptible",
	"mutex_lock_interruptible_nested",
	"mutex_lock_interruptible_slowpath",
	"mutex_lock_io",
	"mutex_lock_killable",
	"mutex_lock_killable_nested",
	"mutex_lock_killable_slowpath",
	"mutex_lock_nested",
	"mutex_lock_slowpath",
	"mutex_unlock",
	"mutex_unlock_slowpath",
	"out_of_line_wait_on_bit",
	"out_of_line_wait_on_bit_lock",
	"out_of_line_wait_on_bit_timeout",
	"percpu_down_read",
	"percpu_down_write",
	"percpu_rwsem_wait",
	"percpu_rwsem_wake_function",
	"percpu_up_read",
	"percpu_up_write",
	"pollwake",
	"preempt_schedule",
	"preempt_schedule_common",
	"preempt_schedule_irq",
	"preempt_schedule_notrace",
	"prepare_to_wait",
	"prepare_to_wait_event",
	"rcuwait_wake_up",
	"receiver_wake_function",
	"rt_mutex_futex_unlock",
	"rt_mutex_lock",
	"rt_mutex_lock_interruptible",
	"rt_mutex_lock_killable",
	"rt_mutex_postunlock",
	"rt_mutex_slowlock",
	"rt_mutex_slowlock_block",
	"rt_mutex_slowlock_locked",
	"rt_mutex_slowunlock",
	"rt_mutex_unlock",
	"rt_mutex_wait_proxy_lock",
	"rt_mutex_wake_up_q",
	"rt_read_lock",
	"rt_spin_lock",
	"rt_spin_unlock",
	"rt_write_lock",
	"rtlock_slowlock",
	"rtlock_slowlock_locked",
	"rwbase_read_lock",
	"rwbase_write_lock",
	"rwsem_down_read_slowpath",
	"rwsem_down_write_slowpath",
	"rwsem_mark_wake",
	"rwsem_wake",
	"schedule",
	"schedule_hrtimeout",
	"schedule_hrtimeout_range",
	"schedule_hrtimeout_range_clock",
	"schedule_idle",
	"schedule_loop",
	"schedule_preempt_disabled",
	"schedule_rtlock",
	"schedule_timeout",
	"schedule_timeout_idle",
	"schedule_timeout_interruptible",
	"schedule_timeout_killable",
	"schedule_timeout_uninterruptible",
	"swake_up_all",
	"swake_up_all_locked",
	"swake_up_locked",
	"swake_up_one",
	"switch_to",
	"try_to_wake_up",
	"ttwu_do_activate",
	"ttwu_do_wakeup",
	"ttwu_queue",
	"ttwu_queue_wakelist",
	"ttwu_runnable",
	"up",
	"up_read",
	"up_write",
	"usleep_range",
	"usleep_range_state",
	"var_wake_function",
	"wait_for_common",
	"wait_for_common_io",
	"wait_for_completion",
	"wait_for_completion_interruptible",
	"wait_for_completion_interruptible_timeout",
	"wait_for_completion_io",
	"wait_for_completion_io_timeout",
	"wait_for_completion_killable",
	"wait_for_completion_killable_timeout",
	"wait_for_completion_state",
	"wait_for_completion_timeout",
	"wait_on_bit",
	"wait_on_bit_lock",
	"wait_woken",
	"wake_bit_function",
	"wake_page_function",
	"wake_up",
	"wake_up_bit",
	"wake_up_common",
	"wake_up_common_lock",
	"wake_up_locked",
	"wake_up_locked_key",
	"wake_up_locked_sync_key",
	"wake_up_on_current_cpu",
	"wake_up_parent",
	"wake_up_pollfree",
	"wake_up_process",
	"wake_up_q",
	"wake_up_state",
	"wake_up_sync",
	"wake_up_sync_key",
	"wake_up_var",
	"woken_wake_function",
	"ww_mutex_lock",
	"ww_mutex_lock_interruptible",
	"ww_mutex_lock_interruptible_slowpath",
	"ww_mutex_lock_slowpath",
	"ww_mutex_unlock",
	"yield",
	"yield_to",
};

struct wait_kind {
	const char *function; /* without leading underscores */
	const char *words;    /* as of analyses/sleep_ends */
};

/* Sorted by function. */
static const struct wait_kind kinds[] = {
	{ "alarm_timer_nsleep", "a timer" },
	{ "anon_pipe_read", "data from a pipe" },
	{ "anon_pipe_write", "a pipe to take data" },
	{ "balance_dirty_pages", "a disk or a file system" },
	{ "bit_wait_io", "a disk or a file system" },
	{ "bit_wait_io_timeout", "a disk or a file system" },
	{ "blk_mq_get_tag", "a disk or a file system" },
	{ "common_nsleep", "a timer" },
	{ "common_nsleep_timens", "a timer" },
	{ "core_sys_select", "events on files" },
	{ "do_cpu_nanosleep", "a timer" },
	{ "do_epoll_wait", "events on files" },
	{ "do_freezer_trap", "to be continued" },
	{ "do_futex", "a lock or a condition" },
	{ "do_jobctl_trap", "to be continued" },
	{ "do_msgrcv", "a message queue" },
	{ "do_msgsnd", "a message queue" },
	{ "do_nanosleep", "a timer" },
	{ "do_poll", "events on files" },
	{ "do_select", "events on files" },
	{ "do_semtimedop", "a semaphore" },
	{ "do_signal_stop", "to be continued" },
	{ "do_sigtimedwait", "a signal" },
	{ "do_swap_page", "memory" },
	{ "do_sys_poll", "events on files" },
	{ "do_wait", "a child to end" },
	{ "down", "a lock of the kernel" },
	{ "down_common", "a lock of the kernel" },
	{ "down_interruptible", "a lock of the kernel" },
	{ "down_killable", "a lock of the kernel" },
	{ "down_read", "a lock of the kernel" },
	{ "down_read_killable", "a lock of the kernel" },
	{ "down_write", "a lock of the kernel" },
	{ "down_write_killable", "a lock of the kernel" },
	{ "ep_poll", "events on files" },
	{ "eventfd_read", "events on files" },
	{ "fifo_open", "data from a pipe" },
	{ "fifo_pipe_read", "data from a pipe" },
	{ "flock_lock_inode_wait", "a lock of a file" },
	{ "folio_wait_bit", "a disk or a file system" },
	{ "folio_wait_bit_common", "a disk or a file system" },
	{ "folio_wait_writeback", "a disk or a file system" },
	{ "futex_do_wait", "a lock or a condition" },
	{ "futex_lock_pi", "a lock or a condition" },
	{ "futex_wait", "a lock or a condition" },
	{ "futex_wait_multiple", "a lock or a condition" },
	{ "futex_wait_queue", "a lock or a condition" },
	{ "futex_wait_queue_me", "a lock or a condition" },
	{ "futex_wait_requeue_pi", "a lock or a condition" },
	{ "handle_userfault", "memory" },
	{ "hrtimer_nanosleep", "a timer" },
	{ "hrtimer_nanosleep_restart", "a timer" },
	{ "inet_csk_accept", "a connection" },
	{ "inet_csk_wait_for_connect", "a connection" },
	{ "inet_stream_connect", "a connection" },
	{ "inet_wait_for_connect", "a connection" },
	{ "inotify_read", "events on files" },
	{ "io_cqring_wait", "asynchronous I/O" },
	{ "io_schedule", "a disk or a file system" },
	{ "io_schedule_timeout", "a disk or a file system" },
	{ "io_wq_worker", "asynchronous I/O" },
	{ "irq_thread", "work of the kernel" },
	{ "jbd2_log_wait_commit", "a disk or a file system" },
	{ "kcompactd", "work of the kernel" },
	{ "kernel_clone", "a child to execute a program" }, /* wait_for_vfork_done(), inlined */
	{ "kernel_wait4", "a child to end" },
	{ "kernel_waitid", "a child to end" },
	{ "khugepaged", "work of the kernel" },
	{ "kswapd", "work of the kernel" },
	{ "kthread", "work of the kernel" },
	{ "kthread_worker_fn", "work of the kernel" },
	{ "kthreadd", "work of the kernel" },
	{ "ldsem_down_read", "a lock of the kernel" },
	{ "ldsem_down_write", "a lock of the kernel" },
	{ "locks_lock_inode_wait", "a lock of a file" },
	{ "mem_cgroup_handle_over_high", "memory" },
	{ "msleep", "a timer" },
	{ "msleep_interruptible", "a timer" },
	{ "mutex_lock", "a lock of the kernel" },
	{ "mutex_lock_interruptible", "a lock of the kernel" },
	{ "mutex_lock_killable", "a lock of the kernel" },
	{ "mutex_lock_slowpath", "a lock of the kernel" },
	{ "n_tty_read", "a terminal" },
	{ "n_tty_write", "a terminal" },
	{ "netlink_recvmsg", "data from a socket" },
	{ "percpu_down_read", "a lock of the kernel" },
	{ "percpu_down_write", "a lock of the kernel" },
	{ "percpu_rwsem_wait", "a lock of the kernel" },
	{ "pipe_read", "data from a pipe" },
	{ "pipe_wait_readable", "data from a pipe" },
	{ "pipe_wait_writable", "a pipe to take data" },
	{ "pipe_write", "a pipe to take data" },
	{ "poll_schedule_timeout", "events on files" },
	{ "posix_lock_inode_wait", "a lock of a file" },
	{ "ptrace_stop", "to be continued" },
	{ "rcu_gp_fqs_loop", "work of the kernel" },
	{ "rcu_gp_kthread", "work of the kernel" },
	{ "read_events", "asynchronous I/O" },
	{ "rescuer_thread", "work of the kernel" },
	{ "rq_qos_wait", "a disk or a file system" },
	{ "rt_mutex_lock", "a lock of the kernel" },
	{ "rt_mutex_slowlock", "a lock of the kernel" },
	{ "rt_spin_lock", "a lock of the kernel" },
	{ "rtlock_slowlock", "a lock of the kernel" },
	{ "rwsem_down_read_slowpath", "a lock of the kernel" },
	{ "rwsem_down_write_slowpath", "a lock of the kernel" },
	{ "signalfd_read", "events on files" },
	{ "sigsuspend", "a signal" },
	{ "sk_stream_wait_memory", "a socket to take data" },
	{ "sk_wait_data", "data from a socket" },
	{ "skb_recv_datagram", "data from a socket" },
	{ "skb_recv_udp", "data from a socket" },
	{ "skb_wait_for_more_packets", "data from a socket" },
	{ "smpboot_thread_fn", "work of the kernel" },
	{ "sock_alloc_send_pskb", "a socket to take data" },
	{ "sock_wait_for_wmem", "a socket to take data" },
	{ "submit_bio_wait", "a disk or a file system" },
	{ "synchronize_rcu", "a grace period of RCU" },
	{ "synchronize_rcu_expedited", "a grace period of RCU" },
	{ "synchronize_rcu_normal", "a grace period of RCU" },
	{ "synchronize_srcu", "a grace period of RCU" },
	{ "tcp_recvmsg", "data from a socket" },
	{ "throttle_direct_reclaim", "memory" },
	{ "timerfd_read", "events on files" },
	{ "try_to_free_pages", "memory" },
	{ "tty_wait_until_sent", "a terminal" },
	{ "unix_accept", "a connection" },
	{ "unix_dgram_recvmsg", "data from a socket" },
	{ "unix_stream_connect", "a connection" },
	{ "unix_stream_data_wait", "data from a socket" },
	{ "unix_stream_read_generic", "data from a socket" },
	{ "unix_wait_for_peer", "a socket to take data" },
	{ "usleep_range", "a timer" },
	{ "usleep_range_state", "a timer" },
	{ "vsock_connectible_wait_data", "data from a socket" },
	{ "vsock_wait_data", "a socket to take data" },
	{ "wait_for_partner", "data from a pipe" },
	{ "wait_for_vfork_done", "a child to execute a program" },
	{ "wait_on_buffer", "a disk or a file system" },
	{ "wait_on_page_bit", "a disk or a file system" },
	{ "wait_on_page_bit_common", "a disk or a file system" },
	{ "wait_rcu_gp", "a grace period of RCU" },
	{ "wait_transaction_locked", "a disk or a file system" },
	{ "wb_wait_for_completion", "a disk or a file system" },
	{ "worker_thread", "work of the kernel" },
	{ "wq_sleep", "a message queue" },
	{ "ww_mutex_lock", "a lock of the kernel" },
};

/* Without leading underscores, and without what compilers append: __mutex_lock.constprop.0. False if it is too long. */
static bool plain_name(const char *symbol, char name[static NAME_BYTES])
{
	size_t len;

	symbol += strspn(symbol, "_");
	len = strcspn(symbol, ".");
	if (len >= NAME_BYTES)
		return false;
	memcpy(name, symbol, len);
	name[len] = '\0';
	return true;
}

static int by_name(const void *key, const void *entry)
{
	const char *const *name = entry;

	/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): it takes members of a table for unset */
	return strcmp(key, *name);
}

bool wait_is_scheduler(const char *symbol)
{
	char name[NAME_BYTES];

	return plain_name(symbol, name) &&
	       bsearch(name, scheduler, sizeof(scheduler) / sizeof(scheduler[0]),
	               sizeof(scheduler[0]), by_name);
}

bool profile_is_of_waits(const struct profile *p)
{
	const char *event = profile_facts(p)->event;

	return strcmp(event, "off-cpu") == 0 || strcmp(event, "waker") == 0;
}

size_t profile_waiter(const struct profile *p, const struct profile_stack *stack)
{
	for (size_t i = 0; i < stack->nr; i++) {
		const struct profile_frame *frame = profile_frame_at(p, stack->frames[i]);

		if (!frame->is_kernel || !wait_is_scheduler(frame->symbol))
			return i;
	}
	return 0; /* nothing but the scheduler: its innermost function is all that is known */
}

/* struct wait_kind begins with the name. */
static const struct wait_kind *kind_of(const char *symbol)
{
	char name[NAME_BYTES];

	if (!plain_name(symbol, name))
		return NULL;
	return bsearch(name, kinds, sizeof(kinds) / sizeof(kinds[0]), sizeof(kinds[0]), by_name);
}

const char *profile_waited_for(const struct profile *p, const struct profile_stack *stack)
{
	const struct profile_frame *frame;

	for (size_t i = 0; i < stack->nr; i++) {
		const struct wait_kind *kind;

		frame = profile_frame_at(p, stack->frames[i]);
		kind = frame->is_kernel ? kind_of(frame->symbol) : NULL;
		if (kind)
			return kind->words;
	}
	frame = stack->nr ? profile_frame_at(p, stack->frames[profile_waiter(p, stack)]) : NULL;
	return frame && frame->is_kernel ? frame->symbol : "not known: no frames of the kernel";
}
