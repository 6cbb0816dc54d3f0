#include "cli/top_record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Its words must not reach the screen; signals of the terminal are ours, and are passed on. */
static int start(char *const words[], pid_t *pid)
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
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
	err = posix_spawn(pid, "/proc/self/exe", &files, &attr, words, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return -err;
}

int top_record_open(struct top_record *r, struct diag *d)
{
	char keep[32], output[PATH_MAX + 16];
	char *const words[] = { "schedscope", "record",     "--keep", keep,   "--after",
		                "0s",         "--cooldown", "0s",     output, NULL };
	int err;

	if (!r->keep_ms)
		return 0;
	snprintf(keep, sizeof(keep), "%ums", r->keep_ms);
	snprintf(output, sizeof(output), "--output=%s", r->prefix);
	err = start(words, &r->pid);
	return err ? diag_set(d, err, NULL, "cannot start the recorder") : 0;
}

/* The first name that is free: nothing is ever overwritten. */
static void choose_path(struct top_record *r)
{
	do
		snprintf(r->path, sizeof(r->path), "%.4000s_%u.pftrace", r->prefix, r->nr++);
	while (access(r->path, F_OK) == 0 && r->nr < 1000000);
}

int top_record_start(struct top_record *r, char *text, size_t size, struct diag *d)
{
	char duration[32], output[PATH_MAX + 16];
	char *const words[] = { "schedscope", "record", duration, output, NULL };
	int err;

	if (r->pid && r->keep_ms) {
		kill(r->pid, SIGUSR2);
		snprintf(text, size, "writing the last %.1f s to %.120s-*.pftrace",
		         r->keep_ms / 1000.0, r->prefix);
		return 0;
	}
	if (r->pid) {
		snprintf(text, size, "still recording to %.150s", r->path);
		return 0;
	}
	choose_path(r);
	snprintf(duration, sizeof(duration), "--trace-ms=%u", r->duration_ms);
	snprintf(output, sizeof(output), "--output=%s", r->path);
	err = start(words, &r->pid);
	if (err)
		return diag_set(d, err, NULL, "cannot start the recorder");
	snprintf(text, size, "recording %u ms to %.120s", r->duration_ms, r->path);
	return 0;
}

bool top_record_news(struct top_record *r, char *text, size_t size)
{
	int status;

	if (!r->pid || waitpid(r->pid, &status, WNOHANG) != r->pid)
		return false;
	r->pid = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		snprintf(text, size, "recorded: %.150s", r->path);
	else
		snprintf(text, size, "not recorded: 'schedscope record' says why");
	r->keep_ms = 0;
	return true;
}

void top_record_close(struct top_record *r)
{
	if (!r->pid)
		return;
	kill(r->pid, SIGINT);
	waitpid(r->pid, NULL, 0);
	r->pid = 0;
}
