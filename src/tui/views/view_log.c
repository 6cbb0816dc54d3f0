#include <inttypes.h>
#include <stdio.h>

#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/views.h"

static int rows(const struct machine *m, const struct screen *s)
{
	(void)s;
	return (int)m->nr_log;
}

/* What the reader must know first. */
static int draw_facts(const struct machine *m, struct grid *g, struct area a)
{
	char cost[FORMAT_BYTES];
	int used = 0;

	if (m->lost && a.height > used)
		grid_printf(g, a.x, a.y + used++, a.width, STYLE_WARNING,
		            "%" PRIu64 " events lost since the start", m->lost);
	else if (a.height > used)
		grid_text(g, a.x, a.y + used++, a.width, STYLE_GOOD, "no events lost");
	if (m->notice && a.height > used)
		table_view_text(g, a.x, a.y + used++, a.width, STYLE_WARNING, m->notice);
	if (a.height > used + 3)
		grid_printf(g, a.x, a.y + used++, a.width, STYLE_DIM,
		            "source %s, every %.2fs, own cost %s%% of a CPU",
		            m->source ? m->source : "?", m->interval_s,
		            format_percent(cost, m->own_cpu));
	return used;
}

/* Row 0 is the newest line: it stays in sight while others come. */
static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	char title[96];
	struct area in;
	int used, height;

	snprintf(title, sizeof(title), " Log %zu, lost %" PRIu64 " ", m->nr_log, m->lost);
	in = panel_begin(g, a, title, NULL);
	used = draw_facts(m, g, in);
	height = in.height - used;
	table_view_scroll(s, (int)m->nr_log, height);
	for (int row = s->scroll; row < s->scroll + height && row < (int)m->nr_log; row++) {
		struct area line = { in.x, in.y + used + row - s->scroll, in.width, 1 };

		table_view_text(g, line.x, line.y, line.width, STYLE_TEXT,
		                m->log[m->nr_log - 1 - (size_t)row]);
		if (row == s->selected)
			grid_select(g, line);
	}
}

const struct view view_log = {
	.id = "log",
	.title = "Log",
	.state = "Log",
	.what = "what happened, what was lost, what is missing",
	.needs = 0,
	.draw = draw,
	.rows = rows,
};
