#include <math.h>
#include <stdio.h>

#include "machine/machine_power.h"
#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/power_tables.h"

CELL(cell_bar)
{
	const struct machine_power_idle *i = row;

	if (!isnan(i->part))
		out->bar = i->part;
	out->style = STYLE_USER;
}

CELL(cell_stay)
{
	format_ns(out->text, ((const struct machine_power_idle *)row)->stay_us * 1e3);
}

CELL(cell_latency)
{
	format_ns(out->text, ((const struct machine_power_idle *)row)->latency_us * 1e3);
}

static const struct table_view_column columns[] = {
	{ "STATE", 8, 15, 0, true, false, false, 0, 0,
	  CELL_OF(struct machine_power_idle, name, TEXT, NONE) },
	{ "", 6, 30, 4, true, false, false, 0, 0, .cell = cell_bar },
	{ "TIME%", 6, 0, 1, false, false, false, 0, 0,
	  CELL_OF(struct machine_power_idle, part, PERCENT, NONE) },
	{ "ENTER/s", 7, 0, 2, false, true, false, 0, 0,
	  CELL_OF(struct machine_power_idle, entries_per_s, COUNT, NONE) },
	{ "STAY", 6, 0, 3, false, false, false, 0, 0, .cell = cell_stay },
	{ "WAKES IN", 8, 0, 5, false, false, false, 0, 0, .cell = cell_latency },
};

void power_idles_draw(const struct machine_power *p, const struct screen *s, struct grid *g,
                      struct area a)
{
	const void *rows[MACHINE_IDLE_STATES];
	int nr = (int)p->nr_idles, height = table_view_height(a);

	for (int i = 0; i < nr; i++)
		rows[i] = &p->idles[i];
	table_view_draw(&(struct table_view){ .columns = columns,
	                                      .nr_columns = sizeof(columns) / sizeof(columns[0]),
	                                      .rows = rows,
	                                      .nr_rows = nr < height ? nr : height,
	                                      .total = nr,
	                                      .selected = -1 },
	                s, g, a);
}
