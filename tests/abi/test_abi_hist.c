#include "../unit.h"

#include <stdlib.h>

#include "abi/hist.h"

static void expect_us(uint64_t ns)
{
	assert_true(hist_us(ns) == ns / 1000);
}

static void microseconds_are_those_of_a_division(void **state)
{
	(void)state;
	for (uint64_t us = 0; us < 1ULL << 32; us += us < 1000000 ? 1 : 997) {
		expect_us(us * 1000);
		expect_us(us * 1000 + 1);
		expect_us(us * 1000 + 999);
	}
	for (uint64_t ns = (1ULL << 32) - 5000; ns < (1ULL << 32) + 5000; ns++)
		expect_us(ns);
	expect_us(~0ULL);
}

static void steps_of_ten_are_those_of_a_division(void **state)
{
	(void)state;
	for (uint32_t us = HIST_FINE_US; us < HIST_LINEAR_US; us++)
		expect_eq(hist_slot(us * 1000ULL + 999),
		          HIST_FINE_US + (us - HIST_FINE_US) / HIST_STEP_US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(microseconds_are_those_of_a_division),
		cmocka_unit_test(steps_of_ten_are_those_of_a_division),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
