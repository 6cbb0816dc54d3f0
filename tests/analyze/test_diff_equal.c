/* Recordings of one generator with different seeds are not called different, and those of a slower one are. */
#include "noisy_world.h"

#include <string.h>

#include "analyze/diff.h"

#define PAIRS 20

static struct report *compare(struct noisy_world a, struct noisy_world b)
{
	struct report *r = NULL;
	struct diag d = { 0 };
	void *of_a, *of_b;
	struct diff_cfg cfg;

	assert_int_equal(pass_setup(&of_a), 0);
	assert_int_equal(pass_setup(&of_b), 0);
	noisy_world_make(of_a, a);
	noisy_world_make(of_b, b);
	cfg = (struct diff_cfg){ .a = &((struct pass_fixture *)of_a)->source,
		                 .b = &((struct pass_fixture *)of_b)->source,
		                 .args_a = &((struct pass_fixture *)of_a)->args,
		                 .args_b = &((struct pass_fixture *)of_b)->args,
		                 .limit = 10000,
		                 .has_noise = true };
	assert_int_equal(diff_run(&cfg, &d, &r), 0);
	pass_teardown(&of_a);
	pass_teardown(&of_b);
	return r;
}

static bool is_change(const struct report_node *row)
{
	const char *verdict = text_at(row, "verdict");

	return strcmp(verdict, "same") != 0 && strcmp(verdict, "unclear") != 0 &&
	       strcmp(verdict, "too little") != 0;
}

static uint64_t count(const struct report_node *root, const char *key, const char *comm)
{
	uint64_t nr = 0;

	for (const struct report_node *at = report_at(root, key)->first; at; at = at->next)
		nr += is_change(at) && (!comm || !strcmp(text_at(at, "comm"), comm));
	return nr;
}

static void equal_recordings_do_not_differ(void **state)
{
	uint64_t nr_false = 0, nr_tests = 0;

	(void)state;
	for (uint64_t i = 0; i < PAIRS; i++) {
		struct report *r = compare((struct noisy_world){ 1000 + i, 1, 1, 0 },
		                           (struct noisy_world){ 2000 + i, 1, 1, 0 });
		const struct report_node *root = report_root(r);

		nr_false += count(root, "overall", NULL) + count(root, "changes", NULL);
		expect_eq(num_at(root, "changes_found"), count(root, "changes", NULL));
		nr_tests += num_at(root, "tests");
		report_free(r);
	}
	print_message("# %llu false claims in %llu tests of %d pairs\n",
	              (unsigned long long)nr_false, (unsigned long long)nr_tests, PAIRS);
	assert_true(nr_tests > 250 * PAIRS);
	assert_true(nr_false <= 1);
}

static void one_name_that_waits_longer_is_found(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 5; i++) {
		struct report *r = compare((struct noisy_world){ 3000 + i, 1, 1, 0 },
		                           (struct noisy_world){ 4000 + i, 3, 1, 0 });
		const struct report_node *root = report_root(r);

		expect_eq(count(root, "changes", NULL), count(root, "changes", "task-0"));
		assert_true(count(root, "changes", "task-0") >= 1);
		assert_string_equal(text_at(root, "changes.0.verdict"), "worse");
		assert_non_null(strstr(text_at(root, "summary"), "1 of 42 task names changed."));
		report_free(r);
	}
}

static void all_that_wait_longer_are_one_sentence(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 5; i++) {
		struct report *r = compare((struct noisy_world){ 5000 + i, 1, 1, 0 },
		                           (struct noisy_world){ 6000 + i, 1, 3, 0 });
		const char *said = text_at(report_root(r), "summary");

		assert_non_null(strstr(said, "All tasks together: mean wakeup latency worse ("));
		assert_non_null(strstr(said, "median wakeup latency worse ("));
		assert_true(count(report_root(r), "changes", NULL) >= 5);
		report_free(r);
	}
}

/* More than a short buffer holds: both are so different that nearly every metric changes. */
static void many_changes_are_one_whole_sentence(void **state)
{
	struct report *r = compare((struct noisy_world){ 7000, 1, 1, 0 },
	                           (struct noisy_world){ 7001, 1, 40, 0 });
	const char *said = text_at(report_root(r), "summary");

	(void)state;
	assert_true(count(report_root(r), "overall", NULL) >= 5);
	assert_int_equal(said[strlen(said) - 1], '.');
	assert_non_null(strstr(said, " task names changed."));
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_recordings_do_not_differ),
		cmocka_unit_test(one_name_that_waits_longer_is_found),
		cmocka_unit_test(all_that_wait_longer_are_one_sentence),
		cmocka_unit_test(many_changes_are_one_whole_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
