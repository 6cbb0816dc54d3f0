#include "report/pictures/svg.h"

#include "base/text.h"
#include "report/html.h"

void svg_begin(FILE *out, double height, const char *class_name, const char *label)
{
	fputs("<svg viewBox=\"0 0 ", out);
	html_number(out, SVG_WIDTH);
	fputc(' ', out);
	html_number(out, height);
	fputs("\" role=\"img\"", out);
	html_attr(out, "class", class_name);
	html_attr(out, "aria-label", label);
	fputs(">\n", out);
}

void svg_end(FILE *out)
{
	fputs("</svg>\n", out);
}

double svg_x(const struct svg_span *s, uint64_t ns)
{
	uint64_t at = ns < s->from_ns ? s->from_ns : ns > s->to_ns ? s->to_ns : ns;
	double whole = s->to_ns > s->from_ns ? (double)(s->to_ns - s->from_ns) : 1;

	return SVG_LEFT + (SVG_WIDTH - SVG_LEFT) * (double)(at - s->from_ns) / whole;
}

static void put(FILE *out, const char *name, double value)
{
	fprintf(out, " %s=\"", name);
	html_number(out, value);
	fputc('"', out);
}

void svg_rect(FILE *out, const char *class_name, double x, double y, double width, double height)
{
	fprintf(out, "<rect class=\"%s\"", class_name);
	put(out, "x", x);
	put(out, "y", y);
	put(out, "width", width);
	put(out, "height", height);
}

void svg_text(FILE *out, const char *class_name, double x, double y, const char *text)
{
	fprintf(out, "<text class=\"%s\"", class_name);
	put(out, "x", x);
	put(out, "y", y);
	fputc('>', out);
	html_text(out, text);
	fputs("</text>\n", out);
}

void svg_axis(FILE *out, const struct svg_span *s, double y, uint64_t start_ns)
{
	char t[HTML_TIME_BYTES];

	svg_rect(out, "axis", SVG_LEFT, y, SVG_WIDTH - SVG_LEFT, 1);
	fputs("/>", out);
	svg_text(out, "tick", SVG_LEFT, y + 14, text_duration(t, sizeof(t), s->from_ns - start_ns));
	svg_text(out, "tick end", SVG_WIDTH, y + 14,
	         text_duration(t, sizeof(t), s->to_ns - start_ns));
}

unsigned int svg_color(const char *comm)
{
	uint32_t hash = 2166136261U;

	for (; *comm; comm++)
		hash = (hash ^ (unsigned char)*comm) * 16777619U;
	return (hash ^ hash >> 15) % SVG_COLORS;
}
