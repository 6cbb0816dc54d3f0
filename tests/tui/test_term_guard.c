#include "../unit.h"

#include <signal.h>
#include <unistd.h>

#include "tui/term_guard.h"

static const int signals[] = { SIGTERM, SIGHUP, SIGINT, SIGWINCH, SIGSEGV, SIGBUS,
	                       SIGABRT, SIGFPE, SIGILL, SIGSYS,   SIGQUIT };
#define NR_SIGNALS (sizeof(signals) / sizeof(signals[0]))

static volatile sig_atomic_t nr_usual;

static void usual(int signal)
{
	(void)signal;
	nr_usual++;
}

struct fixture {
	int pipe[2];
	struct sigaction before[NR_SIGNALS];
};

/* Every signal has a handler that is not the default; SIGHUP is as asked for. */
static void begin(struct fixture *f, void (*on_hangup)(int))
{
	expect_eq(pipe(f->pipe), 0);
	for (size_t i = 0; i < NR_SIGNALS; i++) {
		struct sigaction a = { .sa_handler = signals[i] == SIGHUP ? on_hangup : usual };

		sigaction(signals[i], &a, &f->before[i]);
	}
	(void)!term_guard_remember(); /* the tests may have no terminal */
	term_guard_begin(NULL, 0, f->pipe[1]);
}

static void end(struct fixture *f, void (*on_hangup)(int))
{
	term_guard_end();
	for (size_t i = 0; i < NR_SIGNALS; i++) {
		struct sigaction now;

		sigaction(signals[i], &f->before[i], &now);
		assert_true(now.sa_handler == (signals[i] == SIGHUP ? on_hangup : usual));
	}
	close(f->pipe[0]);
	close(f->pipe[1]);
}

static void signals_are_bytes_and_then_what_they_were(void **state)
{
	unsigned char bytes[4] = { 0 };
	struct fixture f;

	(void)state;
	begin(&f, usual);
	raise(SIGTERM);
	raise(SIGHUP);
	raise(SIGWINCH);
	expect_eq(read(f.pipe[0], bytes, sizeof(bytes)), 3);
	expect_eq(bytes[0], SIGTERM);
	expect_eq(bytes[1], SIGHUP);
	expect_eq(bytes[2], SIGWINCH);
	expect_eq(nr_usual, 0);
	end(&f, usual);
}

static void a_hangup_that_is_ignored_stays_so(void **state)
{
	unsigned char bytes[4] = { 0 };
	struct fixture f;

	(void)state;
	begin(&f, SIG_IGN);
	raise(SIGHUP);
	raise(SIGINT);
	expect_eq(read(f.pipe[0], bytes, sizeof(bytes)), 1);
	expect_eq(bytes[0], SIGINT);
	end(&f, SIG_IGN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_are_bytes_and_then_what_they_were),
		cmocka_unit_test(a_hangup_that_is_ignored_stays_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
