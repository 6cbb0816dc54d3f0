#include "../unit.h"

#include "machine/machine_past.h"

static void the_newest_are_kept_in_order(void **state)
{
	struct machine_past p = { 0 };
	struct machine_history h = machine_past_show(&p);

	(void)state;
	expect_eq(h.nr, 0);
	for (uint32_t i = 0; i < 5 * MACHINE_HISTORY; i++) {
		expect_eq(machine_past_add(&p, i), 0);
		h = machine_past_show(&p);
		expect_eq(h.nr, i + 1 < MACHINE_HISTORY ? i + 1 : MACHINE_HISTORY);
		for (uint32_t k = 0; k < h.nr; k++)
			expect_eq(h.values[k], i + 1 - h.nr + k);
	}
	machine_past_done(&p);
	expect_eq(machine_past_show(&p).nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_newest_are_kept_in_order) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
