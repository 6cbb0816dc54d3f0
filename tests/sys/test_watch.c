#include "../unit.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/watch.h"

#define WAIT_NS 10000000ULL

static enum watch_event next_event(struct watch *w)
{
	enum watch_event event;

	expect_eq(watch_wait(w, clock_boot_ns() + WAIT_NS, &event), 0);
	return event;
}

static void a_signal_is_an_event_and_what_was_before_comes_back(void **state)
{
	struct sigaction normal = { .sa_handler = SIG_DFL }, before;
	struct diag d = { 0 };
	struct watch *w;
	sigset_t after;

	(void)state;
	sigaction(SIGHUP, &normal, &before); /* a program started by nohup ignores it */
	expect_eq(watch_open(-1, &d, &w), 0);
	expect_eq(next_event(w), WATCH_TIME);
	raise(SIGHUP);
	expect_eq(next_event(w), WATCH_SIGNAL);
	raise(SIGUSR2);
	expect_eq(next_event(w), WATCH_USER);
	raise(SIGTERM); /* obeyed, though it was not waited for */
	watch_close(w);
	sigprocmask(SIG_SETMASK, NULL, &after);
	expect_eq(sigismember(&after, SIGHUP), 0);
	sigaction(SIGHUP, &before, NULL);
}

static void a_hangup_that_is_ignored_ends_nothing(void **state)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	struct diag d = { 0 };
	struct watch *w;

	(void)state;
	sigaction(SIGHUP, &ignore, &before);
	expect_eq(watch_open(-1, &d, &w), 0);
	raise(SIGHUP);
	expect_eq(next_event(w), WATCH_TIME);
	raise(SIGTERM);
	expect_eq(next_event(w), WATCH_SIGNAL);
	watch_close(w);
	sigaction(SIGHUP, &before, NULL);
}

static void data_is_an_event(void **state)
{
	int fd = eventfd(1, EFD_CLOEXEC);
	struct diag d = { 0 };
	struct watch *w;

	(void)state;
	expect_eq(watch_open(-1, &d, &w), 0);
	expect_eq(watch_data(w, fd, &d), 0);
	expect_eq(next_event(w), WATCH_DATA);
	watch_close(w);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_is_an_event_and_what_was_before_comes_back),
		cmocka_unit_test(a_hangup_that_is_ignored_ends_nothing),
		cmocka_unit_test(data_is_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
