#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "machine/machine_blame.h"
#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/parts.h"
#include "tui/views/views.h"

#define ROW struct machine_blame_row

/* Columns that are there if any row has something in them. */
enum {
	HAS_THROTTLED = 1,
	HAS_STOLEN = 2,
	HAS_INTERRUPT = 4,
	HAS_IDLE = 8,
	HAS_OTHER = 16,
	HAS_UNKNOWN = 32
};

/* clang-format off */
static const struct table_view_column columns[] = {
	{ "VICTIM", 12, 32, 0, true, false, false, 0, 0, CELL_OF(ROW, victim, TEXT, NONE) },
	{ "WAITED", 6, 0, 1, false, false, false, 0, 0, CELL_OF(ROW, wait_ns, NS, NONE) },
	{ "BEHIND", 32, 80, 2, true, false, false, 0, 0, CELL_OF(ROW, blames, TEXT, NONE) },
	{ "LONGEST", 7, 0, 3, false, false, false, 0, 0, CELL_OF(ROW, max_ns, NS, NONE) },
	{ "THROTTLED", 9, 0, 4, false, false, false, 0, HAS_THROTTLED, CELL_OF(ROW, throttled_ns, NS, DIM_0) },
	{ "STOLEN", 6, 0, 5, false, false, false, 0, HAS_STOLEN, CELL_OF(ROW, stolen_ns, NS, DIM_0) },
	{ "IRQ", 6, 0, 7, false, false, false, 0, HAS_INTERRUPT, CELL_OF(ROW, interrupt_ns, NS, DIM_0) },
	{ "IDLE", 6, 0, 8, false, false, false, 0, HAS_IDLE, CELL_OF(ROW, idle_ns, NS, DIM_0) },
	{ "OTHER", 6, 0, 9, false, false, false, 0, HAS_OTHER, CELL_OF(ROW, other_ns, NS, DIM_0) },
	{ "UNKNOWN", 7, 0, 6, false, false, false, 0, HAS_UNKNOWN, CELL_OF(ROW, unknown_ns, NS, DIM_0) },
	{ "WAITS", 5, 0, 10, false, true, false, 0, 0, CELL_OF(ROW, waits, COUNT, DIM) },
};
/* clang-format on */

static unsigned int what_it_has(const struct machine_blame *b)
{
	unsigned int has = 0;

	for (size_t i = 0; i < b->nr; i++) {
		const struct machine_blame_row *r = &b->rows[i];

		has |= (r->throttled_ns ? HAS_THROTTLED : 0) | (r->stolen_ns ? HAS_STOLEN : 0) |
		       (r->interrupt_ns ? HAS_INTERRUPT : 0) | (r->idle_ns ? HAS_IDLE : 0) |
		       (r->other_ns ? HAS_OTHER : 0) | (r->unknown_ns ? HAS_UNKNOWN : 0);
	}
	return has;
}

static int rows(const struct machine *m, const struct screen *s)
{
	(void)s;
	return m->blame ? (int)m->blame->nr : 0;
}

static void draw_rows(const struct machine_blame *b, struct screen *s, struct grid *g,
                      struct area in)
{
	SCOPED(scoped_free) const void **all = calloc(b->nr + 1, sizeof(*all));
	int height = table_view_height(in), nr = (int)b->nr, left;

	if (!all)
		return;
	for (int i = 0; i < nr; i++)
		all[i] = &b->rows[i];
	table_view_scroll(s, nr, height);
	left = nr - s->scroll;
	table_view_draw(&(struct table_view){ .columns = columns,
	                                      .nr_columns = sizeof(columns) / sizeof(columns[0]),
	                                      .has = what_it_has(b),
	                                      .rows = all + s->scroll,
	                                      .nr_rows = left < height ? left : height,
	                                      .first = s->scroll,
	                                      .total = nr,
	                                      .selected = s->selected },
	                s, g, in);
}

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	const struct machine_blame *b = m->blame;
	char title[128] = " Blame ", right[64] = "", waited[FORMAT_BYTES], behind[FORMAT_BYTES];
	struct area in;

	if (b && b->nr)
		snprintf(title, sizeof(title), " Blame%s%s: %s waited in %.1f s, %s behind tasks ",
		         b->by ? " by " : "", b->by ? b->by : "",
		         format_ns(waited, (double)b->wait_ns), b->seconds,
		         format_ns(behind, (double)b->task_ns));
	if (b && b->lost)
		snprintf(right, sizeof(right), " %" PRIu64 " events lost ", b->lost);
	in = panel_begin(g, a, title, right);
	if (b && b->nr)
		draw_rows(b, s, g, in);
	else
		table_view_text(g, in.x, in.y, in.width, b && b->note ? STYLE_WARNING : STYLE_DIM,
		                b && b->note          ? b->note
		                : b && b->seconds > 0 ? "no task waited"
		                                      : "nothing measured yet");
}

const struct view view_blame = {
	.id = "blame",
	.title = "Blame",
	.state = "Blame",
	.what = "who keeps whom waiting, and what else tasks wait for",
	.needs = MACHINE_BLAME,
	.draw = draw,
	.rows = rows,
};
