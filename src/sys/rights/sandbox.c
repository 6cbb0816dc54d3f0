#include "sys/rights/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "sys/rights/sandbox_priv.h"

#define CHECK_MS     100 /* between two checks of the limits */
#define END_CHECKS   200
#define END_CHECK_MS 5
#define HELLO_BYTES  64U
#define HELLO_NS     60000000000ULL /* to start: an emulated machine takes seconds */
#define ENV_MAX      8U
#define PROGRAM      "/proc/self/exe"

struct sandbox {
	const struct sandbox_job *job;
	pid_t pid; /* 0 = dead */
	int fd;
	bool has_seccomp;
	struct sandbox_limits limits;
	uint64_t asked_ns, asked_cpu_ns;
	char why[160];
};

static uint64_t cpu_ns(const struct sandbox *s)
{
	clockid_t clock;

	return clock_getcpuclockid(s->pid, &clock) ? 0 : clock_read_ns(clock);
}

/* What ends by itself closes its socket a moment before. */
static bool has_ended(const struct sandbox *s, int *status)
{
	for (int i = 0; i < END_CHECKS; i++) {
		if (waitpid(s->pid, status, WNOHANG) == s->pid)
			return true;
		(void)poll(NULL, 0, END_CHECK_MS);
	}
	return false;
}

/* Kills and reaps it; what it died of, if it did so by itself. */
static void kill_and_reap(struct sandbox *s)
{
	int status = 0;

	if (s->pid <= 0)
		return;
	(void)shutdown(s->fd, SHUT_RDWR); /* an idle child ends by itself */
	if (s->why[0] || !has_ended(s, &status)) {
		/*
		 * A process that has changed its user since may not kill it: then it exits when it
		 * notices that we are gone.
		 */
		if (kill(s->pid, SIGKILL) == 0)
			while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
				;
		else
			(void)has_ended(s, &status);
	}
	s->pid = 0;
	if (!s->why[0] && WIFSIGNALED(status))
		snprintf(s->why, sizeof(s->why), "was killed by signal %d (%s)", WTERMSIG(status),
		         strsignal(WTERMSIG(status)));
	else if (!s->why[0])
		snprintf(s->why, sizeof(s->why), "exited unexpectedly");
}

static int die(struct sandbox *s, int err)
{
	if (err == -EBADMSG || err == -EMSGSIZE)
		snprintf(s->why, sizeof(s->why), "answered nonsense");
	else if (err == -ECANCELED)
		snprintf(s->why, sizeof(s->why), "was ended because the call was cancelled");
	else if (err == -ENOMEM)
		snprintf(s->why, sizeof(s->why), "gave an answer too large for memory");
	kill_and_reap(s);
	return err;
}

/* Whether the child may go on. */
static int check_limits(struct sandbox *s)
{
	const struct sandbox_limits *l = &s->limits;

	if (l->should_stop && l->should_stop(l->ctx))
		return -ECANCELED;
	if (cpu_ns(s) - s->asked_cpu_ns > l->cpu_ns) {
		snprintf(s->why, sizeof(s->why), "used more than %" PRIu64 " s of CPU time",
		         l->cpu_ns / 1000000000);
		return -ETIMEDOUT;
	}
	if (clock_boot_ns() - s->asked_ns > l->wall_ns) {
		snprintf(s->why, sizeof(s->why), "did not answer for %" PRIu64 " s",
		         l->wall_ns / 1000000000);
		return -ETIMEDOUT;
	}
	return 0;
}

static int wait_ready(void *ctx, short events)
{
	struct sandbox *s = ctx;
	struct pollfd p = { .fd = s->fd, .events = events };

	for (;;) {
		int nr = poll(&p, 1, CHECK_MS), err;

		if (nr > 0)
			return 0;
		if (nr < 0 && errno != EINTR)
			return -errno;
		err = check_limits(s);
		if (err)
			return err;
	}
}

static struct sandbox_wire wire_of(struct sandbox *s)
{
	return (struct sandbox_wire){ .fd = s->fd, .wait = wait_ready, .ctx = s };
}

int sandbox_reply(struct sandbox *s, const struct sandbox_msg *m)
{
	struct sandbox_wire wire = wire_of(s);
	int err;

	if (!s->pid)
		return -EPIPE;
	if (m->error)
		return m->error;
	err = sandbox_msg_send(&wire, m);
	return err ? die(s, err) : 0;
}

int sandbox_ask(struct sandbox *s, const struct sandbox_msg *m, const struct sandbox_limits *limits)
{
	if (!s->pid)
		return -EPIPE;
	s->limits = *limits;
	s->asked_ns = clock_boot_ns();
	s->asked_cpu_ns = cpu_ns(s);
	return sandbox_reply(s, m);
}

static int give_up(void *ctx, short events)
{
	(void)ctx;
	(void)events;
	return -EAGAIN;
}

void sandbox_notify(struct sandbox *s, uint32_t kind)
{
	const struct sandbox_wire wire = { .fd = s->fd, .wait = give_up };
	const struct sandbox_msg m = { .kind = kind };

	if (s->pid)
		(void)!sandbox_msg_send(&wire, &m);
}

int sandbox_answer(struct sandbox *s, struct sandbox_msg *out)
{
	struct sandbox_wire wire = wire_of(s);
	int err;

	if (!s->pid)
		return -EPIPE;
	err = sandbox_msg_receive(&wire, s->limits.max_bytes, out);
	return err ? die(s, err) : 0;
}

/* Of our environment only what programs need to start, and options of sanitizers. */
static void choose_env(char *out[ENV_MAX + 1])
{
	static const char *const kept[] = { "LD_LIBRARY_PATH=", "ASAN_OPTIONS=", "UBSAN_OPTIONS=",
		                            "LSAN_OPTIONS=", "TZ=" };
	size_t nr = 0;

	for (char **e = environ; e && *e && nr < ENV_MAX; e++)
		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
			if (strncmp(*e, kept[i], strlen(kept[i])) == 0 && nr < ENV_MAX)
				out[nr++] = *e;
	out[nr] = NULL;
}

/* The copy, if there is one: like the rights, it is of the process. */
static int program_fd = -1;

static int copy_program(int from, off_t bytes)
{
	SCOPED(scoped_close) int to = memfd_create("schedscope", MFD_CLOEXEC);
	off_t at = 0;

	while (to >= 0 && at < bytes)
		if (sendfile(to, from, &at, (size_t)(bytes - at)) <= 0)
			return -1;
	return to < 0 ? -1 : fcntl(to, F_DUPFD_CLOEXEC, SANDBOX_FD + 1);
}

void sandbox_keep_program(void)
{
	SCOPED(scoped_close) int fd = open(PROGRAM, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (program_fd < 0 && fd >= 0 && fstat(fd, &st) == 0 && !(st.st_mode & S_IXOTH))
		program_fd = copy_program(fd, st.st_size);
}

/* This program again; all our descriptors close at exec, but for the socket. */
static int spawn(struct sandbox *s, int theirs, uint64_t memory_bytes)
{
	char memory[24], path[32] = PROGRAM, *env[ENV_MAX + 1];
	char *argv[] = { (char *)(uintptr_t)SANDBOX_ARGV0, (char *)(uintptr_t)s->job->name, memory,
		         NULL };
	posix_spawn_file_actions_t actions;
	int err;

	snprintf(memory, sizeof(memory), "%" PRIu64, memory_bytes);
	choose_env(env);
	if (program_fd >= 0)
		snprintf(path, sizeof(path), "/proc/self/fd/%d", program_fd);
	if (posix_spawn_file_actions_init(&actions))
		return -ENOMEM;
	err = posix_spawn_file_actions_adddup2(&actions, theirs, SANDBOX_FD);
	if (!err)
		err = posix_spawn(&s->pid, path, &actions, NULL, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

/* Above the numbers that the child is given, so that dup2() never finds it in place with its close-on-exec. */
static int make_pair(int pair[2])
{
	int own[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, own))
		return -errno;
	pair[0] = fcntl(own[0], F_DUPFD_CLOEXEC, SANDBOX_FD + 1);
	pair[1] = fcntl(own[1], F_DUPFD_CLOEXEC, SANDBOX_FD + 1);
	close(own[0]);
	close(own[1]);
	if (pair[0] >= 0 && pair[1] >= 0 && fcntl(pair[0], F_SETFL, O_NONBLOCK) == 0)
		return 0;
	scoped_close(&pair[0]);
	scoped_close(&pair[1]);
	return -EMFILE;
}

static int greet(struct sandbox *s)
{
	SCOPED(sandbox_msg_done) struct sandbox_msg hello = { 0 };
	uint64_t trouble;
	int err;

	s->limits = (struct sandbox_limits){ .cpu_ns = HELLO_NS,
		                             .wall_ns = HELLO_NS,
		                             .max_bytes = HELLO_BYTES };
	s->asked_ns = clock_boot_ns();
	err = sandbox_answer(s, &hello);
	if (err)
		return err;
	trouble = sandbox_get_u64(&hello);
	s->has_seccomp = sandbox_get_u64(&hello) == 1;
	if (hello.error || trouble) {
		snprintf(s->why, sizeof(s->why), "cannot give up its rights (%s)",
		         strerror((int)trouble));
		return -EPERM;
	}
	return 0;
}

int sandbox_start(const struct sandbox_job *job, uint64_t memory_bytes, struct diag *d,
                  struct sandbox **out)
{
	struct sandbox *s = calloc(1, sizeof(*s));
	int pair[2] = { -1, -1 }, err;

	if (!s)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	s->job = job;
	s->fd = -1;
	err = make_pair(pair);
	if (!err) {
		s->fd = pair[0];
		err = spawn(s, pair[1], memory_bytes);
		close(pair[1]);
	}
	if (err) {
		s->pid = 0;
		diag_set(d, err, NULL, "cannot start the process that reads %s", job->name);
	} else {
		err = greet(s);
		if (err)
			diag_set(d, err, NULL, "the process that reads %s %s", job->name, s->why);
	}
	if (err) {
		sandbox_end(s);
		return err;
	}
	*out = s;
	return 0;
}

void sandbox_end(struct sandbox *s)
{
	if (!s)
		return;
	snprintf(s->why, sizeof(s->why), "was ended");
	kill_and_reap(s);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

bool sandbox_is_alive(struct sandbox *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	if (s->pid && poll(&p, 1, 0) > 0)
		(void)die(s, p.revents & POLLHUP ? -EPIPE : -EBADMSG);
	return s->pid != 0;
}

bool sandbox_is_dead(const struct sandbox *s)
{
	return s->pid == 0;
}

const char *sandbox_why(const struct sandbox *s)
{
	return s->why;
}

bool sandbox_has_seccomp(const struct sandbox *s)
{
	return s->has_seccomp;
}

pid_t sandbox_pid(const struct sandbox *s)
{
	return s->pid;
}
