#include "cli/top_report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

#define RECORDED  "recorded "
#define RECORDING ".pftrace"
#define NAME      "schedscope: " /* errors begin with it */

static void fail(struct top_report *r, int err)
{
	snprintf(r->line, sizeof(r->line), "no report: %s", strerror(-err));
	r->len = strlen(r->line);
}

static int start(struct top_report *r, struct top_helper *h, const char *path)
{
	int ends[2], pid;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	pid = top_helper_report(h, path, ends[1]);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return pid;
	}
	r->pid = pid;
	r->said = ends[0];
	r->len = 0;
	return 0;
}

void top_report_see(struct top_report *r, struct top_helper *h, const char *message)
{
	const char *path = message + strlen(RECORDED), *end;
	char name[PATH_MAX];
	int err;

	if (!r->is_wanted || strncmp(message, RECORDED, strlen(RECORDED)) != 0)
		return;
	end = strstr(path, ": ");
	r->is_wanted = false;
	if (r->said > 0)
		return; /* the one before is not ready yet, and says so itself */
	if (!end || (size_t)(end - path) >= sizeof(name)) {
		fail(r, -ENAMETOOLONG);
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(end - path), path);
	if (strlen(name) <= strlen(RECORDING))
		return;
	snprintf(r->page, sizeof(r->page), "%.*s.html", (int)(strlen(name) - strlen(RECORDING)),
	         name);
	err = start(r, h, name);
	if (err)
		fail(r, err);
}

/* The last line counts: it says what was written, or why not. */
static void take(struct top_report *r, char *text, size_t size)
{
	char *last = r->line, *at;

	r->line[r->len < sizeof(r->line) ? r->len : sizeof(r->line) - 1] = '\0';
	while ((at = strchr(last, '\n')) && at[1])
		last = at + 1;
	last[strcspn(last, "\n")] = '\0';
	at = strstr(last, "; ");
	if (strncmp(last, NAME, strlen(NAME)) == 0 || !at)
		snprintf(text, size, "no report: %.160s", last);
	else
		snprintf(text, size, "report %.90s%.90s", r->page, at);
	r->len = 0;
}

bool top_report_message(struct top_report *r, char *text, size_t size)
{
	ssize_t nr;

	if (r->said <= 0) {
		if (!r->len)
			return false;
		snprintf(text, size, "%s", r->line);
		r->len = 0;
		return true;
	}
	if (r->len == sizeof(r->line))
		r->len = 0; /* longer than any line of ours */
	nr = read(r->said, r->line + r->len, sizeof(r->line) - r->len);
	if (nr > 0)
		r->len += (size_t)nr;
	if (nr != 0)
		return false;
	top_report_close(r);
	take(r, text, size);
	return true;
}

void top_report_close(struct top_report *r)
{
	if (r->said > 0)
		close(r->said);
	r->said = 0;
	/* Where there is no helper it is a child of our own; then it has closed its messages, and is about to end. */
	if (r->pid > 0)
		(void)waitpid(r->pid, NULL, 0);
	r->pid = 0;
}
