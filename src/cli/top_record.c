#include "cli/top_record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define CHECK_NS 5000000000ULL
#define DEAR     0.1 /* of a CPU */

extern char **environ;

static int add_files(posix_spawn_file_actions_t *files, int said)
{
	int err = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

	if (!err)
		err = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY,
		                                       0);
	return err ? err : posix_spawn_file_actions_adddup2(files, said, STDERR_FILENO);
}

/*
 * In a group of its own: Ctrl-C is for the screen. SIGUSR2 waits until the recorder looks for it, so that a key pressed
 * too early does not kill it.
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

static int spawn(char *const words[], int said, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
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
		err = posix_spawn(pid, "/proc/self/exe", &files, &attr, words, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return -err;
}

/* Its words must not reach the screen: they come through a pipe. */
static int start(struct top_record *r, char *const words[])
{
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	err = spawn(words, ends[1], &r->pid);
	close(ends[1]);
	if (err) {
		r->pid = 0;
		close(ends[0]);
		return err;
	}
	r->said = ends[0];
	r->len = 0;
	r->result[0] = '\0';
	return 0;
}

int top_record_open(struct top_record *r, struct diag *d)
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
		                r->trigger ? "--trigger" : NULL,
		                (char *)(uintptr_t)r->trigger, /* nobody writes to it */
		                NULL };
	int err;

	if (!r->keep_ms)
		return 0;
	snprintf(parent, sizeof(parent), "--parent=%d", (int)getpid());
	snprintf(keep, sizeof(keep), "%ums", r->keep_ms);
	snprintf(after, sizeof(after), "%ums", r->duration_ms);
	snprintf(output, sizeof(output), "--output=%s", r->prefix);
	r->checked_ns = clock_boot_ns();
	r->cpu_ns = 0;
	err = start(r, words);
	return err ? diag_set(d, err, NULL, "cannot start the recorder") : 0;
}

/* The first name that is free: nothing is ever overwritten. */
static void choose_path(struct top_record *r)
{
	do
		snprintf(r->path, sizeof(r->path), "%.4000s_%u.pftrace", r->prefix, r->nr++);
	while (access(r->path, F_OK) == 0 && r->nr < 1000000);
}

static void end_of(struct top_record *r)
{
	close(r->said);
	r->pid = 0;
	r->keep_ms = 0;
}

int top_record_start(struct top_record *r, char *text, size_t size, struct diag *d)
{
	char duration[32], parent[32], output[PATH_MAX + 16];
	char *const words[] = { "schedscope", "record", duration, parent, output, NULL };
	int err;

	if (r->pid && r->keep_ms && waitpid(r->pid, NULL, WNOHANG) == r->pid)
		end_of(r); /* it could not run: a single recording then */
	if (r->pid && r->keep_ms) {
		kill(r->pid, SIGUSR2);
		r->is_waited_for = true;
		snprintf(text, size, "writing the last %.1f s and the next %.1f s to %.120s-...",
		         r->keep_ms / 1000.0, r->duration_ms / 1000.0, r->prefix);
		return 0;
	}
	if (r->pid) {
		snprintf(text, size, "still recording to %.150s", r->path);
		return 0;
	}
	choose_path(r);
	snprintf(parent, sizeof(parent), "--parent=%d", (int)getpid());
	snprintf(duration, sizeof(duration), "--trace-ms=%u", r->duration_ms);
	snprintf(output, sizeof(output), "--output=%s", r->path);
	err = start(r, words);
	if (err)
		return diag_set(d, err, NULL, "cannot start the recorder");
	snprintf(text, size, "recording %u ms to %.120s", r->duration_ms, r->path);
	return 0;
}

/*
 * Makes news of a line. Where a single recording went is told last, when it has ended: warnings that follow it would
 * take its place in the notice line.
 */
static bool tell_line(struct top_record *r, const char *line, char *text, size_t size)
{
	static const char name[] = "schedscope: ", warning[] = "warning: ";

	if (strncmp(line, name, strlen(name)) == 0) {
		bool is_warning;

		line += strlen(name);
		is_warning = strncmp(line, warning, strlen(warning)) == 0;
		if (r->keep_ms && !r->is_asked && !r->is_waited_for) {
			/* Nobody misses yet what it cannot do, but may before it has ended. */
			if (!is_warning)
				snprintf(r->result, sizeof(r->result), "not recorded: %.180s",
				         line);
			return false;
		}
		snprintf(text, size, "%s%.180s",
		         is_warning ? "recorder: " : "not recorded: ", line);
		return true;
	}
	if (r->keep_ms) {
		snprintf(text, size, "recorded %.180s", line);
		return true;
	}
	snprintf(r->result, sizeof(r->result), "recorded %.180s", line);
	return false;
}

/* The next whole line that is news. */
static bool take_line(struct top_record *r, char *text, size_t size)
{
	char *end;

	while ((end = memchr(r->line, '\n', r->len))) {
		size_t len = (size_t)(end - r->line) + 1;
		bool is_news;

		*end = '\0';
		is_news = tell_line(r, r->line, text, size);
		r->len -= len;
		memmove(r->line, r->line + len, r->len);
		if (is_news)
			return true;
	}
	return false;
}

/* What it takes of a CPU, every few seconds; true = too much of it. */
static bool is_too_dear(struct top_record *r, double *share)
{
	uint64_t now_ns = clock_boot_ns(), cpu_ns;
	clockid_t clock;
	bool is_dear;

	if (!r->keep_ms || r->is_asked || now_ns - r->checked_ns < CHECK_NS ||
	    clock_getcpuclockid(r->pid, &clock))
		return false;
	cpu_ns = clock_read_ns(clock);
	*share = (double)(cpu_ns - r->cpu_ns) / (double)(now_ns - r->checked_ns);
	is_dear = *share > DEAR;
	r->checked_ns = now_ns;
	r->cpu_ns = cpu_ns;
	return is_dear;
}

bool top_record_news(struct top_record *r, char *text, size_t size)
{
	bool is_news;
	double share;
	ssize_t nr;

	if (!r->pid)
		return false;
	if (r->len == sizeof(r->line)) /* a line without end */
		r->line[r->len - 1] = '\n';
	if (take_line(r, text, size))
		return true;
	if (is_too_dear(r, &share)) {
		kill(r->pid, SIGINT);
		r->keep_ms = 0;
		snprintf(
			text, size,
			"keeping the last seconds took %.0f %% of a CPU: it ended; --keep=5s keeps on",
			share * 100);
		return true;
	}
	nr = read(r->said, r->line + r->len, sizeof(r->line) - r->len);
	if (nr > 0) {
		r->len += (size_t)nr;
		return take_line(r, text, size);
	}
	if (nr != 0 || waitpid(r->pid, NULL, WNOHANG) != r->pid)
		return false;
	is_news = r->result[0] && (!r->keep_ms || r->is_asked || r->is_waited_for);
	end_of(r);
	snprintf(text, size, "%s", r->result);
	return is_news;
}

void top_record_close(struct top_record *r)
{
	if (!r->pid)
		return;
	kill(r->pid, SIGINT);
	waitpid(r->pid, NULL, 0);
	end_of(r);
}
