#include "sys/rights/sandbox_msg.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/grow.h"

#define STEP_BYTES \
	((size_t)1 << 20) /* memory follows what has arrived, not what a header promises */
#define MAGIC 0x53637053U

struct header {
	uint32_t magic;
	uint32_t kind;
	uint64_t len;
};

static void close_fds(struct sandbox_msg *m)
{
	for (uint32_t i = 0; i < m->nr_fds; i++)
		if (m->fds[i] >= 0)
			close(m->fds[i]);
	m->nr_fds = 0;
}

void sandbox_msg_begin(struct sandbox_msg *m, uint32_t kind)
{
	close_fds(m);
	m->kind = kind;
	m->len = m->at = 0;
	m->error = 0;
}

void sandbox_msg_done(struct sandbox_msg *m)
{
	close_fds(m);
	free(m->bytes);
	*m = (struct sandbox_msg){ 0 };
}

static bool reserve(struct sandbox_msg *m, size_t more)
{
	if (m->error || more > SIZE_MAX / 4 || m->len > SIZE_MAX / 4) {
		m->error = m->error ? m->error : -ENOMEM;
		return false;
	}
	if (GROW(m->bytes, m->room, m->len + more)) {
		m->error = -ENOMEM;
		return false;
	}
	return true;
}

static void put(struct sandbox_msg *m, const void *from, size_t len)
{
	if (!reserve(m, len))
		return;
	if (len)
		memcpy(m->bytes + m->len, from, len);
	m->len += len;
}

void sandbox_put_u64(struct sandbox_msg *m, uint64_t value)
{
	put(m, &value, sizeof(value));
}

void sandbox_put_bytes(struct sandbox_msg *m, const void *bytes, size_t len)
{
	sandbox_put_u64(m, len);
	put(m, bytes, len);
}

/* With its NUL, so that what has no bytes at all is NULL. */
void sandbox_put_text(struct sandbox_msg *m, const char *text)
{
	sandbox_put_bytes(m, text, text ? strlen(text) + 1 : 0);
}

void sandbox_put_fd(struct sandbox_msg *m, int fd)
{
	int own = m->nr_fds < SANDBOX_FDS_MAX ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;

	if (own < 0)
		m->error = m->error ? m->error : -EMFILE;
	else
		m->fds[m->nr_fds++] = own;
}

static const void *get(struct sandbox_msg *m, size_t len)
{
	if (m->error || m->len - m->at < len) {
		m->error = m->error ? m->error : -EBADMSG;
		return NULL;
	}
	m->at += len;
	return m->bytes + m->at - len;
}

uint64_t sandbox_get_u64(struct sandbox_msg *m)
{
	const void *from = get(m, sizeof(uint64_t));
	uint64_t value = 0;

	if (from)
		memcpy(&value, from, sizeof(value));
	return value;
}

const void *sandbox_get_bytes(struct sandbox_msg *m, size_t *len)
{
	uint64_t nr = sandbox_get_u64(m);
	const void *from = nr && nr <= SIZE_MAX ? get(m, (size_t)nr) : NULL;

	*len = from ? (size_t)nr : 0;
	return from;
}

const char *sandbox_get_text(struct sandbox_msg *m)
{
	size_t len;
	const char *text = sandbox_get_bytes(m, &len);

	if (text && text[len - 1] != '\0') {
		m->error = -EBADMSG;
		return NULL;
	}
	return text;
}

int sandbox_take_fd(struct sandbox_msg *m, uint32_t at)
{
	int fd;

	if (at >= m->nr_fds)
		return -1;
	fd = m->fds[at];
	m->fds[at] = -1;
	return fd;
}

static int not_ready(const struct sandbox_wire *w, short events)
{
	if (errno == EINTR)
		return 0;
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		return -errno;
	return w->wait ? w->wait(w->ctx, events) : 0;
}

/* Descriptors go with the first byte. */
static ssize_t send_some(int fd, const void *from, size_t len, const struct sandbox_msg *with)
{
	union {
		char buf[CMSG_SPACE(sizeof(int) * SANDBOX_FDS_MAX)];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec iov = { (void *)(uintptr_t)from, len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (with && with->nr_fds) {
		struct cmsghdr *c;

		m.msg_control = control.buf;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * with->nr_fds);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * with->nr_fds);
		memcpy(CMSG_DATA(c), with->fds, sizeof(int) * with->nr_fds);
	}
	return sendmsg(fd, &m, MSG_NOSIGNAL);
}

static int send_all(const struct sandbox_wire *w, const uint8_t *from, size_t len,
                    const struct sandbox_msg *with)
{
	while (len) {
		ssize_t n = send_some(w->fd, from, len, with);
		int err;

		if (n < 0) {
			err = not_ready(w, POLLOUT);
			if (err)
				return err;
			continue;
		}
		with = NULL;
		from += n;
		len -= (size_t)n;
	}
	return 0;
}

int sandbox_msg_send(const struct sandbox_wire *w, const struct sandbox_msg *m)
{
	struct header h = { .magic = MAGIC, .kind = m->kind, .len = m->len };
	int err = m->error ? m->error : send_all(w, (const uint8_t *)&h, sizeof(h), m);

	return err ? err : send_all(w, m->bytes, m->len, NULL);
}

/* More descriptors than there is room for are closed by the kernel. */
static void keep_fds(struct msghdr *h, struct sandbox_msg *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		size_t nr;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		nr = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < nr; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (m->nr_fds < SANDBOX_FDS_MAX)
				m->fds[m->nr_fds++] = fd;
			else
				close(fd);
		}
	}
}

static int receive_all(const struct sandbox_wire *w, uint8_t *to, size_t len, struct sandbox_msg *m)
{
	while (len) {
		union {
			char buf[CMSG_SPACE(sizeof(int) * SANDBOX_FDS_MAX)];
			struct cmsghdr align;
		} control;
		struct iovec iov = { to, len };
		struct msghdr h = { .msg_iov = &iov,
			            .msg_iovlen = 1,
			            .msg_control = control.buf,
			            .msg_controllen = sizeof(control.buf) };
		ssize_t n = recvmsg(w->fd, &h, MSG_CMSG_CLOEXEC);
		int err;

		if (n < 0) {
			err = not_ready(w, POLLIN);
			if (err)
				return err;
			continue;
		}
		keep_fds(&h, m);
		if (n == 0)
			return -EPIPE;
		to += n;
		len -= (size_t)n;
	}
	return 0;
}

int sandbox_msg_receive(const struct sandbox_wire *w, size_t max, struct sandbox_msg *m)
{
	struct header h = { 0 };
	int err;

	sandbox_msg_begin(m, 0);
	err = receive_all(w, (uint8_t *)&h, sizeof(h), m);
	if (err)
		return err;
	if (h.magic != MAGIC)
		return -EBADMSG;
	if (h.len > max)
		return -EMSGSIZE;
	m->kind = h.kind;
	while (!err && m->len < h.len) {
		size_t part = h.len - m->len < STEP_BYTES ? (size_t)h.len - m->len : STEP_BYTES;

		if (!reserve(m, part))
			return m->error;
		err = receive_all(w, m->bytes + m->len, part, m);
		m->len += part;
	}
	return err;
}
