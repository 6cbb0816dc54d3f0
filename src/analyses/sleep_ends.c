#include "analyses/sleep_ends.h"

#include <stdlib.h>

#include "abi/call.h"
#include "model/interrupt.h"

#define MAX_ENDS 3 /* of one row */

const char *sleep_for(uint16_t call)
{
	switch (call) {
	case ABI_CALL_KTHREAD:
		return "work of the kernel";
	case ABI_CALL_NONE:
		return "no system call: a page fault or another exception";
	case ABI_CALL_futex:
		return "a lock or a condition";
	case ABI_CALL_nanosleep:
	case ABI_CALL_clock_nanosleep:
		return "a timer";
	case ABI_CALL_poll:
	case ABI_CALL_ppoll:
	case ABI_CALL_select:
	case ABI_CALL_pselect6:
	case ABI_CALL_epoll_wait:
	case ABI_CALL_epoll_pwait:
	case ABI_CALL_epoll_pwait2:
		return "events on files";
	case ABI_CALL_read:
	case ABI_CALL_pread64:
	case ABI_CALL_readv:
	case ABI_CALL_preadv:
	case ABI_CALL_preadv2:
		return "data from a file, a pipe or a socket";
	case ABI_CALL_write:
	case ABI_CALL_pwrite64:
	case ABI_CALL_writev:
	case ABI_CALL_pwritev:
	case ABI_CALL_pwritev2:
		return "a file, a pipe or a socket to take data";
	case ABI_CALL_recvfrom:
	case ABI_CALL_recvmsg:
	case ABI_CALL_recvmmsg:
		return "data from a socket";
	case ABI_CALL_sendto:
	case ABI_CALL_sendmsg:
	case ABI_CALL_sendmmsg:
		return "a socket to take data";
	case ABI_CALL_accept:
	case ABI_CALL_accept4:
	case ABI_CALL_connect:
		return "a connection";
	case ABI_CALL_fsync:
	case ABI_CALL_fdatasync:
	case ABI_CALL_sync:
	case ABI_CALL_syncfs:
	case ABI_CALL_sync_file_range:
	case ABI_CALL_msync:
		return "data to reach the disk";
	case ABI_CALL_wait4:
	case ABI_CALL_waitid:
		return "a child to end";
	case ABI_CALL_vfork:
		return "a child to execute a program";
	case ABI_CALL_rt_sigsuspend:
	case ABI_CALL_rt_sigtimedwait:
	case ABI_CALL_pause:
		return "a signal";
	case ABI_CALL_io_getevents:
	case ABI_CALL_io_uring_enter:
		return "asynchronous I/O";
	case ABI_CALL_flock:
		return "a lock of a file";
	case ABI_CALL_msgrcv:
	case ABI_CALL_msgsnd:
	case ABI_CALL_mq_timedreceive:
	case ABI_CALL_mq_timedsend:
		return "a message queue";
	case ABI_CALL_semop:
	case ABI_CALL_semtimedop:
		return "a semaphore";
	case ABI_CALL_OTHER:
	case ABI_CALL_FOREIGN:
		return "another system call";
	default:
		return NULL;
	}
}

uint32_t sleep_end(const struct units *u, const struct pair_sleep *s)
{
	enum abi_context in = interrupt_context(s->flags, s->by);

	if (interrupt_is(in))
		return interrupt_key(in, s->by);
	return s->waker == TASKS_NONE ? TASKS_NONE : units_of(u, s->waker);
}

static int by_time(const void *a, const void *b)
{
	const struct edge *left = a, *right = b;

	if (left->by != right->by)
		return left->by < right->by ? -1 : 1;
	if (left->sum_ns != right->sum_ns)
		return left->sum_ns > right->sum_ns ? -1 : 1;
	return (left->to > right->to) - (left->to < right->to);
}

void sleep_edges_sort(struct edges *e)
{
	if (e->nr)
		qsort(e->at, e->nr, sizeof(*e->at), by_time);
}

uint32_t sleep_edges_first(const struct edges *e, uint32_t by)
{
	uint32_t low = 0, high = e->nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (e->at[middle].by < by)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void sleep_ends_report(const struct edges *ends, const struct units *u, uint32_t by, uint64_t all_ns,
                       struct report *r)
{
	uint32_t first = sleep_edges_first(ends, by);
	struct interrupt interrupt;

	report_begin_array(r, "ended_by");
	for (uint32_t i = first; i < ends->nr && i < first + MAX_ENDS && ends->at[i].by == by; i++) {
		const struct edge *e = &ends->at[i];
		bool is_task = e->to != TASKS_NONE && !interrupt_of_key(e->to, &interrupt);

		report_begin_object(r, NULL);
		waker_report(u->s, r, is_task && u->names ? u->names[e->to] : e->to, UNITS_LAST_NAME);
		report_u64(r, "sleeps", e->count);
		report_u64(r, "sleep_ns", e->sum_ns);
		report_percent(r, "percent", e->sum_ns, all_ns);
		report_end_object(r);
	}
	report_end_array(r);
}
