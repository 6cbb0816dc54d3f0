#include "cli/top_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/rights/caps.h"
#include "sys/rights/fd_packet.h"
#include "sys/rights/privilege.h"
#include "tui/config.h"

#define SETTINGS_MAX ((size_t)1 << 20)
#define RECORDING    ".pftrace" /* how names of recordings end */

extern char **environ;

enum { ASK_RECORD, ASK_KEEP, ASK_SAVE, ASK_REPORT };

struct request {
	uint32_t what;
	char path[PATH_MAX]; /* of a report: its recording */
};

struct helper_answer {
	int32_t err; /* or a pid */
	struct diag why;
	char path[PATH_MAX];
};

static int add_files(posix_spawn_file_actions_t *files, int said)
{
	int err = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

	if (!err)
		err = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY,
		                                       0);
	return err ? err : posix_spawn_file_actions_adddup2(files, said, STDERR_FILENO);
}

/*
 * In a group of its own: Ctrl-C is for the screen. SIGUSR2 is blocked until the recorder waits for
 * it, so that a key pressed too early does not kill it.
 */
static int add_signals(posix_spawnattr_t *attr)
{
	sigset_t wait;
	int err;

	sigemptyset(&wait);
	sigaddset(&wait, SIGUSR2);
	err = posix_spawnattr_setsigmask(attr, &wait);
	return err ? err
	           : posix_spawnattr_setflags(attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
}

/* Runs this program with these words, in a group of its own, with said as standard error. The pid, or -errno. */
static int spawn(char *const words[], int said)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	pid_t pid = 0;
	int err;

	if (posix_spawn_file_actions_init(&files))
		return -ENOMEM;
	if (posix_spawnattr_init(&attr)) {
		posix_spawn_file_actions_destroy(&files);
		return -ENOMEM;
	}
	err = add_files(&files, said);
	if (!err)
		err = add_signals(&attr);
	if (!err)
		err = posix_spawn(&pid, "/proc/self/exe", &files, &attr, words, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return err ? -err : (int)pid;
}

/* The first name that is free: nothing is ever overwritten. */
static void choose_path(struct top_helper *h, char path[PATH_MAX])
{
	do
		snprintf(path, PATH_MAX, "%.4000s_%u.pftrace", h->prefix, h->nr++);
	while (access(path, F_OK) == 0 && h->nr < 1000000);
}

static int record_here(struct top_helper *h, int said, char path[PATH_MAX])
{
	char duration[32], parent[32], output[PATH_MAX + 16];
	char *const words[] = { "schedscope", "record", duration, parent, output, NULL };

	choose_path(h, path);
	snprintf(parent, sizeof(parent), "--parent=%d", (int)getpid());
	snprintf(duration, sizeof(duration), "--trace-ms=%u", h->duration_ms);
	snprintf(output, sizeof(output), "--output=%s", path);
	return spawn(words, said);
}

static int keep_here(const struct top_helper *h, int said)
{
	char keep[32], after[32], parent[32], output[PATH_MAX + 16];
	char *const words[] = { "schedscope",
		                "record",
		                output,
		                parent,
		                "--keep",
		                keep,
		                "--keep-mib",
		                "64",
		                "--after",
		                after,
		                "--cooldown",
		                "0s",
		                h->trigger ? "--trigger" : NULL,
		                (char *)(uintptr_t)h->trigger, /* not written to */
		                NULL };

	snprintf(parent, sizeof(parent), "--parent=%d", (int)getpid());
	snprintf(keep, sizeof(keep), "%ums", h->keep_ms);
	snprintf(after, sizeof(after), "%ums", h->duration_ms);
	snprintf(output, sizeof(output), "--output=%s", h->prefix);
	return spawn(words, said);
}

/* One of our own recordings: a file of the prefix, in the same directory. */
static bool is_recording(const struct top_helper *h, const char *path)
{
	size_t len = strnlen(path, PATH_MAX), prefix = strlen(h->prefix), end = strlen(RECORDING);

	return len < PATH_MAX && len > prefix + end && strncmp(path, h->prefix, prefix) == 0 &&
	       !strchr(path + prefix, '/') && strcmp(path + len - end, RECORDING) == 0;
}

/* A recording, and the page that is made of it. */
struct report_files {
	int in, out;
	char page[PATH_MAX + 8];
};

/* Both files, opened with the rights that there are: the recording, and a new page beside it. */
static int open_files(const char *path, struct report_files *f)
{
	struct stat st;

	f->in = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (f->in < 0)
		return -errno;
	if (fstat(f->in, &st) || !S_ISREG(st.st_mode))
		return -EINVAL;
	snprintf(f->page, sizeof(f->page), "%.*s.html", (int)(strlen(path) - strlen(RECORDING)),
	         path);
	f->out = open(f->page, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return f->out < 0 ? -errno : 0;
}

/* What a file holds is not to be trusted: it is read without any rights. */
static _Noreturn void be_reporter(const char *path, const struct report_files *f, int said)
{
	const char *slash = strrchr(path, '/');
	char title[PATH_MAX + 32];
	char *const words[] = { "schedscope", "report", "-", "-o", "-", "--title", title, NULL };
	sigset_t none;

	snprintf(title, sizeof(title), "What the scheduler did: %s", slash ? slash + 1 : path);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(f->in, STDIN_FILENO) >= 0 && dup2(f->out, STDOUT_FILENO) >= 0 &&
	    dup2(said, STDERR_FILENO) >= 0 && !privilege_drop(0, NULL))
		execv("/proc/self/exe", words);
	_exit(1);
}

static void remove_page(const struct report_files *f)
{
	struct stat ours, named;

	if (fstat(f->out, &ours) == 0 && lstat(f->page, &named) == 0 &&
	    ours.st_dev == named.st_dev && ours.st_ino == named.st_ino)
		unlink(f->page);
}

/* Waits for the report, whose process may not remove files: one that fails leaves no page behind. */
static _Noreturn void oversee(const char *path, const struct report_files *f, int said)
{
	int status = -1;
	pid_t pid;

	setpgid(0, 0); /* keys of the terminal are for the screen */
	(void)signal(SIGCHLD, SIG_DFL);
	pid = fork();
	if (pid == 0)
		be_reporter(path, f, said);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		remove_page(f);
	_exit(0);
}

static int report_here(const struct top_helper *h, const char *path, int said)
{
	struct report_files f = { .in = -1, .out = -1 };
	int err = is_recording(h, path) ? open_files(path, &f) : -EINVAL;
	pid_t pid;

	if (!err) {
		pid = fork();
		if (pid == 0)
			oversee(path, &f, said);
		err = pid < 0 ? -errno : (int)pid;
		if (err < 0)
			remove_page(&f);
	}
	if (f.in >= 0)
		close(f.in);
	if (f.out >= 0)
		close(f.out);
	return err;
}

/* The text of settings is passed in an anonymous file. */
static int save_here(int text_fd, struct helper_answer *a)
{
	SCOPED(scoped_free) char *text = NULL;
	int err = text_fd < 0 ? -EINVAL : text_read_fd(text_fd, SETTINGS_MAX, &text);

	return err ? diag_set(&a->why, err, NULL, "cannot take the settings")
	           : config_store(text, &a->why, a->path);
}

static _Noreturn void serve(struct top_helper *h, int fd)
{
	struct request r;

	for (;;) {
		SCOPED(scoped_close) int given = -1;
		struct helper_answer a = { 0 };
		int len = fd_packet_receive(fd, &r, sizeof(r), &given);

		if (len <= 0)
			_exit(0);
		if (len != (int)sizeof(r))
			a.err = -EINVAL;
		else if (r.what == ASK_RECORD && given >= 0)
			a.err = record_here(h, given, a.path);
		else if (r.what == ASK_KEEP && given >= 0)
			a.err = keep_here(h, given);
		else if (r.what == ASK_REPORT && given >= 0)
			a.err = report_here(h, r.path, given);
		else
			a.err = r.what == ASK_SAVE ? save_here(given, &a) : -EINVAL;
		if (fd_packet_send(fd, &a, sizeof(a), -1) < 0)
			_exit(0);
	}
}

/* Keys of the terminal are for the screen; recordings that have ended leave nothing behind. */
static void set_signals(void)
{
	struct sigaction no_wait = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT };
	sigset_t all;

	sigaction(SIGCHLD, &no_wait, NULL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
}

static _Noreturn void be_helper(struct top_helper *h, int fd, pid_t client)
{
	set_signals();
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || getppid() != client)
		_exit(1);
	(void)prctl(PR_SET_NAME, "schedscope-rec", 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	serve(h, fd);
}

int top_helper_start(struct top_helper *h, struct diag *d)
{
	struct caps own;
	int pair[2];
	pid_t client = getpid(), pid;

	h->pid = 0;
	if (caps_get(&own) || !own.permitted)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return diag_set(d, -errno, NULL, "cannot make a socket");
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		be_helper(h, pair[1], client);
	}
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return diag_set(d, -EAGAIN, NULL,
		                "cannot start the process that starts recordings");
	}
	h->fd = pair[0];
	h->pid = pid;
	return 0;
}

void top_helper_stop(struct top_helper *h)
{
	if (!h->pid)
		return;
	close(h->fd);
	while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
		;
	h->pid = 0;
}

static int send_request(const struct top_helper *h, const struct request *r, int with,
                        struct helper_answer *a)
{
	int none, err = fd_packet_send(h->fd, r, sizeof(*r), with);

	if (err >= 0)
		err = fd_packet_receive(h->fd, a, sizeof(*a), &none);
	return err == (int)sizeof(*a) ? 0 : err < 0 ? err : -EPIPE;
}

static int ask(const struct top_helper *h, uint32_t what, int with, struct helper_answer *a)
{
	struct request r = { .what = what };

	return send_request(h, &r, with, a);
}

int top_helper_record(struct top_helper *h, int said, char path[PATH_MAX])
{
	struct helper_answer a;
	int err;

	if (!h->pid)
		return record_here(h, said, path);
	err = ask(h, ASK_RECORD, said, &a);
	if (err)
		return err;
	memcpy(path, a.path, PATH_MAX);
	return a.err;
}

int top_helper_keep(struct top_helper *h, int said)
{
	struct helper_answer a;
	int err;

	if (!h->pid)
		return keep_here(h, said);
	err = ask(h, ASK_KEEP, said, &a);
	return err ? err : a.err;
}

int top_helper_report(struct top_helper *h, const char *path, int said)
{
	struct request r = { .what = ASK_REPORT };
	struct helper_answer a;
	int err;

	if (!h->pid)
		return report_here(h, path, said);
	snprintf(r.path, sizeof(r.path), "%s", path);
	err = send_request(h, &r, said, &a);
	return err ? err : a.err;
}

int top_helper_save(struct top_helper *h, const char *text, struct diag *d, char path[PATH_MAX])
{
	SCOPED(scoped_close) int fd = -1;
	size_t len = strlen(text);
	struct helper_answer a;
	int err;

	if (!h->pid)
		return config_store(text, d, path);
	fd = memfd_create("settings", MFD_CLOEXEC);
	if (fd < 0 || write(fd, text, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	err = ask(h, ASK_SAVE, fd, &a);
	if (err)
		return diag_set(d, err, NULL, "the process that saves settings has exited");
	memcpy(path, a.path, PATH_MAX);
	if (a.err && d)
		*d = a.why;
	return a.err;
}
