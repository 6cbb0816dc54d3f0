#include "tui/app_verdict.h"

#include <stdio.h>
#include <string.h>

#include "machine/machine_verdict.h"
#include "tui/table_view.h"

#define HEIGHT_MIN 16
#define BAD_NS     100000000ULL /* a wait that is worth a colour */
#define HIGH_NS    10000000ULL

int app_verdict_rows(const struct app *a, int height)
{
	return (a->view->needs & MACHINE_VERDICT) && !a->is_help && height >= HEIGHT_MIN;
}

/* It is the same while it is read: the thread still waits, or a recording stands. */
static bool is_still(const struct app *a, const struct machine *m)
{
	return m->verdict->is_open || (m->play && a->screen.is_frozen);
}

bool app_verdict_is_chosen(const struct app *a, const struct machine *m)
{
	const struct screen *s = &a->screen;

	return m && m->verdict && m->verdict->tid && is_still(a, m) &&
	       (a->view->needs & MACHINE_VERDICT) && !a->is_help && !a->is_row_chosen &&
	       !s->selected && !s->is_typing && !s->filter[0] && !s->process;
}

/* What is known while there is no verdict. */
static const char *calm_of(const struct machine *m)
{
	if (!m->source || strcmp(m->source, "proc") != 0)
		return "no thread is waiting for 250 ms or more, and no wait has ended lately";
	return m->notice ? "waits for CPUs are not measured"
	                 : "starting to measure waits (BPF) ...";
}

void app_verdict_draw(const struct app *a, const struct machine *m, struct grid *g)
{
	const struct machine_verdict *v = m ? m->verdict : NULL;
	bool is_chosen = app_verdict_is_chosen(a, m);
	struct area line = { 0, APP_VERDICT_Y, g->width, 1 };
	static const char key[] = "; Enter explains";
	enum style style;
	int room, x;

	if (!m)
		return;
	if (!v) {
		table_view_text(g, 1, line.y, g->width - 1, STYLE_DIM, calm_of(m));
		return;
	}
	style = v->is_open || v->wait_ns >= BAD_NS ? STYLE_BAD
	        : v->wait_ns >= HIGH_NS || !v->tid ? STYLE_HIGH
	                                           : STYLE_TEXT;
	/* What the key does must not be cut off a long sentence. */
	room = g->width - 1 - (is_chosen ? grid_cells(key) : 0);
	x = grid_cells(v->text) < room ? grid_cells(v->text) : room;
	table_view_text(g, 1, line.y, room, style, v->text);
	if (is_chosen && room > 0)
		grid_text(g, 1 + x, line.y, g->width - 1 - x, style, key);
	if (is_chosen) {
		grid_select(g, line);
		grid_paint(g, line, style); /* blanks, too: it is one sentence */
	}
}
