/* Pairs of victims and culprits: few units, many units, and units that are folded say the same. */
#include "../unit.h"

#include <stdlib.h>

#include "analyses/blame_pairs.h"

#define FEW    12U
#define MANY   5000U /* too many for a matrix */
#define FOLDED 4U
#define PARTS  2000
#define MOST   5U

static void add_parts(struct blame_pairs *few, struct blame_pairs *many, unsigned int seed)
{
	for (int i = 0; i < PARTS; i++) {
		uint32_t first = (uint32_t)rand_r(&seed) % (FEW - 2);
		uint32_t culprit = (uint32_t)rand_r(&seed) % FEW;
		uint64_t ns = 1 + (uint64_t)rand_r(&seed) % 50;

		expect_eq(blame_pairs_add(few, first, culprit, ns), 0);
		expect_eq(blame_pairs_add(few, first + 2, culprit, 3 * ns), 0);
		expect_eq(blame_pairs_add(many, first, culprit, ns), 0);
		expect_eq(blame_pairs_add(many, first + 2, culprit, 3 * ns), 0);
	}
	blame_pairs_end(few);
	blame_pairs_end(many);
}

static void expect_same(const struct blame_pairs *a, const struct blame_pairs *b, uint32_t victim)
{
	struct blame_culprit left[MOST], right[MOST];
	uint32_t nr = blame_pairs_most(a, victim, MOST, left);

	expect_eq(nr, blame_pairs_most(b, victim, MOST, right));
	for (uint32_t i = 0; i < nr; i++) {
		expect_eq(left[i].unit, right[i].unit);
		expect_eq(left[i].ns, right[i].ns);
		assert_true(!i || left[i - 1].ns >= left[i].ns);
	}
}

static void few_and_many_units_say_the_same(void **state)
{
	struct blame_pairs few, many;

	(void)state;
	assert_true(blame_pairs_is_small(FEW));
	assert_false(blame_pairs_is_small(MANY));
	for (unsigned int seed = 1; seed <= 20; seed++) {
		expect_eq(blame_pairs_init(&few, FEW), 0);
		expect_eq(blame_pairs_init(&many, MANY), 0);
		add_parts(&few, &many, seed);
		for (uint32_t i = 0; i < FEW; i++)
			expect_same(&few, &many, i);
		blame_pairs_done(&few);
		blame_pairs_done(&many);
	}
}

/* Held against the sums of all pairs, one by one. */
static void folded_units_have_the_time_of_their_parts(void **state)
{
	uint32_t unit_of[FEW];
	struct blame_culprit most[FOLDED], one[FEW];
	struct blame_pairs few, many, folded;

	(void)state;
	for (uint32_t i = 0; i < FEW; i++)
		unit_of[i] = i * 7 % FOLDED;
	expect_eq(blame_pairs_init(&few, FEW), 0);
	expect_eq(blame_pairs_init(&many, MANY), 0);
	expect_eq(blame_pairs_init(&folded, FOLDED), 0);
	add_parts(&few, &many, 1);
	expect_eq(blame_pairs_fold(&folded, &few, unit_of), 0);
	for (uint32_t victim = 0; victim < FOLDED; victim++) {
		uint64_t want[FOLDED] = { 0 };

		for (uint32_t i = 0; i < FEW; i++) {
			uint32_t nr = unit_of[i] == victim ? blame_pairs_most(&few, i, FEW, one)
			                                   : 0;

			for (uint32_t k = 0; k < nr; k++)
				want[unit_of[one[k].unit]] += one[k].ns;
		}
		expect_eq(blame_pairs_most(&folded, victim, FOLDED, most), FOLDED);
		for (uint32_t i = 0; i < FOLDED; i++)
			expect_eq(most[i].ns, want[most[i].unit]);
	}
	blame_pairs_done(&few);
	blame_pairs_done(&many);
	blame_pairs_done(&folded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_and_many_units_say_the_same),
		cmocka_unit_test(folded_units_have_the_time_of_their_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
