#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "report/compare/compare_priv.h"
#include "report/html.h"
#include "report/pictures/svg.h"

#define ROW         9.0 /* height of a band in a map */
#define TOP         4.0
#define AXIS        20.0
#define LEVELS      8 /* of rates; as many of each sign in differences */
#define LABEL_STEP  4 /* bands from one label to the next */
#define LABEL_BYTES 256
#define BAR_HEIGHT  180.0
#define SWATCH      30.0

/* What is drawn of each cell. */
enum map_kind { MAP_BEFORE, MAP_AFTER, MAP_DIFFERENCE, MAP_KINDS };

struct map {
	const struct compare_heat *h;
	FILE *out;
	enum map_kind kind;
	uint32_t nr_buckets, first_band, nr_bands;
	double most; /* the largest rate of both sides, or the largest difference */
};

/* False where one of the sides that it needs recorded nothing. */
static bool value_at(const struct map *m, uint32_t bucket, uint32_t band, double *out)
{
	double before = compare_heat_rate(&m->h->maps[COMPARE_BEFORE], bucket, band),
	       after = compare_heat_rate(&m->h->maps[COMPARE_AFTER], bucket, band);

	if (m->kind != MAP_AFTER && before < 0)
		return false;
	if (m->kind != MAP_BEFORE && after < 0)
		return false;
	*out = m->kind == MAP_BEFORE ? before : m->kind == MAP_AFTER ? after : after - before;
	return true;
}

static double most_of(struct map m, enum map_kind kind)
{
	double most = 0, value;

	m.kind = kind;
	for (uint32_t bucket = 0; bucket < m.nr_buckets; bucket++)
		for (uint32_t band = m.first_band; band < m.first_band + m.nr_bands; band++)
			if (value_at(&m, bucket, band, &value) && fabs(value) > most)
				most = fabs(value);
	return most;
}

/* 0 for nothing, else 1 to LEVELS, by the logarithm: few long waits count, and are seen beside many short ones. */
static int level_of(const struct map *m, double value)
{
	double part = m->most > 0 ? log1p(fabs(value)) / log1p(m->most) : 0;
	int level = (int)ceil(part * LEVELS);

	if (value == 0)
		return 0;
	level = level < 1 ? 1 : level > LEVELS ? LEVELS : level;
	return value < 0 ? -level : level;
}

/* The largest value of a level. */
static double limit_of(const struct map *m, int level)
{
	return expm1(log1p(m->most) * level / LEVELS);
}

static const char *class_of(const struct map *m, int level, char buf[LABEL_BYTES])
{
	const char *sign = m->kind != MAP_DIFFERENCE ? "h" : level < 0 ? "fewer" : "more";

	snprintf(buf, LABEL_BYTES, "%s%d", sign, level < 0 ? -level : level);
	return buf;
}

static double height_of(const struct map *m)
{
	return TOP + ROW * m->nr_bands + AXIS;
}

static double y_of(const struct map *m, uint32_t band)
{
	return TOP + ROW * (m->first_band + m->nr_bands - 1 - band);
}

static void put_cell(const struct map *m, uint32_t bucket, uint32_t band)
{
	double width = (SVG_WIDTH - SVG_LEFT) / m->nr_buckets;

	fputc('M', m->out);
	html_number(m->out, SVG_LEFT + width * bucket);
	fputc(' ', m->out);
	html_number(m->out, y_of(m, band));
	fputc('h', m->out);
	html_number(m->out, width);
	fputc('v', m->out);
	html_number(m->out, ROW);
	fputs("h-", m->out);
	html_number(m->out, width);
	fputc('z', m->out);
}

/* All cells of a level are one path, which keeps pages small. */
static void put_level(const struct map *m, int level)
{
	char name[LABEL_BYTES];
	bool is_open = false;
	double value;

	for (uint32_t bucket = 0; bucket < m->nr_buckets; bucket++)
		for (uint32_t band = m->first_band; band < m->first_band + m->nr_bands; band++) {
			if (!value_at(m, bucket, band, &value) || level_of(m, value) != level)
				continue;
			if (!is_open)
				fprintf(m->out, "<path class=\"%s\" d=\"",
				        class_of(m, level, name));
			is_open = true;
			put_cell(m, bucket, band);
		}
	if (is_open)
		fputs("\"/>\n", m->out);
}

/* Time that one of the sides did not record has no rate; it is not nothing. */
static void put_missing(const struct map *m)
{
	double width = (SVG_WIDTH - SVG_LEFT) / m->nr_buckets, value;
	uint32_t first = m->nr_buckets;

	while (first && !value_at(m, first - 1, m->first_band, &value))
		first--;
	if (first == m->nr_buckets)
		return;
	svg_rect(m->out, "missing", SVG_LEFT + width * first, TOP, width * (m->nr_buckets - first),
	         ROW * m->nr_bands);
	fputs("><title>not recorded</title></rect>\n", m->out);
}

static void put_axes(const struct map *m)
{
	struct svg_span span = { .to_ns = m->nr_buckets * m->h->width_ns };
	char t[HTML_TIME_BYTES];

	for (uint32_t band = m->first_band; band < m->first_band + m->nr_bands; band += LABEL_STEP)
		svg_text(m->out, "tick end", SVG_LEFT - 6, y_of(m, band) + ROW,
		         text_duration(t, sizeof(t), m->h->bands[band].first));
	svg_axis(m->out, &span, TOP + ROW * m->nr_bands, 0);
}

static void put_map(const struct map *m)
{
	static const char *const labels[] = {
		"Waits per second before, by time since the start and by latency",
		"Waits per second after, by time since the start and by latency",
		"Waits per second after less those before, by time since the start and by latency",
	};

	svg_begin(m->out, height_of(m), "picture heat", labels[m->kind]);
	svg_rect(m->out, "none", SVG_LEFT, TOP, SVG_WIDTH - SVG_LEFT, ROW * m->nr_bands);
	fputs("/>\n", m->out);
	put_missing(m);
	for (int level = -LEVELS; level <= LEVELS; level++)
		if (level)
			put_level(m, level);
	put_axes(m);
	svg_end(m->out);
}

static void put_swatch(const struct map *m, int level, double *x)
{
	char name[LABEL_BYTES], text[LABEL_BYTES];
	double limit = limit_of(m, level < 0 ? -level : level);

	svg_rect(m->out, level ? class_of(m, level, name) : "none", *x, TOP, SWATCH, ROW + 3);
	fputs("/>", m->out);
	if (level % 2 == 0) {
		snprintf(text, sizeof(text), "%s%.*f",
		         level < 0   ? "-"
		         : level > 0 ? "+"
		                     : "",
		         limit < 10 ? 1 : 0, limit);
		if (m->kind != MAP_DIFFERENCE || !level)
			snprintf(text, sizeof(text), "%.*f", limit < 10 && level ? 1 : 0, limit);
		svg_text(m->out, "tick middle", *x + SWATCH / 2, TOP + ROW + 16, text);
	}
	*x += SWATCH;
}

static void put_legend(const struct map *m)
{
	double x = SVG_LEFT;

	svg_begin(m->out, TOP + ROW + 22, "picture", "Colours, in waits per second");
	svg_text(m->out, "tick end", SVG_LEFT - 6, TOP + ROW, "up to, per s");
	for (int level = m->kind == MAP_DIFFERENCE ? -LEVELS : 0; level <= LEVELS; level++)
		put_swatch(m, level, &x);
	svg_end(m->out);
}

void compare_svg_heat(const struct report_compare *c, FILE *out)
{
	static const struct {
		const char *id, *title;
	} words[] = {
		{ "before", "Before" },
		{ "after", "After" },
		{ "difference", "Difference, after less before" },
	};
	struct map m = { .h = &c->heat, .out = out, .nr_buckets = compare_heat_buckets(&c->heat) };
	double most_rate;

	if (!m.nr_buckets || !compare_heat_range(m.h, &m.first_band, &m.nr_bands))
		return;
	most_rate = fmax(most_of(m, MAP_BEFORE), most_of(m, MAP_AFTER));
	fprintf(out,
	        "<figure id=\"compare-heat\" data-left=\"%.0f\" data-width=\"%.0f\" data-top=\"%.0f\" data-row=\"%.0f\" "
	        "data-first-band=\"%" PRIu32 "\" data-bands=\"%" PRIu32 "\">\n",
	        SVG_LEFT, SVG_WIDTH, TOP, ROW, m.first_band, m.nr_bands);
	for (m.kind = MAP_BEFORE; m.kind < MAP_KINDS; m.kind++) {
		m.most = m.kind == MAP_DIFFERENCE ? most_of(m, MAP_DIFFERENCE) : most_rate;
		fprintf(out, "<div class=\"compare-part\" data-map=\"%s\"><h4>%s</h4>\n",
		        words[m.kind].id, words[m.kind].title);
		put_map(&m);
		put_legend(&m);
		fputs("</div>\n", out);
	}
	fputs("<figcaption>Waits of woken and new tasks per second, by the time since the start at which they begin and by "
	      "how long they were. Before and after have the same colours. Single cells also differ by chance: "
	      "what is proved is in the sentences.</figcaption>\n</figure>\n",
	      out);
}

/* Bars of both sides beside each other, by the logarithm of the rate. */
struct bars {
	const struct compare_heat *h;
	FILE *out;
	uint32_t first_band, nr_bands;
	double least, most;
};

static double bar_of(const struct bars *b, double rate)
{
	if (rate <= 0 || b->least <= 0)
		return 0;
	return BAR_HEIGHT * log1p(rate / b->least) / log1p(b->most / b->least);
}

static void find_extremes(struct bars *b)
{
	for (int side = 0; side < COMPARE_SIDES; side++)
		for (uint32_t band = 0; band < b->h->nr_bands; band++) {
			double rate = compare_heat_band_rate(&b->h->maps[side], band);

			if (rate <= 0)
				continue;
			b->least = b->least > 0 ? fmin(b->least, rate) : rate;
			b->most = fmax(b->most, rate);
		}
}

static void put_band(const struct bars *b, uint32_t band)
{
	static const char *const names[] = { "before", "after" };
	double width = (SVG_WIDTH - SVG_LEFT) / b->nr_bands;
	char from[HTML_TIME_BYTES], to[HTML_TIME_BYTES];

	text_duration(from, sizeof(from), b->h->bands[band].first);
	text_duration(to, sizeof(to), b->h->bands[band].last + 1);
	for (int side = 0; side < COMPARE_SIDES; side++) {
		double rate = compare_heat_band_rate(&b->h->maps[side], band),
		       height = bar_of(b, rate);

		if (height <= 0)
			continue;
		svg_rect(b->out, names[side],
		         SVG_LEFT + width * (band - b->first_band) + side * width * 0.45,
		         TOP + BAR_HEIGHT - height, width * 0.42, height);
		fprintf(b->out, "><title>%s to %s: %.2f per second %s</title></rect>\n", from, to,
		        rate, names[side]);
	}
	if ((band - b->first_band) % LABEL_STEP == 0)
		svg_text(b->out, "tick", SVG_LEFT + width * (band - b->first_band),
		         TOP + BAR_HEIGHT + 15, from);
}

static void put_scale(const struct bars *b)
{
	char text[LABEL_BYTES];

	for (int power = (int)floor(log10(b->most)); pow(10, power) >= b->least; power--) {
		double y = TOP + BAR_HEIGHT - bar_of(b, pow(10, power));

		svg_rect(b->out, "axis", SVG_LEFT, y, SVG_WIDTH - SVG_LEFT, 0.5);
		fputs("/>", b->out);
		snprintf(text, sizeof(text), "%g per s", pow(10, power));
		svg_text(b->out, "tick end", SVG_LEFT - 6, y + 4, text);
	}
}

void compare_svg_histogram(const struct report_compare *c, FILE *out)
{
	struct bars b = { .h = &c->heat, .out = out };

	if (!compare_heat_range(b.h, &b.first_band, &b.nr_bands))
		return;
	find_extremes(&b);
	fputs("<figure id=\"compare-histogram\">\n", out);
	svg_begin(out, TOP + BAR_HEIGHT + AXIS + 18, "picture",
	          "Waits per second before and after, by latency; the table below has the numbers");
	put_scale(&b);
	for (uint32_t band = b.first_band; band < b.first_band + b.nr_bands; band++)
		put_band(&b, band);
	svg_rect(out, "before", SVG_LEFT, TOP + BAR_HEIGHT + 24, 12, 10);
	fputs("/>", out);
	svg_text(out, "tick", SVG_LEFT + 18, TOP + BAR_HEIGHT + 33, "before");
	svg_rect(out, "after", SVG_LEFT + 90, TOP + BAR_HEIGHT + 24, 12, 10);
	fputs("/>", out);
	svg_text(out, "tick", SVG_LEFT + 108, TOP + BAR_HEIGHT + 33, "after");
	svg_end(out);
	fputs("<figcaption>Waits of woken and new tasks per second, by how long they were; the scale is logarithmic."
	      "</figcaption>\n</figure>\n",
	      out);
}
