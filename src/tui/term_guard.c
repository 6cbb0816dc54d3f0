#include "tui/term_guard.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/signals.h"

#define RESTORE_SIZE 512U
#define NR(a)        (sizeof(a) / sizeof((a)[0]))

static const int fatal_signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS, SIGQUIT };
static const int forwarded_signals[] = { SIGTERM, SIGHUP, SIGINT, SIGWINCH, SIGCONT };

/* What a handler of signals needs; handlers get no argument. */
static struct {
	volatile sig_atomic_t is_ours;
	int fd, pipe;
	struct termios modes;
	char restore[RESTORE_SIZE];
	size_t restore_len;
	bool has_handlers;
	struct sigaction fatal[NR(fatal_signals)],
		forwarded[NR(forwarded_signals)]; /* what was there before */
} held = { .fd = -1, .pipe = -1 };

/* Only what is allowed in a handler. */
static void restore_now(void)
{
	if (!held.is_ours)
		return;
	held.is_ours = 0;
	if (write(held.fd, held.restore, held.restore_len) < 0)
		return;
	tcsetattr(held.fd, TCSANOW, &held.modes);
}

static void on_fatal(int signal)
{
	restore_now();
	raise(signal); /* the handler is gone (SA_RESETHAND): now as ever */
}

static void on_forwarded(int signal)
{
	unsigned char byte = (unsigned char)signal;
	int err = errno;

	if (write(held.pipe, &byte, 1) < 0) {
		/* Full: enough is waiting to be read. */
	}
	errno = err;
}

static void set_handlers(void)
{
	struct sigaction fatal = { .sa_handler = on_fatal,
		                   .sa_flags = (int)(SA_RESETHAND | SA_NODEFER | SA_ONSTACK) };
	struct sigaction forwarded = { .sa_handler = on_forwarded, .sa_flags = SA_RESTART };

	if (held.has_handlers)
		return;
	for (size_t i = 0; i < NR(fatal_signals); i++)
		sigaction(fatal_signals[i], &fatal, &held.fatal[i]);
	for (size_t i = 0; i < NR(forwarded_signals); i++) {
		bool is_kept = forwarded_signals[i] == SIGHUP && signal_is_ignored(SIGHUP);

		sigaction(forwarded_signals[i], is_kept ? NULL : &forwarded, &held.forwarded[i]);
	}
	held.has_handlers = true;
}

static void restore_handlers(void)
{
	if (!held.has_handlers)
		return;
	for (size_t i = 0; i < NR(fatal_signals); i++)
		sigaction(fatal_signals[i], &held.fatal[i], NULL);
	for (size_t i = 0; i < NR(forwarded_signals); i++)
		sigaction(forwarded_signals[i], &held.forwarded[i], NULL);
	held.has_handlers = false;
}

static void add_restore(const char *sequence)
{
	size_t len = sequence && sequence != (const char *)-1 ? strlen(sequence) : 0;

	if (held.restore_len + len > RESTORE_SIZE)
		return;
	memcpy(held.restore + held.restore_len, sequence ? sequence : "", len);
	held.restore_len += len;
}

int term_guard_remember(void)
{
	return tcgetattr(STDOUT_FILENO, &held.modes) ? -errno : 0;
}

void term_guard_begin(const char *const *sequences, int nr, int pipe)
{
	held.restore_len = 0;
	for (int i = 0; i < nr; i++)
		add_restore(sequences[i]);
	held.fd = STDOUT_FILENO;
	held.pipe = pipe;
	held.is_ours = 1;
	set_handlers();
}

void term_guard_end(void)
{
	restore_handlers();
	restore_now();
	held.pipe = -1;
}
