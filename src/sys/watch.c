#include "sys/watch.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"

#define MS_NS 1000000ULL

struct watch {
	int epoll_fd;
	int signal_fd;
	int output_fd;
	bool is_deaf;             /* signals are handled elsewhere */
	unsigned int nr_reported; /* how often we were asked to stop */
	bool is_unreported; /* one of them came while writing: watch_wait() has not said so yet */
	sigset_t before;
};

static int add(const struct watch *w, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	return epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int take_signals(struct watch *w)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (!signal_is_ignored(SIGHUP))
		sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &w->before);
	w->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return w->signal_fd < 0 ? -errno : add(w, w->signal_fd, EPOLLIN);
}

static int setup(struct watch *w)
{
	int err;

	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll_fd < 0)
		return -errno;
	err = w->is_deaf ? 0 : take_signals(w);
	/* A pipe without a reader reports an error; a file cannot be watched, and need not be. */
	if (!err && w->output_fd >= 0)
		(void)add(w, w->output_fd, 0);
	return err;
}

static int open_watch(int output_fd, bool is_deaf, struct diag *d, struct watch **out)
{
	struct watch *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	w->epoll_fd = w->signal_fd = -1;
	w->output_fd = output_fd;
	w->is_deaf = is_deaf;
	err = setup(w);
	if (err) {
		watch_close(w);
		return diag_set(d, err, NULL, "cannot watch for signals");
	}
	*out = w;
	return 0;
}

int watch_open(int output_fd, struct diag *d, struct watch **out)
{
	return open_watch(output_fd, false, d, out);
}

int watch_open_deaf(struct diag *d, struct watch **out)
{
	return open_watch(-1, true, d, out);
}

int watch_data(struct watch *w, int data_fd, struct diag *d)
{
	int err = add(w, data_fd, EPOLLIN);

	return err ? diag_set(d, err, NULL, "cannot wait for data") : 0;
}

/* Left pending, a signal that was obeyed would strike as soon as it is let through again. */
void watch_close(struct watch *w)
{
	struct signalfd_siginfo info;

	if (!w)
		return;
	if (w->signal_fd >= 0) {
		while (read(w->signal_fd, &info, sizeof(info)) > 0)
			;
		close(w->signal_fd);
	}
	if (w->epoll_fd >= 0)
		close(w->epoll_fd);
	if (!w->is_deaf)
		sigprocmask(SIG_SETMASK, &w->before, NULL);
	free(w);
}

static enum watch_event next_signal(struct watch *w)
{
	struct signalfd_siginfo info;

	if (read(w->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return WATCH_TIME;
	if (info.ssi_signo == SIGCHLD)
		return WATCH_CHILD;
	if (info.ssi_signo == SIGUSR2)
		return WATCH_USER;
	w->nr_reported++;
	return WATCH_SIGNAL;
}

int watch_wait(struct watch *w, uint64_t deadline_ns, enum watch_event *out)
{
	uint64_t now = clock_boot_ns();
	uint64_t left_ms = deadline_ns > now ? (deadline_ns - now + MS_NS - 1) / MS_NS : 0;
	struct epoll_event ev;
	int n;

	*out = WATCH_SIGNAL;
	if (w->is_unreported) {
		w->is_unreported = false;
		return 0;
	}
	*out = WATCH_TIME;
	n = epoll_wait(w->epoll_fd, &ev, 1, left_ms > INT_MAX ? INT_MAX : (int)left_ms);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (n == 0)
		return 0;
	if (ev.data.fd == w->signal_fd)
		*out = next_signal(w);
	else if (ev.data.fd == w->output_fd)
		*out = WATCH_OUTPUT;
	else
		*out = WATCH_DATA;
	return 0;
}

/* Waits until some can be written; -EINTR once we were asked twice to stop. */
static int wait_writable(struct watch *w)
{
	struct pollfd fds[] = {
		{ .fd = w->output_fd, .events = POLLOUT },
		{ .fd = w->signal_fd, .events = POLLIN },
	};

	for (;;) {
		if (w->nr_reported >= 2)
			return -EINTR;
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if ((fds[1].revents & POLLIN) && next_signal(w) == WATCH_SIGNAL)
			w->is_unreported = true;
		if (fds[0].revents & POLLERR)
			return -EPIPE;
		if (fds[0].revents & POLLOUT)
			return 0;
	}
}

int watch_write(struct watch *w, const char *bytes, size_t len)
{
	while (len) {
		/* A pipe that can be written to takes so much without waiting. */
		size_t some = len < PIPE_BUF ? len : PIPE_BUF;
		int err = wait_writable(w);
		ssize_t n;

		if (err)
			return err;
		n = write(w->output_fd, bytes, some);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
	return 0;
}
