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

bool app_verdict_is_chosen(const struct app *a, const struct machine *m)
{
	const struct screen *s = &a->screen;

	return m && m->verdict && m->verdict->is_open && m->verdict->tid &&
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
	char text[512];

	if (!m)
		return;
	if (!v) {
		table_view_text(g, 1, line.y, g->width - 1, STYLE_DIM, calm_of(m));
		return;
	}
	(void)snprintf(text, sizeof(text), "%s%s", v->text, is_chosen ? "; Enter explains" : "");
	table_view_text(g, 1, line.y, g->width - 1,
	                v->is_open || v->wait_ns >= BAD_NS ? STYLE_BAD
	                : v->wait_ns >= HIGH_NS || !v->tid ? STYLE_HIGH
	                                                   : STYLE_TEXT,
	                text);
	if (is_chosen)
		grid_select(g, line);
}
