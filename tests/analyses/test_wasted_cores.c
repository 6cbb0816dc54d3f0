#include "../analyze/pass_fixture.h"

#include <errno.h>

#include "analyses/explain/explain.h"
#include "analyses/passes.h"
#include "analyses/waste.h"
#include "analyze/scope.h"
#include "ledger/ledger.h"
#include "model/allowed.h"

#define US 1000ULL

/*
 * CPU 0 runs 10 from 0 to 200 us. 11, woken at 50 us, gets CPU 0 at 200 us. CPU 1 is idle from 20 us to 120 us, then
 * runs 12: so 11 waited for 70 us beside an idle CPU. CPU 2, idle from 100 us to 500 us: 100 us.
 */
static void one_waits(struct pass_fixture *p)
{
	sw(&p->f, 1000 * US, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 1, 0, 12, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 2, 0, 13, EV_STATE_RUNNABLE);
	sw(&p->f, 1010 * US, 0, 10, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 1015 * US, 0, 11, 10, EV_STATE_S);
	sw(&p->f, 1020 * US, 1, 12, 0, EV_STATE_S);
	waking(&p->f, 1050 * US, 0, 11, 10);
	sw(&p->f, 1100 * US, 2, 13, 0, EV_STATE_S);
	waking(&p->f, 1119 * US, 1, 12, 0);
	sw(&p->f, 1120 * US, 1, 0, 12, EV_STATE_RUNNABLE);
	sw(&p->f, 1200 * US, 0, 10, 11, EV_STATE_S);
	sw(&p->f, 1500 * US, 2, 0, 13, EV_STATE_RUNNABLE);
	finish(p, 1600 * US);
}

static void waits_beside_idle_cpus_are_added_up_by_pair(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	one_waits(p);
	root = run_pass(p, &pass_wasted_cores);
	/* A task waits and some CPU is idle: 1050 to 1200. */
	expect_eq(num_at(root, "wasted_ns"), 150 * US);
	expect_eq(num_at(root, "total_pairs"), 2);
	expect_eq(num_at(root, "cpu_pairs.0.waiting_cpu"), 0);
	expect_eq(num_at(root, "cpu_pairs.0.idle_cpu"), 2);
	expect_eq(num_at(root, "cpu_pairs.0.time_ns"), 100 * US);
	assert_false(report_at(root, "cpu_pairs.0.is_same_llc")->b);
	expect_eq(num_at(root, "cpu_pairs.1.idle_cpu"), 1);
	expect_eq(num_at(root, "cpu_pairs.1.time_ns"), 70 * US);
	assert_true(report_at(root, "cpu_pairs.1.is_same_llc")->b);
	expect_eq(num_at(root, "by_distance.same_llc_ns"), 70 * US);
	expect_eq(num_at(root, "by_distance.same_node_ns"), 100 * US);
	expect_eq(num_at(root, "waits"),
	          1); /* the preempted wait of 5 us and that of 1 us are too short */
	expect_eq(num_at(root, "waits_too_short"), 2);
}

static void isolated_cpus_are_not_wasted(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	one_waits(p);
	p->places[2].is_isolated = true;
	root = run_pass(p, &pass_wasted_cores);
	expect_eq(num_at(root, "total_pairs"), 1);
	expect_eq(num_at(root, "cpu_pairs.0.idle_cpu"), 1);
	expect_eq(num_at(root, "wasted_ns"), 70 * US);
}

static void bind_at(struct allowed *a, uint64_t ts_ns, uint32_t tid, uint64_t mask, uint16_t flags)
{
	struct {
		struct ev_affinity head;
		uint64_t mask;
	} rec = { .head = { .hdr = { .size = sizeof(rec), .kind = EV_AFFINITY, .ts_ns = ts_ns },
		            .tid = tid,
		            .nr = 1,
		            .flags = flags },
		  .mask = mask };
	struct ev_sink sink = allowed_sink(a);

	assert_int_equal(sink.push(sink.ctx, &rec.head.hdr), 0);
}

static void bind(struct allowed *a, uint32_t tid, uint64_t mask, uint16_t flags)
{
	bind_at(a, 1, tid, mask, flags);
}

static void a_task_that_is_bound_anew_may_use_what_it_may_then(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	struct allowed *affinity;

	assert_int_equal(allowed_new(0, &affinity), 0);
	bind_at(affinity, 1, 11, 0x1, 0);
	bind_at(affinity, 1040 * US, 11, 0x3, 0);
	bind_at(affinity, 1300 * US, 11, 0x4, 0);
	one_waits(p);
	p->source.affinity = affinity;
	root = run_pass(p, &pass_wasted_cores);
	expect_eq(num_at(root, "total_pairs"), 1);
	expect_eq(num_at(root, "cpu_pairs.0.idle_cpu"), 1);
	expect_eq(num_at(root, "wasted_ns"), 70 * US);
	allowed_free(affinity);
}

static void a_bound_task_wastes_only_what_it_may_use(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	struct allowed *affinity;

	assert_int_equal(allowed_new(0, &affinity), 0);
	bind(affinity, 11, 0x3, 0);
	one_waits(p);
	p->source.affinity = affinity;
	root = run_pass(p, &pass_wasted_cores);
	expect_eq(num_at(root, "wasted_ns"), 70 * US); /* CPU 1: 1050 to 1120 */
	expect_eq(num_at(root, "total_pairs"), 1);
	expect_eq(num_at(root, "cpu_pairs.0.idle_cpu"), 1);
	expect_eq(num_at(root, "cpu_pairs.0.time_ns"), 70 * US);
	expect_eq(num_at(root, "by_distance.same_llc_ns"), 70 * US);
	allowed_free(affinity);
}

static void one_that_may_use_every_cpu_counts_as_if_nothing_were_known(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	struct allowed *affinity;

	assert_int_equal(allowed_new(0, &affinity), 0);
	bind(affinity, 11, 0x7, EV_AFFINITY_ALL);
	one_waits(p);
	p->source.affinity = affinity;
	root = run_pass(p, &pass_wasted_cores);
	expect_eq(num_at(root, "wasted_ns"), 150 * US);
	expect_eq(num_at(root, "total_pairs"), 2);
	allowed_free(affinity);
}

/* 11 to 14 wait for CPU 0 from 1050 on: 11 and 12 may use CPUs 0 and 1, 13 CPUs 0 and 2, 14 only CPU 0. */
static void tasks_of_one_cpu_count_once(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	struct allowed *affinity;

	assert_int_equal(allowed_new(0, &affinity), 0);
	bind(affinity, 11, 0x3, 0);
	bind(affinity, 12, 0x3, 0);
	bind(affinity, 13, 0x5, 0);
	bind(affinity, 14, 0x1, 0);
	sw(&p->f, 1000 * US, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 1, 20, 0, EV_STATE_S);
	sw(&p->f, 1000 * US, 2, 21, 22, EV_STATE_S);
	for (uint32_t tid = 11; tid <= 14; tid++)
		waking(&p->f, 1050 * US, 0, tid, 10);
	sw(&p->f, 1100 * US, 2, 22, 0, EV_STATE_S); /* idle from here on */
	sw(&p->f, 1200 * US, 0, 10, 11, EV_STATE_S);
	sw(&p->f, 1250 * US, 0, 11, 12, EV_STATE_S); /* the last that may use CPU 1 */
	sw(&p->f, 1300 * US, 0, 12, 13, EV_STATE_S);
	sw(&p->f, 1400 * US, 0, 13, 14, EV_STATE_S);
	finish(p, 1500 * US);
	p->source.affinity = affinity;
	root = run_pass(p, &pass_wasted_cores);
	expect_eq(num_at(root, "waits"), 4);
	expect_eq(num_at(root, "total_wait_ns"), (150 + 200 + 250 + 350) * US);
	expect_eq(num_at(root, "wasted_ns"), 250 * US); /* 1050 to 1300; 14 has no other CPU */
	expect_eq(num_at(root, "total_pairs"), 2);
	expect_eq(num_at(root, "cpu_pairs.0.idle_cpu"), 1);
	expect_eq(num_at(root, "cpu_pairs.0.time_ns"), 200 * US);
	expect_eq(num_at(root, "cpu_pairs.1.idle_cpu"), 2);
	expect_eq(num_at(root, "cpu_pairs.1.time_ns"), 200 * US);
	allowed_free(affinity);
}

static void a_busy_machine_wastes_nothing(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000 * US, 0, 0, 10, EV_STATE_RUNNABLE);
	waking(&p->f, 1001 * US, 0, 11, 10);
	sw(&p->f, 1100 * US, 0, 10, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 1300 * US, 0, 11, 10, EV_STATE_S);
	finish(p, 1400 * US);
	root = run_pass(p, &pass_wasted_cores);
	expect_eq(num_at(root, "wasted_ns"), 0);
	expect_eq(num_at(root, "total_pairs"), 0);
	expect_eq(num_at(root, "waits"), 2);
}

/* 20 is throttled from 1000 to 1300 us, and waits for 50 us more; CPU 1 is idle all the time. */
static void what_a_quota_throttles_wastes_nothing(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 900 * US, 1, 12, 0, EV_STATE_S);
	sw(&p->f, 900 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	waking(&p->f, 950 * US, 0, 10, 20);
	sw(&p->f, 1000 * US, 0, 20, 10, EV_STATE_RUNNABLE);
	throttle(&p->f, 1001 * US, 0, 20, 77);
	refill(&p->f, 1300 * US, 77, EVERY_CPU);
	sw(&p->f, 1350 * US, 0, 10, 20, EV_STATE_S);
	finish(p, 1400 * US);
	p->args.tid = 20;
	root = run_pass(p, &pass_wasted_cores);
	expect_eq(num_at(root, "wasted_ns"), 50 * US);
	expect_eq(num_at(root, "total_wait_ns"), 50 * US);
}

/*
 * 11 waits for CPU 0 from 1000 to 1030 us behind 10, while CPU 2 is idle; it is moved to CPU 1 and waits there behind 12
 * until 1040. Then 13 waits for CPU 0 from 1050 on and still does at 1100.
 */
static void pairs_are_of_the_cpu_of_each_stay_and_open_waits_count(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 900 * US, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 900 * US, 1, 0, 12, EV_STATE_RUNNABLE);
	sw(&p->f, 900 * US, 2, 13, 0, EV_STATE_S);
	wakeup(&p->f, 1000 * US, 1, 11, 0);
	migrate(&p->f, 1030 * US, 11, 0, 1);
	sw(&p->f, 1040 * US, 1, 12, 11, EV_STATE_S);
	wakeup(&p->f, 1050 * US, 1, 13, 0);
	finish(p, 1100 * US);
	root = run_pass(p, &pass_wasted_cores);
	expect_eq(num_at(root, "waits"), 2);
	expect_eq(num_at(root, "wasted_ns"), (40 + 50) * US);
	expect_eq(num_at(root, "total_pairs"), 2);
	expect_eq(num_at(root, "cpu_pairs.0.waiting_cpu"), 0);
	expect_eq(num_at(root, "cpu_pairs.0.time_ns"), (30 + 50) * US);
	expect_eq(num_at(root, "cpu_pairs.1.waiting_cpu"), 1);
	expect_eq(num_at(root, "cpu_pairs.1.time_ns"), 10 * US);
	p->args.cpu = 0;
	root = run_pass(p, &pass_wasted_cores);
	expect_eq(num_at(root, "total_pairs"), 1);
	expect_eq(num_at(root, "wasted_ns"), (30 + 50) * US);
}

/* What waste_span_fn was called with. */
struct spans {
	uint64_t from_ns[8], to_ns[8];
	uint32_t nr, max;
};

static int note_span(void *ctx, uint64_t from_ns, uint64_t to_ns)
{
	struct spans *s = ctx;

	if (s->nr == s->max)
		return -E2BIG;
	s->from_ns[s->nr] = from_ns;
	s->to_ns[s->nr++] = to_ns;
	return 0;
}

static int measure(struct pass_fixture *p, struct waste_cfg cfg, struct waste_sums *out)
{
	struct ledger *l = NULL;
	struct scope sc;
	int err;

	assert_int_equal(scope_init(&sc, &p->source, &p->args, NULL), 0);
	assert_int_equal(explain_ledger(&p->source, p->source.start_ns, p->source.end_ns, &l), 0);
	cfg.sc = &sc;
	cfg.ledger = l;
	err = waste_measure(&cfg, out);
	ledger_free(l);
	scope_done(&sc);
	return err;
}

/* 11 waits from 1050 to 1200 and may use CPUs 0 and 3; CPU 3 is idle until 1080, and from 1130 on. */
static void each_time_of_waste_is_reported(void **state)
{
	struct pass_fixture *p = *state;
	struct spans spans = { .max = 8 }, none = { .max = 0 };
	struct waste_sums sums = { 0 };
	struct allowed *affinity;

	assert_int_equal(allowed_new(0, &affinity), 0);
	bind(affinity, 11, 0x9, 0);
	sw(&p->f, 1000 * US, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 3, 20, 0, EV_STATE_S);
	waking(&p->f, 1050 * US, 0, 11, 10);
	sw(&p->f, 1080 * US, 3, 0, 21, EV_STATE_RUNNABLE);
	sw(&p->f, 1130 * US, 3, 21, 0, EV_STATE_S);
	sw(&p->f, 1200 * US, 0, 10, 11, EV_STATE_S);
	finish(p, 1300 * US);
	p->source.affinity = affinity;
	assert_int_equal(measure(p, (struct waste_cfg){ .span = note_span, .ctx = &spans }, &sums),
	                 0);
	expect_eq(sums.wasted_ns, (30 + 70) * US);
	expect_eq(spans.nr, 2);
	expect_eq(spans.from_ns[0], 1050 * US);
	expect_eq(spans.to_ns[0], 1080 * US);
	expect_eq(spans.from_ns[1], 1130 * US);
	expect_eq(spans.to_ns[1], 1200 * US);
	waste_sums_done(&sums);
	assert_int_equal(measure(p, (struct waste_cfg){ .span = note_span, .ctx = &none }, &sums),
	                 -E2BIG);
	/* A part of the time: 1100 to 1150. */
	p->args.from_ns = 1100 * US;
	p->args.to_ns = 1150 * US;
	spans.nr = 0;
	assert_int_equal(measure(p, (struct waste_cfg){ .span = note_span, .ctx = &spans }, &sums),
	                 0);
	expect_eq(sums.wasted_ns, 20 * US);
	expect_eq(spans.nr, 1);
	expect_eq(spans.from_ns[0], 1130 * US);
	expect_eq(spans.to_ns[0], 1150 * US);
	waste_sums_done(&sums);
	allowed_free(affinity);
}

static void waits_of_tasks_whose_cpus_are_unknown_can_be_left_out(void **state)
{
	struct pass_fixture *p = *state;
	struct waste_sums sums = { 0 };
	struct allowed *affinity;

	assert_int_equal(allowed_new(0, &affinity), 0);
	one_waits(p);
	p->source.affinity = affinity;
	assert_int_equal(measure(p, (struct waste_cfg){ .needs_affinity = true }, &sums), 0);
	expect_eq(sums.wasted_ns, 0);
	expect_eq(sums.nr_waits, 0);
	expect_eq(sums.nr_unknown, 1);
	waste_sums_done(&sums);
	/* What is all CPUs is known. */
	bind(affinity, 11, 0x7, EV_AFFINITY_ALL);
	assert_int_equal(measure(p, (struct waste_cfg){ .needs_affinity = true }, &sums), 0);
	expect_eq(sums.wasted_ns, 150 * US);
	expect_eq(sums.nr_unknown, 0);
	waste_sums_done(&sums);
	allowed_free(affinity);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			pairs_are_of_the_cpu_of_each_stay_and_open_waits_count, pass_setup,
			pass_teardown),
		cmocka_unit_test_setup_teardown(each_time_of_waste_is_reported, pass_setup,
		                                pass_teardown),
		cmocka_unit_test_setup_teardown(
			waits_of_tasks_whose_cpus_are_unknown_can_be_left_out, pass_setup,
			pass_teardown),
		cmocka_unit_test_setup_teardown(waits_beside_idle_cpus_are_added_up_by_pair,
		                                pass_setup, pass_teardown),
		cmocka_unit_test_setup_teardown(a_bound_task_wastes_only_what_it_may_use,
		                                pass_setup, pass_teardown),
		cmocka_unit_test_setup_teardown(isolated_cpus_are_not_wasted, pass_setup,
		                                pass_teardown),
		cmocka_unit_test_setup_teardown(a_task_that_is_bound_anew_may_use_what_it_may_then,
		                                pass_setup, pass_teardown),
		cmocka_unit_test_setup_teardown(
			one_that_may_use_every_cpu_counts_as_if_nothing_were_known, pass_setup,
			pass_teardown),
		cmocka_unit_test_setup_teardown(tasks_of_one_cpu_count_once, pass_setup,
		                                pass_teardown),
		cmocka_unit_test_setup_teardown(a_busy_machine_wastes_nothing, pass_setup,
		                                pass_teardown),
		cmocka_unit_test_setup_teardown(what_a_quota_throttles_wastes_nothing, pass_setup,
		                                pass_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
