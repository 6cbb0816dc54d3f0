#include "../unit.h"

#include "collect/percpu.h"

struct value {
	uint64_t a, b;
};

static void values_go_to_the_places_of_their_cpus(void **state)
{
	/* Six possible CPUs of ten: the kernel fills the first six places. */
	static const uint32_t possible[] = { 0, 1, 4, 5, 8, 9 };
	struct value v[10] = { { 10, 0 }, { 11, 1 }, { 14, 4 }, { 15, 5 }, { 18, 8 }, { 19, 9 } };
	uint64_t sum = 0;

	(void)state;
	percpu_spread(v, sizeof(v[0]), possible, 6);
	for (uint32_t i = 0; i < 6; i++) {
		expect_eq(v[possible[i]].a, 10 + possible[i]);
		expect_eq(v[possible[i]].b, possible[i]);
	}
	/* Nothing is left where no CPU is, or it would be counted twice. */
	for (uint32_t cpu = 0; cpu < 10; cpu++)
		sum += v[cpu].a;
	expect_eq(sum, 10 + 11 + 14 + 15 + 18 + 19);
}

static void a_first_cpu_other_than_0_moves_all(void **state)
{
	static const uint32_t possible[] = { 2, 3 };
	struct value v[4] = { { 2, 0 }, { 3, 0 } };

	(void)state;
	percpu_spread(v, sizeof(v[0]), possible, 2);
	expect_eq(v[0].a, 0);
	expect_eq(v[1].a, 0);
	expect_eq(v[2].a, 2);
	expect_eq(v[3].a, 3);
	/* And again, as at each look: the kernel writes the front anew. */
	v[0].a = 22;
	v[1].a = 33;
	percpu_spread(v, sizeof(v[0]), possible, 2);
	expect_eq(v[0].a, 0);
	expect_eq(v[2].a, 22);
	expect_eq(v[3].a, 33);
}

static void without_gaps_nothing_moves(void **state)
{
	static const uint32_t possible[] = { 0, 1, 2 };
	struct value v[3] = { { 1, 0 }, { 2, 0 }, { 3, 0 } };

	(void)state;
	percpu_spread(v, sizeof(v[0]), possible, 3);
	expect_eq(v[0].a, 1);
	expect_eq(v[2].a, 3);
	percpu_spread(v, sizeof(v[0]), possible, 0);
	expect_eq(v[0].a, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_go_to_the_places_of_their_cpus),
		cmocka_unit_test(a_first_cpu_other_than_0_moves_all),
		cmocka_unit_test(without_gaps_nothing_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
