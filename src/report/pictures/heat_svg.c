#include "report/pictures/heat_svg.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/hist.h"
#include "base/text.h"
#include "report/html.h"
#include "report/pictures/svg.h"

#define COLUMNS  120U
#define ROWS     30U
#define ROW      8.0
#define BOTTOM   22.0
#define SHADES   8U    /* classes h1 to h8 */
#define FIRST_NS 1000U /* of the labels of the axis */
#define LAST_NS  1000000000000U

/* Cells of the map joined, so that a picture without scripts stays small. */
struct joined {
	uint32_t columns, rows;
	uint32_t per_column, per_row;
	uint64_t counts[COLUMNS * ROWS];
	uint64_t most;
};

static uint32_t ceil_div(uint32_t a, uint32_t b)
{
	return (a + b - 1) / b;
}

static void join(const struct report_heat *h, struct joined *j)
{
	j->per_column = ceil_div(h->nr_buckets, COLUMNS);
	j->per_row = ceil_div(h->nr_slots, ROWS);
	j->columns = ceil_div(h->nr_buckets, j->per_column);
	j->rows = ceil_div(h->nr_slots, j->per_row);
	for (uint32_t b = 0; b < h->nr_buckets; b++)
		for (uint32_t s = 0; s < h->nr_slots; s++) {
			uint64_t *cell = &j->counts[b / j->per_column * j->rows + s / j->per_row];

			*cell += h->counts[(size_t)b * h->nr_slots + s];
			j->most = *cell > j->most ? *cell : j->most;
		}
}

/* By the logarithm: one slow wakeup among thousands must be seen. */
static unsigned int shade(const struct joined *j, uint64_t count)
{
	double part = j->most > 1 ? log((double)count) / log((double)j->most) : 1;

	return 1 + (unsigned int)(part * (SHADES - 1) + 0.5);
}

/* One path of all cells of a shade. */
static void put_shade(const struct joined *j, unsigned int nr, FILE *out)
{
	double width = (SVG_WIDTH - SVG_LEFT) / j->columns;
	bool has_any = false;

	for (uint32_t c = 0; c < j->columns; c++)
		for (uint32_t r = 0; r < j->rows; r++) {
			uint64_t count = j->counts[c * j->rows + r];

			if (!count || shade(j, count) != nr)
				continue;
			if (!has_any)
				fprintf(out, "<path class=\"h%u\" d=\"", nr);
			has_any = true;
			fputc('M', out);
			html_number(out, SVG_LEFT + c * width);
			fprintf(out, " %.0fh", ROW * (j->rows - 1 - r));
			html_number(out, width);
			fprintf(out, "v%.0fh", ROW);
			html_number(out, -width);
			fputc('z', out);
		}
	if (has_any)
		fputs("\"/>\n", out);
}

/* Where a latency is, in rows from below; negative where it is not on the map. */
static double row_of(const struct report_heat *h, const struct joined *j, uint64_t ns)
{
	for (uint32_t r = 0; r < j->rows; r++) {
		uint64_t first = h->slots[(size_t)r * j->per_row].first;
		uint64_t end = r + 1 < j->rows ? h->slots[(size_t)(r + 1) * j->per_row].first
		                               : h->slots[h->nr_slots - 1].last + 1;

		if (ns >= first && ns < end && first > 0)
			return r +
			       log((double)ns / (double)first) / log((double)end / (double)first);
	}
	return -1;
}

/* Round values, times 1 or times 1, 2 and 5; returns how many there are. */
static uint32_t put_labels(const struct report_heat *h, const struct joined *j, bool is_fine,
                           FILE *out)
{
	static const unsigned int digits[] = { 1, 2, 5 };
	char t[HTML_TIME_BYTES];
	uint32_t nr = 0;

	for (uint64_t ten = FIRST_NS; ten < LAST_NS; ten *= 10)
		for (size_t i = 0; i < (is_fine ? 3 : 1); i++) {
			double row = row_of(h, j, ten * digits[i]);

			if (row < 0)
				continue;
			nr++;
			if (out)
				svg_text(out, "tick end", SVG_LEFT - 6, ROW * (j->rows - row),
				         text_duration(t, sizeof(t), ten * digits[i]));
		}
	return nr;
}

static void put_latencies(const struct report_heat *h, const struct joined *j, FILE *out)
{
	put_labels(h, j, put_labels(h, j, false, NULL) < 2, out);
}

static void put_legend(const struct joined *j, FILE *out)
{
	fputs("<figcaption>Wakeup latency over time, from the waking to the switch: ", out);
	for (unsigned int i = 1; i <= SHADES; i++)
		fprintf(out, "<span class=\"swatch h%u\"></span>", i);
	fprintf(out, " from 1 to %" PRIu64 " in a cell.</figcaption></figure>\n", j->most);
}

int heat_svg(const struct report_heat *h, FILE *out)
{
	SCOPED(scoped_free) struct joined *j = NULL;
	struct svg_span span;

	if (!h || !h->nr_buckets || !h->nr_slots)
		return 0;
	j = calloc(1, sizeof(*j));
	if (!j)
		return -ENOMEM;
	join(h, j);
	span.from_ns = h->first_ns;
	span.to_ns = h->first_ns + h->width_ns * j->per_column * j->columns;
	fputs("<figure id=\"heat\">", out);
	svg_begin(out, ROW * j->rows + BOTTOM, "picture heat",
	          "wakeup latency over time; the table Wakeups by latency has the sums");
	svg_rect(out, "none", SVG_LEFT, 0, SVG_WIDTH - SVG_LEFT, ROW * j->rows);
	fputs("/>\n", out);
	for (unsigned int i = 1; i <= SHADES; i++)
		put_shade(j, i, out);
	put_latencies(h, j, out);
	svg_axis(out, &span, ROW * j->rows + 2, 0);
	svg_end(out);
	put_legend(j, out);
	return 0;
}
