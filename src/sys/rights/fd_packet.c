#include "sys/rights/fd_packet.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * FD_PACKET_MAX)];
};

static void attach(struct msghdr *msg, union control *control, const struct fd_packet *with)
{
	struct cmsghdr *c;

	memset(control, 0, sizeof(*control));
	msg->msg_control = control->bytes;
	msg->msg_controllen = CMSG_SPACE(sizeof(int) * with->nr);
	c = CMSG_FIRSTHDR(msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int) * with->nr);
	memcpy(CMSG_DATA(c), with->fds, sizeof(int) * with->nr);
}

int fd_packet_send_all(int fd, const void *bytes, size_t len, const struct fd_packet *with)
{
	union control control;
	struct iovec part = { .iov_base = (void *)bytes, .iov_len = len };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t sent;

	if (with->nr > FD_PACKET_MAX)
		return -E2BIG;
	if (with->nr)
		attach(&msg, &control, with);
	do
		sent = sendmsg(fd, &msg, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : (int)sent;
}

int fd_packet_receive_all(int fd, void *bytes, size_t len, struct fd_packet *with)
{
	union control control;
	struct iovec part = { .iov_base = bytes, .iov_len = len };
	struct msghdr msg = { .msg_iov = &part,
		              .msg_iovlen = 1,
		              .msg_control = control.bytes,
		              .msg_controllen = sizeof(control.bytes) };
	const struct cmsghdr *c;
	ssize_t got;

	with->nr = 0;
	do
		got = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		with->nr = (uint32_t)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(with->fds, CMSG_DATA(c), sizeof(int) * with->nr);
	}
	if (msg.msg_flags & MSG_CTRUNC) {
		fd_packet_close(with);
		return -EMFILE;
	}
	return (int)got;
}

void fd_packet_close(struct fd_packet *p)
{
	for (uint32_t i = 0; i < p->nr; i++)
		close(p->fds[i]);
	p->nr = 0;
}

int fd_packet_send(int fd, const void *bytes, size_t len, int with)
{
	struct fd_packet one = { .fds = { with }, .nr = with >= 0 };

	return fd_packet_send_all(fd, bytes, len, &one);
}

int fd_packet_receive(int fd, void *bytes, size_t len, int *with)
{
	struct fd_packet all;
	int got = fd_packet_receive_all(fd, bytes, len, &all);

	*with = -1;
	if (got >= 0 && all.nr) {
		*with = all.fds[0];
		all.fds[0] = all.fds[all.nr - 1];
		all.nr--;
	}
	fd_packet_close(&all);
	return got;
}
