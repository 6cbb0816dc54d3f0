#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "render/explain_text.h"

#define WIDTH        1000.0
#define LEFT         200.0
#define RIGHT        30.0
#define TOP          60.0
#define LANE         52.0
#define BAR          22.0
#define NAME_BYTES   96
#define TIME_BYTES   24
#define LINE_BYTES   256
#define WAIT_COLOUR  "#d97706"
#define RUN_COLOUR   "#2563eb"
#define REST_COLOUR  "#9ca3af"
#define SLEEP_COLOUR "#7c6fae"
#define BOTTOM       34.0
#define LEGEND       17.0
#define GLYPH        6.5 /* of small letters, about */

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
	char clean[LINE_BYTES];

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

static void lane_name(const struct picture *p, double y, const struct report_node *task,
                      const char *below)
{
	fprintf(p->out, "<text x=\"10\" y=\"%.1f\" font-size=\"13\">", y + 15);
	put_text(comm_of(task), p->out);
	fprintf(p->out,
	        " (%" PRIu64 ")</text>\n<text x=\"10\" y=\"%.1f\" font-size=\"10\" fill=\"#666\">",
	        num(task, "tid"), y + 28);
	put_text(below, p->out);
	fprintf(p->out, "</text>\n");
}

static void lane(const struct picture *p, const struct report_node *link,
                 const struct report_node *after, unsigned int nr)
{
	const struct report_node *by = report_at(link, "woken_by");
	double y = TOP + LANE * nr;
	uint64_t start = num(link, "start_timestamp"), end = num(link, "end_timestamp");
	uint64_t until = after ? num(after, "start_timestamp") : end;
	char cpu[TIME_BYTES];

	snprintf(cpu, sizeof(cpu), "CPU %" PRIu64, num(link, "cpu"));
	lane_name(p, y, link, cpu);
	bar(p, y, start, end, WAIT_COLOUR, "waits");
	if (by && by->type == REPORT_STRING) {
		fprintf(p->out,
		        "<text x=\"%.1f\" y=\"%.1f\" font-size=\"10\" fill=\"#666\">woken by ",
		        x_of(p, start), y - 4);
		put_text(by->text, p->out);
		fprintf(p->out, "</text>\n");
	}
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

/* Colours that most people can tell apart; the last one is of all further parts. */
static const char *const part_colours[] = { "#0072b2", "#e69f00", "#009e73",
	                                    "#cc79a7", "#56b4e9", REST_COLOUR };
#define NR_COLOURS (sizeof(part_colours) / sizeof(part_colours[0]))

static const char *text_of(const struct report_node *part)
{
	const struct report_node *text = report_at(part, "text");

	return text && text->type == REPORT_STRING ? text->text : "?";
}

/* One share of the time that was waited for, at *x. */
static void share(const struct picture *p, double y, double *x, double width,
                  const struct report_node *part, const char *colour)
{
	char t[TIME_BYTES];

	text_duration(t, sizeof(t), num(part, "ns"));
	fprintf(p->out,
	        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" stroke=\"#fff\"><title>%s ",
	        *x, y, width, BAR, colour, t);
	put_text(text_of(part), p->out);
	fprintf(p->out, "</title></rect>\n");
	*x += width;
}

/* What a colour means. */
static void legend(const struct picture *p, double y, const struct report_node *part,
                   const char *colour)
{
	char t[TIME_BYTES];

	text_duration(t, sizeof(t), num(part, "ns"));
	fprintf(p->out,
	        "<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" fill=\"%s\"/>\n"
	        "<text x=\"%.1f\" y=\"%.1f\" font-size=\"12\">%s ",
	        LEFT, y - 9, colour, LEFT + 16, y, t);
	put_text(text_of(part), p->out);
	fprintf(p->out, "</text>\n");
}

/* How many parts have words of their own in the picture. */
static uint32_t nr_legends(const struct report_node *wait)
{
	const struct report_node *list = report_at(wait, "parts");
	uint32_t nr = list ? (uint32_t)list->nr : 0;

	return nr < NR_COLOURS ? nr : NR_COLOURS - 1;
}

/* Where the wait of the first of the chain went: how much each, not when. */
static void shares(const struct picture *p, const struct report_node *wait, double y)
{
	const struct report_node *list = report_at(wait, "parts");
	double x = x_of(p, num(wait, "start_timestamp"));
	double width = x_of(p, num(wait, "end_timestamp")) - x;
	double whole = (double)num(wait, "wait_ns");
	uint32_t i = 0;

	fprintf(p->out,
	        "<text x=\"10\" y=\"%.1f\" font-size=\"13\">it waited</text>\n"
	        "<text x=\"10\" y=\"%.1f\" font-size=\"10\" fill=\"#666\">shares, not in order of time</text>\n",
	        y + 15, y + 28);
	for (const struct report_node *at = list ? list->first : NULL; at && whole > 0;
	     at = at->next, i++) {
		const char *colour = part_colours[i < NR_COLOURS ? i : NR_COLOURS - 1];

		share(p, y, &x, width * (double)num(at, "ns") / whole, at, colour);
		if (i < nr_legends(wait))
			legend(p, y + LANE - 4 + LEGEND * i, at, colour);
	}
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

static void head(double height, FILE *out)
{
	fprintf(out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
	        "font-family=\"sans-serif\">\n"
	        "<defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"4\" refY=\"4\" orient=\"auto\">"
	        "<path d=\"M0 0 L8 4 L0 8 z\" fill=\"#444\"/></marker></defs>\n"
	        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text x=\"10\" y=\"25\" font-size=\"16\">",
	        WIDTH, height, WIDTH, height);
}

static const char *piece_colour(const char *kind)
{
	if (strcmp(kind, "runs") == 0)
		return RUN_COLOUR;
	return strcmp(kind, "waits") == 0 ? WAIT_COLOUR : SLEEP_COLOUR;
}

static const char *string_at(const struct report_node *node, const char *key)
{
	const struct report_node *at = report_at(node, key);

	return at && at->type == REPORT_STRING ? at->text : "";
}

/* What a task of the chain did, while another slept for it; an arrow leads to the end of that sleep. */
static void doing_lane(const struct picture *p, double y, const struct report_node *lane)
{
	const struct report_node *pieces = report_at(lane, "pieces");
	double end = x_of(p, num(lane, "end_timestamp"));

	lane_name(p, y, lane, string_at(lane, "role"));
	bar(p, y, num(lane, "start_timestamp"), num(lane, "end_timestamp"), REST_COLOUR, "rest");
	for (const struct report_node *at = pieces ? pieces->first : NULL; at; at = at->next)
		bar(p, y, num(at, "start_timestamp"), num(at, "end_timestamp"),
		    piece_colour(string_at(at, "kind")), string_at(at, "kind"));
	fprintf(p->out,
	        "<path d=\"M %.1f %.1f L %.1f %.1f\" stroke=\"#444\" stroke-dasharray=\"3 2\" marker-end=\"url(#tip)\"/>\n",
	        end, y, end, TOP + LANE * (double)num(lane, "for_lane") + BAR + 3);
}

/* The sleeper on top, below it the tasks that it, or the one above, slept for; then the chain in words. */
static int draw_sleep(const struct report_node *sleep, FILE *out)
{
	const struct report_node *lanes = report_at(sleep, "lanes"),
				 *chain = report_at(sleep, "chain");
	struct picture p = { .out = out,
		             .start_ns = num(sleep, "start_timestamp"),
		             .end_ns = num(sleep, "end_timestamp") };
	double y = TOP, words, height;
	char t[TIME_BYTES];

	if (!lanes || !chain)
		return -ENODATA;
	words = TOP + LANE * (lanes->nr + 1);
	height = words + LEGEND * (chain->nr + 1) + BOTTOM;
	head(height, out);
	put_text(comm_of(sleep), out);
	fprintf(out, " slept %s", text_duration(t, sizeof(t), num(sleep, "sleep_ns")));
	if (*string_at(sleep, "call")) {
		fprintf(out, " in ");
		put_text(string_at(sleep, "call"), out);
	}
	fprintf(out, "</text>\n");
	lane_name(&p, y, sleep, "");
	bar(&p, y, p.start_ns, p.end_ns, SLEEP_COLOUR, "sleeps");
	for (const struct report_node *at = lanes->first; at; at = at->next) {
		y += LANE;
		doing_lane(&p, y, at);
	}
	for (const struct report_node *at = chain->first; at; at = at->next, words += LEGEND) {
		fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"12\">",
		        10 + 16.0 * (double)num(at, "depth"), words);
		put_text(text_of(at), out);
		fprintf(out, "</text>\n");
	}
	axis(&p, height - BOTTOM + 6);
	fprintf(out, "</svg>\n");
	return ferror(out) ? -EIO : 0;
}

int explain_svg(const struct report_node *root, FILE *out)
{
	const struct report_node *wait = report_at(root, "waits.0"),
				 *chain = wait ? report_at(wait, "chain") : NULL;
	struct picture p = { .out = out, .start_ns = UINT64_MAX };
	char t[TIME_BYTES];
	double height;

	if (report_at(root, "sleeps.0"))
		return draw_sleep(report_at(root, "sleeps.0"), out);
	if (!chain || !chain->first)
		return -ENODATA;
	for (const struct report_node *at = chain->first; at; at = at->next) {
		uint64_t start = num(at, "start_timestamp"), end = num(at, "end_timestamp");

		p.start_ns = start < p.start_ns ? start : p.start_ns;
		p.end_ns = end > p.end_ns ? end : p.end_ns;
	}
	height = TOP + LANE * (chain->nr + 1) + LEGEND * nr_legends(wait) + BOTTOM;
	head(height, out);
	put_text(comm_of(chain->first), out);
	text_duration(t, sizeof(t), num(wait, "wait_ns"));
	fprintf(out, " waited %s", t);
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
