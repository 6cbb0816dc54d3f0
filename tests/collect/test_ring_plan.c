#include "../unit.h"

#include <stdbool.h>
#include <stdlib.h>

#include "collect/ring_plan.h"

#define MIB (1024U * 1024U)
#define GIB (1024ULL * MIB)

static void cpus_of_one_cache_share_a_ring(void **state)
{
	const int32_t llcs[] = { 0, 0, 1, 1, 0, 1 };
	struct ring_plan_cfg cfg = { .nr_cpus = 6, .llc_of_cpu = llcs, .memory_bytes = 256 * GIB };
	struct ring_plan p;

	(void)state;
	expect_eq(ring_plan_make(&cfg, &p), 0);
	expect_eq(p.nr_rings, 2);
	expect_eq(p.ring_of_cpu[4], 0);
	expect_eq(p.ring_of_cpu[5], 1);
	expect_eq(p.ring_bytes, 32 * MIB); /* three CPUs at 16 MiB, down to a power of two */
	ring_plan_done(&p);
}

static void cpus_without_a_known_cache_share_one_too(void **state)
{
	const int32_t llcs[] = { 0, -1, -1 };
	struct ring_plan_cfg cfg = { .nr_cpus = 3, .llc_of_cpu = llcs };
	struct ring_plan p;

	(void)state;
	expect_eq(ring_plan_make(&cfg, &p), 0);
	expect_eq(p.nr_rings, 2);
	expect_eq(p.ring_of_cpu[1], 1);
	ring_plan_done(&p);
	cfg.llc_of_cpu = NULL;
	expect_eq(ring_plan_make(&cfg, &p), 0);
	expect_eq(p.nr_rings, 1);
	ring_plan_done(&p);
}

static void each_cpu_may_have_its_own(void **state)
{
	struct ring_plan_cfg cfg = { .nr_cpus = 4, .is_per_cpu = true, .memory_bytes = 64 * GIB };
	struct ring_plan p;

	(void)state;
	expect_eq(ring_plan_make(&cfg, &p), 0);
	expect_eq(p.nr_rings, 4);
	expect_eq(p.ring_of_cpu[3], 3);
	expect_eq(p.ring_bytes, 16 * MIB);
	ring_plan_done(&p);
	cfg.has_stacks = true;
	expect_eq(ring_plan_make(&cfg, &p), 0);
	expect_eq(p.ring_bytes, 64 * MIB);
	ring_plan_done(&p);
}

static void a_large_machine_keeps_its_memory(void **state)
{
	struct ring_plan_cfg cfg = { .nr_cpus = 512, .is_per_cpu = true, .memory_bytes = 64 * GIB };
	struct ring_plan p;

	(void)state;
	expect_eq(ring_plan_make(&cfg, &p), 0);
	assert_true((uint64_t)p.nr_rings * p.ring_bytes <= cfg.memory_bytes / 32);
	ring_plan_done(&p);
}

static void a_size_that_was_asked_for_is_kept(void **state)
{
	struct ring_plan_cfg cfg = { .nr_cpus = 2, .ring_bytes = 65536, .memory_bytes = 64 * GIB };
	struct ring_plan p;

	(void)state;
	expect_eq(ring_plan_make(&cfg, &p), 0);
	expect_eq(p.ring_bytes, 65536);
	ring_plan_done(&p);
}

/* Whatever the caches: no CPU writes into a ring that does not exist, and every ring has a CPU. */
static void every_cpu_has_a_ring_and_every_ring_a_cpu(void **state)
{
	unsigned int seed = 1;
	int32_t llcs[300], nr_llcs;

	(void)state;
	for (uint32_t round = 0; round < 2000; round++) {
		struct ring_plan_cfg cfg = { .llc_of_cpu = llcs, .memory_bytes = 64 * GIB };
		bool is_used[300] = { false };
		struct ring_plan p;

		cfg.nr_cpus = 1 + (uint32_t)rand_r(&seed) % 300;
		cfg.is_per_cpu = rand_r(&seed) % 4 == 0;
		nr_llcs = 1 + rand_r(&seed) % (int32_t)(cfg.nr_cpus < 40 ? cfg.nr_cpus : 40);
		for (uint32_t i = 0; i < cfg.nr_cpus; i++) /* numbers without gaps; some unknown */
			llcs[i] = (int32_t)i < nr_llcs ? (int32_t)i
			                               : rand_r(&seed) % (nr_llcs + 1) - 1;
		expect_eq(ring_plan_make(&cfg, &p), 0);
		assert_in_range(p.nr_rings, 1, cfg.nr_cpus);
		for (uint32_t i = 0; i < cfg.nr_cpus; i++) {
			assert_true(p.ring_of_cpu[i] < p.nr_rings);
			is_used[p.ring_of_cpu[i]] = true;
		}
		for (uint32_t i = 0; i < p.nr_rings; i++)
			assert_true(is_used[i]);
		ring_plan_done(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus_of_one_cache_share_a_ring),
		cmocka_unit_test(cpus_without_a_known_cache_share_one_too),
		cmocka_unit_test(each_cpu_may_have_its_own),
		cmocka_unit_test(a_large_machine_keeps_its_memory),
		cmocka_unit_test(a_size_that_was_asked_for_is_kept),
		cmocka_unit_test(every_cpu_has_a_ring_and_every_ring_a_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
