#include "tui/views/cpu_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tui/format.h"
#include "tui/table_view.h"

/* What only CPUs, only groups, and only one of the groups have. */
enum {
	OF_CPU = 1,
	OF_GROUP = 2,
	OF_LLC = 4,
	HAS_WAIT = 8,
	HAS_UNCORE = 16,
	HAS_PRESSURE = 32,
	HAS_RATE = 64,
	HAS_MHZ = 128
};

CELL(cell_bar)
{
	const struct cpu_item *i = row;

	if (!i->nr_online)
		snprintf(out->text, sizeof(out->text), "off");
	else
		out->bar = isnan(i->part) ? 0 : i->part;
}

CELL(cell_event)
{
	const struct cpu_item *i = row;

	format_count(out->text, i->value, s->is_localized);
	out->style = isnan(i->part) ? STYLE_DIM : grid_band(i->part);
}

CELL(cell_comm)
{
	const struct cpu_item *i = row;

	snprintf(out->text, sizeof(out->text), "%s", i->comm && i->comm[0] ? i->comm : "-");
}

static const struct table_view_column columns[] = {
	{ "ID", 4, 0, 0, false, false, false, 0, 0, CELL_OF(struct cpu_item, id, NUMBER, NONE) },
	{ "CORE", 4, 0, 16, false, false, false, 0, OF_CPU,
	  CELL_OF(struct cpu_item, core, NUMBER, NONE) },
	{ "LLC", 3, 0, 12, false, false, false, 0, OF_CPU,
	  CELL_OF(struct cpu_item, llc, NUMBER, NONE) },
	{ "NODE", 4, 0, 13, false, false, false, 0, OF_CPU,
	  CELL_OF(struct cpu_item, node, NUMBER, NONE) },
	{ "NODE", 4, 0, 13, false, false, false, 0, OF_LLC,
	  CELL_OF(struct cpu_item, node, NUMBER, NONE) },
	{ "CPUS", 4, 0, 14, false, false, false, 0, OF_GROUP,
	  CELL_OF(struct cpu_item, nr_cpus, NUMBER, NONE) },
	{ "", 8, 30, 15, true, false, false, 0, 0, .cell = cell_bar },
	{ "EVENT/s", 7, 0, 1, false, true, false, 0, HAS_RATE, .cell = cell_event },
	{ "BUSY%", 5, 0, 1, false, false, true, SORT_RUN, 0,
	  CELL_OF(struct cpu_item, busy, PERCENT, BAND) },
	{ "MIN%", 5, 0, 6, false, false, false, 0, OF_GROUP,
	  CELL_OF(struct cpu_item, busy_min, PERCENT, DIM_0) },
	{ "MAX%", 5, 0, 5, false, false, false, 0, OF_GROUP,
	  CELL_OF(struct cpu_item, busy_max, PERCENT, DIM_0) },
	{ "USER", 5, 0, 6, false, false, false, 0, 0,
	  CELL_OF(struct cpu_item, user, PERCENT, DIM_0) },
	{ "SYS", 5, 0, 7, false, false, false, 0, 0,
	  CELL_OF(struct cpu_item, system, PERCENT, DIM_0) },
	{ "IRQ", 5, 0, 9, false, false, false, 0, 0,
	  CELL_OF(struct cpu_item, irq, PERCENT, DIM_0) },
	{ "IO", 5, 0, 10, false, false, false, 0, 0,
	  CELL_OF(struct cpu_item, iowait, PERCENT, DIM_0) },
	{ "STEAL", 5, 0, 17, false, false, false, 0, 0,
	  CELL_OF(struct cpu_item, steal, PERCENT, DIM_0) },
	{ "FREQ", 5, 0, 11, false, false, false, 0, HAS_MHZ,
	  CELL_OF(struct cpu_item, mhz, MHZ, NONE) },
	{ "UNCORE", 6, 0, 1, false, false, false, 0, HAS_UNCORE,
	  CELL_OF(struct cpu_item, uncore_mhz, MHZ, NONE) },
	{ "HWPRES", 6, 0, 1, false, false, false, 0, HAS_PRESSURE,
	  CELL_OF(struct cpu_item, hw_pressure, COUNT, WARNING) },
	{ "SW/s", 5, 0, 4, false, true, true, SORT_SWITCHES, 0,
	  CELL_OF(struct cpu_item, switches_per_s, COUNT, NONE) },
	{ "WAKE/s", 6, 0, 18, false, true, false, 0, 0,
	  CELL_OF(struct cpu_item, wakeups_per_s, COUNT, NONE) },
	{ "MIG/s", 5, 0, 8, false, true, true, SORT_MIGRATIONS, 0,
	  CELL_OF(struct cpu_item, migrations_per_s, COUNT, NONE) },
	{ "P50", 6, 0, 9, false, false, true, SORT_P50, HAS_WAIT,
	  CELL_OF_DIST(struct cpu_item, wait, p50_ns, NONE) },
	{ "P99", 6, 0, 2, false, false, true, SORT_P99, HAS_WAIT,
	  CELL_OF_DIST(struct cpu_item, wait, p99_ns, NONE) },
	{ "MAX", 6, 0, 3, false, false, true, SORT_MAX, HAS_WAIT,
	  CELL_OF_DIST(struct cpu_item, wait, max_ns, NONE) },
	{ "LIST", 8, 31, 19, true, false, false, 0, OF_GROUP,
	  CELL_OF(struct cpu_item, cpus, TEXT, NONE) },
	{ "RUNS", 8, 15, 8, true, false, false, 0, OF_CPU, .cell = cell_comm },
};

static double key_of(const struct cpu_item *i, enum view_sort sort)
{
	switch (sort) {
	case SORT_P50:
		return (double)i->wait.p50_ns;
	case SORT_P99:
	case SORT_WAIT:
		return (double)i->wait.p99_ns;
	case SORT_MAX:
		return (double)i->wait.max_ns;
	case SORT_SWITCHES:
		return i->switches_per_s;
	case SORT_MIGRATIONS:
		return i->migrations_per_s;
	default:
		return i->value;
	}
}

/* The larger first; what is unknown, last; then as they were. */
static int by_key(const void *a, const void *b, void *sort)
{
	const struct cpu_item *first = *(const struct cpu_item *const *)a;
	const struct cpu_item *second = *(const struct cpu_item *const *)b;
	double x = key_of(first, *(enum view_sort *)sort);
	double y = key_of(second, *(enum view_sort *)sort);

	if (isnan(x) != isnan(y))
		return isnan(x) ? 1 : -1;
	if (x != y && !isnan(x))
		return x > y ? -1 : 1;
	return (first > second) - (first < second);
}

void cpu_table_draw(const struct cpu_items *c, const struct screen *s, enum view_group group,
                    struct grid *g, struct area a)
{
	const void **rows = calloc(c->nr + 1, sizeof(*rows));
	struct screen shown = *s;
	int height = table_view_height(a);
	unsigned int has = (group == GROUP_CPU ? OF_CPU : OF_GROUP) |
	                   (c->what.is_rate ? HAS_RATE : 0);
	bool has_all = (int)c->nr <= height;

	if (!rows)
		return;
	for (size_t i = 0; i < c->nr; i++) {
		rows[i] = &c->items[i];
		has |= c->items[i].wait.count ? HAS_WAIT : 0;
		has |= !isnan(c->items[i].mhz) ? HAS_MHZ : 0;
		has |= s->has_uncore && !isnan(c->items[i].uncore_mhz) ? HAS_UNCORE : 0;
		has |= s->has_pressure && !isnan(c->items[i].hw_pressure) ? HAS_PRESSURE : 0;
	}
	/* In the order of numbers if all are seen, else those that matter most. */
	if (has_all)
		shown.sort = SORTS;
	else
		qsort_r(rows, c->nr, sizeof(*rows), by_key, &shown.sort);
	shown.is_ascending = false;
	table_view_draw(&(struct table_view){ .columns = columns,
	                                      .nr_columns = sizeof(columns) / sizeof(columns[0]),
	                                      .has = has | (group == GROUP_LLC ? OF_LLC : 0),
	                                      .rows = rows,
	                                      .nr_rows = has_all ? (int)c->nr : height,
	                                      .total = (int)c->nr,
	                                      .selected = -1 },
	                &shown, g, a);
	free(rows);
}
