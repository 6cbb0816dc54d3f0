#include "pair_fixture.h"

#include <errno.h>

#include "model/softirq.h"

static struct softirq *watch(struct fixture *f, uint32_t max_tasks)
{
	struct softirq_cfg cfg = { .tasks = f->tasks, .max_tasks = max_tasks };
	struct softirq *s = NULL;
	struct pair_out out;

	expect_eq(softirq_new(&cfg, &s), 0);
	out = softirq_out(s);
	expect_eq(pair_add_out(f->pair, &out), 0);
	return s;
}

static void once(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t vector, uint64_t ns)
{
	softirq(f, ts, cpu, vector, false);
	softirq(f, ts + ns, cpu, vector, true);
}

static void durations_are_kept_by_vector_and_by_cpu(void **state)
{
	struct fixture *f = *state;
	struct softirq *s = watch(f, 0);

	expect_eq(softirq_since_ns(s), 0);
	once(f, 100, 0, 1, 10);
	once(f, 200, 1, 1, 30);
	once(f, 300, 1, 3, 50);
	expect_eq(softirq_vector(s, 1)->count, 2);
	expect_eq(softirq_vector(s, 1)->sum_ns, 40);
	expect_eq(softirq_vector(s, 1)->max_ns, 30);
	expect_eq(softirq_vector(s, 1)->max_cpu, 1);
	expect_eq(softirq_vector(s, 2)->count, 0);
	expect_eq(softirq_nr_cpus(s), 2);
	expect_eq(softirq_cpu_at(s, 1)->time[3].max_ns, 50);
	expect_eq(softirq_cpu_at(s, 0)->time[3].samples, 0);
	expect_eq(softirq_since_ns(s), 100);
	expect_eq(softirq_left_out(s), 0);
	softirq_free(s);
}

static void who_was_interrupted_is_told(void **state)
{
	struct fixture *f = *state;
	struct softirq *s = watch(f, 0);
	struct ev_softirq ev = { .hdr = { sizeof(ev), EV_SOFTIRQ_ENTRY, 0, 0, 110 },
		                 .vector = 3,
		                 .tid = 7 };

	forked(f, 50, 1, 7, "victim");
	sw(f, 100, 0, 0, 7, 0);
	push(f, &ev);
	ev.hdr = (struct ev_hdr){ sizeof(ev), EV_SOFTIRQ_EXIT, 0, 0, 125 };
	push(f, &ev);
	once(f, 200, 1, 3, 5); /* idle */
	expect_eq(softirq_nr_tasks(s), 2);
	expect_eq(softirq_task_at(s, 0)->tid, 7);
	expect_eq(softirq_task_at(s, 0)->time.total_ns, 15);
	assert_string_equal(tasks_string(f->tasks, softirq_task_at(s, 0)->comm_id), "victim");
	expect_eq(softirq_task_at(s, 1)->tid, 0);
	assert_null(softirq_task_at(s, 2));
	softirq_free(s);
}

static void what_does_not_fit_is_counted(void **state)
{
	struct fixture *f = *state;
	struct softirq *s = watch(f, 1);

	once(f, 100, 0, 99, 10);
	once(f, 200, 0, 1, 10);
	once(f, 300, 0, 2, 10);
	expect_eq(softirq_left_out(s), 2);
	expect_eq(softirq_nr_tasks(s), 1);
	assert_null(softirq_vector(s, 99));
	assert_null(softirq_cpu_at(s, 1));
	softirq_free(s);
}

static void interrupts_are_not_softirqs(void **state)
{
	struct fixture *f = *state;
	struct softirq *s = watch(f, 0);

	irq(f, 100, 0, 1, false);
	irq(f, 110, 0, 1, true);
	expect_eq(softirq_vector(s, 1)->count, 0);
	softirq_free(s);
}

static void a_reset_forgets_all(void **state)
{
	struct fixture *f = *state;
	struct softirq *s = watch(f, 0);

	once(f, 100, 0, 1, 10);
	softirq_reset(s, 500);
	expect_eq(softirq_vector(s, 1)->count, 0);
	expect_eq(softirq_cpu_at(s, 0)->time[1].samples, 0);
	expect_eq(softirq_nr_tasks(s), 0);
	expect_eq(softirq_since_ns(s), 500);
	softirq_free(s);
	expect_eq(softirq_new(&(struct softirq_cfg){ 0 }, &s), -EINVAL);
}

static void vectors_have_the_kernels_names(void **state)
{
	(void)state;
	assert_string_equal(softirq_name(0), "hi");
	assert_string_equal(softirq_name(3), "net-rx");
	assert_string_equal(softirq_name(9), "rcu");
	assert_null(softirq_name(10));
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(durations_are_kept_by_vector_and_by_cpu),
		T(who_was_interrupted_is_told),
		T(what_does_not_fit_is_counted),
		T(interrupts_are_not_softirqs),
		T(a_reset_forgets_all),
		T(vectors_have_the_kernels_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
