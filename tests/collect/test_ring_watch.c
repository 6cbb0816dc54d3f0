#include "../unit.h"

#include <poll.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "collect/ring_watch.h"

#define NR_RINGS 40

/* Pipes in place of rings: what is in them stays there, as records do until the reader has been. */
struct fixture {
	int read_fds[NR_RINGS], write_fds[NR_RINGS];
	int watch_fd;
	int outer_fd; /* who waits for the watch, as sys/watch does */
};

static void begin(struct fixture *f)
{
	struct epoll_event ev = { .events = EPOLLIN };

	for (int i = 0; i < NR_RINGS; i++) {
		int fds[2];

		expect_eq(pipe(fds), 0);
		f->read_fds[i] = fds[0];
		f->write_fds[i] = fds[1];
	}
	f->watch_fd = ring_watch_open(f->read_fds, NR_RINGS);
	assert_true(f->watch_fd >= 0);
	f->outer_fd = epoll_create1(EPOLL_CLOEXEC);
	expect_eq(epoll_ctl(f->outer_fd, EPOLL_CTL_ADD, f->watch_fd, &ev), 0);
}

static void end(struct fixture *f)
{
	close(f->outer_fd);
	close(f->watch_fd);
	for (int i = 0; i < NR_RINGS; i++) {
		close(f->read_fds[i]);
		close(f->write_fds[i]);
	}
}

static void call(const struct fixture *f, int ring)
{
	expect_eq(write(f->write_fds[ring], "x", 1), 1);
}

static bool is_called(const struct fixture *f)
{
	struct pollfd one = { .fd = f->watch_fd, .events = POLLIN };
	struct epoll_event ev;
	int nr = epoll_wait(f->outer_fd, &ev, 1, 0);

	expect_eq(poll(&one, 1, 0), nr);
	return nr == 1;
}

static void a_call_that_was_taken_is_over_though_its_ring_holds_records(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_false(is_called(&f));
	call(&f, 3);
	assert_true(is_called(&f));
	assert_true(is_called(&f));
	expect_eq(ring_watch_take(f.watch_fd, 0), 0);
	assert_false(is_called(&f));
	call(&f, 3);
	assert_true(is_called(&f));
	end(&f);
}

static void all_calls_are_taken_however_many_rings_there_are(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	for (int i = 0; i < NR_RINGS; i++)
		call(&f, i);
	expect_eq(ring_watch_take(f.watch_fd, 1000), 0);
	assert_false(is_called(&f));
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_that_was_taken_is_over_though_its_ring_holds_records),
		cmocka_unit_test(all_calls_are_taken_however_many_rings_there_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
