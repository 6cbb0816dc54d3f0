/*
 * abi/call — system calls in which tasks sleep, by numbers of our own: those of the kernel differ between
 * machines, and a recording is read on any. Numbers are append-only.
 */
#pragma once

#include <linux/types.h>

/* number, name */
#define ABI_CALLS_COMMON(X)     \
	X(8, read)              \
	X(9, pread64)           \
	X(10, readv)            \
	X(11, preadv)           \
	X(12, preadv2)          \
	X(13, write)            \
	X(14, pwrite64)         \
	X(15, writev)           \
	X(16, pwritev)          \
	X(17, pwritev2)         \
	X(18, recvfrom)         \
	X(19, recvmsg)          \
	X(20, recvmmsg)         \
	X(21, sendto)           \
	X(22, sendmsg)          \
	X(23, sendmmsg)         \
	X(24, accept)           \
	X(25, accept4)          \
	X(26, connect)          \
	X(27, futex)            \
	X(28, nanosleep)        \
	X(29, clock_nanosleep)  \
	X(30, ppoll)            \
	X(31, pselect6)         \
	X(32, epoll_pwait)      \
	X(33, epoll_pwait2)     \
	X(34, fsync)            \
	X(35, fdatasync)        \
	X(36, sync)             \
	X(37, syncfs)           \
	X(38, sync_file_range)  \
	X(39, msync)            \
	X(40, wait4)            \
	X(41, waitid)           \
	X(42, rt_sigsuspend)    \
	X(43, rt_sigtimedwait)  \
	X(44, io_getevents)     \
	X(45, io_uring_enter)   \
	X(46, flock)            \
	X(47, fcntl)            \
	X(48, openat)           \
	X(49, openat2)          \
	X(50, close)            \
	X(51, mmap)             \
	X(52, munmap)           \
	X(53, mprotect)         \
	X(54, madvise)          \
	X(55, brk)              \
	X(56, clone)            \
	X(57, clone3)           \
	X(58, execve)           \
	X(59, exit_group)       \
	X(60, msgrcv)           \
	X(61, msgsnd)           \
	X(62, semop)            \
	X(63, semtimedop)       \
	X(64, mq_timedreceive)  \
	X(65, mq_timedsend)     \
	X(66, splice)           \
	X(67, sendfile)         \
	X(68, copy_file_range)  \
	X(69, getdents64)       \
	X(70, ioctl)            \
	X(71, membarrier)       \
	X(72, fallocate)        \
	X(73, ftruncate)        \
	X(74, unlinkat)         \
	X(75, renameat2)        \
	X(76, restart_syscall)  \
	X(77, bpf)              \
	X(78, exit)             \
	X(79, execveat)         \
	X(80, mremap)           \
	X(81, process_vm_readv) \
	X(82, statx)

/* That newer machines do without. */
#define ABI_CALLS_LEGACY(X) \
	X(128, poll)        \
	X(129, select)      \
	X(130, epoll_wait)  \
	X(131, pause)       \
	X(132, fork)        \
	X(133, vfork)       \
	X(134, open)        \
	X(135, unlink)      \
	X(136, rename)      \
	X(137, getdents)

enum {
	ABI_CALL_UNKNOWN, /* not recorded */
	ABI_CALL_NONE,    /* in the kernel without one: a page fault or another exception */
	ABI_CALL_OTHER,   /* none of these; its number on that machine is known */
	ABI_CALL_FOREIGN, /* of another ABI of the machine, such as 32-bit */
	ABI_CALL_KTHREAD, /* in no record: a kernel thread makes none */
#define X(nr, name) ABI_CALL_##name = (nr),
	ABI_CALLS_COMMON(X) ABI_CALLS_LEGACY(X)
#undef X
		ABI_CALL_MAX = 256,
};
