#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine_power.h"
#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/power_tables.h"

enum { HAS_TEMP = 1, HAS_THROTTLE = 2, HAS_PACKAGE = 4 };

struct power_cpu_row {
	const struct machine_power_cpu *power;
	const struct machine_cpu *cpu; /* NULL = the machine does not have it */
};

CELL(cell_package)
{
	snprintf(out->text, sizeof(out->text), "%d",
	         ((const struct power_cpu_row *)row)->power->package);
}

CELL(cell_busy)
{
	const struct machine_cpu *c = ((const struct power_cpu_row *)row)->cpu;

	format_percent(out->text, c ? c->busy : NAN);
	if (c && !isnan(c->busy))
		out->style = grid_band(c->busy);
}

CELL(cell_mhz)
{
	const struct machine_cpu *c = ((const struct power_cpu_row *)row)->cpu;

	format_mhz(out->text, c ? c->mhz : NAN);
}

#define POWER(member, ...) \
	CELL_VIA(struct power_cpu_row, power, struct machine_power_cpu, member, __VA_ARGS__)
static const struct table_view_column first_columns[] = {
	{ "CPU", 4, 0, 0, false, false, false, 0, 0, POWER(cpu, NUMBER, NONE) },
	{ "PKG", 3, 0, 4, false, false, false, 0, HAS_PACKAGE, .cell = cell_package },
	{ "BUSY%", 5, 0, 3, false, false, false, 0, 0, .cell = cell_busy },
	{ "FREQ", 5, 0, 1, false, false, false, 0, 0, .cell = cell_mhz },
	{ "TEMP", 5, 0, 2, false, false, false, 0, HAS_TEMP, POWER(celsius, CELSIUS, NONE) },
	{ "THROT%", 6, 0, 5, false, false, false, 0, HAS_THROTTLE, POWER(throttled, PERCENT, BAD) },
};
#define NR_FIRST (sizeof(first_columns) / sizeof(first_columns[0]))

/* The deeper a state, the more it matters. */
static size_t make_columns(const struct machine_power *p, char titles[][20],
                           struct table_view_column *out)
{
	memcpy(out, first_columns, sizeof(first_columns));
	for (size_t i = 0; i < p->nr_idles; i++) {
		snprintf(titles[i], 20, "%.8s%%", p->idles[i].name);
		out[NR_FIRST + i] = (struct table_view_column){ .title = titles[i],
			                                        .width = 9,
			                                        .rank = (uint8_t)(20 - i),
			                                        POWER(idle[0], PERCENT, DIM_0) };
		out[NR_FIRST + i].field.at += (uint16_t)(i * sizeof(p->cpus->idle[0]));
		if (strlen(titles[i]) <= 6)
			out[NR_FIRST + i].width = 6;
	}
	return NR_FIRST + p->nr_idles;
}

static const struct machine_cpu *find_cpu(const struct machine *m, uint32_t cpu)
{
	for (size_t i = 0; i < m->nr_cpus; i++)
		if (m->cpus[i].cpu == cpu)
			return &m->cpus[i];
	return NULL;
}

int power_cpus_rows(const struct machine *m, const struct screen *s)
{
	(void)s;
	return m->power ? (int)m->power->nr_cpus : 0;
}

static unsigned int has_of(const struct machine_power *p)
{
	unsigned int has = p->nr_packages > 1 ? HAS_PACKAGE : 0;

	for (size_t i = 0; i < p->nr_cpus; i++) {
		has |= isnan(p->cpus[i].celsius) ? 0 : HAS_TEMP;
		has |= isnan(p->cpus[i].throttled) ? 0 : HAS_THROTTLE;
	}
	return has;
}

void power_cpus_draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	const struct machine_power *p = m->power;
	struct table_view_column columns[NR_FIRST + MACHINE_IDLE_STATES];
	char titles[MACHINE_IDLE_STATES][20];
	int height = table_view_height(a), total = (int)p->nr_cpus, nr;
	struct power_cpu_row *rows = calloc((size_t)height + 1, sizeof(*rows));
	const void **shown = calloc((size_t)height + 1, sizeof(*shown));

	table_view_scroll(s, total, height);
	nr = total - s->scroll < height ? total - s->scroll : height;
	for (int i = 0; rows && shown && i < nr; i++) {
		const struct machine_power_cpu *c = &p->cpus[s->scroll + i];

		rows[i] = (struct power_cpu_row){ c, find_cpu(m, c->cpu) };
		shown[i] = &rows[i];
	}
	if (rows && shown)
		table_view_draw(&(struct table_view){ .columns = columns,
		                                      .nr_columns = make_columns(p, titles,
		                                                                 columns),
		                                      .has = has_of(p),
		                                      .rows = shown,
		                                      .nr_rows = nr,
		                                      .first = s->scroll,
		                                      .total = total,
		                                      .selected = s->selected },
		                s, g, a);
	free(shown);
	free(rows);
}
