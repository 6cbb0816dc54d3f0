#include "mcp/stdio_link.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "mcp/message.h"

#define READ_BYTES 65536U

struct stdio_link {
	int out_fd;
	pthread_mutex_t lock;
	bool is_gone; /* nobody reads any more */
};

struct line {
	char *text;
	size_t len;
	size_t size;
	bool is_too_long; /* the rest of it is skipped */
};

static bool write_all(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t nr = write(fd, bytes, len);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr <= 0)
			return false;
		bytes += nr;
		len -= (size_t)nr;
	}
	return true;
}

static void send_line(void *ctx, void *exchange, const char *text, size_t len, bool is_last)
{
	struct stdio_link *l = ctx;

	(void)exchange;
	(void)is_last;
	if (!len)
		return;
	pthread_mutex_lock(&l->lock);
	if (!l->is_gone)
		l->is_gone = !write_all(l->out_fd, text, len) || !write_all(l->out_fd, "\n", 1);
	pthread_mutex_unlock(&l->lock);
}

static int append(struct line *l, const char *bytes, size_t len)
{
	if (l->len + len > MESSAGE_MAX_BYTES + 1U) {
		l->is_too_long = true;
		/* As much as makes the server say that it is too long. */
		len = MESSAGE_MAX_BYTES + 1U - l->len;
	}
	if (l->len + len > l->size) {
		size_t size = 2 * (l->len + len);
		char *text = realloc(l->text, size);

		if (!text)
			return -ENOMEM;
		l->text = text;
		l->size = size;
	}
	memcpy(l->text + l->len, bytes, len);
	l->len += len;
	return 0;
}

static bool is_blank(const struct line *l)
{
	for (size_t i = 0; i < l->len; i++)
		if (!strchr(" \t\r", l->text[i]) || !l->text[i])
			return false;
	return true;
}

static void take_line(struct mcp_conn *c, struct line *l)
{
	if (!is_blank(l))
		(void)mcp_conn_take(c, l->text, l->len, NULL);
	l->len = 0;
	l->is_too_long = false;
}

static int take_bytes(struct mcp_conn *c, struct line *l, const char *bytes, size_t len)
{
	int err = 0;

	while (!err && len) {
		const char *end = memchr(bytes, '\n', len);
		size_t nr = end ? (size_t)(end - bytes) : len;

		if (!l->is_too_long)
			err = append(l, bytes, nr);
		if (!err && end)
			take_line(c, l);
		nr += end != NULL;
		bytes += nr;
		len -= nr;
	}
	return err;
}

/* Until the end of the input, a signal, or a reader that has gone. */
static int loop(struct mcp_conn *c, const struct stdio_link *l, int in_fd, int signal_fd,
                struct line *line)
{
	struct pollfd fds[] = {
		{ .fd = in_fd, .events = POLLIN },
		{ .fd = signal_fd, .events = POLLIN },
		{ .fd = l->out_fd, .events = 0 },
	};
	char buf[READ_BYTES];
	int err = 0;

	while (!err && !l->is_gone) {
		ssize_t nr;

		if (poll(fds, 3, -1) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (fds[1].revents)
			return -EINTR;
		if (fds[2].revents & (POLLERR | POLLHUP | POLLNVAL))
			return -EPIPE;
		if (!fds[0].revents)
			continue;
		nr = read(in_fd, buf, sizeof(buf));
		if (nr < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (nr <= 0)
			return nr < 0 ? -errno : 0;
		err = take_bytes(c, line, buf, (size_t)nr);
	}
	return err ? err : -EPIPE;
}

static int open_signals(sigset_t *before)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, before);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int mcp_stdio_run(struct mcp_server *s, int in_fd, int out_fd, struct diag *d)
{
	struct stdio_link l = { .out_fd = out_fd, .lock = PTHREAD_MUTEX_INITIALIZER };
	struct mcp_link link = { send_line, &l };
	sigset_t before;
	SCOPED(scoped_close) int signal_fd = open_signals(&before);
	struct mcp_conn *c = NULL;
	struct line line = { 0 };
	int err = mcp_conn_new(s, &link, &c);

	if (err)
		return diag_set(d, err, NULL, "out of memory");
	err = loop(c, &l, in_fd, signal_fd, &line);
	if (!err && line.len)
		take_line(c, &line); /* the last one has no newline */
	if (!err)
		mcp_conn_drain(c);
	mcp_conn_free(c);
	free(line.text);
	/* Told to stop, or nobody listens any more: both are ends in order. */
	if (err == -EINTR || err == -EPIPE)
		err = 0;
	return err ? diag_set(d, err, NULL, "cannot read the input: %s", strerror(-err)) : 0;
}
