#include "tui/term.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"

#define ESC_WAIT_MS  25
#define MAX_SIDE     1000 /* cells; a terminal that claims more gets this much */
#define RESTORE_SIZE 512U

enum depth { DEPTH_MONO, DEPTH_8, DEPTH_256, DEPTH_TRUE };

struct terminal {
	SCREEN *screen;
	WINDOW *pad; /* keys are read through it: reading from stdscr would draw that */
	FILE *in;
	enum depth depth;
	struct grid shown; /* what the terminal shows now */
	bool is_blank;     /* nothing of it is known */
	const struct theme *theme;
	int signals[2];
	char *bytes; /* of a frame, before they are written */
	size_t nr_bytes, room;
};

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

static void hold(const struct terminal *t)
{
	held.restore_len = 0;
	add_restore("\033[?1006l\033[?1002l\033[?1000l"); /* no mouse */
	add_restore(exit_attribute_mode);
	add_restore(cursor_normal);
	add_restore(keypad_local);
	add_restore(exit_ca_mode);
	held.fd = STDOUT_FILENO;
	held.pipe = t->signals[1];
	held.is_ours = 1;
}

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

static void put_bytes(struct terminal *t, const char *bytes, size_t len)
{
	if (t->nr_bytes + len > t->room) {
		size_t room = (t->nr_bytes + len) * 2;
		char *grown = realloc(t->bytes, room);

		if (!grown) {
			t->is_blank = true; /* the frame is cut; the next one is drawn whole */
			return;
		}
		t->bytes = grown;
		t->room = room;
	}
	memcpy(t->bytes + t->nr_bytes, bytes, len);
	t->nr_bytes += len;
}

/* Sequences of terminfo carry no delays on anything that has colours; tputs() would write on its own. */
static void put_text(struct terminal *t, const char *text)
{
	if (text && text != (const char *)-1)
		put_bytes(t, text, strlen(text));
}

static int flush_bytes(struct terminal *t)
{
	size_t at = 0;

	while (at < t->nr_bytes) {
		ssize_t nr = write(STDOUT_FILENO, t->bytes + at, t->nr_bytes - at);
		struct pollfd room = { .fd = STDOUT_FILENO, .events = POLLOUT };

		if (nr < 0 && errno == EAGAIN) {
			poll(&room, 1, 100);
			continue;
		}
		if (nr < 0 && errno != EINTR)
			return -errno;
		at += nr > 0 ? (size_t)nr : 0;
	}
	t->nr_bytes = 0;
	return 0;
}

static int enter_screen(struct terminal *t)
{
	raw();
	noecho();
	nonl();
	keypad(t->pad, TRUE);
	mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	mouseinterval(0);
	t->is_blank = true;
	hold(t);
	set_handlers(true);
	put_text(t, enter_ca_mode);
	put_text(t, cursor_invisible);
	put_text(t, keypad_xmit);
	return flush_bytes(t);
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
	if (!isatty(STDOUT_FILENO) || tcgetattr(STDOUT_FILENO, &held.modes))
		return diag_set(d, -ENOTTY, "use 'schedscope stat' there",
		                "standard output is no terminal");
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
	if (!err)
		err = enter_screen(t);
	if (err) {
		term_close(t);
		return diag_set(d, err, NULL, "cannot open the terminal");
	}
	*out = t;
	return 0;
}

static void leave_screen(void)
{
	set_handlers(false);
	restore_now();
}

void term_close(struct terminal *t)
{
	if (!t)
		return;
	leave_screen();
	if (t->pad)
		delwin(t->pad);
	if (t->screen) {
		endwin();
		delscreen(t->screen);
	}
	if (t->in && t->in != stdin)
		fclose(t->in);
	held.pipe = -1;
	close(t->signals[0]);
	close(t->signals[1]);
	grid_done(&t->shown);
	free(t->bytes);
	free(t);
}

void term_suspend(struct terminal *t)
{
	leave_screen();
	kill(0, SIGTSTP);
	tcgetattr(STDOUT_FILENO, &held.modes);
	reset_prog_mode();
	if (enter_screen(t))
		t->is_blank = true; /* writing fails again at the next frame, and is told then */
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

static void put_colour(struct terminal *t, uint32_t rgb)
{
	char text[32];

	if (t->depth == DEPTH_TRUE)
		snprintf(text, sizeof(text), "\033[38;2;%u;%u;%um", rgb >> 16 & 0xff,
		         rgb >> 8 & 0xff, rgb & 0xff);
	else if (t->depth == DEPTH_MONO)
		return;
	else
		snprintf(text, sizeof(text), "%s",
		         tiparm(set_a_foreground, t->depth == DEPTH_256 ? (int)theme_of_256(rgb)
		                                                        : (int)theme_of_8(rgb)));
	put_text(t, text);
}

static void put_style(struct terminal *t, const struct theme *theme, uint8_t style)
{
	struct look look = theme_look(theme, style);

	put_text(t, exit_attribute_mode);
	if (look.is_bold)
		put_text(t, enter_bold_mode);
	/* Where colours are, the dim one is a colour. */
	if (look.is_dim && t->depth == DEPTH_MONO)
		put_text(t, enter_dim_mode);
	if (look.is_reversed)
		put_text(t, enter_reverse_mode);
	put_colour(t, look.colour);
}

static void put_code(struct terminal *t, uint32_t code)
{
	char bytes[MB_LEN_MAX];
	mbstate_t state = { 0 };
	size_t len = wcrtomb(bytes, (wchar_t)code, &state);

	/* What the locale cannot say; bars stay bars. */
	if (len == (size_t)-1) {
		bytes[0] = code >= 0x2580 && code < 0x25a0   ? '#'
		           : code == 0x2502                  ? '|'
		           : code >= 0x2500 && code < 0x2580 ? '-'
		                                             : '?';
		len = 1;
	}
	put_bytes(t, bytes, len);
}

static bool is_same(const struct cell *a, const struct cell *b)
{
	return a->code == b->code && a->style == b->style;
}

/* The last cell of the screen is left alone: writing it would scroll some terminals. */
static int end_of_row(const struct grid *g, int y)
{
	return y == g->height - 1 ? g->width - 1 : g->width;
}

static void draw_row(struct terminal *t, const struct grid *g, int y, int *style)
{
	const struct cell *new = &g->cells[(size_t)y * g->width];
	const struct cell *old = &t->shown.cells[(size_t)y * g->width];
	int at = -1; /* where the cursor is */

	for (int x = 0; x < end_of_row(g, y); x++) {
		int width = x + 1 < g->width && !new[x + 1].code ? 2 : 1;

		if (!new[x].code)
			continue;
		if (!t->is_blank && is_same(&new[x], &old[x]) &&
		    (width == 1 || is_same(&new[x + 1], &old[x + 1])))
			continue;
		if (at != x)
			put_text(t, tiparm(cursor_address, y, x));
		if (*style != new[x].style)
			put_style(t, t->theme, new[x].style);
		*style = new[x].style;
		put_code(t, new[x].code);
		at = x + width;
	}
}

int term_draw(struct terminal *t, const struct grid *g, const struct theme *theme)
{
	int style = -1, err;

	if (t->theme != theme || g->width != t->shown.width || g->height != t->shown.height)
		t->is_blank = true;
	if (t->is_blank) {
		err = grid_reset(&t->shown, g->width, g->height);
		if (err)
			return err;
		put_text(t, exit_attribute_mode);
		put_text(t, clear_screen);
	}
	t->theme = theme;
	for (int y = 0; y < g->height; y++)
		draw_row(t, g, y, &style);
	t->is_blank = false;
	if (t->nr_bytes)
		put_text(t, exit_attribute_mode);
	memcpy(t->shown.cells, g->cells, (size_t)g->width * g->height * sizeof(*g->cells));
	return flush_bytes(t);
}

static uint32_t special_of(int key)
{
	static const struct {
		int theirs;
		uint32_t ours;
	} table[] = {
		{ KEY_UP, KEY_OF_UP },         { KEY_DOWN, KEY_OF_DOWN },
		{ KEY_LEFT, KEY_OF_LEFT },     { KEY_RIGHT, KEY_OF_RIGHT },
		{ KEY_PPAGE, KEY_OF_PAGE_UP }, { KEY_NPAGE, KEY_OF_PAGE_DOWN },
		{ KEY_HOME, KEY_OF_HOME },     { KEY_END, KEY_OF_END },
		{ KEY_ENTER, KEY_OF_ENTER },   { KEY_BACKSPACE, KEY_OF_BACKSPACE },
		{ KEY_DC, KEY_OF_DELETE },     { KEY_BTAB, KEY_OF_TAB },
		{ KEY_RESIZE, KEY_OF_RESIZE },
	};

	for (size_t i = 0; i < NR(table); i++)
		if (table[i].theirs == key)
			return table[i].ours;
	return KEY_NONE;
}

static uint32_t plain_of(wint_t key)
{
	switch (key) {
	case '\r':
	case '\n':
		return KEY_OF_ENTER;
	case '\t':
		return KEY_OF_TAB;
	case 0x1b:
		return KEY_OF_ESC;
	case '\b':
	case 0x7f:
		return KEY_OF_BACKSPACE;
	default:
		return key < 0x110000 ? (uint32_t)key : KEY_NONE;
	}
}

static struct app_input mouse_input(void)
{
	struct app_input in = { .key = KEY_NONE };
	MEVENT event;

	if (getmouse(&event) != OK)
		return in;
	in.x = event.x;
	in.y = event.y;
	if (event.bstate & BUTTON4_PRESSED)
		in.key = KEY_OF_WHEEL_UP;
	else if (event.bstate & BUTTON5_PRESSED)
		in.key = KEY_OF_WHEEL_DOWN;
	else if (event.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED))
		in.key = KEY_OF_CLICK;
	return in;
}

static struct app_input key_input(struct terminal *t)
{
	struct app_input in = { .key = KEY_NONE };
	wint_t key = 0;
	int kind;

	wtimeout(t->pad, 0);
	kind = wget_wch(t->pad, &key);
	if (kind == KEY_CODE_YES)
		return key == KEY_MOUSE ? mouse_input()
		                        : (struct app_input){ special_of((int)key), 0, 0 };
	if (kind == OK)
		in.key = plain_of(key);
	return in;
}

static struct app_input signal_input(struct terminal *t)
{
	struct app_input in = { .key = KEY_NONE };
	unsigned char signals[64];
	ssize_t nr = read(t->signals[0], signals, sizeof(signals));

	for (ssize_t i = 0; i < nr; i++) {
		if (signals[i] == SIGWINCH && in.key != KEY_OF_SIGNAL)
			in.key = KEY_OF_RESIZE;
		else if (signals[i] != SIGWINCH)
			in.key = KEY_OF_SIGNAL;
	}
	if (in.key == KEY_OF_RESIZE)
		t->is_blank = true; /* terminals move what they show in ways of their own */
	return in;
}

struct app_input term_read(struct terminal *t, int timeout_ms)
{
	struct pollfd fds[] = { { .fd = t->signals[0], .events = POLLIN },
		                { .fd = fileno(t->in), .events = POLLIN } };
	struct app_input in = key_input(t); /* what ncurses has read already */

	if (in.key != KEY_NONE)
		return in;
	if (poll(fds, 2, timeout_ms) <= 0)
		return in;
	if (fds[0].revents)
		return signal_input(t);
	if (fds[1].revents & POLLIN)
		return key_input(t);
	/* The terminal is gone. */
	in.key = KEY_OF_SIGNAL;
	return in;
}
