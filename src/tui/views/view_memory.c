#include <math.h>
#include <stdio.h>

#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/parts.h"
#include "tui/views/views.h"

#define NAME_CELLS  12
#define VALUE_CELLS 6
#define TWO_COLUMNS 90

static double part_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

static uint64_t less(uint64_t whole, uint64_t part)
{
	return whole > part ? whole - part : 0;
}

/* A name, how much, a bar of the whole. */
static void draw_share(const char *name, uint64_t kib, uint64_t whole, enum style style,
                       struct grid *g, struct area a)
{
	char value[FORMAT_BYTES];
	int bar = a.width - NAME_CELLS - 2 * (VALUE_CELLS + 1) - 1;

	grid_text(g, a.x, a.y, NAME_CELLS, STYLE_DIM, name);
	grid_right(g, a.x + NAME_CELLS, a.y, VALUE_CELLS, STYLE_TEXT, format_kib(value, kib));
	if (a.width < NAME_CELLS + 2 * VALUE_CELLS + 2)
		return;
	grid_right(g, a.x + NAME_CELLS + VALUE_CELLS + 1, a.y, VALUE_CELLS, STYLE_TEXT,
	           format_percent(value, part_of(kib, whole)));
	grid_text(g, a.x + NAME_CELLS + 2 * VALUE_CELLS + 1, a.y, 1, STYLE_DIM, "%");
	grid_bar(g, a.x + a.width - bar, a.y, bar, part_of(kib, whole), style);
}

static void draw_memory(const struct machine_memory *m, struct grid *g, struct area a)
{
	const struct {
		const char *name;
		uint64_t kib, whole;
		enum style style;
	} lines[] = {
		{ "used", less(m->total_kib, m->available_kib), m->total_kib, STYLE_TEXT },
		{ "available", m->available_kib, m->total_kib, STYLE_GOOD },
		{ "free", m->free_kib, m->total_kib, STYLE_GOOD },
		{ "swap used", less(m->swap_total_kib, m->swap_free_kib), m->swap_total_kib,
		  STYLE_TEXT },
		{ "cached", m->cached_kib, m->total_kib, STYLE_USER },
		{ "buffers", m->buffers_kib, m->total_kib, STYLE_USER },
		{ "active", m->active_kib, m->total_kib, STYLE_USER },
		{ "inactive", m->inactive_kib, m->total_kib, STYLE_USER },
		{ "swap free", m->swap_free_kib, m->swap_total_kib, STYLE_GOOD },
		{ "swap cached", m->swap_cached_kib, m->swap_total_kib, STYLE_USER },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]) && (int)i < a.height; i++)
		draw_share(lines[i].name, lines[i].kib, lines[i].whole, lines[i].style, g,
		           (struct area){ a.x, a.y + (int)i, a.width, 1 });
}

static void draw_rates(const struct machine_memory *m, const struct screen *s, struct grid *g,
                       struct area a)
{
	const struct {
		const char *name;
		double value;
		bool is_share;
	} lines[] = {
		{ "memory pressure, some %", m->memory_some, true },
		{ "memory pressure, full %", m->memory_full, true },
		{ "CPU pressure, some %", m->cpu_some, true },
		{ "I/O pressure, some %", m->io_some, true },
		{ "I/O pressure, full %", m->io_full, true },
		{ "major faults/s", m->major_faults_per_s, false },
		{ "minor faults/s", m->minor_faults_per_s, false },
		{ "pages swapped in/s", m->swap_in_per_s, false },
		{ "pages swapped out/s", m->swap_out_per_s, false },
	};
	char text[FORMAT_BYTES];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]) && (int)i < a.height; i++) {
		if (lines[i].is_share)
			format_percent(text, lines[i].value);
		else
			format_count(text, lines[i].value, s->is_localized);
		parts_value(g, (struct area){ a.x, a.y + (int)i, a.width < 40 ? a.width : 40, 1 },
		            lines[i].name, text);
	}
}

static void title_of(const struct machine_memory *m, char title[static 96])
{
	char used[FORMAT_BYTES], total[FORMAT_BYTES];

	snprintf(title, 96, " Memory %s/%s used ",
	         format_kib(used, less(m->total_kib, m->available_kib)),
	         format_kib(total, m->total_kib));
}

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	struct area left = a, right = a;
	char title[96];

	title_of(&m->memory, title);
	if (a.width >= TWO_COLUMNS) {
		left.width = a.width / 2;
		right.x += left.width;
		right.width -= left.width;
	} else if (a.height >= 18) {
		left.height = 12;
		right.y += left.height;
		right.height -= left.height;
	} else {
		left.height = a.height > 4 ? a.height * 3 / 5 : a.height;
		right.y += left.height;
		right.height -= left.height;
	}
	draw_memory(&m->memory, g, panel_begin(g, left, title, NULL));
	if (right.height > 0)
		draw_rates(&m->memory, s, g, panel_begin(g, right, " Pressure and faults ", NULL));
}

void memory_summary_draw(const struct machine *m, struct grid *g, struct area a)
{
	char title[96];

	title_of(&m->memory, title);
	draw_memory(&m->memory, g, panel_begin(g, a, title, NULL));
}

const struct view view_memory = {
	.id = "memory",
	.title = "Memory",
	.state = "Memory",
	.what = "memory, swap, faults and pressure",
	.needs = MACHINE_MEMORY,
	.draw = draw,
};
