/* Keys, mouse and signals. */
#include "tui/term_priv.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))
/* Of a reply of the terminal: between two bytes, until none is expected any more, and at the end of the program. */
#define REPLY_MS         50
#define REPLY_SILENCE_NS 3000000000ULL
#define REPLY_BYTES      64
#define AWAIT_MS         100
#define AWAIT_ROUNDS     8
#define PASTE_SILENCE_NS \
	2000000000ULL /* after so long without a byte the end of a paste was lost */

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

static bool is_pasting(struct terminal *t)
{
	uint64_t now = t->pasted_ns ? clock_read_ns(CLOCK_MONOTONIC) : 0;

	t->pasted_ns = t->pasted_ns && now - t->pasted_ns < PASTE_SILENCE_NS ? now : 0;
	return t->pasted_ns;
}

/* Ctrl-L: what others wrote on the screen goes. */
static struct app_input repaint(struct terminal *t)
{
	t->is_blank = true;
	return (struct app_input){ .key = KEY_OF_RESIZE };
}

/* After that long the terminal is taken to have no reply. */
static bool is_asked(struct terminal *t)
{
	if (t->asked_ns && clock_read_ns(CLOCK_MONOTONIC) - t->asked_ns > REPLY_SILENCE_NS)
		t->asked_ns = 0;
	return t->asked_ns;
}

/* The rest of a reply, without its end; the byte that ended it, 0 where it was cut. */
static wint_t rest_of_reply(struct terminal *t, bool is_osc, char text[REPLY_BYTES])
{
	wint_t c = 0;
	size_t nr = 0;

	while (nr < REPLY_BYTES - 1 && wget_wch(t->pad, &c) == OK) {
		if (is_osc && c == 0x1b) {
			(void)wget_wch(t->pad, &c); /* the backslash */
			break;
		}
		if (is_osc ? c == '\a' : c >= 0x40 && c < 0x7f)
			break;
		text[nr++] = c < 0x7f ? (char)c : '?';
		c = 0;
	}
	text[nr] = '\0';
	return c;
}

/* ESC was read: whether what follows is a reply of the terminal, which is taken then. False leaves all of it. */
static bool take_reply(struct terminal *t)
{
	enum background found;
	char text[REPLY_BYTES];
	wint_t c = 0;
	int kind;

	if (!is_asked(t))
		return false;
	wtimeout(t->pad, REPLY_MS);
	kind = wget_wch(t->pad, &c);
	if (kind != OK || (c != ']' && c != '[')) {
		if (kind == OK)
			unget_wch((wchar_t)c);
		else if (kind == KEY_CODE_YES)
			ungetch((int)c);
		return false;
	}
	if (c == ']') {
		(void)rest_of_reply(t, true, text);
		found = background_of_reply(text);
		if (found != BACKGROUND_UNKNOWN && found != t->background) {
			t->background = found;
			t->is_blank = true;
		}
	} else if (rest_of_reply(t, false, text) == 'c' && text[0] == '?') {
		t->asked_ns = 0;
	}
	return true;
}

void term_await_reply(struct terminal *t)
{
	struct app_input in;

	for (int i = 0; i < AWAIT_ROUNDS && is_asked(t); i++) {
		struct pollfd fd = { .fd = fileno(t->in), .events = POLLIN };

		if (poll(&fd, 1, AWAIT_MS) <= 0)
			break;
		in = term_read(t, 0);
		if (in.key == KEY_OF_SIGNAL)
			break;
	}
}

static struct app_input one_input(struct terminal *t)
{
	struct app_input in = { .key = KEY_NONE };
	wint_t key = 0;
	int kind = wget_wch(t->pad, &key);

	if (kind == KEY_CODE_YES && key == TERM_KEY_PASTE_BEGIN)
		t->pasted_ns = clock_read_ns(CLOCK_MONOTONIC);
	else if (kind == KEY_CODE_YES && key == TERM_KEY_PASTE_END)
		t->pasted_ns = 0;
	else if (kind == KEY_CODE_YES && key == KEY_MOUSE)
		in = mouse_input();
	else if (kind == KEY_CODE_YES)
		in.key = special_of((int)key);
	else if (kind == OK && key == 0x1b && take_reply(t))
		in.key = t->is_blank ? KEY_OF_RESIZE : KEY_NONE;
	else if (kind == OK)
		in = (struct app_input){ .key = plain_of(key), .is_pasted = is_pasting(t) };
	if (in.key == KEY_CTRL('L') && !in.is_pasted)
		return repaint(t);
	/* Line ends and the like. */
	if (in.is_pasted && (in.key < ' ' || in.key >= KEY_NONE))
		in.key = KEY_NONE;
	return in;
}

static struct app_input key_input(struct terminal *t)
{
	wtimeout(t->pad, 0);
	return one_input(t);
}

static struct app_input signal_input(struct terminal *t)
{
	struct app_input in = { .key = KEY_NONE };
	unsigned char signals[64];
	ssize_t nr = read(t->signals[0], signals, sizeof(signals));

	for (ssize_t i = 0; i < nr; i++) {
		if (signals[i] == SIGCONT)
			term_continue(t);
		if (signals[i] != SIGWINCH && signals[i] != SIGCONT)
			in.key = KEY_OF_SIGNAL;
		else if (in.key != KEY_OF_SIGNAL)
			in.key = KEY_OF_RESIZE;
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
