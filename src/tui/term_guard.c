#include "tui/term_guard.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define RESTORE_SIZE 512U

/* What a handler of signals needs; handlers get no argument. */
static struct {
	volatile sig_atomic_t is_ours;
	int fd, pipe;
	struct termios modes;
	char restore[RESTORE_SIZE];
	size_t restore_len;
} held = { .fd = -1, .pipe = -1 };

static const int fatal_signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS, SIGQUIT };
static const int told_signals[] = { SIGTERM, SIGHUP, SIGINT, SIGWINCH };
#define NR(a) (sizeof(a) / sizeof((a)[0]))

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

static void on_told(int signal)
{
	unsigned char byte = (unsigned char)signal;
	int err = errno;

	if (write(held.pipe, &byte, 1) < 0) {
		/* Full: enough is waiting to be read. */
	}
	errno = err;
}

static void set_handlers(bool is_on)
{
	struct sigaction fatal = { .sa_handler = is_on ? on_fatal : SIG_DFL,
		                   .sa_flags = (int)(SA_RESETHAND | SA_NODEFER | SA_ONSTACK) };
	struct sigaction told = { .sa_handler = is_on ? on_told : SIG_DFL, .sa_flags = SA_RESTART };

	for (size_t i = 0; i < NR(fatal_signals); i++)
		sigaction(fatal_signals[i], &fatal, NULL);
	for (size_t i = 0; i < NR(told_signals); i++)
		sigaction(told_signals[i], &told, NULL);
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
	set_handlers(true);
}

void term_guard_end(void)
{
	set_handlers(false);
	restore_now();
	held.pipe = -1;
}
