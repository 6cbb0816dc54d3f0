#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine/machine_power.h"
#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/power_tables.h"

/* Columns that only some machines have anything for. */
enum {
	HAS_BAR = 1,
	HAS_CORES = 2,
	HAS_DRAM = 4,
	HAS_UNCORE = 8,
	HAS_LIMIT = 16,
	HAS_SHORT = 32,
	HAS_MOST = 64,
	HAS_UNCORE_MHZ = 128,
	HAS_THROTTLE = 256,
	HAS_ALL = 512,
	HAS_SINGLE = 1024,
};

struct package_row {
	struct machine_power_package package;
	const char *name;               /* instead of a number; NULL = it is a package */
	double share;                   /* of all */
	double scale;                   /* watts of a full bar */
	struct machine_history history; /* of 1 each */
};

CELL(cell_name)
{
	const struct package_row *r = row;

	if (r->name)
		snprintf(out->text, sizeof(out->text), "%s", r->name);
	else
		snprintf(out->text, sizeof(out->text), "package %d", r->package.id);
}

CELL(cell_bar)
{
	const struct package_row *r = row;

	if (s->shape == SHAPE_SPARKS)
		out->spark = r->history;
	else if (!isnan(r->package.watts) && r->scale > 0)
		out->bar = r->package.watts / r->scale;
}

CELL(cell_watts)
{
	const struct package_row *r = row;

	format_watts(out->text, r->package.watts);
	if (r->scale > 0 && !isnan(r->package.watts))
		out->style = grid_band(r->package.watts / r->scale);
}

CELL(cell_celsius)
{
	const struct machine_power_package *p = &((const struct package_row *)row)->package;

	format_celsius(out->text, p->celsius);
	if (p->critical_celsius > 0 && !isnan(p->celsius))
		out->style = grid_band(p->celsius / p->critical_celsius);
}

static const struct table_view_column columns[] = {
	{ "POWER", 10, 12, 0, true, false, false, 0, 0, .cell = cell_name },
	{ "CPUS", 4, 0, 12, false, false, false, 0, 0,
	  CELL_OF(struct package_row, package.nr_cpus, NUMBER, NONE) },
	{ "", 8, 40, 3, true, false, false, 0, HAS_BAR, .cell = cell_bar },
	{ "NOW", 6, 0, 1, false, false, false, 0, 0, .cell = cell_watts },
	{ "OF ALL%", 7, 0, 11, false, false, false, 0, HAS_ALL,
	  CELL_OF(struct package_row, share, PERCENT, NONE) },
	{ "CORES", 6, 0, 4, false, false, false, 0, HAS_CORES,
	  CELL_OF(struct package_row, package.core_watts, WATTS, NONE) },
	{ "1 CORE", 6, 0, 13, false, false, false, 0, HAS_SINGLE,
	  CELL_OF(struct package_row, package.core_watts, WATTS, NONE) },
	{ "DRAM", 6, 0, 5, false, false, false, 0, HAS_DRAM,
	  CELL_OF(struct package_row, package.dram_watts, WATTS, NONE) },
	{ "UNCORE", 6, 0, 9, false, false, false, 0, HAS_UNCORE,
	  CELL_OF(struct package_row, package.uncore_watts, WATTS, NONE) },
	{ "LIMIT", 6, 0, 6, false, false, false, 0, HAS_LIMIT,
	  CELL_OF(struct package_row, package.limit_watts, WATTS, NONE) },
	{ "SHORT", 6, 0, 10, false, false, false, 0, HAS_SHORT,
	  CELL_OF(struct package_row, package.short_limit_watts, WATTS, NONE) },
	{ "TDP", 6, 0, 8, false, false, false, 0, HAS_MOST,
	  CELL_OF(struct package_row, package.most_watts, WATTS, NONE) },
	{ "TEMP", 5, 0, 2, false, false, false, 0, 0, .cell = cell_celsius },
	{ "UNC.FREQ", 8, 0, 9, false, false, false, 0, HAS_UNCORE_MHZ,
	  CELL_OF(struct package_row, package.uncore_mhz, MHZ, NONE) },
	{ "THROT/s", 7, 0, 10, false, true, false, 0, HAS_THROTTLE,
	  CELL_OF(struct package_row, package.throttles_per_s, COUNT, BAD) },
	{ "THROT%", 6, 0, 7, false, false, false, 0, HAS_THROTTLE,
	  CELL_OF(struct package_row, package.throttled, PERCENT, BAD) },
};

static unsigned int has_of(const struct machine_power_package *p)
{
	const struct {
		double value;
		unsigned int has;
	} values[] = {
		{ p->core_watts, p->has_single_core ? HAS_SINGLE : HAS_CORES },
		{ p->dram_watts, HAS_DRAM },
		{ p->uncore_watts, HAS_UNCORE },
		{ p->limit_watts, HAS_LIMIT },
		{ p->short_limit_watts, HAS_SHORT },
		{ p->most_watts, HAS_MOST },
		{ p->uncore_mhz, HAS_UNCORE_MHZ },
		{ p->throttles_per_s, HAS_THROTTLE },
	};
	unsigned int has = 0;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		has |= isnan(values[i].value) ? 0 : values[i].has;
	return has;
}

static double largest_of(struct machine_history h)
{
	double largest = NAN;

	for (uint32_t i = 0; i < h.nr; i++)
		largest = fmax(largest, h.values[i]);
	return largest;
}

/* What it may draw, or else the most that it has. */
static double scale_of(const struct machine_power_package *p)
{
	double seen = fmax(largest_of(p->history), p->watts);

	if (p->most_watts > 0)
		return p->most_watts;
	return p->limit_watts > 0 ? p->limit_watts : seen;
}

static void scale_history(struct package_row *r, double *values)
{
	struct machine_history h = r->package.history;

	if (h.nr > MACHINE_HISTORY)
		h = (struct machine_history){ h.values + h.nr - MACHINE_HISTORY, MACHINE_HISTORY };
	for (uint32_t i = 0; i < h.nr; i++)
		values[i] = r->scale > 0 ? h.values[i] / r->scale : 0;
	r->history = (struct machine_history){ values, h.nr };
}

static struct machine_power_package sum_of(double watts, struct machine_history history,
                                           uint32_t nr_cpus)
{
	struct machine_power_package sum = machine_power_unknown;

	sum.nr_cpus = nr_cpus;
	sum.watts = watts;
	sum.history = history;
	return sum;
}

/* The sum says something if it is not that of one number. */
static bool has_sum(const struct machine_power *p)
{
	return p->nr_packages > 1 || (p->nr_packages && !isnan(p->packages[0].dram_watts));
}

int power_packages_rows(const struct machine_power *p)
{
	return (int)p->nr_packages + has_sum(p) + !isnan(p->platform_watts);
}

static int make_rows(const struct machine_power *p, struct package_row *rows)
{
	uint32_t nr_cpus = 0;
	int nr = 0;

	for (size_t i = 0; i < p->nr_packages; i++) {
		rows[nr++] = (struct package_row){ .package = p->packages[i],
			                           .share = p->packages[i].watts / p->watts,
			                           .scale = scale_of(&p->packages[i]) };
		nr_cpus += p->packages[i].nr_cpus;
	}
	if (has_sum(p))
		rows[nr++] = (struct package_row){ .package = sum_of(p->watts, p->history, nr_cpus),
			                           .name = "all",
			                           .share = NAN };
	if (!isnan(p->platform_watts))
		rows[nr++] = (struct package_row){ .package = sum_of(p->platform_watts,
			                                             p->platform_history, nr_cpus),
			                           .name = "platform",
			                           .share = NAN };
	for (int i = (int)p->nr_packages; i < nr; i++)
		rows[i].scale = scale_of(&rows[i].package);
	return nr;
}

void power_packages_draw(const struct machine_power *p, const struct screen *s, struct grid *g,
                         struct area a)
{
	size_t most = p->nr_packages + 2;
	struct package_row *rows = calloc(most, sizeof(*rows));
	double *values = calloc(most, MACHINE_HISTORY * sizeof(*values));
	const void **shown = calloc(most, sizeof(*shown));
	unsigned int has = s->shape == SHAPE_TABLE ? 0 : HAS_BAR;
	int nr = rows && values && shown ? make_rows(p, rows) : 0, height = table_view_height(a);

	for (int i = 0; i < nr; i++) {
		scale_history(&rows[i], values + (size_t)i * MACHINE_HISTORY);
		has |= has_of(&rows[i].package);
		shown[i] = &rows[i];
	}
	if (nr)
		table_view_draw(
			&(struct table_view){ .columns = columns,
		                              .nr_columns = sizeof(columns) / sizeof(columns[0]),
		                              .has = has | (p->nr_packages > 1 ? HAS_ALL : 0),
		                              .rows = shown,
		                              .nr_rows = nr < height ? nr : height,
		                              .total = nr,
		                              .selected = -1 },
			s, g, a);
	free(shown);
	free(values);
	free(rows);
}
