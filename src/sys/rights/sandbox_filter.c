/* The system calls that a sandboxed child may use: memory, threads, time, and descriptors that it has. All else is EPERM. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/rights/sandbox.h"
#include "sys/rights/sandbox_priv.h"

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#else
#error "the audit number of this architecture is needed"
#endif

#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS SECCOMP_RET_KILL
#endif

#define FILTER_MAX 160U

static const int allowed[] = {
	/* of descriptors that it has */
	SYS_read,
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_pread64,
	SYS_lseek,
	SYS_close,
	SYS_fstat,
	SYS_newfstatat,
	SYS_fcntl,
	SYS_recvmsg,
	SYS_sendmsg,
	SYS_ppoll,
	/* memory */
	SYS_brk,
	SYS_munmap,
	SYS_mremap,
	SYS_madvise,
	/* time */
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	SYS_gettimeofday,
	/* threads and signals of its own */
	SYS_futex,
	SYS_set_robust_list,
	SYS_rt_sigprocmask,
	SYS_rt_sigaction,
	SYS_rt_sigreturn,
	SYS_sigaltstack,
	SYS_sched_yield,
	SYS_sched_getaffinity,
	SYS_getpid,
	SYS_gettid,
	SYS_sysinfo,
	SYS_restart_syscall,
	SYS_exit,
	SYS_exit_group,
	SYS_getrandom,
	SYS_getrusage,
	SYS_membarrier,
#ifdef SYS_rseq
	SYS_rseq,
#endif
#ifdef SYS_poll
	SYS_poll,
#endif
};

struct filter {
	struct sock_filter code[FILTER_MAX];
	unsigned short nr;
};

static void add(struct filter *f, struct sock_filter step)
{
	if (f->nr < FILTER_MAX)
		f->code[f->nr++] = step;
}

static void load(struct filter *f, size_t offset)
{
	add(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void give(struct filter *f, uint32_t action)
{
	add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* Skips so many steps unless the call is this one; its number is loaded. */
static void unless_call(struct filter *f, int nr, uint8_t steps)
{
	add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, steps));
}

static void allow(struct filter *f, int nr)
{
	unless_call(f, nr, 1);
	give(f, SECCOMP_RET_ALLOW);
}

/* The lower half of an argument: flags are no longer than that on both of our machines, which are little-endian. */
static size_t argument(int at)
{
	return offsetof(struct seccomp_data, args) + (size_t)at * sizeof(uint64_t);
}

/* Allowed only with (has) or without all of these bits in one argument. */
static void allow_with_bits(struct filter *f, int nr, int arg, uint32_t bits, bool has)
{
	unless_call(f, nr, 4);
	load(f, argument(arg));
	add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, has ? 0 : 1,
	                                    has ? 1 : 0));
	give(f, SECCOMP_RET_ALLOW);
	give(f, SECCOMP_RET_ERRNO | EPERM);
}

/* No code, and nothing shared: that would not count towards the limit of memory. */
static void allow_private_memory(struct filter *f)
{
	unless_call(f, SYS_mmap, 6);
	load(f, argument(2));
	add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 3, 0));
	load(f, argument(3));
	add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_SHARED, 1, 0));
	give(f, SECCOMP_RET_ALLOW);
	give(f, SECCOMP_RET_ERRNO | EPERM);
}

/* abort() and the like; never another process. */
static void allow_own_signals(struct filter *f)
{
	unless_call(f, SYS_tgkill, 4);
	load(f, argument(0));
	add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 0, 1));
	give(f, SECCOMP_RET_ALLOW);
	give(f, SECCOMP_RET_ERRNO | EPERM);
}

static void allow_threads(struct filter *f)
{
	allow_with_bits(f, SYS_clone, 0, CLONE_THREAD, true);
#ifdef SYS_clone3
	/* Its flags are in memory, where a filter cannot read them: the C library then uses clone. */
	unless_call(f, SYS_clone3, 1);
	give(f, SECCOMP_RET_ERRNO | ENOSYS);
#endif
}

static void build(struct filter *f, bool has_threads)
{
	load(f, offsetof(struct seccomp_data, arch));
	add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0));
	give(f, SECCOMP_RET_KILL_PROCESS);
	load(f, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		allow(f, allowed[i]);
	allow_private_memory(f);
	allow_with_bits(f, SYS_mprotect, 2, PROT_EXEC, false);
	allow_own_signals(f);
	if (has_threads)
		allow_threads(f);
	give(f, SECCOMP_RET_ERRNO | EPERM);
}

bool sandbox_kernel_has_seccomp(void)
{
	uint32_t action = SECCOMP_RET_ERRNO;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

int sandbox_filter(bool has_threads)
{
	struct filter f = { .nr = 0 };
	struct sock_fprog program = { .filter = f.code };

	build(&f, has_threads);
	if (f.nr == FILTER_MAX)
		return -E2BIG;
	program.len = f.nr;
	if (!sandbox_kernel_has_seccomp())
		return -ENOSYS;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) ? -errno : 0;
}
