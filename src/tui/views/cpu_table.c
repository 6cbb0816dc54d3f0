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
	HAS_RATE = 64
};

#define CELL(name) \
	static void name(const void *row, const struct screen *s, struct table_view_cell *out)

static void put_id(struct table_view_cell *out, int32_t id)
{
	if (id < 0)
		snprintf(out->text, sizeof(out->text), "?");
	else
		snprintf(out->text, sizeof(out->text), "%d", id);
}

static void put_share(struct table_view_cell *out, double part)
{
	format_percent(out->text, part);
	out->style = part > 0 ? STYLE_TEXT : STYLE_DIM;
}

static void put_wait(struct table_view_cell *out, const struct machine_dist *d, uint64_t ns)
{
	format_ns(out->text, d->count ? (double)ns : NAN);
}

CELL(cell_id)
{
	(void)s;
	put_id(out, ((const struct cpu_item *)row)->id);
}

CELL(cell_core)
{
	(void)s;
	put_id(out, ((const struct cpu_item *)row)->core);
}

CELL(cell_llc)
{
	(void)s;
	put_id(out, ((const struct cpu_item *)row)->llc);
}

CELL(cell_node)
{
	(void)s;
	put_id(out, ((const struct cpu_item *)row)->node);
}

CELL(cell_bar)
{
	const struct cpu_item *i = row;

	(void)s;
	if (!i->nr_online)
		snprintf(out->text, sizeof(out->text), "off");
	else
		out->bar = isnan(i->part) ? 0 : i->part;
}

CELL(cell_busy)
{
	const struct cpu_item *i = row;

	(void)s;
	format_percent(out->text, i->busy);
	out->style = isnan(i->busy) ? STYLE_DIM : grid_band(i->busy);
}

CELL(cell_event)
{
	const struct cpu_item *i = row;

	format_count(out->text, i->value, s->is_localized);
	out->style = isnan(i->part) ? STYLE_DIM : grid_band(i->part);
}

CELL(cell_min)
{
	(void)s;
	put_share(out, ((const struct cpu_item *)row)->busy_min);
}

CELL(cell_max_busy)
{
	(void)s;
	put_share(out, ((const struct cpu_item *)row)->busy_max);
}

CELL(cell_user)
{
	(void)s;
	put_share(out, ((const struct cpu_item *)row)->user);
}

CELL(cell_system)
{
	(void)s;
	put_share(out, ((const struct cpu_item *)row)->system);
}

CELL(cell_irq)
{
	(void)s;
	put_share(out, ((const struct cpu_item *)row)->irq);
}

CELL(cell_iowait)
{
	(void)s;
	put_share(out, ((const struct cpu_item *)row)->iowait);
}

CELL(cell_steal)
{
	(void)s;
	put_share(out, ((const struct cpu_item *)row)->steal);
}

CELL(cell_mhz)
{
	(void)s;
	format_mhz(out->text, ((const struct cpu_item *)row)->mhz);
}

CELL(cell_uncore)
{
	(void)s;
	format_mhz(out->text, ((const struct cpu_item *)row)->uncore_mhz);
}

CELL(cell_pressure)
{
	const struct cpu_item *i = row;

	format_count(out->text, i->hw_pressure, s->is_localized);
	out->style = i->hw_pressure > 0 ? STYLE_WARNING : STYLE_DIM;
}

CELL(cell_switches)
{
	format_count(out->text, ((const struct cpu_item *)row)->switches_per_s, s->is_localized);
}

CELL(cell_wakeups)
{
	format_count(out->text, ((const struct cpu_item *)row)->wakeups_per_s, s->is_localized);
}

CELL(cell_migrations)
{
	format_count(out->text, ((const struct cpu_item *)row)->migrations_per_s, s->is_localized);
}

CELL(cell_p50)
{
	const struct cpu_item *i = row;

	(void)s;
	put_wait(out, &i->wait, i->wait.p50_ns);
}

CELL(cell_p99)
{
	const struct cpu_item *i = row;

	(void)s;
	put_wait(out, &i->wait, i->wait.p99_ns);
}

CELL(cell_max)
{
	const struct cpu_item *i = row;

	(void)s;
	put_wait(out, &i->wait, i->wait.max_ns);
}

CELL(cell_cpus)
{
	(void)s;
	snprintf(out->text, sizeof(out->text), "%s", ((const struct cpu_item *)row)->cpus);
}

CELL(cell_nr)
{
	(void)s;
	snprintf(out->text, sizeof(out->text), "%u", ((const struct cpu_item *)row)->nr_cpus);
}

CELL(cell_comm)
{
	const struct cpu_item *i = row;

	(void)s;
	snprintf(out->text, sizeof(out->text), "%s", i->comm && i->comm[0] ? i->comm : "-");
}

static const struct table_view_column columns[] = {
	{ "ID", 4, 0, 0, false, false, false, 0, 0, cell_id },
	{ "CORE", 4, 0, 16, false, false, false, 0, OF_CPU, cell_core },
	{ "LLC", 3, 0, 12, false, false, false, 0, OF_CPU, cell_llc },
	{ "NODE", 4, 0, 13, false, false, false, 0, OF_CPU, cell_node },
	{ "NODE", 4, 0, 13, false, false, false, 0, OF_LLC, cell_node },
	{ "CPUS", 4, 0, 14, false, false, false, 0, OF_GROUP, cell_nr },
	{ "", 8, 30, 15, true, false, false, 0, 0, cell_bar },
	{ "EVENT/s", 7, 0, 1, false, true, false, 0, HAS_RATE, cell_event },
	{ "BUSY%", 5, 0, 1, false, false, true, SORT_RUN, 0, cell_busy },
	{ "MIN%", 5, 0, 6, false, false, false, 0, OF_GROUP, cell_min },
	{ "MAX%", 5, 0, 5, false, false, false, 0, OF_GROUP, cell_max_busy },
	{ "USER", 5, 0, 6, false, false, false, 0, 0, cell_user },
	{ "SYS", 5, 0, 7, false, false, false, 0, 0, cell_system },
	{ "IRQ", 5, 0, 9, false, false, false, 0, 0, cell_irq },
	{ "IO", 5, 0, 10, false, false, false, 0, 0, cell_iowait },
	{ "STEAL", 5, 0, 17, false, false, false, 0, 0, cell_steal },
	{ "FREQ", 5, 0, 11, false, false, false, 0, 0, cell_mhz },
	{ "UNCORE", 6, 0, 1, false, false, false, 0, HAS_UNCORE, cell_uncore },
	{ "HWPRES", 6, 0, 1, false, false, false, 0, HAS_PRESSURE, cell_pressure },
	{ "SW/s", 5, 0, 4, false, true, true, SORT_SWITCHES, 0, cell_switches },
	{ "WAKE/s", 6, 0, 18, false, true, false, 0, 0, cell_wakeups },
	{ "MIG/s", 5, 0, 8, false, true, true, SORT_MIGRATIONS, 0, cell_migrations },
	{ "P50", 6, 0, 9, false, false, true, SORT_P50, HAS_WAIT, cell_p50 },
	{ "P99", 6, 0, 2, false, false, true, SORT_P99, HAS_WAIT, cell_p99 },
	{ "MAX", 6, 0, 3, false, false, true, SORT_MAX, HAS_WAIT, cell_max },
	{ "LIST", 8, 31, 19, true, false, false, 0, OF_GROUP, cell_cpus },
	{ "RUNS", 8, 15, 8, true, false, false, 0, OF_CPU, cell_comm },
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
