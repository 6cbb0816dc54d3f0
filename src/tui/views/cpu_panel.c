#include "tui/views/cpu_panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/format.h"
#include "tui/measure.h"
#include "tui/table_view.h"
#include "tui/views/cpu_items.h"
#include "tui/views/cpu_table.h"

#define VALUE_CELLS   5
#define LOCAL_CELLS   9 /* 9,999,999 */
#define FREQ_CELLS    6
#define PRESS_CELLS   7
#define BAR_MIN       4
#define GAP           2
#define GOOD_CELL     38 /* the smallest width for a bar with label and number */
#define DETAILS_CELLS 64 /* from here on a group has room for its extremes */
#define PANEL_MIN     4
#define TABLE_MIN     5

static const char *const group_names[] = { "CPU", "LLC", "Node" };

static int digits(int64_t number)
{
	int nr = 1;

	for (; number >= 10; number /= 10)
		nr++;
	return nr;
}

static int label_cells(const struct cpu_items *c, enum view_group group)
{
	int32_t largest = c->nr ? c->items[c->nr - 1].id : 0;

	return digits(largest) + (group == GROUP_CPU ? 0 : (int)strlen(group_names[group]) + 1);
}

static void label_of(const struct cpu_item *i, enum view_group group, char out[static 24])
{
	if (group == GROUP_CPU)
		snprintf(out, 24, "%d", i->id);
	else if (i->id < 0)
		snprintf(out, 24, "%s ?", group_names[group]);
	else
		snprintf(out, 24, "%s %d", group_names[group], i->id);
}

/* What the number of a gauge takes. */
static int value_cells(const struct cpu_items *c, const struct screen *s)
{
	return c->what.is_rate && s->is_localized ? LOCAL_CELLS : VALUE_CELLS;
}

static int draw_details(const struct measure *w, const struct cpu_item *i, struct grid *g,
                        struct area a)
{
	char low[FORMAT_BYTES], high[FORMAT_BYTES], text[96];
	int cells;

	snprintf(text, sizeof(text), "  min %5s max %5s  cpus %-11.11s",
	         measure_format(w, low, i->value_min, false),
	         measure_format(w, high, i->value_max, false), i->cpus);
	cells = grid_cells(text);
	grid_text(g, a.x + a.width - cells, a.y, cells, STYLE_DIM, text);
	return cells;
}

/* Of 1024; a CPU without pressure needs no room for it. */
static int draw_pressure(const struct cpu_item *i, struct grid *g, struct area a)
{
	char value[FORMAT_BYTES], text[FORMAT_BYTES + 4];

	snprintf(text, sizeof(text), "hw%s", format_count(value, i->hw_pressure, false));
	grid_right(g, a.x + a.width - PRESS_CELLS, a.y, PRESS_CELLS, STYLE_WARNING, text);
	return PRESS_CELLS;
}

/* Machines that report no frequency need no room for it. */
static bool has_mhz(const struct cpu_items *c)
{
	for (size_t i = 0; i < c->nr; i++)
		if (!isnan(c->items[i].mhz))
			return true;
	return false;
}

/* Label, bar or spark, number, and what else there is room for. */
static void draw_gauge(const struct cpu_items *c, const struct cpu_item *i, const struct screen *s,
                       enum view_group group, struct grid *g, struct area a)
{
	char label[24], value[FORMAT_BYTES];
	int label_width = label_cells(c, group), cells = value_cells(c, s);
	int x = a.x + label_width + 1, right = a.x + a.width;

	label_of(i, group, label);
	grid_right(g, a.x, a.y, label_width, STYLE_DIM, label);
	if (!i->nr_online) {
		grid_text(g, x, a.y, a.width - label_width - 1, STYLE_DIM, "off");
		return;
	}
	if (group != GROUP_CPU && a.width >= DETAILS_CELLS)
		right -= draw_details(&c->what, i, g, a);
	if (s->has_freq && has_mhz(c) && right - x >= BAR_MIN + 1 + cells + FREQ_CELLS) {
		right -= FREQ_CELLS;
		grid_right(g, right, a.y, FREQ_CELLS, STYLE_DIM, format_mhz(value, i->mhz));
	}
	if (s->has_pressure && i->hw_pressure > 0 && right - x >= BAR_MIN + 1 + cells + PRESS_CELLS)
		right -= draw_pressure(i, g, (struct area){ x, a.y, right - x, 1 });
	right -= cells;
	grid_right(g, right, a.y, cells, grid_band(i->part),
	           measure_format(&c->what, value, i->value, s->is_localized));
	if (right - 1 <= x)
		return;
	if (s->shape == SHAPE_SPARKS)
		grid_spark(g, x, a.y, right - 1 - x,
		           (struct grid_series){ i->history.values, i->history.nr, c->largest },
		           STYLE_TEXT);
	else
		grid_bar(g, x, a.y, right - 1 - x, i->part, STYLE_TEXT);
}

static int columns_for(size_t nr, int height, int width)
{
	int columns = height > 0 ? (int)((nr + (size_t)height - 1) / (size_t)height) : 1;
	int pretty = width / GOOD_CELL;

	/* Room below is not a reason for long bars, if two columns fit well. */
	if (pretty > 1 && nr > 4 && columns < 2)
		columns = 2;
	return columns > 0 ? columns : 1;
}

static void draw_gauges(const struct cpu_items *c, const struct screen *s, enum view_group group,
                        int columns, struct grid *g, struct area a)
{
	int rows = ((int)c->nr + columns - 1) / columns;
	int cell = (a.width - (columns - 1) * GAP) / columns;

	for (size_t i = 0; i < c->nr; i++) {
		int column = (int)i / rows, row = (int)i % rows;

		draw_gauge(c, &c->items[i], s, group, g,
		           (struct area){ a.x + column * (cell + GAP), a.y + row, cell, 1 });
	}
}

/* Rows that begin at round numbers are easier to read, if they hold all. */
static size_t round_width(size_t across, size_t nr, size_t height)
{
	for (size_t round = 256; round >= 16; round /= 2)
		if (round <= across && round * height >= nr)
			return round;
	return across >= 16 ? across - across % 8 : across;
}

/* One cell each, as a block as high as it is busy; or the busiest of several. */
static void draw_dense(const struct cpu_items *c, struct grid *g, struct area a)
{
	int label = label_cells(c, GROUP_CPU);
	bool has_label = a.width > label + 1 + 8;
	int x = a.x + (has_label ? label + 1 : 0);
	size_t across = (size_t)(a.x + a.width - x), room, each;

	across = round_width(across, c->nr, (size_t)a.height);
	room = across * (size_t)a.height;
	each = room ? (c->nr + room - 1) / room : 1;
	for (size_t i = 0; room && i * each < c->nr; i++) {
		int row = (int)(i / across), column = (int)(i % across);
		double busiest = 0;

		for (size_t k = i * each; k < (i + 1) * each && k < c->nr; k++)
			if (c->items[k].part > busiest)
				busiest = c->items[k].part;
		if (column == 0 && has_label) {
			char text[24];

			label_of(&c->items[i * each], GROUP_CPU, text);
			grid_right(g, a.x, a.y + row, label, STYLE_DIM, text);
		}
		grid_fill(g, (struct area){ x + column, a.y + row, 1, 1 }, STYLE_DIM, 0xb7);
		grid_spark(g, x + column, a.y + row, 1, (struct grid_series){ &busiest, 1, 1 },
		           STYLE_TEXT);
	}
}

static void draw_items(const struct cpu_items *c, const struct screen *s, enum view_group group,
                       struct grid *g, struct area a)
{
	int columns = columns_for(c->nr, a.height, a.width);
	int cell = (a.width - (columns - 1) * GAP) / columns;

	if (a.width <= 0 || a.height <= 0 || !c->nr)
		return;
	if (s->shape == SHAPE_TABLE && a.height > 2)
		cpu_table_draw(c, s, group, g, a);
	else if (cell >= label_cells(c, group) + 1 + value_cells(c, s))
		draw_gauges(c, s, group, columns, g, a);
	else
		draw_dense(c, g, a);
}

/*
 * " 8 CPUs (sched:sched_switch) 3600/s avg 450 max 800 min 100 ": the average is that of a CPU. A long name gives way to
 * the numbers.
 */
static void event_title_of(const char *what, const struct measure *w, const struct cpu_item *total,
                           int width, char out[static 256])
{
	char sum[FORMAT_BYTES], mean[FORMAT_BYTES], low[FORMAT_BYTES], high[FORMAT_BYTES];
	char numbers[160] = "", of[32] = "";
	int room, used = 0;

	if (w->is_rate)
		used = snprintf(numbers, sizeof(numbers), " %s/s",
		                measure_format(w, sum, total->value, false));
	if (total->nr_known && total->nr_known < total->nr_online)
		snprintf(of, sizeof(of), " of %u CPUs", total->nr_known);
	snprintf(numbers + used, sizeof(numbers) - (size_t)used, " avg %s%s max %s min %s",
	         measure_format(w, mean, w->is_rate ? total->value / total->nr_known : total->value,
	                        false),
	         of, measure_format(w, high, total->value_max, false),
	         measure_format(w, low, total->value_min, false));
	room = width - (int)(strlen(what) + strlen(numbers)) - 12; /* frame, blanks, "(...)" */
	if (room < 8 || w->why)
		room = 8 > width - 16 ? 8 : width - 16;
	snprintf(out, 256, " %s (%.*s%s)%s ", what, room, w->name,
	         (int)strlen(w->name) > room ? "..." : "", w->why ? "" : numbers);
}

static void title_of(const char *what, const struct cpu_items *c, const struct cpu_item *total,
                     int width, char out[static 256])
{
	char mean[FORMAT_BYTES], low[FORMAT_BYTES], high[FORMAT_BYTES];

	if (!measure_is_busy(&c->what)) {
		event_title_of(what, &c->what, total, width, out);
		return;
	}
	format_percent(mean, total->busy);
	if (isnan(total->busy))
		snprintf(out, 256, " %s ", what);
	else if (c->nr > 1)
		snprintf(out, 256, " %s busy %s%% min %s max %s ", what, mean,
		         format_percent(low, total->busy_min),
		         format_percent(high, total->busy_max));
	else
		snprintf(out, 256, " %s busy %s%% ", what, mean);
}

static void wait_of(const struct machine_dist *d, char out[static 128])
{
	char p50[FORMAT_BYTES], p99[FORMAT_BYTES], max[FORMAT_BYTES];

	out[0] = '\0';
	if (d->count)
		snprintf(out, 128, " wait p50 %s p99 %s max %s ", format_ns(p50, (double)d->p50_ns),
		         format_ns(p99, (double)d->p99_ns), format_ns(max, (double)d->max_ns));
}

/* Broken between words. */
static void draw_sentence(struct grid *g, struct area a, const char *text)
{
	for (int y = 0; y < a.height && *text && a.width > 0; y++) {
		size_t len = strlen(text), end = (size_t)a.width;
		char line[512];

		if (len > end && y + 1 < a.height) {
			while (end && text[end] != ' ')
				end--;
			len = end ? end : (size_t)a.width;
		}
		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		table_view_text(g, a.x, a.y + y, a.width, STYLE_WARNING, line);
		text += len + (text[len] == ' ');
	}
}

static void draw_panel(const struct machine *m, const struct screen *s, int32_t node,
                       struct grid *g, struct area a)
{
	enum view_group group = node == CPU_ITEMS_ALL ? s->group : GROUP_CPU;
	struct measure shown = measure_of(m, s);
	struct cpu_items c;
	struct cpu_item total;
	char what[48], title[256], right[128] = "";
	struct area in;

	if (cpu_items_init(&c, m, &shown, group, node))
		return;
	total = cpu_items_total(&c);
	if (node >= 0)
		snprintf(what, sizeof(what), "Node %d: %u CPUs", node, total.nr_cpus);
	else if (group == GROUP_CPU)
		snprintf(what, sizeof(what), "%u CPU%s", total.nr_cpus,
		         total.nr_cpus == 1 ? "" : "s");
	else
		snprintf(what, sizeof(what), "%zu %s%s", c.nr, group_names[group],
		         c.nr == 1 ? "" : "s");
	title_of(what, &c, &total, a.width, title);
	if (s->has_uncore && !isnan(total.uncore_mhz)) {
		char mhz[FORMAT_BYTES];

		snprintf(title + strlen(title), sizeof(title) - strlen(title), "uncore %s ",
		         format_mhz(mhz, total.uncore_mhz));
	}
	/* Of all CPUs the machine knows it exactly; of some, it is the worst. */
	if (node == CPU_ITEMS_ALL)
		wait_of(&m->wait, right);
	else if (total.wait.count) {
		char p99[FORMAT_BYTES];

		snprintf(right, sizeof(right), " worst wait p99 %s ",
		         format_ns(p99, (double)total.wait.p99_ns));
	}
	in = panel_begin(g, a, title, right);
	if (shown.why)
		draw_sentence(g, in, shown.why);
	else
		draw_items(&c, s, group, g, in);
	cpu_items_done(&c);
}

static int panel_height(size_t nr, int width, const struct screen *s)
{
	int columns = (width - 2) / GOOD_CELL;
	int height;

	if (columns < 1 || s->group != GROUP_CPU || s->shape == SHAPE_TABLE)
		columns = 1;
	height = ((int)nr + columns - 1) / columns + (s->shape == SHAPE_TABLE ? 3 : 2);
	if (s->shape == SHAPE_TABLE && height < TABLE_MIN)
		return TABLE_MIN;
	return height < PANEL_MIN ? PANEL_MIN : height;
}

int cpu_panel_height(const struct machine *m, const struct screen *s, int width)
{
	struct cpu_items nodes;
	int height = 0;

	if (cpu_items_init(&nodes, m, NULL, s->group == GROUP_CPU ? GROUP_NODE : s->group,
	                   CPU_ITEMS_ALL))
		return PANEL_MIN;
	if (s->group != GROUP_CPU)
		height = panel_height(nodes.nr, width, s);
	for (size_t i = 0; s->group == GROUP_CPU && i < nodes.nr; i++)
		height += panel_height(nodes.items[i].nr_cpus, width, s);
	cpu_items_done(&nodes);
	return height;
}

/* Each node gets rows in proportion to its CPUs, but enough for a frame. */
static void draw_nodes(const struct machine *m, const struct screen *s,
                       const struct cpu_items *nodes, struct grid *g, struct area a)
{
	int spare = a.height - (int)nodes->nr * PANEL_MIN;
	uint64_t before = 0, all = 0;
	int y = a.y;

	for (size_t i = 0; i < nodes->nr; i++)
		all += nodes->items[i].nr_cpus;
	for (size_t i = 0; i < nodes->nr; i++) {
		uint64_t after = before + nodes->items[i].nr_cpus;
		int end = a.y + (int)(i + 1) * PANEL_MIN +
		          (int)((uint64_t)spare * after / (all ? all : 1));

		draw_panel(m, s, nodes->items[i].id, g, (struct area){ a.x, y, a.width, end - y });
		y = end;
		before = after;
	}
}

void cpu_panel_draw(const struct machine *m, const struct screen *s, struct grid *g, struct area a)
{
	struct cpu_items nodes;

	if (a.width <= 0 || a.height <= 0)
		return;
	if (cpu_items_init(&nodes, m, NULL, GROUP_NODE, CPU_ITEMS_ALL))
		return;
	/* What cannot be counted is said once. */
	if (s->group == GROUP_CPU && nodes.nr > 1 && (int)nodes.nr * PANEL_MIN <= a.height &&
	    !measure_of(m, s).why)
		draw_nodes(m, s, &nodes, g, a);
	else
		draw_panel(m, s, CPU_ITEMS_ALL, g, a);
	cpu_items_done(&nodes);
}

/* "12.3%", "3600/s cycles", "2.40G". */
static int draw_total(const struct measure *w, const struct cpu_item *total, struct grid *g,
                      struct area a)
{
	bool is_share = !w->is_rate && w->word.share != EVENT_MHZ;
	char value[FORMAT_BYTES], text[96];

	measure_format(w, value, total->value, false);
	snprintf(text, sizeof(text), "%s%s%s%.40s", value,
	         is_share     ? "%"
	         : w->is_rate ? "/s"
	                      : "",
	         measure_is_busy(w) ? "" : " ", measure_is_busy(w) ? "" : w->name);
	return grid_text(g, a.x, a.y, a.width, is_share ? grid_band(total->value) : STYLE_TEXT,
	                 text);
}

void cpu_panel_line(const struct machine *m, const struct screen *s, struct grid *g, struct area a)
{
	struct measure shown = measure_of(m, s);
	char p99[FORMAT_BYTES], text[64];
	struct cpu_item total;
	struct cpu_items c;
	int cells;

	if (a.width <= 0 || a.height <= 0)
		return;
	if (shown.why) {
		table_view_text(g, a.x, a.y, a.width, STYLE_WARNING, shown.why);
		return;
	}
	if (cpu_items_init(&c, m, &shown, GROUP_CPU, CPU_ITEMS_ALL))
		return;
	total = cpu_items_total(&c);
	cells = draw_total(&shown, &total, g, a) + 1;
	if (m->wait.count && a.width >= cells + 10) {
		snprintf(text, sizeof(text), "p99 %s", format_ns(p99, (double)m->wait.p99_ns));
		cells += grid_text(g, a.x + cells, a.y, a.width - cells, STYLE_TEXT, text) + 1;
	}
	if (a.width - cells >= 8)
		draw_dense(&c, g, (struct area){ a.x + cells, a.y, a.width - cells, 1 });
	cpu_items_done(&c);
}
