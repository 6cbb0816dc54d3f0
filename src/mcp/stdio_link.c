#include "mcp/stdio_link.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "mcp/message.h"

#define READ_BYTES 65536U
#define DRAIN_MS   100U

struct stdio_link {
	struct mcp_stdio_fds fds;
	pthread_mutex_t lock;
	atomic_bool is_gone; /* the reader has exited, or we are to stop */
};

struct input_line {
	char *text;
	size_t len;
	size_t size;
	bool is_too_long; /* the rest of it is skipped */
};

/* Room for a few bytes without waiting; false when it is time to stop. */
static bool wait_for_room(const struct stdio_link *l)
{
	struct pollfd fds[] = {
		{ .fd = l->fds.out, .events = POLLOUT },
		{ .fd = l->fds.stop, .events = POLLIN },
	};

	while (poll(fds, 2, -1) < 0)
		if (errno != EINTR)
			return false;
	return !fds[1].revents;
}

/* A client that does not read makes us wait here, but a stop ends that: no write is larger than what has room. */
static bool write_in_pieces(const struct stdio_link *l, const char *bytes, size_t len)
{
	while (len) {
		ssize_t nr;

		if (!wait_for_room(l))
			return false;
		nr = write(l->fds.out, bytes, len < PIPE_BUF ? len : PIPE_BUF);
		if (nr < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (nr <= 0)
			return false;
		bytes += nr;
		len -= (size_t)nr;
	}
	return true;
}

static void send_line(void *ctx, void *exchange, const char *text, size_t len, enum mcp_end end)
{
	struct stdio_link *l = ctx;

	(void)exchange;
	(void)end;
	if (!len)
		return;
	pthread_mutex_lock(&l->lock);
	if (!atomic_load(&l->is_gone) &&
	    (!write_in_pieces(l, text, len) || !write_in_pieces(l, "\n", 1)))
		atomic_store(&l->is_gone, true);
	pthread_mutex_unlock(&l->lock);
}

static int append(struct input_line *l, const char *bytes, size_t len)
{
	if (!len)
		return 0;
	if (l->len + len > MESSAGE_MAX_BYTES + 1U) {
		l->is_too_long = true;
		/* As much as makes the server say that it is too long. */
		len = MESSAGE_MAX_BYTES + 1U - l->len;
	}
	if (GROW(l->text, l->size, l->len + len))
		return -ENOMEM;
	memcpy(l->text + l->len, bytes, len);
	l->len += len;
	return 0;
}

static bool is_blank(const struct input_line *l)
{
	for (size_t i = 0; i < l->len; i++)
		if (!strchr(" \t\r", l->text[i]) || !l->text[i])
			return false;
	return true;
}

static void take_line(struct mcp_conn *c, struct input_line *l)
{
	if (!is_blank(l))
		(void)mcp_conn_take(c, l->text, l->len, NULL, NULL);
	l->len = 0;
	l->is_too_long = false;
}

static int take_bytes(struct mcp_conn *c, struct input_line *l, const char *bytes, size_t len)
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

/* The reader has gone, or we are to stop: -EPIPE, -EINTR. */
static int why_end(const struct stdio_link *l)
{
	struct pollfd fds[] = {
		{ .fd = l->fds.stop, .events = POLLIN },
		{ .fd = l->fds.out, .events = 0 },
	};

	if (poll(fds, 2, 0) > 0 && fds[0].revents)
		return -EINTR;
	return fds[1].revents || atomic_load(&l->is_gone) ? -EPIPE : 0;
}

/* Until the end of the input, a stop, or a reader that has gone. */
static int loop(struct mcp_conn *c, const struct stdio_link *l, struct input_line *line)
{
	struct pollfd fds[] = {
		{ .fd = l->fds.in, .events = POLLIN },
		{ .fd = l->fds.stop, .events = POLLIN },
		{ .fd = l->fds.out, .events = 0 },
	};
	char buf[READ_BYTES];
	int err = 0;

	while (!err) {
		ssize_t nr;

		if (poll(fds, 3, -1) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		err = why_end(l);
		if (err || !fds[0].revents)
			continue;
		nr = read(l->fds.in, buf, sizeof(buf));
		if (nr < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (nr <= 0)
			return nr < 0 ? -errno : 0;
		err = take_bytes(c, line, buf, (size_t)nr);
	}
	return err;
}

int mcp_stdio_run(struct mcp_server *s, const struct mcp_stdio_fds *fds, struct diag *d)
{
	struct stdio_link l = { .fds = *fds, .lock = PTHREAD_MUTEX_INITIALIZER };
	struct mcp_link link = { send_line, &l };
	struct mcp_conn *c = NULL;
	struct input_line line = { 0 };
	int err = mcp_conn_new(s, &link, &c);

	if (err)
		return diag_set(d, err, NULL, "out of memory");
	err = loop(c, &l, &line);
	if (!err && line.len)
		take_line(c, &line); /* the last one has no newline */
	while (!err && !mcp_conn_drain(c, DRAIN_MS))
		err = why_end(&l);
	mcp_conn_free(c);
	free(line.text);
	/* Asked to stop, or the reader has exited: both are regular ends. */
	if (err == -EINTR || err == -EPIPE)
		err = 0;
	return err ? diag_set(d, err, NULL, "cannot read the input: %s", strerror(-err)) : 0;
}
