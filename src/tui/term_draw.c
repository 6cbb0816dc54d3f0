/* A grid on the terminal: only cells that have changed are written, all of a frame at once. */
#include "base/grow.h"
#include "tui/term_priv.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

#include "tui/theme.h"

static void put_bytes(struct terminal *t, const char *bytes, size_t len)
{
	if (GROW(t->bytes, t->room, t->nr_bytes + len)) {
		t->is_cut = true;
		return;
	}
	memcpy(t->bytes + t->nr_bytes, bytes, len);
	t->nr_bytes += len;
}

/* Sequences of terminfo carry no delays on anything that has colours; tputs() would write on its own. */
void term_put(struct terminal *t, const char *text)
{
	if (text && text != (const char *)-1)
		put_bytes(t, text, strlen(text));
}

int term_flush(struct terminal *t)
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
	term_put(t, text);
}

/* Cells that are filled with their colour: what is written on them is the background's. */
static bool is_filled(enum style style)
{
	return style >= STYLE_HEAT && style <= STYLE_LANE_LAST;
}

static void put_style(struct terminal *t, const struct cell *c)
{
	enum style style = (enum style)c->style;
	struct attrs attrs = theme_attrs(t->theme, style, t->background);
	bool is_white_8 = t->depth == DEPTH_8 && t->background == BACKGROUND_LIGHT &&
	                  !is_filled(style);
	int on_white = is_white_8 ? theme_of_8_on_white(attrs.colour) : -1;

	attrs.is_own = attrs.is_own || (is_white_8 && on_white < 0);
	term_put(t, exit_attribute_mode);
	/* Bold is a lighter colour on many of these. */
	if (attrs.is_bold && (!is_white_8 || attrs.is_own))
		term_put(t, enter_bold_mode);
	/* Where colours are, the dim one is a colour, but for the terminal's own. */
	if (attrs.is_dim && (t->depth == DEPTH_MONO || attrs.is_own))
		term_put(t, enter_dim_mode);
	if (attrs.is_reversed || c->is_selected)
		term_put(t, enter_reverse_mode);
	if (attrs.is_own)
		return;
	if (is_white_8)
		term_put(t, tiparm(set_a_foreground, on_white));
	else if (attrs.is_named && t->depth != DEPTH_MONO)
		term_put(t, tiparm(set_a_foreground, (int)theme_of_8(attrs.colour)));
	else
		put_colour(t, attrs.colour);
}

static void put_code(struct terminal *t, uint32_t code)
{
	char bytes[MB_LEN_MAX];
	mbstate_t state = { 0 };
	size_t len = wcrtomb(bytes, (wchar_t)code, &state);

	/* What the locale cannot say; bars stay bars, and the arrows of a sorted column arrows. */
	if (len == (size_t)-1) {
		bytes[0] = code >= 0x2580 && code < 0x25a0   ? '#'
		           : code == 0x2800                  ? ' '
		           : code > 0x2800 && code < 0x2900  ? '#'
		           : code == 0x2502                  ? '|'
		           : code == 0x25b2                  ? '^'
		           : code == 0x25bc                  ? 'v'
		           : code >= 0x2500 && code < 0x2580 ? '-'
		                                             : '?';
		len = 1;
	}
	put_bytes(t, bytes, len);
}

static bool is_same(const struct cell *a, const struct cell *b)
{
	return a->code == b->code && a->style == b->style && a->is_selected == b->is_selected;
}

/* Cells of one such number look alike. */
static int style_of(const struct cell *c)
{
	return c->style | c->is_selected << 8;
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
			term_put(t, tiparm(cursor_address, y, x));
		if (*style != style_of(&new[x]))
			put_style(t, &new[x]);
		*style = style_of(&new[x]);
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
		term_put(t, exit_attribute_mode);
		term_put(t, clear_screen);
	}
	t->theme = theme;
	for (int y = 0; y < g->height; y++)
		draw_row(t, g, y, &style);
	if (t->nr_bytes)
		term_put(t, exit_attribute_mode);
	/* A frame without memory for all of its bytes is left out, and the next one is drawn whole. */
	t->is_blank = t->is_cut;
	if (t->is_cut)
		t->nr_bytes = 0;
	t->is_cut = false;
	memcpy(t->shown.cells, g->cells, (size_t)g->width * g->height * sizeof(*g->cells));
	return term_flush(t);
}
