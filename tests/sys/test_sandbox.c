/* The sandbox, from inside: the child of these cases tries what an attacker would. */
#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/rights/sandbox.h"

#define MEMORY ((uint64_t)256 << 20)
#define CHUNK  ((size_t)1 << 20)

enum { ECHO = 1, READ_FD, TRY, HOARD, SPIN, CRASH, SLEEP, NONSENSE, TOO_LONG, LEAVE, THREAD };

/* What an attacker would try; each by its errno, 0 if it went well. */
enum {
	OPEN,
	OPENAT,
	EXEC,
	SOCKET,
	PTRACE,
	FORK,
	KILL,
	CODE,
	MAKE_CODE,
	BPF,
	UNSHARE,
	CHROOT,
	PRCTL,
	WRITE,
	NR_TRIES
};
static const char *const names[NR_TRIES] = { "open",    "openat", "execve", "socket",   "ptrace",
	                                     "fork",    "kill",   "mmap",   "mprotect", "bpf",
	                                     "unshare", "chroot", "prctl",  "write" };

static int result(long ret)
{
	return ret < 0 ? errno : 0;
}

static void try_all(struct sandbox_msg *m, int writable)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *const none[] = { NULL };
	int got[NR_TRIES];
	long pid;

	got[OPEN] = result(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
	got[OPENAT] = result(syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY));
	got[EXEC] = result(execve("/bin/true", none, none));
	got[SOCKET] = result(socket(AF_INET, SOCK_STREAM, 0));
	got[PTRACE] = result(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
	pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(0);
	got[FORK] = result(pid);
	got[KILL] = result(syscall(SYS_kill, 1, 0));
	got[CODE] = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	                            MAP_FAILED
	                    ? errno
	                    : 0;
	got[MAKE_CODE] = result(mprotect(page, 4096, PROT_READ | PROT_EXEC));
	got[BPF] = result(syscall(SYS_bpf, 0, NULL, 0));
	got[UNSHARE] = result(syscall(SYS_unshare, 0x10000000));
	got[CHROOT] = result(syscall(SYS_chroot, "/"));
	got[PRCTL] = result(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	got[WRITE] = result(write(writable, "x", 1)); /* files have no room: RLIMIT_FSIZE */
	for (int i = 0; i < NR_TRIES; i++)
		sandbox_put_u64(m, (uint64_t)got[i]);
}

static uint64_t hoard(void)
{
	uint64_t bytes = 0;
	char *p;

	while (bytes < 8 * MEMORY && (p = malloc(CHUNK))) {
		memset(p, 1, CHUNK);
		bytes += CHUNK;
	}
	return bytes;
}

static void *be_a_thread(void *ctx)
{
	*(int *)ctx = 1;
	return NULL;
}

static uint64_t start_thread(void)
{
	pthread_t thread;
	int has_run = 0;

	if (pthread_create(&thread, NULL, be_a_thread, &has_run) == 0)
		pthread_join(thread, NULL);
	return (uint64_t)has_run;
}

static void read_fd(struct sandbox_msg *in, struct sandbox_msg *out)
{
	int fd = sandbox_take_fd(in, 0);
	char text[16] = "";

	(void)!read(fd, text, sizeof(text) - 1);
	close(fd);
	sandbox_put_text(out, text);
}

static void answer(const struct sandbox_wire *wire, struct sandbox_msg *in, struct sandbox_msg *out)
{
	sandbox_msg_begin(out, in->kind);
	switch (in->kind) {
	case READ_FD:
		read_fd(in, out);
		break;
	case TRY:
		(void)signal(SIGXFSZ, SIG_IGN);
		try_all(out, sandbox_take_fd(in, 0));
		break;
	case HOARD:
		sandbox_put_u64(out, hoard());
		break;
	case SPIN:
		for (volatile int i = 1; i;)
			;
		break;
	case CRASH:
		(void)raise(SIGSEGV);
		break;
	case SLEEP:
		(void)poll(NULL, 0, 100000);
		break;
	case NONSENSE:
		(void)!write(wire->fd, "this is no message, but long", 28);
		return;
	case LEAVE:
		_exit(0);
	case THREAD:
		sandbox_put_u64(out, start_thread());
		break;
	case TOO_LONG:
		for (int i = 0; i < 10000; i++)
			sandbox_put_u64(out, 0);
		break;
	default:
		sandbox_put_text(out, sandbox_get_text(in));
		break;
	}
	(void)!sandbox_msg_send(wire, out);
}

static void serve(int fd)
{
	const struct sandbox_wire wire = { .fd = fd };
	struct sandbox_msg in = { 0 }, out = { 0 };

	while (sandbox_msg_receive(&wire, 1 << 16, &in) == 0)
		answer(&wire, &in, &out);
}

static const struct sandbox_job job = { .name = "tests", .serve = serve };
static const struct sandbox_job threaded = { .name = "tests-threaded",
	                                     .serve = serve,
	                                     .has_threads = true };
SANDBOX_JOB(job)
SANDBOX_JOB(threaded)

static struct sandbox *start(const struct sandbox_job *which)
{
	struct sandbox *s = NULL;
	struct diag d = { 0 };

	if (sandbox_start(which, MEMORY, &d, &s))
		fail_msg("%s", d.what);
	return s;
}

static int ask(struct sandbox *s, uint32_t kind, struct sandbox_msg *out)
{
	const struct sandbox_limits limits = { .cpu_ns = 1000000000,
		                               .wall_ns = 60000000000,
		                               .max_bytes = 1 << 16 };
	struct sandbox_msg m = { .kind = kind };
	int err;

	sandbox_put_text(&m, "hello");
	err = sandbox_ask(s, &m, &limits);
	sandbox_msg_done(&m);
	return err ? err : sandbox_answer(s, out);
}

static void a_child_answers_more_than_once(void **state)
{
	struct sandbox *s = start(&job);
	struct sandbox_msg m = { 0 };

	(void)state;
	for (int i = 0; i < 100; i++) {
		expect_eq(ask(s, ECHO, &m), 0);
		assert_string_equal(sandbox_get_text(&m), "hello");
	}
	sandbox_msg_done(&m);
	sandbox_end(s);
}

/* The kernel's word for it. */
static void read_status(pid_t pid, char *text, size_t size)
{
	char path[64];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	assert_non_null(f);
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	fclose(f);
}

static void the_kernel_says_that_its_rights_are_gone(void **state)
{
	struct sandbox *s = start(&job);
	char text[8192], uid[64];
	unsigned int nobody = geteuid() == 0 ? 65534 : geteuid();

	(void)state;
	read_status(sandbox_pid(s), text, sizeof(text));
	snprintf(uid, sizeof(uid), "\nUid:\t%u\t%u\t%u\t%u\n", nobody, nobody, nobody, nobody);
	assert_non_null(strstr(text, uid));
	assert_non_null(strstr(text, "\nCapPrm:\t0000000000000000\n"));
	assert_non_null(strstr(text, "\nCapEff:\t0000000000000000\n"));
	assert_non_null(strstr(text, "\nCapInh:\t0000000000000000\n"));
	if (geteuid() == 0)
		assert_non_null(strstr(text, "\nCapBnd:\t0000000000000000\n"));
	assert_non_null(strstr(text, "\nNoNewPrivs:\t1\n"));
	assert_true(sandbox_has_seccomp(s) == sandbox_kernel_has_seccomp());
	if (sandbox_has_seccomp(s))
		assert_non_null(strstr(text, "\nSeccomp:\t2\n"));
	sandbox_end(s);
}

static void what_an_attacker_would_try_is_refused(void **state)
{
	struct sandbox *s = start(&job);
	const struct sandbox_limits limits = { 1000000000, 60000000000, 1 << 16, NULL, NULL };
	struct sandbox_msg m = { .kind = TRY }, out = { 0 };
	char path[] = "/tmp/test_sandbox_XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	(void)state;
	unlink(path);
	sandbox_put_fd(&m, fd);
	expect_eq(sandbox_ask(s, &m, &limits), 0);
	expect_eq(sandbox_answer(s, &out), 0);
	for (int i = 0; i < NR_TRIES; i++)
		if (sandbox_get_u64(&out) == 0)
			fail_msg("%s was not refused", names[i]);
	expect_eq(out.error, 0);
	sandbox_msg_done(&m);
	sandbox_msg_done(&out);
	sandbox_end(s);
	close(fd);
}

static void a_child_has_no_descriptor_but_those_it_is_given(void **state)
{
	int mine = open("/dev/null", O_RDONLY); /* not close-on-exec, as a library might */
	const struct sandbox_limits limits = { 1000000000, 60000000000, 1 << 16, NULL, NULL };
	struct sandbox *s = start(&job);
	struct sandbox_msg m = { .kind = READ_FD }, out = { 0 };
	char path[64];
	int pipe_fds[2];

	(void)state;
	for (int fd = 4; fd < 64; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", sandbox_pid(s), fd);
		expect_eq(access(path, F_OK), -1);
	}
	expect_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
	expect_eq(write(pipe_fds[1], "given", 5), 5);
	sandbox_put_fd(&m, pipe_fds[0]);
	expect_eq(sandbox_ask(s, &m, &limits), 0);
	expect_eq(sandbox_answer(s, &out), 0);
	assert_string_equal(sandbox_get_text(&out), "given");
	sandbox_msg_done(&m);
	sandbox_msg_done(&out);
	sandbox_end(s);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	close(mine);
}

static void memory_ends_at_the_limit(void **state)
{
	struct sandbox *s = start(&job);
	struct sandbox_msg m = { 0 };
	uint64_t bytes;

	(void)state;
	expect_eq(ask(s, HOARD, &m), 0);
	bytes = sandbox_get_u64(&m);
	assert_in_range(bytes, MEMORY / 2, MEMORY);
	sandbox_msg_done(&m);
	sandbox_end(s);
}

static void expect_death(uint32_t kind, int err, const char *why)
{
	struct sandbox *s = start(&job);
	struct sandbox_msg m = { 0 };

	expect_eq(ask(s, kind, &m), err);
	assert_true(sandbox_is_dead(s));
	if (!strstr(sandbox_why(s), why))
		fail_msg("'%s' does not say '%s'", sandbox_why(s), why);
	expect_eq(ask(s, ECHO, &m), -EPIPE);
	sandbox_msg_done(&m);
	sandbox_end(s);
}

static void a_child_that_never_ends_is_killed(void **state)
{
	(void)state;
	expect_death(SPIN, -ETIMEDOUT, "used more than 1 s of CPU time");
}

static void a_child_that_dies_or_talks_nonsense_is_an_error(void **state)
{
	(void)state;
	expect_death(CRASH, -EPIPE, "was killed by signal 11");
	expect_death(LEAVE, -EPIPE, "exited unexpectedly");
	expect_death(NONSENSE, -EBADMSG, "answered nonsense");
	expect_death(TOO_LONG, -EMSGSIZE, "answered nonsense");
}

static bool now(void *ctx)
{
	(void)ctx;
	return true;
}

static void waiting_can_be_cancelled(void **state)
{
	const struct sandbox_limits limits = { 1000000000, 60000000000, 1 << 16, now, NULL };
	struct sandbox *s = start(&job);
	struct sandbox_msg m = { .kind = SLEEP };

	(void)state;
	expect_eq(sandbox_ask(s, &m, &limits), 0);
	expect_eq(sandbox_answer(s, &m), -ECANCELED);
	assert_true(sandbox_is_dead(s));
	sandbox_msg_done(&m);
	sandbox_end(s);
}

static void a_child_that_sleeps_is_killed_in_the_end(void **state)
{
	const struct sandbox_limits limits = { 1000000000, 300000000, 1 << 16, NULL, NULL };
	struct sandbox *s = start(&job);
	struct sandbox_msg m = { .kind = SLEEP };

	(void)state;
	expect_eq(sandbox_ask(s, &m, &limits), 0);
	expect_eq(sandbox_answer(s, &m), -ETIMEDOUT);
	sandbox_msg_done(&m);
	sandbox_end(s);
}

/* A program that was root, and is the caller of sudo since: its child runs as nobody. */
static void a_child_of_another_user_ends_as_well(void **state)
{
	struct sandbox *s = start(&job);
	pid_t pid = sandbox_pid(s);
	char path[64];

	(void)state;
	expect_eq(seteuid(1000), 0);
	expect_eq(syscall(SYS_setresuid, -1, 1000, 0), 0);
	expect_eq(kill(pid, 0), -1);
	sandbox_end(s);
	expect_eq(seteuid(0), 0);
	snprintf(path, sizeof(path), "/proc/%d", pid);
	expect_eq(access(path, F_OK), -1);
}

static void threads_are_for_jobs_that_need_them(void **state)
{
	struct sandbox *s = start(&job), *t = start(&threaded);
	struct sandbox_msg m = { 0 };

	(void)state;
	expect_eq(ask(s, THREAD, &m), 0);
	if (sandbox_has_seccomp(s))
		expect_eq(sandbox_get_u64(&m), 0);
	expect_eq(ask(t, THREAD, &m), 0);
	expect_eq(sandbox_get_u64(&m), 1);
	expect_eq(ask(t, TRY, &m), 0);
	for (int i = 0; i < NR_TRIES; i++)
		if (sandbox_get_u64(&m) == 0 && sandbox_has_seccomp(t))
			fail_msg("%s was not refused", names[i]);
	sandbox_msg_done(&m);
	sandbox_end(s);
	sandbox_end(t);
}

static void the_environment_stays_outside(void **state)
{
	struct sandbox *s;
	char path[64], text[4096];
	FILE *f;
	size_t n;

	(void)state;
	setenv("SECRET_OF_THE_SERVER", "1", 1);
	s = start(&job);
	snprintf(path, sizeof(path), "/proc/%d/environ", sandbox_pid(s));
	f = fopen(path, "re");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text), f);
	fclose(f);
	assert_null(memmem(text, n, "SECRET", 6));
	unsetenv("SECRET_OF_THE_SERVER");
	sandbox_end(s);
}

int main(void)
{
	bool is_filtered = sandbox_kernel_has_seccomp(), is_root = geteuid() == 0;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_answers_more_than_once),
		cmocka_unit_test(the_kernel_says_that_its_rights_are_gone),
		unit_test_if(is_filtered, what_an_attacker_would_try_is_refused,
		             "the kernel has no seccomp"),
		unit_test_if(is_root, a_child_has_no_descriptor_but_those_it_is_given,
		             "only root sees the descriptors of the child"),
		unit_test_if(!IS_SANITIZED, memory_ends_at_the_limit,
		             "sanitizers do without a limit"),
		cmocka_unit_test(a_child_that_never_ends_is_killed),
		cmocka_unit_test(a_child_that_dies_or_talks_nonsense_is_an_error),
		cmocka_unit_test(waiting_can_be_cancelled),
		cmocka_unit_test(a_child_that_sleeps_is_killed_in_the_end),
		unit_test_if(is_root, a_child_of_another_user_ends_as_well, "needs root"),
		cmocka_unit_test(threads_are_for_jobs_that_need_them),
		unit_test_if(is_root, the_environment_stays_outside,
		             "only root sees the environment of the child"),
	};

	return cmocka_run_group_tests_name("sandbox", tests, NULL, NULL);
}
