#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/compare/compare_priv.h"
#include "report/html.h"

#define MAX_SENTENCES 20
#define MAX_CHANGED   1000 /* rows; the document has more */
#define MAX_UNPROVED  200
#define VALUE_BYTES   64

static void put_files(const struct compare_list *list, const char *title, FILE *out)
{
	fprintf(out, "<dt>%s</dt>", title);
	for (uint32_t i = 0; i < list->nr; i++) {
		const struct compare_facts *f = &list->at[i].facts;

		fputs("<dd>", out);
		html_text(out, f->file);
		fputs(": ", out);
		html_time(out, f->span_ns);
		if (f->nr_cpus)
			fprintf(out, ", %" PRIu32 " CPUs", f->nr_cpus);
		if (f->release) {
			fputs(", kernel ", out);
			html_text(out, f->release);
		}
		fputs("</dd>\n", out);
	}
}

/* First of all, as it makes all else void. */
static void put_differences(const struct report_compare *c, FILE *out)
{
	fputs("<h3>What else differs</h3>\n", out);
	if (!c->nr_differences) {
		fputs("<p>As far as the recordings say, nothing: CPUs, kernel, scheduler, recorded tasks and length are the same, "
		      "and no losses were reported.</p>\n",
		      out);
		return;
	}
	fputs("<p>What changed may come from these differences.</p>\n"
	      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"What else differs\">"
	      "<table id=\"compare-differences\"><thead><tr><th scope=\"col\">what</th><th scope=\"col\">before</th>"
	      "<th scope=\"col\">after</th><th scope=\"col\">what that means</th></tr></thead><tbody>\n",
	      out);
	for (uint32_t i = 0; i < c->nr_differences; i++) {
		const struct compare_difference *d = &c->differences[i];

		fprintf(out, "<tr><th scope=\"row\">%s</th><td>", d->what);
		html_text(out, d->texts[COMPARE_BEFORE]);
		fputs("</td><td>", out);
		html_text(out, d->texts[COMPARE_AFTER]);
		fprintf(out, "</td><td>%s</td></tr>\n", d->meaning);
	}
	fputs("</tbody></table></div>\n", out);
}

static void put_sentence(const struct diff_change *change, FILE *out)
{
	char text[COMPARE_SENTENCE];

	fprintf(out, "<li class=\"%s\">", change->is_change ? change->verdict : "unproved");
	html_text(out, compare_say_change(change, text, sizeof(text)));
	fputs("</li>\n", out);
}

static void put_sentences(const struct report_compare *c, FILE *out)
{
	char text[COMPARE_SENTENCE];
	size_t nr = 0;

	fputs("<p class=\"summary\">", out);
	html_text(out, compare_say_summary(c, text, sizeof(text)));
	fputs("</p>\n<ul class=\"verdicts\">\n", out);
	for (size_t i = 0; i < c->result.overall.nr; i++)
		if (c->result.overall.at[i].is_change)
			put_sentence(&c->result.overall.at[i], out);
	for (; nr < c->result.names.nr_changes && nr < MAX_SENTENCES; nr++)
		put_sentence(&c->result.names.at[nr], out);
	for (size_t i = 0; i < c->result.overall.nr; i++)
		if (!c->result.overall.at[i].is_change)
			put_sentence(&c->result.overall.at[i], out);
	fputs("</ul>\n", out);
	if (nr < c->result.names.nr_changes)
		fprintf(out, "<p>%zu more are in the table of tasks.</p>\n",
		        c->result.names.nr_changes - nr);
}

/* A number as `diff --json` prints it, and as people read it; nothing where it is unknown. */
static void put_cell(FILE *out, const char *key, bool is_known, double value, int decimals,
                     const char *shown)
{
	fprintf(out, "<td class=\"n\" data-key=\"%s\"", key);
	if (is_known)
		fprintf(out, " data-value=\"%.*f\">%s</td>", decimals, value, shown);
	else
		fputs(">\xe2\x80\x93</td>", out);
}

static void put_mean(FILE *out, const char *key, const char *key_of_interval,
                     enum diff_metric metric, const struct diff_mean *m)
{
	char text[VALUE_BYTES], around[VALUE_BYTES + 4];

	compare_say_short(metric, m->mean, text, sizeof(text));
	put_cell(out, key, m->nr, m->mean, m->mean < 100 ? 2 : 1, text);
	compare_say_short(metric, m->interval < 0 ? 0 : m->interval, text, sizeof(text));
	snprintf(around, sizeof(around), "\xc2\xb1 %s", text);
	put_cell(out, key_of_interval, m->interval >= 0, m->interval, m->interval < 100 ? 2 : 1,
	         around);
}

static void put_ratio(FILE *out, const char *key, bool is_known, double value)
{
	char text[VALUE_BYTES];

	snprintf(text, sizeof(text), "%.*f", value < 99.5 ? 2 : 0, value);
	put_cell(out, key, is_known, value, 4, text);
}

static void put_row(const struct diff_change *change, FILE *out)
{
	const struct diff_metric_def *m = diff_metric_of(change->metric);
	const struct diff_ratio *r = &change->ratio;
	char text[VALUE_BYTES];

	fputs("<tr", out);
	html_attr(out, "data-comm", change->name);
	html_attr(out, "data-metric", m->name);
	fputs("><th scope=\"row\">", out);
	html_text(out, change->name);
	fprintf(out, "</th><td class=\"what\">%s</td>", m->words);
	put_mean(out, "a", "a_interval", change->metric, &change->a);
	put_mean(out, "b", "b_interval", change->metric, &change->b);
	put_ratio(out, "ratio", r->is_known, r->value);
	put_ratio(out, "ratio_low", r->is_known, r->low);
	put_ratio(out, "ratio_high", r->is_known, r->high);
	snprintf(text, sizeof(text), "%.3f", change->p);
	put_cell(out, "p_corrected", change->p >= 0, change->p, 4,
	         change->p < 0.001 ? "&lt; 0.001" : text);
	fprintf(out, "<td data-key=\"verdict\" data-verdict=\"%s\">%s</td></tr>\n", change->verdict,
	        compare_say_verdict(change));
}

static void begin_table(const char *id, const char *caption, FILE *out)
{
	fprintf(out,
	        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">"
	        "<table id=\"%s\" data-analysis=\"diff\"><caption>%s</caption>",
	        caption, id, caption);
	fputs("<thead><tr><th scope=\"col\">tasks</th><th scope=\"col\">number</th>"
	      "<th class=\"n\" scope=\"col\" data-key=\"a\" title=\"mean of all parts, or of all recordings\">before</th>"
	      "<th class=\"n\" scope=\"col\" data-key=\"a_interval\" title=\"95 % confidence interval of the mean\">&#177;</th>"
	      "<th class=\"n\" scope=\"col\" data-key=\"b\" title=\"mean of all parts, or of all recordings\">after</th>"
	      "<th class=\"n\" scope=\"col\" data-key=\"b_interval\" title=\"95 % confidence interval of the mean\">&#177;</th>"
	      "<th class=\"n\" scope=\"col\" data-key=\"ratio\" title=\"after divided by before\">times</th>"
	      "<th class=\"n\" scope=\"col\" data-key=\"ratio_low\" title=\"95 % confidence interval of the ratio\">from</th>"
	      "<th class=\"n\" scope=\"col\" data-key=\"ratio_high\" title=\"95 % confidence interval of the ratio\">to</th>"
	      "<th class=\"n\" scope=\"col\" data-key=\"p_corrected\" title=\"probability that it is chance, corrected for all tests "
	      "(Holm); at most 0.005 proves a change\">chance</th>"
	      "<th scope=\"col\" data-key=\"verdict\">verdict</th></tr></thead><tbody>\n",
	      out);
}

static void end_table(FILE *out)
{
	fputs("</tbody></table></div>\n", out);
}

static void say_left_out(size_t nr, FILE *out)
{
	if (nr)
		fprintf(out, "<p>%zu more rows are left out here.</p>\n", nr);
}

static void put_changed(const struct diff_changes *all, FILE *out)
{
	size_t nr = all->nr_changes < MAX_CHANGED ? all->nr_changes : MAX_CHANGED;

	if (!nr)
		return;
	begin_table("compare-tasks", "Tasks that changed", out);
	for (size_t i = 0; i < nr; i++)
		put_row(&all->at[i], out);
	end_table(out);
	say_left_out(all->nr_changes - nr, out);
}

static void put_unproved(const struct diff_changes *all, FILE *out)
{
	size_t nr = 0;

	if (all->nr_tests == all->nr_changes)
		return;
	fputs("<details><summary>Tasks without a proved change</summary>\n", out);
	begin_table("compare-unproved", "Tasks without a proved change", out);
	for (size_t i = all->nr_changes; i < all->nr && nr < MAX_UNPROVED; i++)
		if (all->at[i].is_tested) {
			put_row(&all->at[i], out);
			nr++;
		}
	end_table(out);
	say_left_out(all->nr_tests - all->nr_changes - nr, out);
	fputs("</details>\n", out);
}

static void put_only(const struct report_compare *c, enum compare_side side, const char *words,
                     FILE *out)
{
	if (!c->result.nr_only[side])
		return;
	fprintf(out, "<p>%s: ", words);
	for (uint32_t i = 0; i < c->result.nr_only[side]; i++) {
		fputs(i ? ", <span>" : "<span>", out);
		html_text(out, c->result.only[side][i]);
		fputs("</span>", out);
	}
	fputs(c->result.nr_only[side] == DIFF_MAX_ONLY ? ", and perhaps others.</p>\n" : ".</p>\n",
	      out);
}

static void put_band(const struct compare_heat *h, uint32_t band, FILE *out)
{
	double before = compare_heat_band_rate(&h->maps[COMPARE_BEFORE], band),
	       after = compare_heat_band_rate(&h->maps[COMPARE_AFTER], band);
	char text[VALUE_BYTES];

	fputs("<tr><th scope=\"row\">", out);
	html_time(out, h->bands[band].first);
	fputs(" to ", out);
	html_time(out, h->bands[band].last + 1);
	fputs("</th>", out);
	snprintf(text, sizeof(text), "%.2f", before);
	put_cell(out, "before_per_sec", before >= 0, before, 4, text);
	snprintf(text, sizeof(text), "%.2f", after);
	put_cell(out, "after_per_sec", after >= 0, after, 4, text);
	snprintf(text, sizeof(text), "%+.2f", after - before);
	put_cell(out, "difference_per_sec", before >= 0 && after >= 0, after - before, 4, text);
	fputs("</tr>\n", out);
}

/* The histogram for those who cannot see it, or want the numbers. */
static void put_bands(const struct report_compare *c, FILE *out)
{
	uint32_t first, nr;

	if (!compare_heat_range(&c->heat, &first, &nr))
		return;
	fputs("<details><summary>The histogram as a table</summary>\n"
	      "<table id=\"compare-bands\"><caption>Waits of woken and new tasks per second</caption><thead><tr>"
	      "<th scope=\"col\">latency</th><th class=\"n\" scope=\"col\" data-key=\"before_per_sec\">before</th>"
	      "<th class=\"n\" scope=\"col\" data-key=\"after_per_sec\">after</th>"
	      "<th class=\"n\" scope=\"col\" data-key=\"difference_per_sec\">difference</th></tr></thead><tbody>\n",
	      out);
	for (uint32_t band = first; band < first + nr; band++)
		put_band(&c->heat, band, out);
	fputs("</tbody></table></details>\n", out);
}

void report_compare_html(const struct report_compare *c, FILE *out)
{
	fputs("<section id=\"compare\" aria-labelledby=\"h-compare\"><h2 id=\"h-compare\">Before and after</h2>\n<dl>",
	      out);
	put_files(&c->sides[COMPARE_BEFORE], "before", out);
	put_files(&c->sides[COMPARE_AFTER], "after", out);
	fputs("</dl>\n", out);
	put_differences(c, out);
	fputs("<h3>What changed</h3>\n", out);
	put_sentences(c, out);
	fprintf(out, "<p class=\"note\">%s</p>\n", compare_say_method(c));
	fputs("<h3>Waits on the same axes</h3>\n", out);
	compare_svg_histogram(c, out);
	put_bands(c, out);
	compare_svg_heat(c, out);
	fputs("<h3>All numbers</h3>\n", out);
	begin_table("compare-overall", "All tasks together", out);
	for (size_t i = 0; i < c->result.overall.nr; i++)
		put_row(&c->result.overall.at[i], out);
	end_table(out);
	put_changed(&c->result.names, out);
	put_unproved(&c->result.names, out);
	put_only(c, COMPARE_BEFORE, "Only before", out);
	put_only(c, COMPARE_AFTER, "Only after", out);
	fputs("</section>\n", out);
}
