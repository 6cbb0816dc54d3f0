#include "tui/views/dsq_chart.h"

#include <math.h>
#include <stdio.h>

#include "analyze/dsq_name.h"
#include "tui/format.h"
#include "tui/table_view.h"

#define LOW_NS      1e3
#define DECADES     6 /* from 1 us to 1 s */
#define NAME_CELLS  11
#define VALUE_CELLS 7
#define SUM_CELLS   37 /* "avg 12.3us  max 12.3us  min 12.3us" and two blanks */

static const char *const titles[DSQ_CHARTS] = {
	[CHART_LATENCY] = "Latency, mean",
	[CHART_USED] = "Slice used, mean",
	[CHART_VTIME] = "Vtime delta, mean",
	[CHART_DEPTH] = "Depth",
};

const char *dsq_chart_title(enum dsq_chart chart)
{
	return titles[chart];
}

static double value_of(enum dsq_chart chart, const struct machine_dsq *d)
{
	switch (chart) {
	case CHART_LATENCY:
		return d->latency.count ? d->latency.mean_ns : NAN;
	case CHART_USED:
		return d->used_ns;
	case CHART_VTIME:
		return d->vtime_delta;
	default:
		return isnan(d->depth) ? (d->depth_max ? (double)d->depth_max : NAN) : d->depth;
	}
}

static struct machine_history history_of(enum dsq_chart chart, const struct machine_dsq *d)
{
	switch (chart) {
	case CHART_LATENCY:
		return d->latency_history;
	case CHART_USED:
		return d->used_history;
	case CHART_VTIME:
		return d->vtime_history;
	default:
		return d->depth_history;
	}
}

static bool is_time(enum dsq_chart chart)
{
	return chart == CHART_LATENCY || chart == CHART_USED;
}

static char *text_of(enum dsq_chart chart, double value, const struct screen *s,
                     char out[FORMAT_BYTES + 1])
{
	char number[FORMAT_BYTES];

	if (is_time(chart))
		return format_ns(out, value);
	snprintf(out, FORMAT_BYTES + 1, "%s%s", value < 0 ? "-" : "",
	         format_count(number, fabs(value), s->is_localized));
	return out;
}

/* Of 1. */
static double part_of(enum dsq_chart chart, double value, double largest)
{
	if (isnan(value))
		return NAN;
	if (is_time(chart))
		return value > LOW_NS ? fmin(log10(value / LOW_NS) / DECADES, 1) : 0;
	return largest > 0 ? fabs(value) / largest : 0;
}

static double largest_of(enum dsq_chart chart, const struct dsq_list *l)
{
	double largest = 0;

	for (int i = 0; i < l->nr; i++)
		largest = fmax(largest, fabs(value_of(chart, l->rows[i])));
	return largest;
}

struct history_sums {
	double sum, max, min;
	uint32_t nr;
};

/* What is unknown counts for nothing. */
static struct history_sums sums_of(struct machine_history h)
{
	struct history_sums s = { .max = -INFINITY, .min = INFINITY };

	for (uint32_t i = 0; i < h.nr; i++) {
		if (isnan(h.values[i]))
			continue;
		s.sum += h.values[i];
		s.max = fmax(s.max, h.values[i]);
		s.min = fmin(s.min, h.values[i]);
		s.nr++;
	}
	return s;
}

static void draw_sums(enum dsq_chart chart, const struct history_sums *sums, const struct screen *s,
                      struct grid *g, struct area a)
{
	char avg[FORMAT_BYTES + 1], max[FORMAT_BYTES + 1], min[FORMAT_BYTES + 1], text[128];
	bool has_any = sums->nr > 0;

	snprintf(text, sizeof(text), "avg %s  max %s  min %s",
	         text_of(chart, has_any ? sums->sum / sums->nr : NAN, s, avg),
	         text_of(chart, has_any ? sums->max : NAN, s, max),
	         text_of(chart, has_any ? sums->min : NAN, s, min));
	grid_right(g, a.x, a.y, a.width, STYLE_DIM, text);
}

static void draw_spark(enum dsq_chart chart, const struct machine_dsq *d, const struct screen *s,
                       struct grid *g, struct area a)
{
	struct machine_history h = history_of(chart, d);
	struct history_sums sums = sums_of(h);
	bool has_sums = a.width > SUM_CELLS + 8;
	uint32_t width;

	if (has_sums) {
		draw_sums(chart, &sums, s, g,
		          (struct area){ a.x + a.width - SUM_CELLS, a.y, SUM_CELLS, 1 });
		a.width -= SUM_CELLS;
	}
	width = a.width > 0 ? (uint32_t)a.width : 0;
	if (!sums.nr || !width)
		return;
	grid_spark(g, a.x, a.y, a.width,
	           (struct grid_series){ h.values + (h.nr > width ? h.nr - width : 0),
	                                 h.nr > width ? width : h.nr, sums.max > 0 ? sums.max : 0 },
	           STYLE_TEXT);
}

static void draw_line(enum dsq_chart chart, const struct machine_dsq *d, double largest,
                      const struct screen *s, struct grid *g, struct area a)
{
	double value = value_of(chart, d);
	char name[DSQ_NAME], text[FORMAT_BYTES + 1];
	struct area rest = { a.x + NAME_CELLS + VALUE_CELLS + 1, a.y,
		             a.width - NAME_CELLS - VALUE_CELLS - 1, 1 };

	table_view_text(g, a.x, a.y, NAME_CELLS - 1, STYLE_TEXT, dsq_name(d->id, name));
	if (a.width < NAME_CELLS + VALUE_CELLS)
		return;
	grid_right(g, a.x + NAME_CELLS, a.y, VALUE_CELLS, isnan(value) ? STYLE_DIM : STYLE_TEXT,
	           text_of(chart, value, s, text));
	if (rest.width < 4)
		return;
	if (s->shape == SHAPE_SPARKS)
		draw_spark(chart, d, s, g, rest);
	else
		grid_bar(g, rest.x, rest.y, rest.width, part_of(chart, value, largest), STYLE_TEXT);
}

void dsq_chart_draw(enum dsq_chart chart, const struct dsq_list *l, int first,
                    const struct screen *s, struct grid *g, struct area a)
{
	double largest = largest_of(chart, l);

	for (int i = 0; i < a.height && first + i < l->nr; i++)
		draw_line(chart, l->rows[first + i], largest, s, g,
		          (struct area){ a.x, a.y + i, a.width, 1 });
}
