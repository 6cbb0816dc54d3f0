#include "collect/ring_watch.h"

#include <errno.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/cleanup.h"

#define BATCH 16

int ring_watch_open(const int *ring_fds, size_t nr)
{
	SCOPED(scoped_close) int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return -errno;
	for (size_t i = 0; i < nr; i++) {
		struct epoll_event ev = { .events = EPOLLIN | EPOLLET, .data.u32 = (uint32_t)i };

		if (epoll_ctl(fd, EPOLL_CTL_ADD, ring_fds[i], &ev))
			return -errno;
	}
	return TAKE_FD(fd);
}

int ring_watch_take(int watch_fd, int timeout_ms)
{
	struct epoll_event calls[BATCH];
	int nr;

	do {
		nr = epoll_wait(watch_fd, calls, BATCH, timeout_ms);
		timeout_ms = 0;
	} while (nr == BATCH);
	return nr < 0 && errno != EINTR ? -errno : 0;
}
