#include <math.h>

#include "report/compare/compare_priv.h"

#define MAX_ROWS 2000

static void put_recordings(const struct compare_list *list, const char *key, struct json_writer *w)
{
	jw_begin_array(w, key);
	for (uint32_t i = 0; i < list->nr; i++) {
		const struct compare_facts *f = &list->at[i].facts;

		jw_begin_object(w, NULL);
		jw_string(w, "file", f->file);
		jw_string(w, "scheduler", f->scheduler);
		jw_u64(w, "duration_ns", f->duration_ns);
		jw_u64(w, "span_ns", f->span_ns);
		jw_u64(w, "covered_ns", f->covered_ns);
		jw_u64_if(w, "cpus", f->nr_cpus, f->nr_cpus);
		jw_u64(w, "lost_events", f->lost);
		jw_string(w, "kernel", f->release);
		jw_string(w, "machine", f->machine);
		jw_string(w, "recorder", f->producer);
		jw_string(w, "filter", f->filter);
		jw_string(w, "incomplete", f->incomplete);
		jw_end_object(w);
	}
	jw_end_array(w);
}

static void put_differences(const struct report_compare *c, struct json_writer *w)
{
	jw_begin_array(w, "differences");
	for (uint32_t i = 0; i < c->nr_differences; i++) {
		const struct compare_difference *d = &c->differences[i];

		jw_begin_object(w, NULL);
		jw_string(w, "what", d->what);
		jw_string(w, "before", d->texts[COMPARE_BEFORE]);
		jw_string(w, "after", d->texts[COMPARE_AFTER]);
		jw_string(w, "meaning", d->meaning);
		jw_end_object(w);
	}
	jw_end_array(w);
}

/* As `diff` shows it; what is unknown is null. */
static void put_number(struct json_writer *w, const char *key, bool is_known, double value)
{
	jw_double(w, key, is_known ? value : NAN, value < 100 ? 2 : 1);
}

static void put_change(const struct diff_change *change, bool has_sentence, struct json_writer *w)
{
	const struct diff_ratio *r = &change->ratio;
	char text[COMPARE_SENTENCE];

	jw_begin_object(w, NULL);
	jw_string(w, "comm", change->name);
	jw_string(w, "metric", diff_metric_of(change->metric)->name);
	put_number(w, "a", change->a.nr, change->a.mean);
	put_number(w, "a_interval", change->a.interval >= 0, change->a.interval);
	put_number(w, "b", change->b.nr, change->b.mean);
	put_number(w, "b_interval", change->b.interval >= 0, change->b.interval);
	jw_double(w, "change_percent",
	          change->a.mean > 0 && change->b.nr ? diff_change_percent(change) : NAN, 1);
	jw_double(w, "p_corrected", change->p >= 0 ? change->p : NAN, 4);
	jw_string(w, "verdict", change->verdict);
	jw_double(w, "ratio", r->is_known ? r->value : NAN, 4);
	jw_double(w, "ratio_low", r->is_known ? r->low : NAN, 4);
	jw_double(w, "ratio_high", r->is_known ? r->high : NAN, 4);
	if (has_sentence)
		jw_string(w, "sentence", compare_say_change(change, text, sizeof(text)));
	jw_end_object(w);
}

/* Those that are proved as a sentence, too, or all. */
static void put_changes(const struct diff_changes *all, const char *key, bool has_sentences,
                        struct json_writer *w)
{
	jw_begin_array(w, key);
	for (size_t i = 0; i < all->nr && i < MAX_ROWS; i++)
		put_change(&all->at[i], has_sentences || all->at[i].is_change, w);
	jw_end_array(w);
}

static void put_only(const struct report_compare *c, enum compare_side side, const char *key,
                     struct json_writer *w)
{
	jw_begin_array(w, key);
	for (uint32_t i = 0; i < c->result.nr_only[side]; i++)
		jw_string(w, NULL, c->result.only[side][i]);
	jw_end_array(w);
}

static void put_map(const struct compare_heat *h, enum compare_side side, const char *key,
                    struct json_writer *w)
{
	const struct compare_map *m = &h->maps[side];

	jw_begin_object(w, key);
	jw_begin_array(w, "covered_ns");
	for (uint32_t bucket = 0; bucket < m->nr_buckets; bucket++)
		jw_u64(w, NULL, m->covered_ns[bucket]);
	jw_end_array(w);
	jw_begin_array(w, "cells");
	for (uint32_t bucket = 0; bucket < m->nr_buckets; bucket++)
		for (uint32_t band = 0; band < h->nr_bands; band++) {
			if (!m->counts[bucket][band])
				continue;
			jw_begin_array(w, NULL);
			jw_u64(w, NULL, bucket);
			jw_u64(w, NULL, band);
			jw_u64(w, NULL, m->counts[bucket][band]);
			jw_end_array(w);
		}
	jw_end_array(w);
	jw_end_object(w);
}

static void put_heat(const struct compare_heat *h, struct json_writer *w)
{
	jw_begin_object(w, "heat");
	jw_u64(w, "width_ns", h->width_ns);
	jw_u64(w, "nr", compare_heat_buckets(h));
	jw_begin_array(w, "bands");
	for (uint32_t band = 0; band < h->nr_bands; band++) {
		jw_begin_array(w, NULL);
		jw_u64(w, NULL, h->bands[band].first);
		jw_u64(w, NULL, h->bands[band].last);
		jw_end_array(w);
	}
	jw_end_array(w);
	put_map(h, COMPARE_BEFORE, "before", w);
	put_map(h, COMPARE_AFTER, "after", w);
	jw_end_object(w);
}

void report_compare_document(const struct report_compare *c, struct json_writer *w)
{
	char text[COMPARE_SENTENCE];

	jw_begin_object(w, "compare");
	jw_string(w, "summary", compare_say_summary(c, text, sizeof(text)));
	jw_string(w, "method", c->result.unit != DIFF_UNIT_PART ? "recordings" : "parts");
	jw_string(w, "method_text", compare_say_method(c));
	put_recordings(&c->sides[COMPARE_BEFORE], "before", w);
	put_recordings(&c->sides[COMPARE_AFTER], "after", w);
	put_differences(c, w);
	put_changes(&c->result.overall, "overall", true, w);
	jw_u64(w, "tests", c->result.overall.nr_tests + c->result.names.nr_tests);
	jw_u64(w, "names", c->result.nr_names);
	jw_u64(w, "changes_found", c->result.names.nr_changes);
	jw_u64(w, "rows", c->result.names.nr);
	put_changes(&c->result.names, "changes", false, w);
	put_only(c, COMPARE_BEFORE, "only_before", w);
	put_only(c, COMPARE_AFTER, "only_after", w);
	put_heat(&c->heat, w);
	jw_end_object(w);
}
