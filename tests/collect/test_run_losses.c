#include "../unit.h"

#include <string.h>

#include "collect/run_losses.h"
#include "collect/stat_filter.h"

static void a_search_that_was_given_up_is_counted(void **state)
{
	const char *pattern = "(*NO_AUTO_POSSESS)^(((a+)+)+)+$";
	const struct stat_filter_cfg cfg = { .comm = &pattern, .nr_comm = 1 };
	struct stat_filter *filter = NULL;
	struct stat_id id = { .comm = "aaaaaaaaaaaaaa!" };
	struct losses losses;
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(stat_filter_new(&cfg, &d, &filter), 0);
	run_losses(&(struct run_losses_of){ .filter = filter }, &losses);
	expect_eq(losses.nr[LOSS_searches_aborted], 0);
	assert_false(stat_filter_accepts(filter, &id));
	run_losses(&(struct run_losses_of){ .filter = filter }, &losses);
	expect_eq(losses.nr[LOSS_searches_aborted], 1);
	expect_eq(losses.nr[LOSS_cgroups_cut], 0);
	stat_filter_free(filter);
}

static void without_a_filter_nothing_is_lost(void **state)
{
	struct losses losses;

	(void)state;
	memset(&losses, 0xff, sizeof(losses));
	run_losses(&(struct run_losses_of){ 0 }, &losses);
	for (int i = 0; i < NR_LOSSES; i++)
		expect_eq(losses.nr[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_search_that_was_given_up_is_counted),
		cmocka_unit_test(without_a_filter_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
