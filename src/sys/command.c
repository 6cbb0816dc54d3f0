#include "sys/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void command_init(struct command *c)
{
	*c = (struct command){ .start_fd = -1, .failure_fd = -1 };
}

/* In the child: waits until the recording has begun, then becomes the command, or says why not. */
static void be_command(char *const *words, int start_fd, int failure_fd)
{
	sigset_t none;
	char byte;
	int err;

	if (read(start_fd, &byte, 1) != 1) /* closed without a message: there is no recording */
		_exit(126);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	execvp(words[0], words);
	err = errno;
	(void)!write(failure_fd, &err, sizeof(err));
	_exit(127);
}

int command_start(struct command *c, char *const *words, struct diag *d)
{
	int start[2], failure[2];

	if (pipe2(start, O_CLOEXEC))
		return diag_set(d, -errno, NULL, "cannot make a pipe");
	if (pipe2(failure, O_CLOEXEC)) {
		close(start[0]);
		close(start[1]);
		return diag_set(d, -errno, NULL, "cannot make a pipe");
	}
	c->pid = fork();
	if (c->pid == 0) {
		close(start[1]); /* or it would wait for itself */
		be_command(words, start[0], failure[1]);
	}
	close(start[0]);
	close(failure[1]);
	c->start_fd = start[1];
	c->failure_fd = failure[0];
	if (c->pid > 0)
		return 0;
	c->pid = 0;
	return diag_set(d, -errno, NULL, "cannot start the command");
}

int command_release(struct command *c, const char *name, struct diag *d)
{
	int why = 0;

	if (!c->pid)
		return 0;
	if (write(c->start_fd, "", 1) != 1)
		return diag_set(d, -errno, NULL, "cannot start the command");
	if (read(c->failure_fd, &why, sizeof(why)) == (ssize_t)sizeof(why))
		return diag_set(d, -why, "check its name", "cannot run '%s'", name);
	return 0;
}

bool command_has_ended(struct command *c)
{
	if (!c->pid || waitpid(c->pid, &c->status, WNOHANG) != c->pid)
		return false;
	c->pid = 0;
	return true;
}

void command_leave(struct command *c, bool is_waiting)
{
	if (c->start_fd >= 0)
		close(c->start_fd);
	if (c->failure_fd >= 0)
		close(c->failure_fd);
	c->start_fd = c->failure_fd = -1;
	if (c->pid && is_waiting) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, &c->status, 0);
		c->pid = 0;
	}
}

/* What execvp() would find: a file that may be executed. */
static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

int command_check(const char *name, struct diag *d)
{
	const char *dirs = getenv("PATH"), *end;
	char path[PATH_MAX];
	bool is_there = access(name, F_OK) == 0;

	if (strchr(name, '/')) {
		if (is_program(name))
			return 0;
		return diag_set(d, is_there ? -EACCES : -ENOENT,
		                is_there ? "name a program that may be executed" : "check its path",
		                "cannot run '%s'", name);
	}
	for (; dirs; dirs = end ? end + 1 : NULL) {
		int len;

		end = strchr(dirs, ':');
		len = end ? (int)(end - dirs) : (int)strlen(dirs);
		if ((size_t)snprintf(path, sizeof(path), "%.*s/%s", len ? len : 1, len ? dirs : ".",
		                     name) < sizeof(path) &&
		    is_program(path))
			return 0;
	}
	return diag_set(d, -ENOENT,
	                is_there ? "write ./ before a program of this directory"
	                         : "check its name, and PATH",
	                "cannot run '%s'", name);
}
