#include "report/pictures/histogram_svg.h"

#include <inttypes.h>

#include "base/text.h"
#include "report/html.h"
#include "report/pictures/svg.h"

#define HEIGHT 180.0
#define BOTTOM 22.0
#define EVERY  2U /* label, so that they do not touch */

static uint64_t most_of(const struct report_node *rows)
{
	uint64_t most = 1;

	for (const struct report_node *n = rows->first; n; n = n->next)
		if (report_u64_at(n, "count") > most)
			most = report_u64_at(n, "count");
	return most;
}

static void put_bar(const struct report_node *row, double x, double width, uint64_t most, FILE *out)
{
	uint64_t count = report_u64_at(row, "count");
	double height = HEIGHT * (double)count / (double)most;
	char from[HTML_TIME_BYTES], to[HTML_TIME_BYTES];

	if (count && height < 1)
		height = 1; /* what is rare can be what hurts */
	svg_rect(out, "bar", x + 1, HEIGHT - height, width - 2, height);
	fprintf(out, "><title>%s to %s: %" PRIu64 "</title></rect>\n",
	        text_duration(from, sizeof(from), report_u64_at(row, "at_least_ns")),
	        text_duration(to, sizeof(to), report_u64_at(row, "below_ns")), count);
}

void histogram_svg(const struct report_node *latency, FILE *out)
{
	const struct report_node *rows = latency ? report_at(latency, "histogram") : NULL;
	double x = SVG_LEFT, width;
	uint64_t most;
	char t[HTML_TIME_BYTES];
	uint32_t nr = 0;

	if (!rows || !rows->first)
		return;
	most = most_of(rows);
	width = (SVG_WIDTH - SVG_LEFT) / rows->nr;
	fputs("<figure id=\"histogram\">", out);
	svg_begin(out, HEIGHT + BOTTOM, "picture",
	          "wakeups by latency; the table Wakeups by latency has the numbers");
	snprintf(t, sizeof(t), "%" PRIu64, most);
	svg_text(out, "tick end", SVG_LEFT - 6, 10, t);
	svg_text(out, "tick end", SVG_LEFT - 6, HEIGHT, "0");
	for (const struct report_node *n = rows->first; n; n = n->next, x += width, nr++) {
		put_bar(n, x, width, most, out);
		if (nr % EVERY == 0)
			svg_text(out, "tick", x, HEIGHT + 14,
			         text_duration(t, sizeof(t), report_u64_at(n, "at_least_ns")));
	}
	svg_rect(out, "axis", SVG_LEFT, HEIGHT, SVG_WIDTH - SVG_LEFT, 1);
	fputs("/>\n", out);
	svg_end(out);
	fputs("<figcaption>Wakeups by latency: from the waking to the switch.</figcaption></figure>\n",
	      out);
}
