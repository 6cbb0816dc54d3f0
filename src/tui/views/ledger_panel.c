#include "tui/views/ledger_panel.h"

#include <inttypes.h>
#include <stdio.h>

#include "machine/machine.h"
#include "machine/machine_ledger.h"
#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/parts.h"

#define ENTRY_BYTES    256
#define NAME_CELLS     40 /* of a part; a path may be longer */
#define BETWEEN        2  /* cells between two entries */
#define SENTENCE_LINES 3  /* that the legend leaves at least */
#define TEXT_BYTES     4096

static const enum style styles[] = {
	[MACHINE_LEDGER_TASK] = STYLE_USER,        [MACHINE_LEDGER_THROTTLED] = STYLE_HIGH,
	[MACHINE_LEDGER_STOLEN] = STYLE_BAD,       [MACHINE_LEDGER_INTERRUPT] = STYLE_KERNEL,
	[MACHINE_LEDGER_IDLE] = STYLE_GOOD,        [MACHINE_LEDGER_QUEUE] = STYLE_FAIR,
	[MACHINE_LEDGER_UNKNOWN] = STYLE_SELECTED, [MACHINE_LEDGER_OTHERS] = STYLE_DIM,
};

_Static_assert(sizeof(styles) / sizeof(styles[0]) == MACHINE_LEDGER_KINDS, "a kind has no style");

static char letter(const struct machine_ledger *l, size_t i)
{
	switch (l->parts[i].kind) {
	case MACHINE_LEDGER_UNKNOWN:
		return '?';
	case MACHINE_LEDGER_OTHERS:
		return '+';
	default:
		return i < 26 ? (char)('A' + i) : '*';
	}
}

/* Every part has a cell at least, as long as there are any. */
static void draw_bar(const struct machine_ledger *l, struct grid *g, struct area a)
{
	static const uint32_t patterns[] = { 0x2588, 0x2593, 0x2592, 0x2591 }; /* full to light */
	uint64_t sum = 0;
	int from = 0;

	for (size_t i = 0; i < l->nr && from < a.width; i++) {
		const enum style style = styles[l->parts[i].kind];
		const char text[] = { letter(l, i), '\0' };
		int left = (int)(l->nr - 1 - i), to;

		sum += l->parts[i].ns;
		to = (int)((double)a.width * (double)sum / (double)l->wait_ns + 0.5);
		if (to > a.width - left)
			to = a.width - left;
		if (to <= from)
			to = from + 1;
		grid_fill(g, (struct area){ a.x + from, a.y, to - from, 1 }, style,
		          patterns[i % (sizeof(patterns) / sizeof(patterns[0]))]);
		grid_text(g, a.x + from, a.y, 1, style, text);
		from = to;
	}
}

/* " backup (FIFO 50) 5.10ms 16%": what follows the letter. */
static void entry(const struct machine_ledger *l, size_t i, char out[ENTRY_BYTES])
{
	const struct machine_ledger_part *p = &l->parts[i];
	double percent = 100.0 * (double)p->ns / (double)l->wait_ns;
	char ns[FORMAT_BYTES];

	(void)snprintf(out, ENTRY_BYTES, " %.*s %s %s%.0f%%", NAME_CELLS, p->name,
	               format_ns(ns, (double)p->ns), percent < 1 ? "<" : "",
	               percent < 1 ? 1 : percent);
}

/* As many as fit, one after the other, then how many do not; the lines that it took. */
static int draw_legend(const struct machine_ledger *l, struct grid *g, struct area a)
{
	const int more = BETWEEN + (int)sizeof("+99 more");
	int x = 0, y = 0;

	for (size_t i = 0; i < l->nr; i++) {
		const char mark[] = { letter(l, i), '\0' };
		char text[ENTRY_BYTES];
		bool is_last = i + 1 == l->nr;
		int width;

		entry(l, i, text);
		width = 1 + grid_cells(text);
		if (x && x + width > a.width - (y + 1 == a.height && !is_last ? more : 0)) {
			if (y + 1 == a.height) {
				grid_printf(g, a.x + x, a.y + y, a.width - x, STYLE_DIM,
				            "+%zu more", l->nr - i);
				return a.height;
			}
			x = 0;
			y++;
		}
		grid_text(g, a.x + x, a.y + y, a.width - x, styles[l->parts[i].kind], mark);
		grid_text(g, a.x + x + 1, a.y + y, a.width - x - 1, STYLE_TEXT, text);
		x += width + BETWEEN;
	}
	return y + 1;
}

static int draw_longest(const struct machine_ledger *l, struct grid *g, struct area a)
{
	bool is_stall = l->is_open && l->longest_ns >= MACHINE_STALL_NS;
	char text[TEXT_BYTES], when[64], ns[FORMAT_BYTES];
	int lines;

	if (!l->longest || a.height <= 0)
		return 0;
	if (is_stall)
		(void)snprintf(when, sizeof(when),
		               "STALLED for %s:", format_ns(ns, (double)l->longest_ns));
	else if (l->is_open)
		(void)snprintf(when, sizeof(when), "Longest, not over:");
	else
		(void)snprintf(when, sizeof(when),
		               "Longest, %s ago:", format_ns(ns, (double)l->ago_ns));
	(void)snprintf(text, sizeof(text), "%s %s", when, l->longest);
	lines = parts_sentence(g, a, STYLE_TEXT, text);
	grid_paint(g, (struct area){ a.x, a.y, grid_cells(when), 1 },
	           is_stall ? STYLE_BAD : STYLE_DIM);
	return lines;
}

static void draw_sleeps(const struct machine_ledger *l, struct grid *g, struct area a)
{
	const char *what = !l->sleeps   ? "not recorded"
	                   : *l->sleeps ? l->sleeps
	                                : "no sleep was seen";

	if (a.height > 0)
		table_view_text(g, a.x + grid_text(g, a.x, a.y, a.width, STYLE_DIM, "Slept for: "),
		                a.y, a.width - (int)sizeof("Slept for:"),
		                l->sleeps ? STYLE_TEXT : STYLE_DIM, what);
}

/* The last line is for the sleeps. */
static void draw_all(const struct machine_ledger *l, struct grid *g, struct area in)
{
	struct area bar = { in.x, in.y, in.width, 1 };
	struct area at = { in.x, in.y + 1, in.width, in.height - 1 - SENTENCE_LINES - 1 };
	int used;

	draw_bar(l, g, bar);
	at.height = at.height < 1 ? 1 : at.height;
	used = 1 + draw_legend(l, g, at);
	used += draw_longest(l, g,
	                     (struct area){ in.x, in.y + used, in.width, in.height - used - 1 });
	draw_sleeps(l, g, (struct area){ in.x, in.y + used, in.width, in.height - used });
}

static void draw_nothing(const struct machine_ledger *l, struct grid *g, struct area in)
{
	if (l->note)
		(void)parts_sentence(g, in, STYLE_WARNING, l->note);
	else if (l->seconds > 0)
		grid_printf(g, in.x, in.y, in.width, STYLE_DIM,
		            "it did not wait for a CPU in %.1f s", l->seconds);
	else
		grid_text(g, in.x, in.y, in.width, STYLE_DIM, "nothing measured yet");
	if (l->seconds > 0)
		draw_sleeps(l, g, (struct area){ in.x, in.y + 1, in.width, in.height - 1 });
}

void ledger_panel_draw(const struct machine_ledger *l, struct grid *g, struct area a)
{
	char title[96] = " Where its waits went ", right[96] = "", ns[FORMAT_BYTES];
	struct area in;

	if (l->wait_ns)
		(void)snprintf(title, sizeof(title), " Where its waits went: %s in %.1f s ",
		               format_ns(ns, (double)l->wait_ns), l->seconds);
	if (l->lost)
		(void)snprintf(right, sizeof(right), " %" PRIu64 " events lost ", l->lost);
	else if (l->waits)
		(void)snprintf(right, sizeof(right), " %" PRIu64 " wait%s ", l->waits,
		               l->waits == 1 ? "" : "s");
	in = panel_begin(g, a, title, right);
	if (in.height <= 0)
		return;
	if (l->wait_ns)
		draw_all(l, g, in);
	else
		draw_nothing(l, g, in);
}
