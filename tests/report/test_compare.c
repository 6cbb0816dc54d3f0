/* Comparisons of the random recordings of tests/analyze/noisy_world. */
#include "../analyze/noisy_world.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff.h"
#include "render/report_json.h"
#include "report/compare/compare_priv.h"
#include "report/data.h"

#define PAIRS 10
#define SETS  4

static void add(struct report_compare *c, enum compare_side side, struct noisy_world w)
{
	struct diag d = { 0 };
	struct pass_fixture *p;
	void *made;

	assert_int_equal(pass_setup(&made), 0);
	p = made;
	noisy_world_make(p, w);
	assert_int_equal(report_compare_add(c, side, &p->source, &p->args, &d), 0);
	pass_teardown(&made);
}

static struct report_compare *new_compare(void)
{
	struct report_compare *c = NULL;
	struct diag d = { 0 };

	assert_int_equal(report_compare_new(&d, &c), 0);
	return c;
}

static void judge(struct report_compare *c)
{
	struct diag d = { 0 };

	assert_int_equal(report_compare_judge(c, &d), 0);
}

/* nr recordings of each side; those after wait so many times as long. */
static struct report_compare *compare(uint64_t seed, uint32_t nr, double of_first, double of_all)
{
	struct report_compare *c = new_compare();

	for (uint32_t i = 0; i < nr; i++) {
		add(c, COMPARE_BEFORE, (struct noisy_world){ seed + i, 1, 1, 0 });
		add(c, COMPARE_AFTER,
		    (struct noisy_world){ seed + 1000000 + i, of_first, of_all, 0 });
	}
	judge(c);
	return c;
}

static void put_document(const struct report_compare *c, FILE *out)
{
	struct json_writer w;

	jw_init(&w, out, false);
	jw_begin_object(&w, NULL);
	report_compare_document(c, &w);
	jw_end_object(&w);
	assert_int_equal(jw_finish(&w), 0);
}

static char *text_of(const struct report_compare *c,
                     void (*put)(const struct report_compare *, FILE *))
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	put(c, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static json_t *document(const struct report_compare *c)
{
	char *text = text_of(c, put_document);
	json_t *all = json_loads(text, 0, NULL), *member;

	assert_non_null(all);
	member = json_incref(json_object_get(all, "compare"));
	json_decref(all);
	free(text);
	assert_non_null(member);
	return member;
}

static void equal_recordings_are_not_called_different(void **state)
{
	size_t nr_false = 0;

	(void)state;
	for (uint64_t i = 0; i < PAIRS; i++) {
		struct report_compare *c = compare(100 + i, 1, 1, 1);

		assert_false(c->result.unit != DIFF_UNIT_PART);
		nr_false += c->result.overall.nr_changes + c->result.names.nr_changes;
		report_compare_free(c);
	}
	expect_eq(nr_false, 0);
}

static void equal_sets_are_not_called_different(void **state)
{
	size_t nr_false = 0, nr_tests = 0;

	(void)state;
	for (uint64_t i = 0; i < SETS; i++) {
		struct report_compare *c = compare(5000 + 100 * i, 3, 1, 1);

		assert_true(c->result.unit != DIFF_UNIT_PART);
		nr_false += c->result.overall.nr_changes + c->result.names.nr_changes;
		nr_tests += c->result.overall.nr_tests + c->result.names.nr_tests;
		report_compare_free(c);
	}
	expect_eq(nr_false, 0);
	assert_true(nr_tests > 250 * SETS);
}

static void nothing_is_called_the_same(void **state)
{
	struct report_compare *c = compare(42, 1, 1, 1);
	char *page = text_of(c, report_compare_html);

	(void)state;
	assert_non_null(strstr(page, "All tasks together: no change proved"));
	assert_non_null(strstr(page, "No change proved in any of 42 task names"));
	assert_non_null(
		strstr(page, "mean wakeup latency of all tasks together: no change proved, "));
	for (const char *at = page; (at = strstr(at, "no change")); at++)
		assert_memory_equal(at, "no change proved", strlen("no change proved"));
	free(page);
	report_compare_free(c);
}

/* "mean wakeup latency of task-0: worse, 10.1us to 30.2us, 3.0 times (2.5 to 3.6)." */
static void expect_longer_first(const struct report_compare *c)
{
	const struct diff_change *first = &c->result.names.at[0];
	char said[COMPARE_SENTENCE];

	assert_true(c->result.names.nr_changes >= 1);
	for (size_t i = 0; i < c->result.names.nr_changes; i++)
		assert_string_equal(c->result.names.at[i].name, "task-0");
	assert_string_equal(first->verdict, "worse");
	assert_true(first->ratio.low > 1 && first->ratio.low < 3.6 && first->ratio.high > 2.4);
	compare_say_change(first, said, sizeof(said));
	assert_non_null(strstr(said, "wakeup latency of task-0: worse, "));
	assert_non_null(strstr(said, " times ("));
}

static void a_wait_three_times_as_long_is_found(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 5; i++) {
		struct report_compare *c = new_compare();

		add(c, COMPARE_BEFORE, (struct noisy_world){ 3000 + i, 1, 1, 0 });
		add(c, COMPARE_AFTER, (struct noisy_world){ 4000 + i, 3, 1, 0 });
		judge(c);
		expect_longer_first(c);
		report_compare_free(c);
	}
}

static void a_wait_three_times_as_long_is_found_in_sets(void **state)
{
	struct report_compare *c = compare(300, 6, 3, 1);

	(void)state;
	assert_true(c->result.unit != DIFF_UNIT_PART);
	expect_longer_first(c);
	report_compare_free(c);
}

static void all_that_wait_longer_are_found_in_sets(void **state)
{
	struct report_compare *c = compare(900, 3, 1, 3);

	(void)state;
	expect_eq(c->result.overall.at[DIFF_WAKE_MEAN].metric, DIFF_WAKE_MEAN);
	assert_true(c->result.overall.at[DIFF_WAKE_MEAN].is_change);
	assert_true(c->result.overall.at[DIFF_WAKE_P50].is_change);
	assert_true(c->result.overall.at[DIFF_WAKE_P50].ratio.low < 3 &&
	            c->result.overall.at[DIFF_WAKE_P50].ratio.high > 3);
	report_compare_free(c);
}

static const char *const same_keys[] = { "metric",      "a",          "a_interval",
	                                 "b",           "b_interval", "comm",
	                                 "p_corrected", "verdict",    "change_percent" };

static void expect_same_rows(const json_t *ours, const json_t *of_diff)
{
	expect_eq(json_array_size(ours), json_array_size(of_diff));
	assert_true(json_array_size(ours) > 0);
	for (size_t i = 0; i < json_array_size(ours); i++)
		for (size_t k = 0; k < sizeof(same_keys) / sizeof(same_keys[0]); k++)
			assert_true(json_equal(
				json_object_get(json_array_get(ours, i), same_keys[k]),
				json_object_get(json_array_get(of_diff, i), same_keys[k])));
}

static json_t *diff_document(struct pass_fixture *a, struct pass_fixture *b)
{
	struct diff_cfg cfg = { .a = &a->source,
		                .b = &b->source,
		                .args_a = &a->args,
		                .args_b = &b->args,
		                .limit = 10000,
		                .has_noise = true };
	struct report *r = NULL;
	struct json_writer w;
	struct diag d = { 0 };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	json_t *all;

	assert_int_equal(diff_run(&cfg, &d, &r), 0);
	jw_init(&w, out, false);
	report_json(&w, NULL, report_root(r));
	assert_int_equal(jw_finish(&w), 0);
	fclose(out);
	all = json_loads(text, 0, NULL);
	assert_non_null(all);
	free(text);
	report_free(r);
	return all;
}

/* Two recordings, and what both sides of the same pair say of them. */
struct pair_of {
	struct pass_fixture *at[COMPARE_SIDES];
	struct report_compare *c;
};

static void make_pair(struct pair_of *p, struct noisy_world a, struct noisy_world b)
{
	struct noisy_world worlds[] = { a, b };
	struct diag d = { 0 };
	void *made;

	p->c = new_compare();
	for (unsigned int side = 0; side < COMPARE_SIDES; side++) {
		assert_int_equal(pass_setup(&made), 0);
		p->at[side] = made;
		noisy_world_make(p->at[side], worlds[side]);
		assert_int_equal(report_compare_add(p->c, side, &p->at[side]->source,
		                                    &p->at[side]->args, &d),
		                 0);
	}
	judge(p->c);
}

static void free_pair(struct pair_of *p)
{
	void *made;

	for (unsigned int side = 0; side < COMPARE_SIDES; side++) {
		made = p->at[side];
		pass_teardown(&made);
	}
	report_compare_free(p->c);
}

static void numbers_are_those_of_diff(void **state)
{
	struct pair_of p;
	json_t *ours, *of_diff;

	(void)state;
	make_pair(&p, (struct noisy_world){ 7, 1, 1, 0 }, (struct noisy_world){ 8, 3, 1, 0 });
	ours = document(p.c);
	of_diff = diff_document(p.at[0], p.at[1]);
	expect_same_rows(json_object_get(ours, "overall"), json_object_get(of_diff, "overall"));
	expect_same_rows(json_object_get(ours, "changes"), json_object_get(of_diff, "changes"));
	assert_true(json_equal(json_object_get(ours, "tests"), json_object_get(of_diff, "tests")));
	assert_true(json_equal(json_object_get(ours, "changes_found"),
	                       json_object_get(of_diff, "changes_found")));
	json_decref(ours);
	json_decref(of_diff);
	free_pair(&p);
}

/* What the report of one recording shows in the buckets and slots of a cell. */
static uint64_t shown_in(const struct report_heat *single, const struct compare_heat *h,
                         uint32_t bucket, uint32_t band)
{
	uint64_t per = h->width_ns / single->width_ns, sum = 0;

	assert_int_equal(h->width_ns % single->width_ns, 0);
	for (uint64_t b = bucket * per; b < (bucket + 1) * per && b < single->nr_buckets; b++)
		for (uint32_t slot = 0; slot < single->nr_slots; slot++)
			if (single->slots[slot].first >= h->bands[band].first &&
			    single->slots[slot].last <= h->bands[band].last)
				sum += single->counts[b * single->nr_slots + slot];
	return sum;
}

static void differences_are_those_of_two_reports(void **state)
{
	struct report_data *data[COMPARE_SIDES];
	const struct report_heat *single[COMPARE_SIDES];
	uint64_t nr_cells = 0, nr_waits = 0;
	struct pair_of p;

	(void)state;
	make_pair(&p, (struct noisy_world){ 7, 1, 1, 0 },
	          (struct noisy_world){ 8, 1, 2, NOISY_WORLD_NS });
	for (unsigned int side = 0; side < COMPARE_SIDES; side++) {
		struct report_data_cfg cfg = { .s = &p.at[side]->source,
			                       .args = &p.at[side]->args };
		struct diag d = { 0 };

		assert_int_equal(report_data_begin(&cfg, &d, &data[side]), 0);
		assert_int_equal(report_data_make(data[side], &cfg, &d), 0);
		single[side] = report_data_heat(data[side]);
		assert_non_null(single[side]);
	}
	for (uint32_t bucket = 0; bucket < compare_heat_buckets(&p.c->heat); bucket++)
		for (uint32_t band = 0; band < p.c->heat.nr_bands; band++) {
			uint64_t before = shown_in(single[0], &p.c->heat, bucket, band),
				 after = shown_in(single[1], &p.c->heat, bucket, band);
			double seconds = 0.02, want, got;

			/* The recordings begin at 1 ns: the last bucket of 20 ms is 1 ns short. */
			if (bucket == compare_heat_buckets(&p.c->heat) - 1)
				seconds -= 1e-9;
			want = (double)after / seconds - (double)before / seconds;
			got = compare_heat_rate(&p.c->heat.maps[COMPARE_AFTER], bucket, band) -
			      compare_heat_rate(&p.c->heat.maps[COMPARE_BEFORE], bucket, band);
			assert_true(fabs(want - got) < 1e-6 * (1 + fabs(want)));
			expect_eq(p.c->heat.maps[COMPARE_BEFORE].counts[bucket][band], before);
			nr_cells += before != after;
			nr_waits += before + after;
		}
	expect_eq(p.c->heat.width_ns, 20000000);
	assert_true(nr_cells > 100 && nr_waits > 5000);
	for (unsigned int side = 0; side < COMPARE_SIDES; side++)
		report_data_free(data[side]);
	free_pair(&p);
}

/* The same world for twice as long: rates stay, and what one side did not record is no difference. */
static void rates_compare_recordings_of_unequal_length(void **state)
{
	struct report_compare *c = new_compare();
	double before = 0, after = 0;
	char *page;

	(void)state;
	add(c, COMPARE_BEFORE, (struct noisy_world){ 21, 1, 1, NOISY_WORLD_NS });
	add(c, COMPARE_AFTER, (struct noisy_world){ 22, 1, 1, 2 * NOISY_WORLD_NS });
	judge(c);
	for (uint32_t band = 0; band < c->heat.nr_bands; band++) {
		before += compare_heat_band_rate(&c->heat.maps[COMPARE_BEFORE], band);
		after += compare_heat_band_rate(&c->heat.maps[COMPARE_AFTER], band);
	}
	assert_true(before > 1000 && fabs(before - after) < 0.05 * before);
	assert_true(c->heat.maps[COMPARE_BEFORE].nr_buckets <
	            c->heat.maps[COMPARE_AFTER].nr_buckets);
	assert_true(compare_heat_rate(&c->heat.maps[COMPARE_BEFORE],
	                              compare_heat_buckets(&c->heat) - 1, 0) < 0);
	assert_string_equal(c->differences[c->nr_differences - 1].what, "length");
	page = text_of(c, report_compare_html);
	assert_non_null(strstr(page, "<title>not recorded</title>"));
	free(page);
	report_compare_free(c);
}

/* The heat map is made coarser for a longer one: no wait is lost. */
static void a_longer_recording_makes_buckets_wider(void **state)
{
	struct report_compare *c = new_compare();
	uint64_t nr_first = 0, nr_both = 0, width_ns;

	(void)state;
	add(c, COMPARE_BEFORE, (struct noisy_world){ 31, 1, 1, NOISY_WORLD_NS / 8 });
	width_ns = c->heat.width_ns;
	for (uint32_t band = 0; band < c->heat.nr_bands; band++)
		nr_first += compare_heat_band_count(&c->heat.maps[COMPARE_BEFORE], band);
	add(c, COMPARE_AFTER, (struct noisy_world){ 32, 1, 1, NOISY_WORLD_NS });
	for (uint32_t band = 0; band < c->heat.nr_bands; band++)
		nr_both += compare_heat_band_count(&c->heat.maps[COMPARE_BEFORE], band);
	assert_true(c->heat.width_ns > width_ns && c->heat.width_ns % width_ns == 0);
	assert_true(nr_first > 0);
	expect_eq(nr_both, nr_first);
	report_compare_free(c);
}

static const struct compare_difference *find_difference(const struct report_compare *c,
                                                        const char *what)
{
	for (uint32_t i = 0; i < c->nr_differences; i++)
		if (!strcmp(c->differences[i].what, what))
			return &c->differences[i];
	fail_msg("'%s' is not stated", what);
	return NULL;
}

static void what_differs_in_the_machines_is_stated(void **state)
{
	struct report_compare *c = new_compare();
	struct diag d = { 0 };
	void *made[2];
	char *page;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct pass_fixture *p;

		assert_int_equal(pass_setup(&made[i]), 0);
		p = made[i];
		noisy_world_make(p, (struct noisy_world){ 50 + (uint64_t)i, 1, 1, 0 });
		p->facts.nr_cpus = i ? 8 : 4;
		p->facts.release = i ? "6.12.1" : "6.1.0</script>";
		p->facts.filter = i ? "pid 7" : NULL;
		p->facts.lost = i ? 12 : 0;
		assert_int_equal(report_compare_add(c, i, &p->source, &p->args, &d), 0);
	}
	judge(c);
	assert_string_equal(find_difference(c, "CPUs")->texts[COMPARE_BEFORE], "4");
	assert_string_equal(find_difference(c, "CPUs")->texts[COMPARE_AFTER], "8");
	assert_string_equal(find_difference(c, "kernel")->texts[COMPARE_AFTER], "6.12.1");
	assert_string_equal(find_difference(c, "recorded tasks")->texts[COMPARE_AFTER], "pid 7");
	assert_string_equal(find_difference(c, "events")->texts[COMPARE_AFTER], "12 lost");
	page = text_of(c, report_compare_html);
	assert_null(strstr(page, "</script>"));
	assert_true(strstr(page, "compare-differences") < strstr(page, "<h3>What changed</h3>"));
	free(page);
	pass_teardown(&made[0]);
	pass_teardown(&made[1]);
	report_compare_free(c);
}

static void hostile_names_are_text(void **state)
{
	struct report_compare *c = new_compare();
	struct diag d = { 0 };
	char *page;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct pass_fixture *p;
		void *made;

		assert_int_equal(pass_setup(&made), 0);
		p = made;
		forked(&p->f, 1, 1, 10, i ? "<b>\"'&only" : "\xff\xfe<script>");
		forked(&p->f, 1, 1, 11, "<i>both");
		for (uint64_t k = 1; k < 400; k++) {
			uint32_t tid = 10 + k % 2;

			waking(&p->f, k * 1000000, 0, tid, 0);
			sw(&p->f, k * 1000000 + 5000 * (1 + 9 * (uint64_t)i) + k % 7, 0, 0, tid,
			   EV_STATE_RUNNABLE);
			sw(&p->f, k * 1000000 + 500000, 0, tid, 0, EV_STATE_S);
		}
		finish(p, 400000000);
		assert_int_equal(report_compare_add(c, i, &p->source, &p->args, &d), 0);
		pass_teardown(&made);
	}
	judge(c);
	assert_true(c->result.names.nr_changes > 0);
	page = text_of(c, report_compare_html);
	assert_null(strstr(page, "<script"));
	assert_null(strstr(page, "<i>"));
	assert_null(strstr(page, "<b>"));
	assert_non_null(strstr(page, "&lt;i&gt;both"));
	assert_non_null(
		strstr(page, "Only before: <span>\xef\xbf\xbd\xef\xbf\xbd&lt;script&gt;</span>"));
	assert_non_null(strstr(page, "Only after: <span>&lt;b&gt;&quot;&#39;&amp;only</span>"));
	assert_null(strstr(page, "style="));
	free(page);
	report_compare_free(c);
}

static void what_cannot_be_compared_is_refused(void **state)
{
	struct report_compare *c = new_compare();
	struct diag d = { 0 };

	(void)state;
	add(c, COMPARE_BEFORE, (struct noisy_world){ 1, 1, 1, 1e7 });
	assert_int_equal(report_compare_judge(c, &d), -EINVAL);
	assert_string_equal(d.what, "nothing to compare with");
	c->sides[COMPARE_AFTER].nr = COMPARE_MAX_RECORDINGS;
	d = (struct diag){ 0 };
	assert_int_equal(report_compare_add(c, COMPARE_AFTER, NULL, NULL, &d), -E2BIG);
	c->sides[COMPARE_AFTER].nr = 0;
	report_compare_free(c);
	report_compare_free(NULL);
}

/* One before and two after: parts of all, and it says so. */
static void too_few_for_sets_are_compared_by_parts(void **state)
{
	struct report_compare *c = new_compare();

	(void)state;
	add(c, COMPARE_BEFORE, (struct noisy_world){ 61, 1, 1, 0 });
	add(c, COMPARE_AFTER, (struct noisy_world){ 62, 1, 1, 0 });
	add(c, COMPARE_AFTER, (struct noisy_world){ 63, 1, 1, 0 });
	judge(c);
	assert_false(c->result.unit != DIFF_UNIT_PART);
	expect_eq(c->result.overall.at[DIFF_RUNTIME].a.nr, DIFF_WINDOWS);
	expect_eq(c->result.overall.at[DIFF_RUNTIME].b.nr, 2 * DIFF_WINDOWS);
	expect_eq(c->result.overall.nr_changes + c->result.names.nr_changes, 0);
	assert_non_null(strstr(compare_say_method(c), "fewer than three recordings"));
	report_compare_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_recordings_are_not_called_different),
		cmocka_unit_test(equal_sets_are_not_called_different),
		cmocka_unit_test(nothing_is_called_the_same),
		cmocka_unit_test(a_wait_three_times_as_long_is_found),
		cmocka_unit_test(a_wait_three_times_as_long_is_found_in_sets),
		cmocka_unit_test(all_that_wait_longer_are_found_in_sets),
		cmocka_unit_test(numbers_are_those_of_diff),
		cmocka_unit_test(differences_are_those_of_two_reports),
		cmocka_unit_test(rates_compare_recordings_of_unequal_length),
		cmocka_unit_test(a_longer_recording_makes_buckets_wider),
		cmocka_unit_test(what_differs_in_the_machines_is_stated),
		cmocka_unit_test(hostile_names_are_text),
		cmocka_unit_test(what_cannot_be_compared_is_refused),
		cmocka_unit_test(too_few_for_sets_are_compared_by_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
