#include "../unit.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../profile/profile_fixture.h"
#include "base/cleanup.h"
#include "profile/profile_read.h"
#include "render/profile_export.h"
#include "render/profile_words.h"

static struct profile *story(const char *name)
{
	struct profile *p = NULL;

	assert_true(profile_story(name, &p));
	return p;
}

/* What a function writes. Not inlined: gcc takes what fclose() stored for the address of a local. */
static __attribute__((noinline)) char *written(int (*write)(const struct profile *p, FILE *out),
                                               const struct profile *p)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(write(p, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static int speedscope(const struct profile *p, FILE *out)
{
	return profile_speedscope(p, NULL, out);
}

static int top(const struct profile *p, FILE *out)
{
	return profile_top(p, &(struct profile_top_cfg){ .limit = 3 }, out);
}

static int lines_top(const struct profile *p, FILE *out)
{
	return profile_top(p, &(struct profile_top_cfg){ .limit = 2, .is_by_line = true }, out);
}

static int groups(const struct profile *p, FILE *out)
{
	return profile_groups_table(p, PROFILE_GROUP_PROCESS, &(struct profile_top_cfg){ 0 }, out);
}

static int first_thread(const struct profile *p, FILE *out)
{
	return profile_groups_table(p, PROFILE_GROUP_THREAD,
	                            &(struct profile_top_cfg){ .limit = 1 }, out);
}

static int groups_as_json(const struct profile *p, FILE *out)
{
	struct json_writer w;

	jw_init(&w, out, false);
	jw_begin_object(&w, NULL);
	profile_groups_json(p, PROFILE_GROUP_PROCESS, 1, &w);
	jw_end_object(&w);
	return jw_finish(&w);
}

static int narrow_top(const struct profile *p, FILE *out)
{
	return profile_top(p, &(struct profile_top_cfg){ .limit = 1, .width = 70 }, out);
}

static int narrowest_top(const struct profile *p, FILE *out)
{
	return profile_top(p, &(struct profile_top_cfg){ .limit = 3, .width = 22 }, out);
}

static int diff_top(const struct profile *p, FILE *out)
{
	struct profile *older = story("older");
	struct profile_top_cfg cfg = { .before = older, .limit = 2, .is_colored = true };
	int err = profile_top(p, &cfg, out);

	profile_free(older);
	return err;
}

static int diff_folded(const struct profile *p, FILE *out)
{
	struct profile *older = story("older");
	int err = profile_folded_diff(older, p, out);

	profile_free(older);
	return err;
}

static int results_with(const struct profile *p, const struct profile_results_cfg *cfg, FILE *out)
{
	struct json_writer w;

	jw_init(&w, out, false);
	jw_begin_object(&w, NULL);
	profile_results(p, cfg, &w);
	jw_end_object(&w);
	return jw_finish(&w);
}

static int results(const struct profile *p, FILE *out)
{
	struct profile_results_cfg cfg = { .limit = UINT32_MAX,
		                           .wants_stacks = true,
		                           .collected = 1003 };

	return results_with(p, &cfg, out);
}

static int short_results(const struct profile *p, FILE *out)
{
	return results_with(p, &(struct profile_results_cfg){ .limit = 2 }, out);
}

static json_t *parsed(const char *text)
{
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	if (!root)
		fail_msg("%s", error.text);
	return root;
}

static void folded_totals_are_the_samples(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_free) char *text = written(profile_folded, p);

	(void)state;
	assert_string_equal(text, "db;main;[lib.so] 50\n"
	                          "db;main;fib;fib;fib 150\n"
	                          "db;main;read 100\n"
	                          "web;main 50\n"
	                          "web;main;serve;copy_[i] 50\n"
	                          "web;main;serve;parse 400\n"
	                          "web;main;serve;read;sys_read_[k] 200\n");
}

static void folded_text_of_hostile_names_is_one_line_per_stack(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("hostile");
	SCOPED(scoped_free) char *text = written(profile_folded, p);
	SCOPED(scoped_profile) struct profile *again = NULL;
	struct diag d = { 0 };

	(void)state;
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	assert_ptr_equal(strchr(text, ';'), strrchr(text, ';'));
	assert_null(strchr(text, '\033'));
	assert_int_equal(profile_read_text(text, "input", &d, &again), 0);
	expect_eq(profile_count(again), 7);
}

static void a_difference_folds_to_two_numbers(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_free) char *text = written(diff_folded, p);

	(void)state;
	assert_non_null(strstr(text, "web;main;gone 40 0\n"));
	assert_non_null(strstr(text, "web;main;serve;parse 100 400\n"));
	assert_non_null(strstr(text, "db;main;[lib.so] 0 50\n"));
}

static void written_profiles_are_read_back_the_same(void **state)
{
	static int (*const forms[])(const struct profile *, FILE *) = { profile_folded, results };
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_free) char *folded = written(profile_folded, p);

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		SCOPED(scoped_free) char *text = written(forms[i], p);
		SCOPED(scoped_profile) struct profile *again = NULL;
		SCOPED(scoped_free) char *folded_again = NULL;
		struct diag d = { 0 };

		if (profile_read_text(text, "input", &d, &again) != 0)
			fail_msg("%s", d.what);
		folded_again = written(profile_folded, again);
		assert_string_equal(folded_again, folded);
	}
}

/* The keys of the seed, and nothing missing. */
static void results_have_all_keys(void **state)
{
	static const char *const of_symbols[] = { "symbol",     "module",   "file",
		                                  "line",       "address",  "count",
		                                  "percentage", "pid",      "cpu_id",
		                                  "is_kernel",  "layer_id", "stack_traces" };
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_free) char *text = written(results, p);
	json_t *root = parsed(text), *symbols = json_object_get(root, "symbols"), *symbol, *trace;
	size_t i;

	(void)state;
	expect_eq(json_array_size(symbols), 8);
	json_array_foreach(symbols, i, symbol)
	{
		for (size_t k = 0; k < sizeof(of_symbols) / sizeof(of_symbols[0]); k++)
			if (!json_object_get(symbol, of_symbols[k]))
				fail_msg("%s is missing", of_symbols[k]);
	}
	symbol = json_array_get(symbols, 0);
	assert_string_equal(json_string_value(json_object_get(symbol, "symbol")), "parse");
	assert_string_equal(json_string_value(json_object_get(symbol, "percentage")), "40.00%");
	expect_eq(json_integer_value(json_object_get(symbol, "count")), 400);
	expect_eq(json_integer_value(json_object_get(symbol, "layer_id")), 3);
	expect_eq(json_array_size(json_object_get(symbol, "stack_traces")), 2);
	symbol = json_array_get(symbols, 1);
	assert_true(json_is_true(json_object_get(symbol, "is_kernel")));
	assert_true(json_is_null(json_object_get(symbol, "line")));
	assert_string_equal(json_string_value(json_object_get(symbol, "address")),
	                    "0xffff000000001000");
	trace = json_array_get(json_object_get(symbol, "stack_traces"), 0);
	expect_eq(json_array_size(json_object_get(trace, "kernel_stack")), 1);
	expect_eq(json_array_size(json_object_get(trace, "user_stack")), 3);
	expect_eq(json_integer_value(json_object_get(trace, "count")), 200);
	expect_eq(json_integer_value(json_object_get(root, "total_samples")), 1000);
	expect_eq(json_integer_value(json_object_get(root, "samples_collected")), 1003);
	expect_eq(json_integer_value(json_object_get(root, "lost")), 3);
	json_decref(root);
}

static void equal_stacks_of_threads_are_one(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_free) char *text = written(results, p);
	json_t *root = parsed(text), *symbol = json_array_get(json_object_get(root, "symbols"), 3);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(symbol, "symbol")), "read");
	expect_eq(json_integer_value(json_object_get(symbol, "count")), 100);
	expect_eq(json_integer_value(json_object_get(symbol, "pids")), 1);
	expect_eq(json_array_size(json_object_get(symbol, "stack_traces")), 1);
	json_decref(root);
}

static void a_limit_is_kept_and_said(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_free) char *text = written(short_results, p);
	json_t *root = parsed(text), *symbols = json_object_get(root, "symbols");

	(void)state;
	expect_eq(json_array_size(symbols), 2);
	assert_null(json_object_get(json_array_get(symbols, 0), "stack_traces"));
	expect_eq(json_integer_value(json_object_get(root, "symbols_left_out")), 6);
	json_decref(root);
}

static void the_table_shows_own_and_whole_shares(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_free) char *text = written(top, p);

	(void)state;
	assert_string_equal(text, "cpu-clock, 1,000 samples at 99 Hz in 5.00s, 3 lost\n"
	                          "  SELF%     SELF  TOTAL%    TOTAL FUNCTION MODULE\n"
	                          " 40.00%      400  40.00%      400 parse    web\n"
	                          " 20.00%      200  20.00%      200 sys_read kernel\n"
	                          " 15.00%      150  15.00%      150 fib      db\n"
	                          "8 more functions\n");
}

/* sys_read has no line, parse has. */
static void with_lines_the_table_is_by_line(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_free) char *text = written(lines_top, p);

	(void)state;
	assert_non_null(strstr(text, "  SELF%     SELF  TOTAL%    TOTAL FUNCTION LINE "));
	assert_non_null(strstr(text, " 25.00%      250  25.00%      250 parse    main.c:21 web\n"));
	assert_non_null(strstr(text, " 20.00%      200  20.00%      200 sys_read  "));
	assert_non_null(strstr(text, " more lines\n"));
}

static void groups_have_shares_and_their_heaviest_function(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_profile) struct profile *hostile = story("hostile");
	SCOPED(scoped_free) char *text = written(groups, p);
	SCOPED(scoped_free) char *one = written(first_thread, p);
	SCOPED(scoped_free) char *safe = written(groups, hostile);
	SCOPED(scoped_free) char *json = written(groups_as_json, p);
	json_t *root = parsed(json), *first = json_array_get(json_object_get(root, "groups"), 0);

	(void)state;
	assert_string_equal(text, "cpu-clock, 1,000 samples at 99 Hz in 5.00s, 3 lost\n"
	                          "  SHARE  SAMPLES     PID PROCESS  MOST OF IT IN\n"
	                          " 70.00%      700     100 web      parse 57%\n"
	                          " 30.00%      300     200 db       fib 50%\n");
	assert_non_null(strstr(one, "     TID THREAD"));
	assert_non_null(strstr(one, " more threads\n"));
	assert_null(strchr(safe, '\033'));
	assert_string_equal(json_string_value(json_object_get(root, "grouped_by")), "process");
	assert_string_equal(json_string_value(json_object_get(first, "process")), "web");
	expect_eq(json_integer_value(json_object_get(first, "pid")), 100);
	expect_eq(json_integer_value(json_object_get(first, "value")), 700);
	assert_string_equal(json_string_value(json_object_get(first, "most_in")), "parse");
	expect_eq(json_integer_value(json_object_get(root, "groups_left_out")), 1);
	json_decref(root);
}

static void the_table_of_a_difference_is_red_and_blue(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_free) char *text = written(diff_top, p);

	(void)state;
	assert_non_null(strstr(text, "\033[31m 40.00%  10.00%  +30.00"));
	assert_non_null(strstr(text, "\033[34m 20.00%  50.00%  -30.00"));
}

static void long_names_are_cut_to_the_terminal(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("empty");
	struct profile_task task = { .comm = "a", .process = "a" };
	SCOPED(scoped_free) char *text = NULL;
	char *line;

	(void)state;
	profile_add(p, &task,
	            "m!a_name_of_a_template_that_no_terminal_was_ever_made_for_or_will_be", 1);
	text = written(narrow_top, p);
	line = strstr(text, "100.00%");
	assert_non_null(line);
	assert_non_null(strstr(line, "a_name_of_a_"));
	assert_non_null(strstr(line, ".. m\n"));
	assert_true(strcspn(line, "\n") <= 70);
}

static void names_stay_in_the_narrowest_table(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_free) char *text = written(narrowest_top, p);

	(void)state;
	assert_non_null(strstr(text, "  SELF% FUNCTION\n"
	                             " 40.00% parse\n"
	                             " 20.00% sys_read\n"
	                             " 15.00% fib\n"));
}

static void nothing_is_said_to_be_nothing(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("empty");
	SCOPED(scoped_free) char *table = written(top, p), *folded = written(profile_folded, p);
	SCOPED(scoped_free) char *json = written(results, p), *scope = written(speedscope, p);
	json_t *root = parsed(json), *sheet = parsed(scope);

	(void)state;
	assert_non_null(strstr(table, "No samples."));
	assert_string_equal(folded, "");
	expect_eq(json_array_size(json_object_get(root, "symbols")), 0);
	json_decref(root);
	json_decref(sheet);
}

static void times_are_reported_as_times(void **state)
{
	struct profile_facts facts = { .event = "off-cpu", .unit = "ns", .broken = 2 };
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_free) char *text = NULL;
	char words[PROFILE_WORDS_BYTES];

	(void)state;
	expect_eq(profile_sample_ns(p), 10101010);
	expect_eq(profile_times(UINT64_MAX, 2), UINT64_MAX);
	assert_int_equal(profile_set_facts(p, &facts), 0);
	text = written(top, p);
	assert_non_null(strstr(text, "400ns"));
	assert_string_equal(profile_words(p, words),
	                    "off-cpu, 1,000 samples of 1.00us, 2 without callers");
	expect_eq(profile_sample_ns(p), 0);
	facts = (struct profile_facts){ .event = "cycles", .unit = "events", .period = 100000 };
	assert_int_equal(profile_set_facts(p, &facts), 0);
	assert_string_equal(profile_words(p, words), "cycles, 1,000 samples, one of 100,000");
}

static void stacks_that_are_not_whole_have_their_reasons(void **state)
{
	struct profile_facts facts = { .event = "cpu-clock", .unit = "samples", .broken = 250 };
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_free) char *before = written(results, p), *json = NULL;
	json_t *root = parsed(before), *row;

	(void)state;
	assert_null(json_object_get(root, "broken_because"));
	json_decref(root);
	facts.ends[PROF_END_WHOLE] = 750;
	facts.ends[PROF_END_NO_TABLE] = 200;
	facts.ends[PROF_END_DEPTH] = 50;
	assert_int_equal(profile_set_facts(p, &facts), 0);
	json = written(results, p);
	root = parsed(json);
	expect_eq(json_array_size(json_object_get(root, "broken_because")), 2);
	row = json_array_get(json_object_get(root, "broken_because"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "reason")), "no_table");
	expect_eq(json_integer_value(json_object_get(row, "samples")), 200);
	assert_true(json_number_value(json_object_get(row, "percent")) == 20.0);
	assert_non_null(strstr(json_string_value(json_object_get(row, "what_to_do")), "JIT"));
	row = json_array_get(json_object_get(root, "broken_because"), 1);
	assert_string_equal(json_string_value(json_object_get(row, "reason")), "too_deep");
	assert_true(json_number_value(json_object_get(row, "percent")) == 5.0);
	json_decref(root);
}

static void kinds_of_code_are_distinguished(void **state)
{
	static const struct {
		struct profile_frame frame;
		enum profile_code code;
	} cases[] = {
		{ { .symbol = "f", .module = "a" }, PROFILE_USER },
		{ { .symbol = "f", .module = "kernel", .is_kernel = true }, PROFILE_KERNEL },
		{ { .symbol = "f", .module = "bpf", .is_kernel = true }, PROFILE_BPF },
		{ { .symbol = "f", .module = "perf-12.map" }, PROFILE_JIT },
		{ { .symbol = "0x12", .module = "//anon" }, PROFILE_JIT },
		{ { .symbol = "0x12", .module = "a" }, PROFILE_NAMELESS },
		{ { .symbol = "f", .module = "a", .is_inlined = true }, PROFILE_INLINED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_eq(profile_code_of(&cases[i].frame), cases[i].code);
}

static void a_full_disk_is_reported(void **state)
{
	static int (*const forms[])(const struct profile *, FILE *) = { profile_folded, speedscope,
		                                                        profile_pprof, top };
	SCOPED(scoped_profile) struct profile *p = story("story");

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		FILE *full = fopen("/dev/full", "w");

		assert_non_null(full);
		expect_eq(forms[i](p, full), -EIO);
		fclose(full);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded_totals_are_the_samples),
		cmocka_unit_test(folded_text_of_hostile_names_is_one_line_per_stack),
		cmocka_unit_test(a_difference_folds_to_two_numbers),
		cmocka_unit_test(written_profiles_are_read_back_the_same),
		cmocka_unit_test(results_have_all_keys),
		cmocka_unit_test(equal_stacks_of_threads_are_one),
		cmocka_unit_test(a_limit_is_kept_and_said),
		cmocka_unit_test(the_table_shows_own_and_whole_shares),
		cmocka_unit_test(with_lines_the_table_is_by_line),
		cmocka_unit_test(groups_have_shares_and_their_heaviest_function),
		cmocka_unit_test(the_table_of_a_difference_is_red_and_blue),
		cmocka_unit_test(long_names_are_cut_to_the_terminal),
		cmocka_unit_test(names_stay_in_the_narrowest_table),
		cmocka_unit_test(nothing_is_said_to_be_nothing),
		cmocka_unit_test(times_are_reported_as_times),
		cmocka_unit_test(stacks_that_are_not_whole_have_their_reasons),
		cmocka_unit_test(kinds_of_code_are_distinguished),
		cmocka_unit_test(a_full_disk_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
