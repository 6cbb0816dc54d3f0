#include "../analyze/more_records.h"

#include "analyses/passes.h"

static void handlers_have_names_and_cpus(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	irq_by(&p->f, 1000, 0, 16, "virtio0", 0);
	irq(&p->f, 1300, 0, 16, true);
	irq_by(&p->f, 2000, 1, 16, "eth0", 0);
	irq(&p->f, 2100, 1, 16, true);
	irq_by(&p->f, 3000, 1, 11, "arch_timer", 0);
	irq(&p->f, 3900, 1, 11, true);
	finish(p, 11000);
	root = run_pass(p, &pass_irq_analysis);
	expect_eq(num_at(root, "irq_count"), 2);
	expect_eq(num_at(root, "total_interrupts"), 3);
	expect_eq(num_at(root, "top_irqs.0.irq"), 11);
	assert_string_equal(text_at(root, "top_irqs.0.handler"), "arch_timer");
	expect_eq(num_at(root, "top_irqs.0.total_duration_ns"), 900);
	assert_string_equal(text_at(root, "top_irqs.1.handler"), "virtio0, eth0");
	expect_eq(num_at(root, "top_irqs.1.count"), 2);
	expect_eq(num_at(root, "top_irqs.1.total_duration_ns"), 400);
	expect_eq(num_at(root, "top_irqs.1.percentiles.min"), 100);
	expect_eq(num_at(root, "top_irqs.1.percentiles.max"), 300);
	expect_eq(num_at(root, "by_cpu.0.cpu"), 1);
	expect_eq(num_at(root, "by_cpu.0.total_duration_ns"), 1000);
	assert_true(real_at(root, "by_cpu.0.time_percent") == 10.0);
	expect_eq(num_at(root, "by_cpu.1.total_duration_ns"), 300);
}

/* W44: no nesting in IRQ. */
static void w44_a_handler_inside_another_counts_once_in_the_sum(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	irq_by(&p->f, 1000, 0, 1, "outer", 0);
	irq_by(&p->f, 1200, 0, 2, "inner", 0);
	irq(&p->f, 1500, 0, 2, true);
	irq(&p->f, 2000, 0, 1, true);
	finish(p, 3000);
	root = run_pass(p, &pass_irq_analysis);
	expect_eq(num_at(root, "top_irqs.0.total_duration_ns"), 1000);
	expect_eq(num_at(root, "top_irqs.1.total_duration_ns"), 300);
	expect_eq(num_at(root, "handler_time_ns"), 1000);
	expect_eq(num_at(root, "by_cpu.0.total_duration_ns"), 1000);
}

/* As on arm64: the handler "IPI" holds the IPI; CPU 1 has one in no handler. */
static void arm64(struct pass_fixture *p)
{
	irq_by(&p->f, 1000, 0, 2, "IPI", 0);
	ipi(&p->f, 1100, 0, "Rescheduling interrupts", false);
	ipi(&p->f, 1400, 0, "Rescheduling interrupts", true);
	irq(&p->f, 1500, 0, 2, true);
	ipi(&p->f, 2000, 1, "Function call interrupts", false);
	ipi(&p->f, 2900, 1, "Function call interrupts", true);
	ipi_send(&p->f, 2950, 0, 1);
	ipi_send(&p->f, 2960, 0, 1);
	ipi_send(&p->f, 2970, 1, UINT32_MAX);
	finish(p, 4000);
}

static void an_ipi_inside_a_handler_is_not_counted_twice(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	arm64(p);
	root = run_pass(p, &pass_irq_analysis);
	expect_eq(num_at(root, "handler_time_ns"), 500);
	expect_eq(num_at(root, "interrupt_time_ns"), 1400);
	root = run_pass(p, &pass_ipi_analysis);
	expect_eq(num_at(root, "total_duration_ns"), 1200);
	expect_eq(num_at(root, "inside_irq_handlers_ns"), 300);
}

/* W44: the summary by reason is in no order; ipi_raise is ignored. */
static void w44_ipis_by_reason_longest_first_and_sent_by_target(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	arm64(p);
	root = run_pass(p, &pass_ipi_analysis);
	expect_eq(num_at(root, "total_ipis"), 2);
	expect_eq(num_at(root, "reason_count"), 2);
	assert_string_equal(text_at(root, "top_reasons.0.reason"), "Function call interrupts");
	expect_eq(num_at(root, "top_reasons.0.percentiles.max"), 900);
	assert_string_equal(text_at(root, "top_reasons.1.reason"), "Rescheduling interrupts");
	expect_eq(num_at(root, "sent"), 3);
	expect_eq(num_at(root, "sent_by_target.0.target_cpu"), 1);
	expect_eq(num_at(root, "sent_by_target.0.count"), 2);
	assert_true(is_null_at(root, "sent_by_target.1.target_cpu"));
	expect_eq(num_at(root, "sent_by_cpu.0.cpu"), 0);
	expect_eq(num_at(root, "sent_by_cpu.0.count"), 2);
}

static void softirqs_by_vector_cpu_and_task(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 900, 0, 0, 10, EV_STATE_RUNNABLE);
	softirq_by(&p->f, 1000, 0, 1, 10, false);
	softirq_by(&p->f, 1500, 0, 1, 10, true);
	softirq_by(&p->f, 2000, 1, 7, 0, false);
	softirq_by(&p->f, 2200, 1, 7, 0, true);
	softirq_by(&p->f, 3000, 0, 7, 10, false);
	softirq_by(&p->f, 3200, 0, 7, 10, true);
	finish(p, 10900);
	root = run_pass(p, &pass_softirq_analysis);
	expect_eq(num_at(root, "total_events"), 3);
	expect_eq(num_at(root, "total_duration_ns"), 900);
	expect_eq(num_at(root, "unique_softirq_types"), 2);
	assert_true(real_at(root, "event_rate_per_sec") == 300000.0);
	assert_string_equal(text_at(root, "by_type.0.softirq_name"), "timer");
	expect_eq(num_at(root, "by_type.0.total_duration_ns"), 500);
	assert_string_equal(text_at(root, "by_type.1.softirq_name"), "sched");
	expect_eq(num_at(root, "by_type.1.count"), 2);
	expect_eq(len_at(root, "by_cpu"), 3);
	expect_eq(num_at(root, "by_cpu.0.cpu"), 0);
	expect_eq(num_at(root, "by_cpu.0.softirq_nr"), 1);
	expect_eq(len_at(root, "by_process"), 3);
	expect_eq(num_at(root, "by_process.0.pid"), 10);
	assert_true(is_null_at(root, "by_process.1.pid") || is_null_at(root, "by_process.2.pid"));
	p->args.cpu = 1;
	expect_eq(num_at(run_pass(p, &pass_softirq_analysis), "total_events"), 1);
	p->args.cpu = PASS_ANY_CPU;
	p->args.tid = 10;
	expect_eq(num_at(run_pass(p, &pass_softirq_analysis), "total_duration_ns"), 700);
	p->args.from_ns = 1600;
	expect_eq(num_at(run_pass(p, &pass_softirq_analysis), "total_duration_ns"), 200);
}

static void work_by_function_and_worker(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	work(&p->f, 1000, 20, 0xffff800080123456, false);
	work(&p->f, 1100, 21, 0xffff800080999999, false);
	work(&p->f, 1700, 20, 0xffff800080123456, true);
	work(&p->f, 1200, 21, 0xffff800080999999, true); /* late: counts as of 1700 */
	finish(p, 2000);
	root = run_pass(p, &pass_workqueue);
	expect_eq(num_at(root, "total_works"), 2);
	expect_eq(num_at(root, "total_duration_ns"), 1300);
	expect_eq(num_at(root, "by_function.0.function"), 0xffff800080123456);
	assert_true(is_null_at(root, "by_function.0.name"));
	expect_eq(num_at(root, "by_worker.0.pid"), 20);
	expect_eq(num_at(root, "by_worker.1.total_duration_ns"), 600);
}

static void expect_not_for(struct pass_fixture *p, const struct pass *pass)
{
	struct diag d = { 0 };
	struct report *r = NULL;

	assert_false(pass_applies(pass, &p->source));
	assert_int_not_equal(pass_run(pass, &p->source, &p->args, &d, &r), 0);
	assert_non_null(d.what);
}

/* W35, W49: what is not in the trace is not offered, what is there is. */
static void w35_w49_applies_where_there_is_something_to_report(void **state)
{
	struct pass_fixture *p = *state;

	irq_by(&p->f, 1000, 0, 16, "virtio0", 0);
	irq(&p->f, 1300, 0, 16, true);
	finish(p, 2000);
	assert_true(pass_applies(&pass_irq_analysis, &p->source));
	expect_not_for(p, &pass_softirq_analysis);
	expect_not_for(p, &pass_ipi_analysis);
	expect_not_for(p, &pass_workqueue);
	expect_not_for(p, &pass_block_io);
	expect_not_for(p, &pass_network_io);
	expect_not_for(p, &pass_memory_pressure);
	expect_not_for(p, &pass_file_io);
	expect_not_for(p, &pass_cpu_frequency);
	expect_not_for(p, &pass_cpu_idle);
	expect_not_for(p, &pass_power_state);
	expect_not_for(p, &pass_dsq_summary);
	expect_not_for(p, &pass_dsq_latency);
	expect_not_for(p, &pass_oncpu_slices);
	expect_not_for(p, &pass_scx_layer_behavior);
	expect_not_for(p, &pass_wakeup_relations);
	expect_not_for(p, &pass_perf_counters);
	expect_not_for(p, &pass_compound_delay);
	expect_not_for(p, &pass_requests);
	expect_not_for(p, &pass_lifecycle);
	expect_not_for(p, &pass_cpu_timeline);
	expect_not_for(p, &pass_process_timeline);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)
	const struct CMUnitTest tests[] = {
		T(handlers_have_names_and_cpus),
		T(w44_a_handler_inside_another_counts_once_in_the_sum),
		T(an_ipi_inside_a_handler_is_not_counted_twice),
		T(w44_ipis_by_reason_longest_first_and_sent_by_target),
		T(softirqs_by_vector_cpu_and_task),
		T(work_by_function_and_worker),
		T(w35_w49_applies_where_there_is_something_to_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
