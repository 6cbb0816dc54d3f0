#include "analyses/sleep_ends.h"

#include "abi/call.h"
#include "model/interrupt.h"

#define MAX_ENDS 3 /* of one row */

/* What each call waits for, as far as the call alone says it. */
static const char *const words[ABI_CALL_MAX] = {
	[ABI_CALL_KTHREAD] = "work of the kernel",
	[ABI_CALL_NONE] = "no system call: a page fault or another exception",
	[ABI_CALL_futex] = "a lock or a condition",
	[ABI_CALL_nanosleep] = "a timer",
	[ABI_CALL_clock_nanosleep] = "a timer",
	[ABI_CALL_poll] = "events on files",
	[ABI_CALL_ppoll] = "events on files",
	[ABI_CALL_select] = "events on files",
	[ABI_CALL_pselect6] = "events on files",
	[ABI_CALL_epoll_wait] = "events on files",
	[ABI_CALL_epoll_pwait] = "events on files",
	[ABI_CALL_epoll_pwait2] = "events on files",
	[ABI_CALL_read] = "data from a file, a pipe or a socket",
	[ABI_CALL_pread64] = "data from a file, a pipe or a socket",
	[ABI_CALL_readv] = "data from a file, a pipe or a socket",
	[ABI_CALL_preadv] = "data from a file, a pipe or a socket",
	[ABI_CALL_preadv2] = "data from a file, a pipe or a socket",
	[ABI_CALL_write] = "a file, a pipe or a socket to take data",
	[ABI_CALL_pwrite64] = "a file, a pipe or a socket to take data",
	[ABI_CALL_writev] = "a file, a pipe or a socket to take data",
	[ABI_CALL_pwritev] = "a file, a pipe or a socket to take data",
	[ABI_CALL_pwritev2] = "a file, a pipe or a socket to take data",
	[ABI_CALL_recvfrom] = "data from a socket",
	[ABI_CALL_recvmsg] = "data from a socket",
	[ABI_CALL_recvmmsg] = "data from a socket",
	[ABI_CALL_sendto] = "a socket to take data",
	[ABI_CALL_sendmsg] = "a socket to take data",
	[ABI_CALL_sendmmsg] = "a socket to take data",
	[ABI_CALL_accept] = "a connection",
	[ABI_CALL_accept4] = "a connection",
	[ABI_CALL_connect] = "a connection",
	[ABI_CALL_fsync] = "data to reach the disk",
	[ABI_CALL_fdatasync] = "data to reach the disk",
	[ABI_CALL_sync] = "data to reach the disk",
	[ABI_CALL_syncfs] = "data to reach the disk",
	[ABI_CALL_sync_file_range] = "data to reach the disk",
	[ABI_CALL_msync] = "data to reach the disk",
	[ABI_CALL_wait4] = "a child to end",
	[ABI_CALL_waitid] = "a child to end",
	[ABI_CALL_vfork] = "a child to execute a program",
	[ABI_CALL_rt_sigsuspend] = "a signal",
	[ABI_CALL_rt_sigtimedwait] = "a signal",
	[ABI_CALL_pause] = "a signal",
	[ABI_CALL_io_getevents] = "asynchronous I/O",
	[ABI_CALL_io_uring_enter] = "asynchronous I/O",
	[ABI_CALL_flock] = "a lock of a file",
	[ABI_CALL_msgrcv] = "a message queue",
	[ABI_CALL_msgsnd] = "a message queue",
	[ABI_CALL_mq_timedreceive] = "a message queue",
	[ABI_CALL_mq_timedsend] = "a message queue",
	[ABI_CALL_semop] = "a semaphore",
	[ABI_CALL_semtimedop] = "a semaphore",
	[ABI_CALL_OTHER] = "another system call",
	[ABI_CALL_FOREIGN] = "another system call",
};

uint16_t sleep_call(const struct source *s, const struct pair_sleep *row)
{
	const struct task *t = tasks_at(s->tasks, row->task);

	return !row->call && t && t->is_kthread ? ABI_CALL_KTHREAD : row->call;
}

const char *sleep_for(uint16_t call)
{
	return call < ABI_CALL_MAX ? words[call] : NULL;
}

uint32_t sleep_end(const struct units *u, const struct pair_sleep *s)
{
	enum abi_context in = interrupt_context(s->flags, s->by);

	if (interrupt_is(in))
		return interrupt_key(in, s->by);
	return s->waker == TASKS_NONE ? TASKS_NONE : units_of(u, s->waker);
}

void sleep_ends_report(const struct edges *ends, const struct units *u, uint32_t by,
                       uint64_t all_ns, struct report *r)
{
	const struct edge *at;
	uint32_t nr = edges_of(ends, by, &at);
	struct interrupt interrupt;

	report_begin_array(r, "ended_by");
	for (uint32_t i = 0; i < nr && i < MAX_ENDS; i++) {
		const struct edge *e = &at[i];
		bool is_task = e->to != TASKS_NONE && !interrupt_of_key(e->to, &interrupt);

		report_begin_object(r, NULL);
		waker_report(u->s, r, is_task && u->names ? u->names[e->to] : e->to,
		             UNITS_LAST_NAME);
		report_u64(r, "sleeps", e->count);
		report_u64(r, "sleep_ns", e->sum_ns);
		report_percent(r, "percent", e->sum_ns, all_ns);
		report_end_object(r);
	}
	report_end_array(r);
}
