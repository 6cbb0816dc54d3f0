#include "tui/term.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>

#include "base/clock.h"
#include "tui/background.h"
#include "tui/term_guard.h"
#include "tui/term_priv.h"

#define ESC_WAIT_MS 25
#define MAX_SIDE    1000 /* cells; a terminal that claims more gets this much */
/* Brackets around what is pasted: terminfo does not know them. */
#define PASTE_ON  "\033[?2004h"
#define PASTE_OFF "\033[?2004l"

static enum depth find_depth(void)
{
	const char *no = getenv("NO_COLOR"), *claim = getenv("COLORTERM");
	int colours = tigetnum("colors");

	if ((no && *no) || colours < 8)
		return DEPTH_MONO;
	if (colours > 256 ||
	    (claim && (strcmp(claim, "truecolor") == 0 || strcmp(claim, "24bit") == 0)))
		return DEPTH_TRUE;
	return colours >= 256 ? DEPTH_256 : DEPTH_8;
}

/* Consoles that would print the question are not asked. */
static void ask_background(struct terminal *t)
{
	const char *name = getenv("TERM");

	t->background = background_of_environment(getenv("COLORFGBG"));
	if (t->depth == DEPTH_MONO || !name || strncmp(name, "linux", 5) == 0 ||
	    strncmp(name, "vt", 2) == 0)
		return;
	term_put(t, BACKGROUND_QUERY);
	t->asked_ns = clock_read_ns(CLOCK_MONOTONIC);
}

static int enter_screen(struct terminal *t)
{
	const char *const restore[] = { "\033[?1006l\033[?1002l\033[?1000l", /* no mouse */
		                        PASTE_OFF,
		                        exit_attribute_mode,
		                        cursor_normal,
		                        keypad_local,
		                        exit_ca_mode };

	raw();
	noecho();
	nonl();
	keypad(t->pad, TRUE);
	define_key(TERM_PASTE_BEGIN, TERM_KEY_PASTE_BEGIN);
	define_key(TERM_PASTE_END, TERM_KEY_PASTE_END);
	mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	mouseinterval(0);
	t->is_blank = true;
	term_guard_begin(restore, sizeof(restore) / sizeof(restore[0]), t->signals[1]);
	term_put(t, enter_ca_mode);
	term_put(t, cursor_invisible);
	term_put(t, keypad_xmit);
	term_put(t, PASTE_ON);
	return term_flush(t);
}

static int open_screen(struct terminal *t, struct diag *d)
{
	const char *name = getenv("TERM");

	t->in = isatty(STDIN_FILENO) ? stdin : fopen("/dev/tty", "re");
	if (!t->in)
		return diag_set(d, -errno, NULL, "cannot read from the terminal");
	set_escdelay(ESC_WAIT_MS);
	t->screen = newterm(NULL, stdout, t->in);
	if (!t->screen)
		return diag_set(d, -ENOTSUP, "set TERM, as in TERM=xterm-256color",
		                "the terminal '%.40s' is not known", name ? name : "");
	t->pad = newpad(1, 1);
	if (!t->pad)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	if (!cursor_address)
		return diag_set(d, -ENOTSUP, "use 'schedscope stat' there",
		                "the terminal '%.40s' cannot move its cursor", name ? name : "");
	t->depth = find_depth();
	return 0;
}

int term_open(struct diag *d, struct terminal **out)
{
	struct terminal *t;
	int err;

	setlocale(LC_CTYPE, "");
	if (!isatty(STDOUT_FILENO) || term_guard_remember())
		return diag_set(d, -ENOTTY, "use 'schedscope stat' there",
		                "standard output is not a terminal");
	t = calloc(1, sizeof(*t));
	if (!t)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	if (pipe2(t->signals, O_CLOEXEC | O_NONBLOCK)) {
		err = diag_set(d, -errno, NULL, "cannot make a pipe");
		free(t);
		return err;
	}
	err = grid_init(&t->shown, 1, 1);
	if (!err)
		err = open_screen(t, d);
	if (!err) {
		ask_background(t); /* written by enter_screen(), in raw mode */
		err = enter_screen(t);
	}
	if (err) {
		term_close(t);
		return diag_set(d, err, NULL, "cannot open the terminal");
	}
	*out = t;
	return 0;
}

void term_close(struct terminal *t)
{
	if (!t)
		return;
	if (t->pad)
		term_await_reply(t);
	term_guard_end();
	if (t->pad)
		delwin(t->pad);
	if (t->screen) {
		endwin();
		delscreen(t->screen);
	}
	if (t->in && t->in != stdin)
		fclose(t->in);
	close(t->signals[0]);
	close(t->signals[1]);
	grid_done(&t->shown);
	free(t->bytes);
	free(t);
}

static void enter_again(struct terminal *t)
{
	reset_prog_mode();
	if (enter_screen(t))
		t->is_blank =
			true; /* writing fails again at the next frame, and is reported then */
}

void term_suspend(struct terminal *t)
{
	term_guard_end();
	kill(0, SIGTSTP);
	(void)!term_guard_remember(); /* without, those from before come back */
	enter_again(t);
}

/* What comes back at the end is what was there before the stop: a shell may have set our own modes by now. */
void term_continue(struct terminal *t)
{
	if (tcgetpgrp(STDOUT_FILENO) ==
	    getpgrp()) /* in the background, setting modes would stop us */
		enter_again(t);
}

static uint16_t side(unsigned short cells, uint16_t unknown)
{
	if (!cells)
		return unknown;
	return cells > MAX_SIDE ? MAX_SIDE : cells;
}

void term_size(const struct terminal *t, uint16_t *width, uint16_t *height)
{
	struct winsize ws = { 0 };

	(void)t;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws))
		ws = (struct winsize){ 0 };
	*width = side(ws.ws_col, 80);
	*height = side(ws.ws_row, 24);
}
