#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "render/explain_text.h"

#define WIDTH       1000.0
#define LEFT        200.0
#define RIGHT       30.0
#define TOP         60.0
#define LANE        52.0
#define BAR         22.0
#define NAME_BYTES  96
#define TIME_BYTES  24
#define WAIT_COLOUR "#d97706"
#define RUN_COLOUR  "#2563eb"
#define REST_COLOUR "#9ca3af"
#define BOTTOM      34.0
#define GLYPH       6.5 /* of small letters, about */

struct picture {
	FILE *out;
	uint64_t start_ns, end_ns;
};

static uint64_t num(const struct report_node *node, const char *key)
{
	const struct report_node *at = report_at(node, key);

	return at && at->type == REPORT_U64 ? at->u64 : 0;
}

/* Names are untrusted: what XML would take for itself is written as entities. */
static void put_text(const char *text, FILE *out)
{
	char clean[NAME_BYTES];

	text_printable(clean, sizeof(clean), text, strlen(text));
	for (const char *c = clean; *c; c++)
		switch (*c) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*c, out);
		}
}

static double x_of(const struct picture *p, uint64_t ns)
{
	double span = p->end_ns > p->start_ns ? (double)(p->end_ns - p->start_ns) : 1;

	return LEFT +
	       (WIDTH - LEFT - RIGHT) * (ns > p->start_ns ? (double)(ns - p->start_ns) : 0) / span;
}

static void bar(const struct picture *p, double y, uint64_t from, uint64_t to, const char *colour,
                const char *what)
{
	double x = x_of(p, from), width = x_of(p, to) - x;
	char t[TIME_BYTES];

	text_duration(t, sizeof(t), to - from);
	fprintf(p->out,
	        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"><title>%s %s</title></rect>\n",
	        x, y, width < 1 ? 1.0 : width, BAR, colour, what, t);
	if (width > GLYPH * (double)(strlen(what) + strlen(t) + 2))
		fprintf(p->out,
		        "<text x=\"%.1f\" y=\"%.1f\" fill=\"#fff\" font-size=\"11\">%s %s</text>\n",
		        x + 5, y + 15, what, t);
}

static const char *comm_of(const struct report_node *link)
{
	const struct report_node *at = report_at(link, "comm");

	return at && at->type == REPORT_STRING ? at->text : "?";
}

static void lane(const struct picture *p, const struct report_node *link,
                 const struct report_node *after, unsigned int nr)
{
	double y = TOP + LANE * nr;
	uint64_t start = num(link, "start_timestamp"), end = num(link, "end_timestamp");
	uint64_t until = after ? num(after, "start_timestamp") : end;

	fprintf(p->out, "<text x=\"10\" y=\"%.1f\" font-size=\"13\">", y + 15);
	put_text(comm_of(link), p->out);
	fprintf(p->out,
	        " (%" PRIu64
	        ")</text>\n<text x=\"10\" y=\"%.1f\" font-size=\"10\" fill=\"#666\">CPU %" PRIu64
	        "</text>\n",
	        num(link, "tid"), y + 28, num(link, "cpu"));
	bar(p, y, start, end, WAIT_COLOUR, "waits");
	if (until > end)
		bar(p, y, end, until, RUN_COLOUR, "runs");
	if (after)
		fprintf(p->out,
		        "<path d=\"M %.1f %.1f L %.1f %.1f\" stroke=\"#444\" stroke-dasharray=\"3 2\" marker-end=\"url(#tip)\"/>\n",
		        x_of(p, until), y + BAR, x_of(p, until), y + LANE - 3);
}

/* Oldest waker on top: time goes down and to the right. */
static void lanes(const struct picture *p, const struct report_node *chain)
{
	const struct report_node *links[64];
	unsigned int nr = 0;

	for (const struct report_node *at = chain->first; at && nr < 64; at = at->next)
		links[nr++] = at;
	for (unsigned int i = 0; i < nr; i++)
		lane(p, links[nr - 1 - i], i + 1 < nr ? links[nr - 2 - i] : NULL, i);
}

/* One share of the time that was waited for, at *x. */
static void share(const struct picture *p, double y, double *x, double width, const char *colour,
                  const struct report_node *who)
{
	char t[TIME_BYTES] = "";

	if (who)
		text_duration(t, sizeof(t), num(who, "runtime_ns"));
	fprintf(p->out,
	        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" stroke=\"#fff\"><title>",
	        *x, y, width, BAR, colour);
	put_text(who ? comm_of(who) : "others, idle, unknown", p->out);
	fprintf(p->out, " %s</title></rect>\n", t);
	if (width > GLYPH * (double)(who ? strlen(comm_of(who)) + strlen(t) + 3 : 8)) {
		fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\" fill=\"#fff\" font-size=\"11\">",
		        *x + 5, y + 15);
		put_text(who ? comm_of(who) : "others", p->out);
		fprintf(p->out, " %s</text>\n", t);
	}
	*x += width;
}

/* Who had the CPU while the first of the chain waited: how much each, not when. */
static void shares(const struct picture *p, const struct report_node *wait, double y)
{
	const struct report_node *list = report_at(wait, "ran_meanwhile");
	double left = x_of(p, num(wait, "start_timestamp"));
	double width = x_of(p, num(wait, "end_timestamp")) - left, x = left;
	double whole = (double)num(wait, "wait_ns");

	fprintf(p->out,
	        "<text x=\"10\" y=\"%.1f\" font-size=\"13\">CPU %" PRIu64 " meanwhile</text>\n"
	        "<text x=\"10\" y=\"%.1f\" font-size=\"10\" fill=\"#666\">shares, not in order of time</text>\n",
	        y + 15, num(wait, "cpu"), y + 28);
	for (const struct report_node *at = list ? list->first : NULL; at && whole > 0;
	     at = at->next) {
		double part = width * (double)num(at, "runtime_ns") / whole;

		if (x + part > left + width + 0.5)
			break;
		share(p, y, &x, part, RUN_COLOUR, at);
	}
	if (left + width - x > 1)
		share(p, y, &x, left + width - x, REST_COLOUR, NULL);
}

/* From the first moment in the picture to the last. */
static void axis(const struct picture *p, double y)
{
	char t[TIME_BYTES];

	text_duration(t, sizeof(t), p->end_ns - p->start_ns);
	fprintf(p->out,
	        "<path d=\"M %.1f %.1f L %.1f %.1f\" stroke=\"#999\"/>\n"
	        "<text x=\"%.1f\" y=\"%.1f\" font-size=\"10\" fill=\"#666\">0</text>\n"
	        "<text x=\"%.1f\" y=\"%.1f\" font-size=\"10\" fill=\"#666\" text-anchor=\"end\">%s</text>\n",
	        LEFT, y, WIDTH - RIGHT, y, LEFT, y + 14, WIDTH - RIGHT, y + 14, t);
}

int explain_svg(const struct report_node *root, FILE *out)
{
	const struct report_node *wait = report_at(root, "waits.0"),
				 *chain = wait ? report_at(wait, "chain") : NULL;
	struct picture p = { .out = out, .start_ns = UINT64_MAX };
	char t[TIME_BYTES];
	double height;

	if (!chain || !chain->first)
		return -ENODATA;
	for (const struct report_node *at = chain->first; at; at = at->next) {
		uint64_t start = num(at, "start_timestamp"), end = num(at, "end_timestamp");

		p.start_ns = start < p.start_ns ? start : p.start_ns;
		p.end_ns = end > p.end_ns ? end : p.end_ns;
	}
	height = TOP + LANE * (chain->nr + 1) + BOTTOM;
	fprintf(out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
	        "font-family=\"sans-serif\">\n"
	        "<defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"4\" refY=\"4\" orient=\"auto\">"
	        "<path d=\"M0 0 L8 4 L0 8 z\" fill=\"#444\"/></marker></defs>\n"
	        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text x=\"10\" y=\"25\" font-size=\"16\">",
	        WIDTH, height, WIDTH, height);
	put_text(comm_of(chain->first), out);
	text_duration(t, sizeof(t), num(wait, "wait_ns"));
	fprintf(out, " waited %s for CPU %" PRIu64, t, num(wait, "cpu"));
	text_duration(t, sizeof(t), num(wait, "compound_delay_ns"));
	if (chain->nr > 1)
		fprintf(out, "; the waits of its chain add up to %s", t);
	fprintf(out, "</text>\n");
	lanes(&p, chain);
	shares(&p, wait, TOP + LANE * chain->nr);
	axis(&p, height - BOTTOM + 6);
	fprintf(out, "</svg>\n");
	return ferror(out) ? -EIO : 0;
}
