#include "pass_fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/diff.h"

#define US 1000ULL

/*
 * 10 and 11 in turn on one CPU for a second: 10 is woken each ms and waits for wait_us and a little more or less, runs
 * 100 us; 11 waits for 20 us and a little, runs 100 us.
 */
static void fill(struct pass_fixture *p, uint64_t wait_us)
{
	uint64_t t = 1000 * US;

	forked(&p->f, t, 1, 10, "changes");
	forked(&p->f, t, 1, 11, "stays");
	sw(&p->f, t, 0, 5, 0, EV_STATE_S);
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t at = t + (1 + i) * 1000 * US, wait = (wait_us + i % 7) * US,
			 other = (20 + i % 5) * US;

		waking(&p->f, at, 0, 10, 0);
		sw(&p->f, at + wait, 0, 0, 10, EV_STATE_RUNNABLE);
		sw(&p->f, at + wait + 100 * US, 0, 10, 0, EV_STATE_S);
		waking(&p->f, at + 500 * US, 0, 11, 0);
		sw(&p->f, at + 500 * US + other, 0, 0, 11, EV_STATE_RUNNABLE);
		sw(&p->f, at + 600 * US + other, 0, 11, 0, EV_STATE_S);
	}
	finish(p, t + 1002 * 1000 * US);
}

static struct report *compare(struct pass_fixture *a, struct pass_fixture *b, bool has_noise)
{
	struct diff_cfg cfg = { .a = &a->source,
		                .b = &b->source,
		                .args_a = &a->args,
		                .args_b = &b->args,
		                .has_noise = has_noise };
	struct report *r = NULL;
	struct diag d = { 0 };

	assert_int_equal(diff_run(&cfg, &d, &r), 0);
	return r;
}

static void what_is_the_same_is_not_called_different(void **state)
{
	struct pass_fixture *a = *state;
	struct report *r;
	void *other;

	pass_setup(&other);
	fill(a, 50);
	fill(other, 50);
	r = compare(a, other, false);
	expect_eq(num_at(report_root(r), "changes_found"), 0);
	expect_eq(len_at(report_root(r), "only_in_a"), 0);
	report_free(r);
	pass_teardown(&other);
}

static void a_longer_wait_of_one_name_is_found(void **state)
{
	struct pass_fixture *a = *state;
	const struct report_node *root;
	struct report *r;
	void *other;

	pass_setup(&other);
	fill(a, 50);
	fill(other, 80);
	r = compare(a, other, false);
	root = report_root(r);
	assert_true(num_at(root, "changes_found") >= 2);
	for (uint32_t i = 0; i < len_at(root, "changes"); i++) {
		char path[64];

		snprintf(path, sizeof(path), "changes.%u.comm", i);
		assert_string_equal(text_at(root, path), "changes");
		snprintf(path, sizeof(path), "changes.%u.verdict", i);
		assert_string_equal(text_at(root, path), "worse");
	}
	/* 50 + 0..6 against 80 + 0..6: the mean is near 53 and 83. */
	r = (report_free(r), compare(a, other, true));
	root = report_root(r);
	for (uint32_t i = 0; i < len_at(root, "changes"); i++) {
		char path[64];

		snprintf(path, sizeof(path), "changes.%u.metric", i);
		if (strcmp(text_at(root, path), "wakeup_latency_mean_us"))
			continue;
		snprintf(path, sizeof(path), "changes.%u.comm", i);
		if (strcmp(text_at(root, path), "changes"))
			continue;
		snprintf(path, sizeof(path), "changes.%u.a", i);
		assert_true(fabs(real_at(root, path) - 53) < 0.2);
		snprintf(path, sizeof(path), "changes.%u.b", i);
		assert_true(fabs(real_at(root, path) - 83) < 0.2);
	}
	report_free(r);
	pass_teardown(&other);
}

static void the_interval_is_that_of_students_t(void **state)
{
	const double values[] = { 1, 2, 3, 4 };

	(void)state;
	/* s = 1.29099, s / sqrt(4) = 0.645497, t(3) = 3.182 */
	assert_true(fabs(diff_interval(values, 4) - 2.05397) < 1e-3);
	assert_true(diff_interval(values, 1) < 0);
	assert_true(diff_interval(values, 0) < 0);
}

static void names_of_one_recording_are_listed(void **state)
{
	struct pass_fixture *a = *state, *b;
	const struct report_node *root;
	struct report *r;
	void *other;

	pass_setup(&other);
	b = other;
	fill(a, 50);
	forked(&b->f, 900 * US, 1, 20, "new one");
	sw(&b->f, 1000 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	finish(b, 2000 * US);
	r = compare(a, b, false);
	root = report_root(r);
	assert_string_equal(text_at(root, "only_in_b.0"), "new one");
	expect_eq(len_at(root, "only_in_a"), 2);
	report_free(r);
	pass_teardown(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_the_same_is_not_called_different,
		                                pass_setup, pass_teardown),
		cmocka_unit_test_setup_teardown(a_longer_wait_of_one_name_is_found, pass_setup,
		                                pass_teardown),
		cmocka_unit_test(the_interval_is_that_of_students_t),
		cmocka_unit_test_setup_teardown(names_of_one_recording_are_listed, pass_setup,
		                                pass_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
