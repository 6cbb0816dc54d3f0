/*
 * The system calls in which tasks sleep, by their numbers on machines that recordings come from. Those of 32-bit programs have
 * others, which events do not tell apart.
 */
#include <string.h>

#include "trace/ftrace/events.h"
#include "trace/reader_priv.h"

#define CALLS_MAX 512U
#define NONE      0xffffU

enum { ON_X86_64, ON_ARM64, NR_MACHINES };

static const struct {
	uint16_t nr[NR_MACHINES];
	uint8_t call;
} calls[] = {
	{ { 0, 63 }, ABI_CALL_read },
	{ { 17, 67 }, ABI_CALL_pread64 },
	{ { 19, 65 }, ABI_CALL_readv },
	{ { 295, 69 }, ABI_CALL_preadv },
	{ { 327, 286 }, ABI_CALL_preadv2 },
	{ { 1, 64 }, ABI_CALL_write },
	{ { 18, 68 }, ABI_CALL_pwrite64 },
	{ { 20, 66 }, ABI_CALL_writev },
	{ { 296, 70 }, ABI_CALL_pwritev },
	{ { 328, 287 }, ABI_CALL_pwritev2 },
	{ { 45, 207 }, ABI_CALL_recvfrom },
	{ { 47, 212 }, ABI_CALL_recvmsg },
	{ { 299, 243 }, ABI_CALL_recvmmsg },
	{ { 44, 206 }, ABI_CALL_sendto },
	{ { 46, 211 }, ABI_CALL_sendmsg },
	{ { 307, 269 }, ABI_CALL_sendmmsg },
	{ { 43, 202 }, ABI_CALL_accept },
	{ { 288, 242 }, ABI_CALL_accept4 },
	{ { 42, 203 }, ABI_CALL_connect },
	{ { 202, 98 }, ABI_CALL_futex },
	{ { 35, 101 }, ABI_CALL_nanosleep },
	{ { 230, 115 }, ABI_CALL_clock_nanosleep },
	{ { 271, 73 }, ABI_CALL_ppoll },
	{ { 270, 72 }, ABI_CALL_pselect6 },
	{ { 281, 22 }, ABI_CALL_epoll_pwait },
	{ { 441, 441 }, ABI_CALL_epoll_pwait2 },
	{ { 74, 82 }, ABI_CALL_fsync },
	{ { 75, 83 }, ABI_CALL_fdatasync },
	{ { 162, 81 }, ABI_CALL_sync },
	{ { 306, 267 }, ABI_CALL_syncfs },
	{ { 277, 84 }, ABI_CALL_sync_file_range },
	{ { 26, 227 }, ABI_CALL_msync },
	{ { 61, 260 }, ABI_CALL_wait4 },
	{ { 247, 95 }, ABI_CALL_waitid },
	{ { 130, 133 }, ABI_CALL_rt_sigsuspend },
	{ { 128, 137 }, ABI_CALL_rt_sigtimedwait },
	{ { 208, 4 }, ABI_CALL_io_getevents },
	{ { 426, 426 }, ABI_CALL_io_uring_enter },
	{ { 73, 32 }, ABI_CALL_flock },
	{ { 72, 25 }, ABI_CALL_fcntl },
	{ { 257, 56 }, ABI_CALL_openat },
	{ { 437, 437 }, ABI_CALL_openat2 },
	{ { 3, 57 }, ABI_CALL_close },
	{ { 9, 222 }, ABI_CALL_mmap },
	{ { 11, 215 }, ABI_CALL_munmap },
	{ { 10, 226 }, ABI_CALL_mprotect },
	{ { 28, 233 }, ABI_CALL_madvise },
	{ { 12, 214 }, ABI_CALL_brk },
	{ { 56, 220 }, ABI_CALL_clone },
	{ { 435, 435 }, ABI_CALL_clone3 },
	{ { 59, 221 }, ABI_CALL_execve },
	{ { 231, 94 }, ABI_CALL_exit_group },
	{ { 70, 188 }, ABI_CALL_msgrcv },
	{ { 69, 189 }, ABI_CALL_msgsnd },
	{ { 65, 193 }, ABI_CALL_semop },
	{ { 220, 192 }, ABI_CALL_semtimedop },
	{ { 243, 183 }, ABI_CALL_mq_timedreceive },
	{ { 242, 182 }, ABI_CALL_mq_timedsend },
	{ { 275, 76 }, ABI_CALL_splice },
	{ { 40, 71 }, ABI_CALL_sendfile },
	{ { 326, 285 }, ABI_CALL_copy_file_range },
	{ { 217, 61 }, ABI_CALL_getdents64 },
	{ { 16, 29 }, ABI_CALL_ioctl },
	{ { 324, 283 }, ABI_CALL_membarrier },
	{ { 285, 47 }, ABI_CALL_fallocate },
	{ { 77, 46 }, ABI_CALL_ftruncate },
	{ { 263, 35 }, ABI_CALL_unlinkat },
	{ { 316, 276 }, ABI_CALL_renameat2 },
	{ { 219, 128 }, ABI_CALL_restart_syscall },
	{ { 321, 280 }, ABI_CALL_bpf },
	{ { 60, 93 }, ABI_CALL_exit },
	{ { 322, 281 }, ABI_CALL_execveat },
	{ { 25, 216 }, ABI_CALL_mremap },
	{ { 310, 270 }, ABI_CALL_process_vm_readv },
	{ { 332, 291 }, ABI_CALL_statx },
	{ { 7, NONE }, ABI_CALL_poll },
	{ { 23, NONE }, ABI_CALL_select },
	{ { 232, NONE }, ABI_CALL_epoll_wait },
	{ { 34, NONE }, ABI_CALL_pause },
	{ { 57, NONE }, ABI_CALL_fork },
	{ { 58, NONE }, ABI_CALL_vfork },
	{ { 2, NONE }, ABI_CALL_open },
	{ { 87, NONE }, ABI_CALL_unlink },
	{ { 82, NONE }, ABI_CALL_rename },
	{ { 78, NONE }, ABI_CALL_getdents },
};

bool ftrace_call_of(const struct trace_info *info, uint64_t nr, uint16_t *out)
{
	size_t machine = strcmp(info->machine, "x86_64") == 0 ? ON_X86_64 : ON_ARM64;

	if ((machine == ON_ARM64 && strcmp(info->machine, "aarch64") != 0) || nr >= CALLS_MAX)
		return false;
	*out = ABI_CALL_OTHER;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].nr[machine] == nr)
			*out = calls[i].call;
	return true;
}

/* The merge knows which task sleeps in which: a call may begin on one CPU and sleep on another. */
void ftrace_on_call(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct in_call *rec;

	if (!e->has_pid || !e->pid)
		return;
	rec = rec_add(on->dec->out, IN_CALL, sizeof(*rec), on->cpu, e->ts_ns);
	rec->tid = e->pid;
	rec->is_end = e->member == FTRACE_SYS_EXIT;
	rec->nr = e->has & 1U << CALL_ID ? e->values[CALL_ID] : UINT64_MAX;
	rec->args[0] = e->has & 1U << CALL_ARG0 ? e->values[CALL_ARG0] : 0;
	rec->args[1] = e->has & 1U << CALL_ARG1 ? e->values[CALL_ARG1] : 0;
}
