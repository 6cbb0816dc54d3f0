#include "tui/views/scx_pane.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "machine/machine_scx.h"
#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/parts.h"

#define COUNTER_LINES 4
#define LINE_BYTES    256

int scx_pane_lines(const struct machine *m)
{
	int nr = 0;

	for (const char *at = m->scx ? m->scx->stats : NULL; at && *at;) {
		const char *end = strchr(at, '\n');

		nr++;
		at = end ? end + 1 : NULL;
	}
	return nr;
}

/* Texts one after the other, in as many lines as there are. */
struct text_flow {
	struct grid *g;
	struct area a;
	int x, y;
};

static bool put(struct text_flow *f, enum style style, const char *text)
{
	int cells = grid_cells(text);

	if (f->x && f->x + 2 + cells > f->a.width) {
		f->x = 0;
		f->y++;
	}
	if (f->y >= f->a.height)
		return false;
	if (f->x)
		f->x += 2;
	f->x += grid_text(f->g, f->a.x + f->x, f->a.y + f->y, f->a.width - f->x, style, text);
	return true;
}

static void put_counter(struct text_flow *f, const struct machine_scx_counter *c,
                        const struct screen *s)
{
	char value[FORMAT_BYTES], rate[FORMAT_BYTES], text[LINE_BYTES];

	format_count(value, (double)c->value, s->is_localized);
	if (c->per_s > 0)
		snprintf(text, sizeof(text), "%.60s %s (%s/s)", c->name, value,
		         format_count(rate, c->per_s, s->is_localized));
	else
		snprintf(text, sizeof(text), "%.60s %s", c->name, value);
	(void)put(f, c->per_s > 0 ? STYLE_TEXT : STYLE_DIM, text);
}

int scx_pane_counters(const struct machine *m, const struct screen *s, struct grid *g,
                      struct area a)
{
	const struct machine_scx *x = m->scx;
	struct text_flow f = { g, a, 0, 0 };
	char text[LINE_BYTES];

	if (!x || a.height <= 0)
		return 0;
	if (x->enable_seq >= 0) {
		snprintf(text, sizeof(text), "seq %" PRId64, x->enable_seq);
		(void)put(&f, STYLE_TEXT, text);
	}
	if (m->scheduler && x->switch_all >= 0)
		(void)put(&f, STYLE_TEXT, x->switch_all ? "all tasks" : "some tasks");
	if (x->nr_rejected > 0) {
		snprintf(text, sizeof(text), "rejected %" PRId64, x->nr_rejected);
		(void)put(&f, STYLE_WARNING, text);
	}
	/* Changing counters come first. */
	for (size_t i = 0; i < x->nr_counters; i++)
		if (x->counters[i].per_s > 0)
			put_counter(&f, &x->counters[i], s);
	for (size_t i = 0; i < x->nr_counters; i++)
		if (!(x->counters[i].per_s > 0) && x->counters[i].value)
			put_counter(&f, &x->counters[i], s);
	if (x->last) {
		snprintf(text, sizeof(text), "last: %.200s", x->last);
		(void)put(&f, STYLE_WARNING, text);
	}
	return f.y + (f.x > 0) < a.height ? f.y + (f.x > 0) : a.height;
}

static void draw_text(const char *text, int first, struct grid *g, struct area a)
{
	int line = 0;

	for (const char *at = text; at && *at && line < first + a.height; line++) {
		const char *end = strchr(at, '\n');
		size_t len = end ? (size_t)(end - at) : strlen(at);
		char copy[LINE_BYTES];

		snprintf(copy, sizeof(copy), "%.*s", (int)(len < LINE_BYTES ? len : LINE_BYTES - 1),
		         at);
		if (line >= first)
			table_view_text(g, a.x, a.y + line - first, a.width, STYLE_TEXT, copy);
		at = end ? end + 1 : NULL;
	}
}

/* Sentences may need more than a line. */
static void draw_sentence(const char *text, struct grid *g, struct area a)
{
	struct text_flow f = { g, a, 0, 0 };

	while (*text) {
		size_t len = strcspn(text, " ");
		char word[LINE_BYTES];

		snprintf(word, sizeof(word), "%.*s", (int)(len < LINE_BYTES ? len : LINE_BYTES - 1),
		         text);
		if (f.x)
			f.x--; /* one blank between words */
		if (len && !put(&f, STYLE_DIM, word))
			return;
		text += len + (text[len] == ' ');
	}
}

void scx_pane_draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	const struct machine_scx *x = m->scx;
	int taken, lines = scx_pane_lines(m);

	taken = scx_pane_counters(m, s, g,
	                          (struct area){ a.x, a.y, a.width,
	                                         a.height > 2 * COUNTER_LINES ? COUNTER_LINES
	                                                                      : 1 });
	a.y += taken;
	a.height -= taken;
	if (a.height <= 0)
		return;
	table_view_scroll(s, lines, 1);
	if (lines > a.height && s->selected > lines - a.height)
		s->selected = lines - a.height;
	if (lines <= a.height)
		s->selected = 0;
	s->scroll = s->selected;
	if (x && x->stats)
		draw_text(x->stats, s->scroll, g, a);
	else if (x && x->no_stats)
		draw_sentence(x->no_stats, g, a);
	else
		draw_sentence(m->scheduler ? "asking the scheduler for its statistics"
		                           : "no scheduler, no statistics of its own",
		              g, a);
}
