/* Keys, mouse and signals. */
#include "tui/term_priv.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#define NR(a) (sizeof(a) / sizeof((a)[0]))

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
