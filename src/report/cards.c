#include "report/cards.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/html.h"
#include "report/pictures/excerpt.h"
#include "report/pictures/svg.h"
#include "report/stacks.h"

#define BAR_HEIGHT 26.0
#define CLASS_LEN  16
#define HOLDERS    5U /* rows of a table; smaller ones are one */
#define OPEN_WAITS 8U /* further ones are folded */

/* What the parts of a wait look like: tasks by name, everything else by its kind. */
static char *class_of(const struct report_node *part, char buf[CLASS_LEN])
{
	const char *kind = report_text_at(part, "kind"), *comm = report_text_at(part, "comm");

	if (strcmp(kind, "task") == 0 && comm)
		snprintf(buf, CLASS_LEN, "t%u", svg_color(comm));
	else
		snprintf(buf, CLASS_LEN, "k-%s", kind);
	return buf;
}

static void put_sentences(const struct report_node *explained, FILE *out)
{
	const struct report_node *list = report_at(explained, "sentences");

	fputs("<p>", out);
	for (const struct report_node *n = list ? list->first : NULL; n; n = n->next) {
		html_text(out, n->text);
		fputs(n->next ? " " : "", out);
	}
	fputs("</p>\n", out);
}

/* The shares of the wait, the largest first. */
static void put_bar(const struct report_node *explained, FILE *out)
{
	const struct report_node *parts = report_at(explained, "parts");
	double whole = (double)report_u64_at(explained, "wait_ns"), x = 0;
	char class_name[CLASS_LEN], t[HTML_TIME_BYTES];

	if (!parts || !parts->first || whole <= 0)
		return;
	fputs("<figure class=\"ledger\">", out);
	svg_begin(out, BAR_HEIGHT, "picture", "the parts of the wait, as in the table below");
	for (const struct report_node *n = parts->first; n; n = n->next) {
		double width = SVG_WIDTH * (double)report_u64_at(n, "ns") / whole;

		svg_rect(out, class_of(n, class_name), x, 1, width, BAR_HEIGHT - 2);
		fputs("><title>", out);
		html_text(out, report_text_at(n, "text"));
		fprintf(out, " %s</title></rect>\n",
		        text_duration(t, sizeof(t), report_u64_at(n, "ns")));
		x += width;
	}
	svg_end(out);
	fputs("</figure>\n", out);
}

static void put_holder(const struct report_node *n, FILE *out)
{
	char class_name[CLASS_LEN];

	fputs("<tr", out);
	if (report_at(n, "tid"))
		html_attr_u64(out, "data-tid", report_u64_at(n, "tid"));
	fprintf(out, "><td><span class=\"swatch %s\"></span> ", class_of(n, class_name));
	html_text(out, report_text_at(n, "text"));
	fputs("</td>", out);
	html_cell(out, report_at(n, "ns"));
	html_cell(out, report_at(n, "percent"));
	html_cell(out, report_at(n, "times"));
	fputs("</tr>\n", out);
}

/* All from there on as one row. */
static void put_rest(const struct report_node *first, uint32_t nr, uint64_t whole, FILE *out)
{
	uint64_t ns = 0, times = 0;

	for (const struct report_node *n = first; n; n = n->next) {
		ns += report_u64_at(n, "ns");
		times += report_u64_at(n, "times");
	}
	fprintf(out, "<tr><td>%" PRIu32 " smaller parts</td>", nr);
	html_cell_u64(out, "ns", ns);
	fprintf(out, "<td class=\"n\">%.2f%%</td>", whole ? 100.0 * (double)ns / (double)whole : 0);
	html_cell_u64(out, "times", times);
	fputs("</tr>\n", out);
}

/* Who or what had the CPU; the colours are those of the bar. */
static void put_holders(uint32_t nr, const struct report_node *explained, FILE *out)
{
	const struct report_node *parts = report_at(explained, "parts"), *n;
	uint32_t shown = 0;

	if (!parts || !parts->first)
		return;
	fprintf(out,
	        "<table class=\"holders\"><caption>Where the time of wait %" PRIu32
	        " went</caption><thead><tr><th scope=\"col\">what</th><th scope=\"col\" class=\"n\">time</th>"
	        "<th scope=\"col\" class=\"n\">share</th><th scope=\"col\" class=\"n\">times</th></tr></thead><tbody>\n",
	        nr);
	for (n = parts->first; n && (shown < HOLDERS || !n->next); n = n->next, shown++)
		put_holder(n, out);
	if (n)
		put_rest(n, parts->nr - shown, report_u64_at(explained, "wait_ns"), out);
	fputs("</tbody></table>\n", out);
}

static void put_link(const struct report_node *n, FILE *out)
{
	const char *by = report_text_at(n, "woken_by");
	char t[HTML_TIME_BYTES];

	fputs("<li>", out);
	html_text(out, report_text_at(n, "comm"));
	fprintf(out, " (%" PRIu64 ") waited %s on CPU %" PRIu64, report_u64_at(n, "tid"),
	        text_duration(t, sizeof(t), report_u64_at(n, "wait_ns")), report_u64_at(n, "cpu"));
	if (report_u64_at(n, "run_ns"))
		fprintf(out, ", then ran %s until it woke the one above",
		        text_duration(t, sizeof(t), report_u64_at(n, "run_ns")));
	if (by) {
		fputs("; woken by ", out);
		html_text(out, by);
	}
	fputs("</li>\n", out);
}

/* Who woke it, who woke that one, and what each of them had waited. */
static void put_wakers(const struct report_node *explained, FILE *out)
{
	const struct report_node *chain = report_at(explained, "chain");

	if (!chain || chain->nr < 2)
		return;
	fputs("<details><summary>Chain of wakers</summary>\n<ol class=\"chain\">\n", out);
	for (const struct report_node *n = chain->first; n; n = n->next)
		put_link(n, out);
	fputs("</ol></details>\n", out);
}

static void put_title(const struct content *c, const char *id, const struct report_node *explained,
                      const char *did, const char *length, FILE *out)
{
	uint64_t from = report_u64_at(explained, "start_timestamp"),
		 to = report_u64_at(explained, "end_timestamp");
	char t[HTML_TIME_BYTES];

	fprintf(out, "<article class=\"card\" id=\"%s\"", id);
	html_attr_u64(out, "data-from", content_after(c, from));
	html_attr_u64(out, "data-to", content_after(c, to));
	html_attr_u64(out, "data-tid", report_u64_at(explained, "tid"));
	html_attr_exact(out, "data-comm", report_text_at(explained, "comm"));
	fputs(">\n<div class=\"told\"><h3>", out);
	html_text(out, report_text_at(explained, "comm"));
	fprintf(out, " (%" PRIu64 ") %s <span data-key=\"%s\" data-value=\"%" PRIu64 "\">%s</span>",
	        report_u64_at(explained, "tid"), did, length, report_u64_at(explained, length),
	        text_duration(t, sizeof(t), report_u64_at(explained, length)));
	fprintf(out,
	        " <a class=\"self\" href=\"#%s\">%s</a></h3>\n<p class=\"when\">%s after the start",
	        id, id, text_duration(t, sizeof(t), content_after(c, from)));
	fprintf(out, "</p>\n");
}

static int put_wait(const struct content *c, uint32_t nr, FILE *out)
{
	const struct report_node *explained = content_wait(c, nr);
	char id[24];
	int err;

	snprintf(id, sizeof(id), "wait-%" PRIu32, nr + 1);
	put_title(c, id, explained, "waited", "wait_ns", out);
	put_sentences(explained, out);
	fputs("</div>\n<div class=\"parts\">", out);
	put_bar(explained, out);
	put_holders(nr + 1, explained, out);
	fputs("</div>\n", out);
	err = excerpt_write(c, &c->waits[nr], explained, out);
	put_wakers(explained, out);
	if (!err)
		err = stacks_write(c, &c->waits[nr], out);
	fputs("</article>\n", out);
	return err;
}

static void put_sleep(const struct content *c, uint32_t nr, FILE *out)
{
	const struct report_node *explained = content_sleep(c, nr),
				 *chain = report_at(explained, "chain");
	char id[24];

	snprintf(id, sizeof(id), "sleep-%" PRIu32, nr + 1);
	put_title(c, id, explained, "slept", "sleep_ns", out);
	put_sentences(explained, out);
	fputs("</div>\n", out);
	if (chain && chain->first)
		fputs("<div class=\"whole\"><h4>What it slept for</h4>\n<ul class=\"chain\">\n",
		      out);
	for (const struct report_node *n = chain ? chain->first : NULL; n; n = n->next) {
		uint64_t depth = report_u64_at(n, "depth");

		fprintf(out, "<li class=\"depth-%" PRIu64 "\">", depth < 6 ? depth : 6);
		html_text(out, report_text_at(n, "text"));
		fputs("</li>\n", out);
	}
	fputs(chain && chain->first ? "</ul></div>\n</article>\n" : "</article>\n", out);
}

/* A sentence of the verdict leads to it, which without scripts is no use where it is folded. */
static bool is_led_to(const struct content *c, uint32_t nr)
{
	for (uint32_t i = 0; i < c->nr_findings; i++)
		if (c->finding_wait[i] == nr + 1)
			return true;
	return false;
}

static int put_waits(const struct content *c, bool is_folded, FILE *out)
{
	char t[HTML_TIME_BYTES];
	uint32_t nr = 0;
	int err = 0;

	for (uint32_t i = 0; !err && i < c->nr_waits; i++) {
		if ((i >= OPEN_WAITS && !is_led_to(c, i)) != is_folded)
			continue;
		if (is_folded && !nr++)
			fprintf(out,
			        "<details class=\"more\"><summary>More waits, of at most %s</summary>\n",
			        text_duration(t, sizeof(t),
			                      report_u64_at(content_wait(c, i), "wait_ns")));
		err = put_wait(c, i, out);
	}
	fputs(nr ? "</details>\n" : "", out);
	return err;
}

int cards_write(const struct content *c, FILE *out)
{
	int err;

	if (!c->nr_waits && !c->nr_sleeps)
		return 0;
	fputs("<section id=\"waits\" aria-labelledby=\"h-waits\"><h2 id=\"h-waits\">Worst waits</h2>\n"
	      "<p class=\"note\">The longest waits for a CPU, at most two of a thread, and those that the verdict is about.</p>\n",
	      out);
	err = put_waits(c, false, out);
	if (!err)
		err = put_waits(c, true, out);
	for (uint32_t i = 0; i < c->nr_sleeps; i++)
		put_sleep(c, i, out);
	fputs("</section>\n", out);
	return err;
}
