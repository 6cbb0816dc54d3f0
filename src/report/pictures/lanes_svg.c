#include "report/pictures/lanes_svg.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "report/html.h"
#include "report/pictures/svg.h"
#include "report/places.h"

#define MAX_CELLS   9600U /* of all lanes together */
#define MAX_COLUMNS 160U
#define MIN_COLUMNS 16U
#define LANE        26.0
#define LOW_LANE    12.0 /* where there are many */
#define MANY_CPUS   48U
#define BOTTOM      22.0
#define HEAD        16.0 /* of a group */
#define QUEUES      3U   /* classes q1 to q3: one, a few, many */
#define NAME_BYTES  64

struct column {
	double busy;    /* 0 to 1 */
	double unknown; /* likewise; it stands upon what is busy */
	uint32_t depth; /* the longest queue */
};

struct picture {
	const struct source *s;
	const struct report_lanes *l;
	FILE *out;
	double lane, bar;
	uint32_t columns, per_column;
	struct column at[MAX_COLUMNS]; /* of the CPU that is drawn */
};

static void collect(struct picture *p, uint32_t cpu)
{
	const struct report_lane_cell *cells = p->l->cells + (size_t)cpu * p->l->nr_buckets;

	for (uint32_t i = 0; i < p->columns; i++) {
		uint32_t from = i * p->per_column, to = from + p->per_column, busy = 0, unknown = 0;

		p->at[i].depth = 0;
		to = to < p->l->nr_buckets ? to : p->l->nr_buckets;
		for (uint32_t b = from; b < to; b++) {
			busy += cells[b].busy;
			unknown += cells[b].unknown;
			if (cells[b].depth_max > p->at[i].depth)
				p->at[i].depth = cells[b].depth_max;
		}
		p->at[i].busy = to > from ? busy / (255.0 * (to - from)) : 0;
		p->at[i].unknown = to > from ? unknown / (255.0 * (to - from)) : 0;
	}
}

static double width_of(const struct picture *p)
{
	return (SVG_WIDTH - SVG_LEFT) / p->columns;
}

/* One outline, of steps; equal neighbours are one. */
static void put_busy(const struct picture *p, double y)
{
	double base = y + p->lane - 2, height = p->bar;

	fprintf(p->out, "<path class=\"runs\" d=\"M%.0f ", SVG_LEFT);
	html_number(p->out, base);
	for (uint32_t i = 0; i < p->columns; i++) {
		if (i + 1 < p->columns && p->at[i].busy == p->at[i + 1].busy && i > 0 &&
		    p->at[i].busy == p->at[i - 1].busy)
			continue;
		fputc('V', p->out);
		html_number(p->out, base - height * p->at[i].busy);
		fputc('H', p->out);
		html_number(p->out, SVG_LEFT + (i + 1) * width_of(p));
	}
	fputc('V', p->out);
	html_number(p->out, base);
	fputs("z\"/>\n", p->out);
}

/* Time of which nothing is known: it is not idle. One box for each column that has any. */
static void put_unknown(const struct picture *p, double y)
{
	double base = y + p->lane - 2;
	bool has_any = false;

	for (uint32_t i = 0; i < p->columns; i++) {
		const struct column *c = &p->at[i];
		double top = c->busy + c->unknown < 1 ? c->busy + c->unknown : 1;

		if (c->unknown <= 0 || top <= c->busy)
			continue;
		fputs(has_any ? "M" : "<path class=\"not-known\" fill=\"url(#hatch)\" d=\"M",
		      p->out);
		has_any = true;
		html_number(p->out, SVG_LEFT + i * width_of(p));
		fputc(' ', p->out);
		html_number(p->out, base - p->bar * c->busy);
		fputc('V', p->out);
		html_number(p->out, base - p->bar * top);
		fputc('h', p->out);
		html_number(p->out, width_of(p));
		fputc('V', p->out);
		html_number(p->out, base - p->bar * c->busy);
		fputc('z', p->out);
	}
	if (has_any)
		fputs("\"/>\n", p->out);
}

static unsigned int level_of(uint32_t depth)
{
	return !depth ? 0 : depth == 1 ? 1 : depth < 4 ? 2 : QUEUES;
}

/* Where tasks waited in its queue. */
static void put_queue(const struct picture *p, double y)
{
	double height = p->lane - p->bar - 3;

	for (unsigned int level = 1; level <= QUEUES; level++) {
		bool has_any = false;

		for (uint32_t i = 0; i < p->columns; i++) {
			uint32_t end = i;

			while (end < p->columns && level_of(p->at[end].depth) == level)
				end++;
			if (end == i)
				continue;
			fprintf(p->out, "%s", has_any ? "" : "<path class=\"q");
			if (!has_any)
				fprintf(p->out, "%u\" d=\"", level);
			has_any = true;
			fputc('M', p->out);
			html_number(p->out, SVG_LEFT + i * width_of(p));
			fputc(' ', p->out);
			html_number(p->out, y);
			fputc('h', p->out);
			html_number(p->out, (end - i) * width_of(p));
			fputc('v', p->out);
			html_number(p->out, height);
			fputc('H', p->out);
			html_number(p->out, SVG_LEFT + i * width_of(p));
			fputc('z', p->out);
			i = end;
		}
		if (has_any)
			fputs("\"/>\n", p->out);
	}
}

static void put_lane(struct picture *p, uint32_t cpu, double y)
{
	char name[NAME_BYTES];

	collect(p, cpu);
	snprintf(name, sizeof(name), "CPU %" PRIu32, cpu);
	fprintf(p->out, "<g data-cpu=\"%" PRIu32 "\">", cpu);
	svg_text(p->out, p->lane < LANE ? "tick end" : "name end", SVG_LEFT - 6, y + p->lane - 3,
	         name);
	svg_rect(p->out, "lane", SVG_LEFT, y + p->lane - 2 - p->bar, SVG_WIDTH - SVG_LEFT, p->bar);
	fputs("/>\n", p->out);
	put_busy(p, y);
	put_unknown(p, y);
	put_queue(p, y);
	fputs("</g>\n", p->out);
}

static bool begins_group(const struct cpu_place *at, uint32_t i)
{
	return (at[i].node >= 0 || at[i].llc >= 0) &&
	       (i == 0 || at[i].node != at[i - 1].node || at[i].llc != at[i - 1].llc);
}

static void put_group(const struct picture *p, const struct cpu_place *at, double y)
{
	char text[NAME_BYTES], node[NAME_BYTES / 2] = "", llc[NAME_BYTES / 2] = "";

	if (at->node >= 0)
		snprintf(node, sizeof(node), "node %" PRId32 "%s", at->node,
		         at->llc >= 0 ? ", " : "");
	if (at->llc >= 0)
		snprintf(llc, sizeof(llc), "last-level cache %" PRId32, at->llc);
	snprintf(text, sizeof(text), "%s%s", node, llc);
	svg_text(p->out, "tick", SVG_LEFT, y + HEAD - 4, text);
}

static void plan(struct picture *p)
{
	uint32_t most = MAX_CELLS / p->l->nr_cpus;

	most = most > MAX_COLUMNS ? MAX_COLUMNS : most < MIN_COLUMNS ? MIN_COLUMNS : most;
	p->per_column = (p->l->nr_buckets + most - 1) / most;
	p->columns = (p->l->nr_buckets + p->per_column - 1) / p->per_column;
	p->lane = p->l->nr_cpus > MANY_CPUS ? LOW_LANE : LANE;
	p->bar = p->lane * 0.65;
}

int lanes_svg(const struct source *s, const struct report_lanes *l, FILE *out)
{
	struct picture p = { .s = s, .l = l, .out = out };
	SCOPED(scoped_free) struct cpu_place *at = NULL;
	struct svg_span span;
	double y = 0;

	if (!l || !l->nr_cpus || !l->nr_buckets)
		return 0;
	at = cpu_places(s, l->nr_cpus);
	if (!at)
		return -ENOMEM;
	plan(&p);
	for (uint32_t i = 0; i < l->nr_cpus; i++)
		y += p.lane + (begins_group(at, i) ? HEAD : 0);
	fputs("<figure id=\"lanes\">", out);
	svg_begin(
		out, y + BOTTOM, "picture",
		"how busy CPUs were over time, and how much of it is unknown; the table of CPUs has the sums");
	fputs("<defs><pattern id=\"hatch\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\"><path class=\"hatch\" d=\"M0 4L4 0\"/></pattern></defs>\n",
	      out);
	y = 0;
	for (uint32_t i = 0; i < l->nr_cpus; i++) {
		if (begins_group(at, i)) {
			put_group(&p, &at[i], y);
			y += HEAD;
		}
		put_lane(&p, at[i].cpu, y);
		y += p.lane;
	}
	span.from_ns = l->first_ns;
	span.to_ns = l->first_ns + l->width_ns * p.per_column * p.columns;
	svg_axis(out, &span, y + 4, 0);
	svg_end(out);
	fputs("<figcaption><span class=\"swatch runs\"></span> share of the time in which the CPU was busy "
	      "<span class=\"swatch not-known\"></span> unknown, which is not idle; above it the tasks in its queue: "
	      "<span class=\"swatch q1\"></span> 1 <span class=\"swatch q2\"></span> 2 or 3 <span class=\"swatch q3\"></span> 4 or more.</figcaption></figure>\n",
	      out);
	return 0;
}
