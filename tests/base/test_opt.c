#include "../unit.h"

#include <errno.h>

#include "opt_fixture.h"

/* Parses the words behind the command's name; the caller releases with drop(). */
struct parsed {
	int err;
	struct fixture_args args;
	struct opt_result result;
	struct diag d;
};

static void parse_words(struct parsed *p, const struct opt_command *cmd, const char *const *words)
{
	char *argv[16] = { (char *)"stat" };
	int argc = 1;

	*p = (struct parsed){ .args = fixture_defaults };
	for (; *words; words++)
		argv[argc++] = (char *)*words;
	p->err = opt_parse(cmd, argc, argv, &p->args, &p->result, &p->d);
}

#define PARSE(p, cmd, ...) parse_words((p), (cmd), (const char *const[]){ __VA_ARGS__, NULL })

static void drop(struct parsed *p)
{
	opt_list_done(&p->args.comms);
	opt_list_done(&p->args.files);
	opt_result_done(&p->result);
}

static void no_words_change_nothing(void **state)
{
	struct parsed p;

	(void)state;
	PARSE(&p, &fixture_stat, NULL);
	expect_eq(p.err, 0);
	assert_memory_equal(&p.args, &fixture_defaults, sizeof(p.args));
	expect_eq(p.result.operands.nr, 0);
	assert_false(p.result.wants_help);
}

static void all_ways_to_give_a_value_are_the_same(void **state)
{
	struct parsed p;

	(void)state;
	PARSE(&p, &fixture_stat, "--interval", "5");
	expect_eq(p.args.interval_s, 5);
	PARSE(&p, &fixture_stat, "--interval=5");
	expect_eq(p.args.interval_s, 5);
	PARSE(&p, &fixture_stat, "-i", "5");
	expect_eq(p.args.interval_s, 5);
	PARSE(&p, &fixture_stat, "-i5");
	expect_eq(p.args.interval_s, 5);
	PARSE(&p, &fixture_stat, "-dCi5");
	expect_eq(p.args.interval_s, 5);
	assert_true(p.args.is_detailed && p.args.is_collapsed && p.args.has_interval);
	PARSE(&p, &fixture_stat, "-di", "5");
	expect_eq(p.args.interval_s, 5);
}

static void a_value_may_be_left_out(void **state)
{
	struct parsed p;

	(void)state;
	PARSE(&p, &fixture_stat, "--stacks", "-d");
	expect_eq(p.err, 0);
	assert_string_equal(p.args.stacks, "cpu");
	assert_true(p.args.is_detailed); /* the next word is none of its own */
	PARSE(&p, &fixture_stat, "--stacks=off-cpu");
	assert_string_equal(p.args.stacks, "off-cpu");
	PARSE(&p, &fixture_stat, "--stacks=");
	assert_string_equal(p.args.stacks, "");
}

static void flags_are_bundled_and_aliases_count(void **state)
{
	struct parsed p;

	(void)state;
	PARSE(&p, &fixture_stat, "-dC");
	assert_true(p.args.is_detailed && p.args.is_collapsed);
	assert_false(p.args.has_interval);
	PARSE(&p, &fixture_stat, "--all-rows", "--secret");
	assert_true(p.args.is_detailed && p.args.is_secret);
}

static void the_last_value_wins_and_lists_keep_all(void **state)
{
	struct parsed p;

	(void)state;
	PARSE(&p, &fixture_stat, "-i1", "-i2", "-c", "a", "--comm=", "--comm", "--detailed");
	expect_eq(p.err, 0);
	expect_eq(p.args.interval_s, 2);
	expect_eq(p.args.comms.nr, 3);
	assert_string_equal(p.args.comms.items[0], "a");
	assert_string_equal(p.args.comms.items[1], "");
	assert_string_equal(p.args.comms.items[2], "--detailed");
	assert_false(p.args.is_detailed);
	drop(&p);
}

static void some_lists_take_all_words_up_to_the_next_option(void **state)
{
	struct parsed p;

	(void)state;
	PARSE(&p, &fixture_stat, "--files", "a", "b", "-d", "--files=c", "d");
	expect_eq(p.err, 0);
	expect_eq(p.args.files.nr, 4);
	assert_string_equal(p.args.files.items[1], "b");
	assert_string_equal(p.args.files.items[3], "d");
	assert_true(p.args.is_detailed);
	drop(&p);
	PARSE(&p, &fixture_stat, "-d", "--files");
	expect_eq(p.err, -EINVAL);
	drop(&p);
}

static void strings_and_choices_are_stored(void **state)
{
	struct parsed p;

	(void)state;
	PARSE(&p, &fixture_stat, "-o", "-", "--color=auto");
	expect_eq(p.err, 0);
	assert_string_equal(p.args.output, "-");
	expect_eq(p.args.color, COLOR_AUTO);
}

static void operands_may_stand_anywhere(void **state)
{
	struct parsed p;

	(void)state;
	PARSE(&p, &fixture_analyze, "a", "-", "--", "--help", "-x");
	expect_eq(p.err, 0);
	expect_eq(p.result.operands.nr, 4);
	assert_string_equal(p.result.operands.items[1], "-");
	assert_string_equal(p.result.operands.items[2], "--help");
	assert_string_equal(p.result.operands.items[3], "-x");
	drop(&p);
}

static void another_command_keeps_its_options(void **state)
{
	struct parsed p;

	(void)state;
	PARSE(&p, &fixture_run, "-d", "sleep", "-i", "--", "--help");
	expect_eq(p.err, 0);
	assert_true(p.args.is_detailed);
	assert_false(p.args.has_interval || p.result.wants_help);
	expect_eq(p.result.operands.nr, 4);
	assert_string_equal(p.result.operands.items[2], "--");
	drop(&p);
}

static void help_is_known_everywhere_and_ends_parsing(void **state)
{
	struct parsed p;

	(void)state;
	PARSE(&p, &fixture_analyze, "--help", "--nonsense");
	expect_eq(p.err, 0);
	assert_true(p.result.wants_help);
	PARSE(&p, &fixture_stat, "-dhX");
	expect_eq(p.err, 0);
	assert_true(p.result.wants_help);
}

static void durations_have_units(void **state)
{
	static const struct {
		const char *word;
		uint64_t ns;
	} good[] = {
		{ "10s", 10000000000 },
		{ "5ms", 5000000 },
		{ "250us", 250000 },
		{ "100ns", 100 },
		{ "1.5s", 1500000000 },
		{ "2m", 120000000000 },
		{ "1h", 3600000000000 },
		{ "7", 7000000000 },
		{ "0.25", 250000000 },
		{ "0.000000001s", 1 },
		{ "1.000ns", 1 },
		{ "0.5m", 30000000000 },
		{ "1.0000000000000s", 1000000000 },
	};
	struct parsed p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		PARSE(&p, &fixture_stat, "--window", good[i].word);
		expect_eq(p.err, 0);
		expect_eq(p.args.window_ns, good[i].ns);
	}
}

static void what_is_no_duration_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"s",
		"1.5ns",
		"1.s",
		".5s",
		"-1s",
		"+1s",
		"1 s",
		"1S",
		"1sx",
		"1d",
		"0x1s",
		"1e3s",
		"1.",
		"1..5",
		"inf",
		"2h",
		"0",
		"0s",
		"1.1.1",
		"3601",
		"0.5ns ",
		"18446744073709551616ns",
		"5124096h",
		"1\n",
	};
	struct parsed p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		PARSE(&p, &fixture_stat, "-w", bad[i]);
		expect_eq(p.err, -EINVAL);
		expect_eq(p.args.window_ns, fixture_defaults.window_ns);
	}
	PARSE(&p, &fixture_stat, "--strict=5");
	expect_eq(p.err, -EINVAL);
	PARSE(&p, &fixture_stat, "--strict=18446744073709551615ns");
	expect_eq(p.err, 0);
	expect_eq(p.args.strict_ns, UINT64_MAX);
	PARSE(&p, &fixture_stat, "--strict=18446744073.709551616s");
	expect_eq(p.err, -EINVAL);
}

static void what_is_no_number_is_refused(void **state)
{
	static const char *const bad[] = {
		"",    "x",    "1x", "-1", "+1", " 1", "1 ", "0", "86401", "18446744073709551617",
		"1.0", "0x10",
	};
	struct parsed p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		PARSE(&p, &fixture_stat, "-i", bad[i]);
		expect_eq(p.err, -EINVAL);
		expect_eq(p.args.interval_s, fixture_defaults.interval_s);
		assert_false(p.args.has_interval);
	}
}

static void errors_show_the_word_and_a_way_out(void **state)
{
	static const struct {
		const char *words[3];
		const char *what, *hint;
	} cases[] = {
		{ { "--intervall" }, "unknown option '--intervall'", "did you mean '--interval'?" },
		{ { "--inter=5" }, "unknown option '--inter'", "did you mean '--interval'?" },
		{ { "--secre" }, "unknown option '--secre'", "" },
		{ { "--=" }, "unknown option '--'", "" },
		{ { "--xyzzy" }, "unknown option '--xyzzy'", "" },
		{ { "-x" }, "unknown option '-x'", "" },
		{ { "-detailed" }, "unknown option '-detailed'", "did you mean '--detailed'?" },
		{ { "-i" }, "option '-i' needs a value: -i SECONDS", "" },
		{ { "-di" }, "option '-i' needs a value: -i SECONDS", "" },
		{ { "--interval" }, "option '--interval' needs a value: --interval SECONDS", "" },
		{ { "--detailed=1" }, "option '--detailed' takes no value", "" },
		{ { "--detailed=" }, "option '--detailed' takes no value", "" },
		{ { "-i", "x" }, "option '-i': 'x' is not a number", "" },
		{ { "--interval=0" }, "option '--interval': 0 is too small, the least is 1", "" },
		{ { "-i86401" }, "option '-i': 86401 is too large, the most is 86400", "" },
		{ { "-w2h" }, "option '-w': 2h is too long, the most is 1h", "" },
		{ { "-w0" }, "option '-w': 0 (0s) is too short, the least is 1ns", "" },
		{ { "-w", "1d" },
		  "option '-w': '1d' is not a time",
		  "write it as 10s, 1.5ms, 250us, 100ns, 2m or 1h" },
		{ { "--color", "nevr" },
		  "option '--color': 'nevr' is none of auto, never",
		  "did you mean 'never'?" },
		{ { "--color=" }, "option '--color': '' is none of auto, never", "" },
		{ { "a\033[2J" }, "unexpected argument 'a?[2J'", "" },
	};
	struct parsed p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		parse_words(&p, &fixture_stat, cases[i].words);
		expect_eq(p.err, -EINVAL);
		assert_string_equal(p.d.what, cases[i].what);
		assert_string_equal(p.d.hint, cases[i].hint);
	}
}

static void a_long_word_is_cut(void **state)
{
	char word[1000];
	struct parsed p;

	(void)state;
	memset(word, 'x', sizeof(word));
	memcpy(word, "--", 2);
	word[sizeof(word) - 1] = '\0';
	PARSE(&p, &fixture_stat, word);
	expect_eq(p.err, -EINVAL);
	assert_true(strlen(p.d.what) < 100);
	expect_contains(p.d.what, "xxx...'");
	PARSE(&p, &fixture_stat, "-i", word);
	expect_contains(p.d.what, "xxx...' is not a number");
}

static void a_failure_gives_no_operands(void **state)
{
	struct parsed p;

	(void)state;
	PARSE(&p, &fixture_analyze, "a", "b", "--nonsense");
	expect_eq(p.err, -EINVAL);
	expect_eq(p.result.operands.nr, 0);
	assert_null(p.result.operands.items);
}

static void the_nearest_word_is_found(void **state)
{
	static const char *const words[] = { "stat", "doctor", "record", "generate-completions",
		                             NULL };

	(void)state;
	assert_string_equal(opt_nearest("stta", words), "stat");
	assert_string_equal(opt_nearest("STAT", words), "stat");
	assert_string_equal(opt_nearest("sta", words), "stat");
	assert_string_equal(opt_nearest("gen", words), "generate-completions");
	assert_string_equal(opt_nearest("docter", words), "doctor");
	assert_string_equal(opt_nearest("recrod", words), "record");
	assert_null(opt_nearest("s", words));
	assert_null(opt_nearest("", words));
	assert_null(opt_nearest("mcp", words));
	assert_null(opt_nearest("ab", words + 4));
}

static void commands_are_found_by_name_and_alias(void **state)
{
	struct diag d = { 0 };

	(void)state;
	assert_ptr_equal(opt_find_command(&fixture, "stat", &d), &fixture_stat);
	assert_ptr_equal(opt_find_command(&fixture, "st", &d), &fixture_stat);
	assert_ptr_equal(opt_find_command(&fixture, "internal", &d), &fixture_internal);
	expect_eq(d.code, 0);
	assert_null(opt_find_command(&fixture, "stats", &d));
	assert_string_equal(d.what, "unknown command 'stats'");
	assert_string_equal(d.hint, "did you mean 'stat'?");
}

static void a_hidden_command_is_not_suggested(void **state)
{
	struct diag d = { 0 };

	(void)state;
	assert_null(opt_find_command(&fixture, "interna", &d));
	assert_string_equal(d.hint, "there are stat, analyze, run, help");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_words_change_nothing),
		cmocka_unit_test(all_ways_to_give_a_value_are_the_same),
		cmocka_unit_test(a_value_may_be_left_out),
		cmocka_unit_test(flags_are_bundled_and_aliases_count),
		cmocka_unit_test(the_last_value_wins_and_lists_keep_all),
		cmocka_unit_test(some_lists_take_all_words_up_to_the_next_option),
		cmocka_unit_test(strings_and_choices_are_stored),
		cmocka_unit_test(operands_may_stand_anywhere),
		cmocka_unit_test(another_command_keeps_its_options),
		cmocka_unit_test(help_is_known_everywhere_and_ends_parsing),
		cmocka_unit_test(durations_have_units),
		cmocka_unit_test(what_is_no_duration_is_refused),
		cmocka_unit_test(what_is_no_number_is_refused),
		cmocka_unit_test(errors_show_the_word_and_a_way_out),
		cmocka_unit_test(a_long_word_is_cut),
		cmocka_unit_test(a_failure_gives_no_operands),
		cmocka_unit_test(the_nearest_word_is_found),
		cmocka_unit_test(commands_are_found_by_name_and_alias),
		cmocka_unit_test(a_hidden_command_is_not_suggested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
