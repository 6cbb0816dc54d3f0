/* The child's side: it gives up its rights and serves. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/rights/caps.h"
#include "sys/rights/sandbox.h"
#include "sys/rights/sandbox_priv.h"

#define NOBODY          65534U
#define DESCRIPTORS_MAX 256U

/* Sanitizers reserve terabytes of addresses: there the memory is bounded by what the parsers allow themselves. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

static int limit(int what, uint64_t value)
{
	struct rlimit now, l = { value, value };

	if (getrlimit((__rlimit_resource_t)what, &now))
		return -errno;
	if (l.rlim_max > now.rlim_max)
		l.rlim_cur = l.rlim_max = now.rlim_max;
	return setrlimit((__rlimit_resource_t)what, &l) ? -errno : 0;
}

/* Addresses that are in use now: libraries and stacks. */
static uint64_t used_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%lu", &pages) != 1)
		pages = 0;
	fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int limit_all(const struct sandbox_job *job, uint64_t memory_bytes)
{
	int err = 0;

	/* Threads reserve addresses that they never use; what can be written to is what counts. */
	if (!IS_SANITIZED)
		err = limit(RLIMIT_DATA, memory_bytes);
	if (!err && !IS_SANITIZED && !job->has_threads)
		err = limit(RLIMIT_AS, used_bytes() + memory_bytes);
	if (!err)
		err = limit(RLIMIT_NOFILE, DESCRIPTORS_MAX);
	if (!err)
		err = limit(RLIMIT_FSIZE, 0);
	if (!err)
		err = limit(RLIMIT_CORE, 0);
	/* It counts all threads of the user, so it cannot limit a child that needs threads. */
	if (!err && !job->has_threads)
		err = limit(RLIMIT_NPROC, 0);
	return err;
}

/* A directory with nothing in it but descriptors' descriptions. Where that is not allowed, or not there, nothing is lost. */
static void leave_root(void)
{
	if (chroot("/proc/self/fdinfo") == 0)
		(void)!chdir("/");
}

/* Of a user namespace that has no user nobody, -EINVAL. */
static int become_nobody(void)
{
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return -errno;
	return 0;
}

/* Only the mighty can empty it; no_new_privs keeps the others from ever using it. */
static void empty_bounding_set(void)
{
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		(void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

/* The terminal's signals are for the parent. */
static void set_signals(void)
{
	static const int ignored[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGPIPE };
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		(void)signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

int sandbox_enter(const struct sandbox_job *job, uint64_t memory_bytes, bool *has_seccomp)
{
	int err = limit_all(job, memory_bytes), uid_err, filter;

	if (err)
		return err;
	leave_root();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	empty_bounding_set();
	uid_err = become_nobody();
	err = caps_drop_to(0);
	if (!err && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		err = -errno;
	if (err)
		return err;
	filter = sandbox_filter(job->has_threads);
	*has_seccomp = filter == 0;
	if (filter && filter != -ENOSYS)
		return filter;
	/* One of the two must hold. */
	return uid_err && filter ? uid_err : 0;
}

static void take_descriptors(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	if (syscall(SYS_close_range, SANDBOX_FD + 1, ~0U, 0) == 0)
		return;
	for (int fd = SANDBOX_FD + 1; fd < 4096; fd++) /* before Linux 5.9 */
		close(fd);
}

void sandbox_become(const struct sandbox_job *job, int argc, char **argv)
{
	const struct sandbox_wire wire = { .fd = SANDBOX_FD };
	struct sandbox_msg hello = { 0 };
	bool has_seccomp = false;
	int err;

	if (argc != 3 || strcmp(argv[0], SANDBOX_ARGV0) != 0 || strcmp(argv[1], job->name) != 0)
		return;
	take_descriptors();
	set_signals();
	err = sandbox_enter(job, strtoull(argv[2], NULL, 10), &has_seccomp);
	sandbox_put_u64(&hello, (uint64_t)-err);
	sandbox_put_u64(&hello, has_seccomp);
	if (sandbox_msg_send(&wire, &hello) == 0 && !err)
		job->serve(SANDBOX_FD);
	_exit(err ? 1 : 0);
}
