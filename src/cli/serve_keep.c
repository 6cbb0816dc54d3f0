#include "cli/serve_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "model/trigger.h"
#include "sys/rights/privilege.h"

#define PRUNE_MS     2000
#define AGAIN_NS     30000000000ULL /* before a recorder that has ended is started again */
#define TRIGGERS_MAX 16U
#define WORDS_MAX    (10U + 2 * TRIGGERS_MAX)

extern char **environ;

int serve_keep_check(const struct serve_keep *k, struct diag *d)
{
	if (k->triggers->nr > TRIGGERS_MAX)
		return diag_set(d, -EINVAL, NULL, "serve takes at most %u triggers", TRIGGERS_MAX);
	for (size_t i = 0; i < k->triggers->nr; i++) {
		struct trigger t;
		int err = trigger_parse(k->triggers->items[i], d, &t);

		if (err)
			return err;
	}
	return 0;
}

/* In a group of its own: Ctrl-C is for serve. */
static int spawn(const char *const *words)
{
	posix_spawnattr_t attr;
	sigset_t set;
	pid_t pid = 0;
	int err;

	if (posix_spawnattr_init(&attr))
		return -ENOMEM;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	err = posix_spawnattr_setsigdefault(&attr, &set);
	if (!err)
		err = posix_spawnattr_setflags(&attr,
		                               POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
	if (!err)
		err = posix_spawn(&pid, "/proc/self/exe", NULL, &attr,
		                  (char *const *)(uintptr_t)words, environ);
	posix_spawnattr_destroy(&attr);
	return err ? -err : (int)pid;
}

/* Its pid, or -errno. */
static int start_recorder(const struct serve_keep *k)
{
	char keep[32], parent[32];
	const char *words[WORDS_MAX] = { "schedscope", "record",     "-o", k->dir, "--keep",
		                         keep,         "--keep-mib", "64", parent };
	size_t nr = 9;

	snprintf(keep, sizeof(keep), "%llums", (unsigned long long)k->keep_ms);
	snprintf(parent, sizeof(parent), "--parent=%d", (int)getpid());
	for (size_t i = 0; i < k->triggers->nr; i++) {
		words[nr++] = "--trigger";
		words[nr++] = k->triggers->items[i];
	}
	return spawn(words);
}

/* Until serve has gone. */
static void keep(const struct serve_keep *k, int fd, int dir_fd)
{
	struct pollfd end = { .fd = fd, .events = POLLIN };
	int recorder = 0;
	uint64_t next_ns = 0;

	while (poll(&end, 1, PRUNE_MS) <= 0) {
		if (recorder > 0 && waitpid(recorder, NULL, WNOHANG) == recorder) {
			log_warn("the flight recorder has ended; it is started again in 30 s");
			recorder = 0;
			next_ns = clock_boot_ns() + AGAIN_NS;
		}
		if (recorder <= 0 && clock_boot_ns() >= next_ns) {
			recorder = start_recorder(k);
			next_ns = clock_boot_ns() + AGAIN_NS;
		}
		(void)dumps_prune(dir_fd, &k->limits);
	}
	if (recorder <= 0)
		return;
	kill(recorder, SIGINT);
	waitpid(recorder, NULL, 0);
	(void)dumps_prune(dir_fd, &k->limits);
}

static _Noreturn void be_keeper(const struct serve_keep *k, int fd, pid_t client)
{
	int dir_fd = open(k->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	signal(SIGINT, SIG_IGN); /* keys of a terminal are for serve; its end is ours */
	if (dir_fd < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || getppid() != client)
		_exit(1);
	(void)prctl(PR_SET_NAME, "schedscope-dump", 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (privilege_hand_down())
		_exit(1);
	keep(k, fd, dir_fd);
	_exit(0);
}

int serve_keep_start(struct serve_keep *k, struct diag *d)
{
	pid_t client = getpid();
	int pair[2];

	k->pid = 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return diag_set(d, -errno, NULL, "cannot make a socket");
	k->pid = fork();
	if (k->pid == 0) {
		close(pair[0]);
		be_keeper(k, pair[1], client);
	}
	close(pair[1]);
	if (k->pid < 0) {
		close(pair[0]);
		k->pid = 0;
		return diag_set(d, -EAGAIN, NULL, "cannot start the flight recorder");
	}
	k->fd = pair[0];
	return 0;
}

void serve_keep_stop(struct serve_keep *k)
{
	if (!k->pid)
		return;
	close(k->fd);
	while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		;
	k->pid = 0;
}
