#include <math.h>
#include <stdio.h>
#include <string.h>

#include "machine/machine_power.h"
#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/parts.h"
#include "tui/views/power_tables.h"
#include "tui/views/views.h"

#define WIDE       120
#define CPUS_MIN   5
#define IDLES_FROM 20 /* rows of the screen, from which idle states have a panel if it is narrow */

static void title_of(const struct machine_power *p, char out[static 96])
{
	char watts[FORMAT_BYTES], platform[FORMAT_BYTES];

	snprintf(out, 96, " Power ");
	if (!isnan(p->watts))
		snprintf(out, 96, " Power %s ", format_watts(watts, p->watts));
	if (!isnan(p->platform_watts))
		snprintf(out + strlen(out), 96 - strlen(out), "platform %s ",
		         format_watts(platform, p->platform_watts));
}

static void battery_of(const struct machine_power_battery *b, char *out, size_t size)
{
	char level[FORMAT_BYTES], watts[FORMAT_BYTES], left[FORMAT_BYTES];
	size_t at;

	at = (size_t)snprintf(out, size, "%.16s %s%% %.16s", b->name,
	                      format_percent(level, b->level), b->status);
	if (!isnan(b->watts) && at < size)
		at += (size_t)snprintf(out + at, size - at, " %s", format_watts(watts, b->watts));
	if (!isnan(b->seconds_left) && at < size)
		snprintf(out + at, size - at, ", %s left", format_ns(left, b->seconds_left * 1e9));
}

/* The first battery is shown at the right of the frame: most machines have at most one. */
static void right_of(const struct machine_power *p, const struct screen *s, char out[static 128])
{
	char battery[112];

	parts_right(s, out, 128);
	if (!p->nr_batteries)
		return;
	battery_of(&p->batteries[0], battery, sizeof(battery));
	snprintf(out, 128, " %s ", battery);
}

static void draw_packages(const struct machine_power *p, const struct screen *s, struct grid *g,
                          struct area a)
{
	char title[96], right[128];
	struct area in;

	title_of(p, title);
	right_of(p, s, right);
	in = panel_begin(g, a, title, right);
	if (p->note && in.height > 2) {
		struct area note = { in.x, in.y + in.height - 1, in.width, 1 };

		table_view_text(g, note.x, note.y, note.width, STYLE_WARNING, p->note);
		in.height--;
	}
	if (power_packages_rows(p))
		power_packages_draw(p, s, g, in);
	else if (!p->note)
		grid_text(g, in.x, in.y, in.width, STYLE_DIM, "no package is known");
}

static void draw_others(const struct machine_power *p, struct grid *g, struct area a)
{
	struct area in = panel_begin(g, a, " Batteries and other sensors ", NULL);
	int y = in.y, end = in.y + in.height;

	for (size_t i = 0; i < p->nr_batteries && y < end; i++, y++) {
		char text[160];

		battery_of(&p->batteries[i], text, sizeof(text));
		grid_text(g, in.x, y, in.width, STYLE_TEXT, text);
	}
	for (size_t i = 0; i < p->nr_sensors && y < end; i++, y++) {
		char name[80], value[FORMAT_BYTES];

		snprintf(name, sizeof(name), "%.24s %.32s", p->sensors[i].chip,
		         p->sensors[i].label);
		parts_value(g, (struct area){ in.x, y, in.width < 40 ? in.width : 40, 1 }, name,
		            format_celsius(value, p->sensors[i].celsius));
	}
}

static void draw_cpus(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	char title[64];

	snprintf(title, sizeof(title), " %zu CPUs ", m->power->nr_cpus);
	if (a.height > 0)
		power_cpus_draw(m, s, g, panel_begin(g, a, title, NULL));
}

static int packages_height(const struct machine_power *p, int most)
{
	int height = power_packages_rows(p) + 3 + (p->note ? 1 : 0);

	if (height < CPUS_MIN)
		height = CPUS_MIN;
	return height < most ? height : most;
}

static void draw_wide(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	const struct machine_power *p = m->power;
	int top = packages_height(p, a.height / 2), left = a.width * 3 / 5;
	int idles = (int)p->nr_idles + 3 < CPUS_MIN ? CPUS_MIN : (int)p->nr_idles + 3;
	struct area below = { a.x, a.y + top, a.width, a.height - top };

	draw_packages(p, s, g, (struct area){ a.x, a.y, a.width, top });
	if (idles > below.height)
		idles = below.height;
	draw_cpus(m, s, g, (struct area){ a.x, below.y, left, below.height });
	power_idles_draw(p, s, g,
	                 panel_begin(g, (struct area){ a.x + left, below.y, a.width - left, idles },
	                             " Idle states ", NULL));
	if (below.height - idles >= 3 && (p->nr_batteries || p->nr_sensors))
		draw_others(p, g,
		            (struct area){ a.x + left, below.y + idles, a.width - left,
		                           below.height - idles });
}

static void draw_narrow(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	const struct machine_power *p = m->power;
	int top = packages_height(p, a.height > 6 ? a.height / 2 : a.height);
	int idles = (int)p->nr_idles + 3;

	draw_packages(p, s, g, (struct area){ a.x, a.y, a.width, top });
	a.y += top;
	a.height -= top;
	if (p->nr_idles && top + a.height >= IDLES_FROM && a.height >= idles + CPUS_MIN) {
		power_idles_draw(p, s, g,
		                 panel_begin(g, (struct area){ a.x, a.y, a.width, idles },
		                             " Idle states ", NULL));
		a.y += idles;
		a.height -= idles;
	}
	if (a.height >= 2)
		draw_cpus(m, s, g, a);
}

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	const struct machine_power *p = m->power;

	if (!p || p->reason) {
		parts_sentence(g, panel_begin(g, a, " Power ", NULL), STYLE_DIM,
		               p ? p->reason : "power is not measured here");
		return;
	}
	if (a.width >= WIDE && a.height >= 12)
		draw_wide(m, s, g, a);
	else
		draw_narrow(m, s, g, a);
}

const struct view view_power = {
	.id = "power",
	.title = "Power",
	.state = "Power",
	.what = "watts, temperatures, throttling, idle states, batteries",
	.needs = MACHINE_CPUS | MACHINE_POWER,
	.draw = draw,
	.rows = power_cpus_rows,
};
