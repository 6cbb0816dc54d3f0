#include "../unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/parts/verdict.h"

#define MS     1000000ULL
#define SECOND 1000000000ULL

/* Two CPUs: a victim, a holder and another thread. */
struct harness {
	void *part;
	struct machine machine;
	struct machine_cpu cpus[2];
	struct machine_task threads[3];
	uint64_t now_ns;
};

static int set_up(void **state)
{
	struct harness *h = calloc(1, sizeof(*h));
	static const char *const names[] = { "victim", "holder", "other" };

	assert_non_null(h);
	for (uint32_t i = 0; i < 3; i++)
		h->threads[i] = (struct machine_task){
			.tid = 100 + i, .comm = names[i], .class_name = "fair", .last_cpu = 1
		};
	h->threads[2].last_cpu = 0;
	for (uint32_t i = 0; i < 2; i++)
		h->cpus[i] = (struct machine_cpu){
			.cpu = i, .is_online = true, .busy = 1, .steal = NAN
		};
	h->machine = (struct machine){
		.cpus = h->cpus, .nr_cpus = 2, .threads = h->threads, .nr_threads = 3
	};
	h->now_ns = 100 * SECOND;
	assert_int_equal(machine_part_verdict.open(NULL, NULL, &h->part), 0);
	*state = h;
	return 0;
}

static int tear_down(void **state)
{
	struct harness *h = *state;

	machine_part_verdict.close(h->part);
	free(h);
	return 0;
}

/* Its text after another quarter of a second; "" = none. */
static const char *verdict(struct harness *h)
{
	const struct machine_part_refresh r = { .now_ns = h->now_ns += 250 * MS,
		                                .machine = &h->machine };

	h->machine.verdict = NULL;
	machine_part_verdict.refresh(h->part, &r);
	return h->machine.verdict ? h->machine.verdict->text : "";
}

static void the_task_that_had_the_cpu_is_named(void **state)
{
	struct harness *h = *state;

	assert_string_equal(verdict(h), "");
	h->threads[0].stall_ns = 950 * MS;
	h->threads[1].run = 0.97;
	h->threads[1].class_name = "rt";
	assert_string_equal(verdict(h),
	                    "CPU 1: victim [100] has waited 950ms behind real-time holder [101], "
	                    "which had that CPU for 97% of the last 250ms");
	assert_true(h->machine.verdict->is_open);
	expect_eq(h->machine.verdict->tid, 100);
	expect_eq(h->machine.verdict->wait_ns, 950 * MS);
}

static void what_is_not_proven_is_not_said(void **state)
{
	struct harness *h = *state;
	static const char alone[] = "CPU 1: victim [100] has waited 300ms";

	(void)verdict(h);
	h->threads[0].stall_ns = 300 * MS;
	h->threads[1].run = 0.4; /* not most of the wait */
	assert_string_equal(verdict(h), alone);
	h->threads[1].run = 0.97;
	h->threads[1].migrations_per_s = 4; /* it may have run elsewhere */
	assert_string_equal(verdict(h), alone);
	h->threads[1].migrations_per_s = NAN;
	assert_string_equal(verdict(h), alone);
	h->threads[1].migrations_per_s = 0;
	h->threads[1].last_cpu = 0;
	assert_string_equal(verdict(h), alone);
	h->threads[1].last_cpu = 1;
	h->threads[0].migrations_per_s = 4; /* it may wait elsewhere */
	assert_string_equal(verdict(h), "victim [100] has waited 300ms for a CPU");
	h->threads[0].migrations_per_s = 0;
	h->threads[0].class_name = "ext"; /* in a queue of several CPUs */
	assert_string_equal(verdict(h), "victim [100] has waited 300ms for a CPU");
	h->threads[0].class_name = "fair";
	assert_non_null(strstr(verdict(h), "behind holder [101]"));
	/* An interval of 2 s, and a wait of 0.3 s at its end: 0.97 of the interval does not say that the CPU was held then. */
	h->threads[1].run = 0.8;
	h->now_ns += 1750 * MS;
	assert_string_equal(verdict(h), alone);
}

static void a_cpu_that_idles_while_a_task_waits_is_said(void **state)
{
	struct harness *h = *state;

	(void)verdict(h);
	h->threads[0].stall_ns = SECOND;
	h->cpus[1].busy = 0.1;
	assert_non_null(
		strstr(verdict(h), ", although that CPU was idle for 90% of the last 250ms"));
	h->cpus[1].busy = NAN;
	assert_string_equal(verdict(h), "CPU 1: victim [100] has waited 1.00s");
}

static void the_longest_wait_of_the_last_seconds_is_remembered(void **state)
{
	struct harness *h = *state;

	(void)verdict(h);
	h->threads[2].preempted = (struct machine_dist){ .count = 1, .max_ns = 45 * MS };
	h->threads[0].latency = (struct machine_dist){ .count = 1, .max_ns = 12 * MS };
	assert_non_null(strstr(verdict(h), "longest wait of the last 3 s: other [102], 45"));
	assert_non_null(strstr(h->machine.verdict->text, " after preemption"));
	assert_false(h->machine.verdict->is_open);
	h->threads[2].preempted.count = 0;
	for (int i = 0; i < 11; i++) {
		assert_non_null(strstr(verdict(h), "other [102]"));
		h->threads[0].latency.max_ns = 12 * MS;
	}
	assert_non_null(strstr(verdict(h), "victim [100], 12"));
	assert_non_null(strstr(h->machine.verdict->text, " after a wakeup"));
	/* A wait that has not ended comes first, then what the hypervisor took. */
	h->cpus[0].steal = 0.4;
	assert_string_equal(verdict(h), "CPU 0: the hypervisor took 40% of its time");
	expect_eq(h->machine.verdict->tid, 0);
	h->threads[0].stall_ns = 300 * MS;
	assert_true(strncmp(verdict(h), "CPU 1: victim [100] has waited 300ms", 36) == 0);
	/* What happened while it was not shown is not known. */
	h->threads[0] = (struct machine_task){ .tid = 100, .last_cpu = 1 };
	h->cpus[0].steal = 0;
	machine_part_verdict.suspend(h->part);
	assert_string_equal(verdict(h), "");
}

static void only_active_threads_are_read(void **state)
{
	struct harness *h = *state;
	static const uint32_t active[] = { 2 };
	static const struct machine_order order = { .active = active, .nr_active = 1 };

	h->machine.thread_order = &order;
	(void)verdict(h);
	h->threads[0].stall_ns = SECOND; /* quiet ones have none */
	assert_string_equal(verdict(h), "");
	h->threads[2].stall_ns = SECOND;
	assert_non_null(strstr(verdict(h), "other [102] has waited 1.00s"));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(the_task_that_had_the_cpu_is_named),
		CASE(what_is_not_proven_is_not_said),
		CASE(a_cpu_that_idles_while_a_task_waits_is_said),
		CASE(the_longest_wait_of_the_last_seconds_is_remembered),
		CASE(only_active_threads_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
