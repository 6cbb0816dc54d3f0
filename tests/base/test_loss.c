#include "../unit.h"

#include <string.h>

#include "base/loss.h"

static void every_loss_has_a_name_and_a_sentence(void **state)
{
	char buf[256];

	(void)state;
	for (int i = 0; i < NR_LOSSES; i++) {
		assert_true(strlen(loss_name((enum loss)i)) > 2);
		assert_non_null(strchr(loss_what((enum loss)i),
		                       ':')); /* what was lost: what follows from it */
		for (int k = 0; k < i; k++)
			assert_string_not_equal(loss_name((enum loss)i), loss_name((enum loss)k));
	}
	assert_string_equal(loss_sentence(buf, sizeof(buf), LOSS_task_names, 3),
	                    "3 names of tasks found no place: those tasks have none");
}

static void a_loss_is_found_by_its_name(void **state)
{
	enum loss found = NR_LOSSES;

	(void)state;
	for (int i = 0; i < NR_LOSSES; i++) {
		assert_true(loss_by_name(loss_name((enum loss)i), &found));
		expect_eq(found, i);
	}
	assert_false(loss_by_name("", &found));
	assert_false(loss_by_name("mapped", &found));
	expect_eq(found, NR_LOSSES - 1); /* left alone */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_loss_has_a_name_and_a_sentence),
		cmocka_unit_test(a_loss_is_found_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
