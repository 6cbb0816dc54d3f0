#include "pair_fixture.h"

#include "model/hotspots.h"

static struct hotspots *watch(struct fixture *f)
{
	struct hotspots *h = NULL;
	struct pair_out out;

	expect_eq(hotspots_new(&h), 0);
	out = hotspots_out(h);
	expect_eq(pair_add_out(f->pair, &out), 0);
	return h;
}

static void cpus_are_ranked_by_switches(void **state)
{
	struct fixture *f = *state;
	struct hotspots *h = watch(f);

	for (uint32_t cpu = 0; cpu < 4; cpu++)
		for (uint32_t i = 0; i <= cpu * 2; i++)
			sw(f, 100, cpu, i % 2 ? 50 + cpu : 0, i % 2 ? 0 : 50 + cpu, EV_STATE_S);
	expect_eq(hotspots_nr_cpus(h), 4);
	expect_eq(hotspots_cpu_at(h, 3)->nr_switches, 7);
	expect_eq(hotspots_rank(h, 3), 10000);
	expect_eq(hotspots_rank(h, 2), 7500);
	expect_eq(hotspots_rank(h, 0), 2500);
	expect_eq(hotspots_rank(h, 9), 0);
	hotspots_reset(h);
	expect_eq(hotspots_nr_cpus(h), 0);
	assert_null(hotspots_cpu_at(h, 0));
	hotspots_free(h);
}

static void equals_have_the_same_rank_and_silent_cpus_none(void **state)
{
	struct fixture *f = *state;
	struct hotspots *h = watch(f);

	sw(f, 100, 0, 0, 5, 0);
	sw(f, 100, 3, 0, 6, 0);
	expect_eq(hotspots_rank(h, 0), 10000);
	expect_eq(hotspots_rank(h, 3), 10000);
	expect_eq(hotspots_rank(h, 1), 0);
	assert_null(hotspots_cpu_at(h, 1));
	hotspots_free(h);
}

static void interrupts_count_at_the_sender_migrations_at_the_target(void **state)
{
	struct fixture *f = *state;
	struct hotspots *h = watch(f);

	push(f,
	     &(struct ev_ipi_send){ .hdr = { sizeof(struct ev_ipi_send), EV_IPI_SEND, 0, 1, 100 },
	                            .target_cpu = 2 });
	migrate(f, 110, 7, 1, 3);
	expect_eq(hotspots_cpu_at(h, 1)->nr_ipis, 1);
	expect_eq(hotspots_cpu_at(h, 1)->nr_migrations, 0);
	expect_eq(hotspots_cpu_at(h, 3)->nr_migrations, 1);
	migrate(f, 120, 7, 3, 60000); /* no such CPU */
	expect_eq(hotspots_nr_cpus(h), 4);
	hotspots_free(h);
}

static void latency_is_where_the_task_comes_on(void **state)
{
	struct fixture *f = *state;
	struct hotspots *h = watch(f);

	sw(f, 100, 1, 7, 0, EV_STATE_S);
	waking(f, 200, 0, 7, 5);
	sw(f, 260, 2, 0, 7, 0);
	sw(f, 300, 2, 7, 8, EV_STATE_RUNNABLE);
	sw(f, 400, 2, 8, 7, EV_STATE_S); /* a preemption is no wakeup */
	expect_eq(hotspots_cpu_at(h, 2)->latency.samples, 1);
	expect_eq(hotspots_cpu_at(h, 2)->latency.total_ns, 60);
	expect_eq(hotspots_left_out(h), 0);
	hotspots_free(h);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(cpus_are_ranked_by_switches),
		T(equals_have_the_same_rank_and_silent_cpus_none),
		T(interrupts_count_at_the_sender_migrations_at_the_target),
		T(latency_is_where_the_task_comes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
