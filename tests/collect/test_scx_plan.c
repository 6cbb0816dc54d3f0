#include "../unit.h"

#include <string.h>

#include "abi/event.h"
#include "collect/scx_plan.h"

/* A kernel, as its type information shows it. */
struct kernel {
	size_t nr;
	struct {
		const char *name;
		struct scx_function function;
	} at[8];
};

/* 6.12.115 and 7.2.13, by their BTF. */
static const struct kernel linux_6_12 = {
	7,
	{ { "dispatch_enqueue", { 3, { "dsq", "p", "enq_flags" } } },
	  { "task_unlink_from_dsq", { 2, { "p", "dsq" } } },
	  { "bpf_scx_reg", { 2, { "kdata", "link" } } },
	  { "bpf_scx_unreg", { 2, { "kdata", "link" } } },
	  { "scx_ops_disable_workfn", { 1, { "work" } } },
	  { "scx_ops_bypass", { 1, { "bypass" } } },
	  { "dispatch_dequeue", { 2, { "rq", "p" } } } },
};

static const struct kernel linux_7_2 = {
	8,
	{ { "dispatch_enqueue", { 5, { "sch", "rq", "dsq", "p", "enq_flags" } } },
	  { "task_unlink_from_dsq", { 2, { "p", "dsq" } } },
	  { "bpf_scx_reg", { 2, { "kdata", "link" } } },
	  { "bpf_scx_unreg", { 2, { "kdata", "link" } } },
	  { "scx_log_sched_disable", { 1, { "sch" } } },
	  { "scx_disable_workfn", { 1, { "work" } } },
	  { "scx_bypass", { 2, { "sch", "bypass" } } },
	  { "dispatch_dequeue", { 2, { "rq", "p" } } } },
};

static bool find(void *ctx, const char *name, struct scx_function *out)
{
	const struct kernel *k = ctx;

	for (size_t i = 0; i < k->nr; i++) {
		if (strcmp(k->at[i].name, name) == 0) {
			*out = k->at[i].function;
			return true;
		}
	}
	return false;
}

static struct scx_plan plan_of(const struct kernel *k, uint64_t kinds)
{
	struct scx_plan plan;

	scx_plan_make(kinds, SCX_BY_FENTRY, find, (void *)k, &plan);
	return plan;
}

/* Where a program attaches; "" for a tracepoint, NULL if it is not part of the plan. */
static const char *place_of(const struct scx_plan *plan, const char *program)
{
	for (size_t i = 0; i < plan->nr; i++)
		if (strcmp(plan->programs[i].program, program) == 0)
			return plan->programs[i].function ? plan->programs[i].function : "";
	return NULL;
}

static void everything_is_found_on_6_12(void **state)
{
	struct scx_plan plan = plan_of(&linux_6_12, SCX_KINDS);

	(void)state;
	expect_eq(plan.kinds, SCX_KINDS);
	expect_eq(plan.nr, 7);
	expect_eq(plan.dsq_at, 0);
	assert_string_equal(place_of(&plan, "on_dsq_enter"), "dispatch_enqueue");
	assert_string_equal(place_of(&plan, "on_dsq_dequeue"), "dispatch_dequeue");
	assert_string_equal(place_of(&plan, "on_scx_disable"), "scx_ops_disable_workfn");
	assert_null(place_of(&plan, "on_scx_disabled"));
	assert_string_equal(place_of(&plan, "on_scx_switch"), "");
}

static void everything_is_found_on_7_2(void **state)
{
	struct scx_plan plan = plan_of(&linux_7_2, SCX_KINDS);

	(void)state;
	expect_eq(plan.kinds, SCX_KINDS);
	expect_eq(plan.nr, 7);
	expect_eq(plan.dsq_at, 2);
	assert_string_equal(place_of(&plan, "on_scx_disabled"), "scx_log_sched_disable");
	assert_null(place_of(&plan, "on_scx_disable")); /* one is enough */
}

static void only_what_was_asked_for_is_loaded(void **state)
{
	struct scx_plan plan = plan_of(&linux_7_2, EV_BIT(EV_SCX_STATE));

	(void)state;
	expect_eq(plan.kinds, EV_BIT(EV_SCX_STATE));
	expect_eq(plan.nr, 3);
	assert_null(place_of(&plan, "on_dsq_enter"));
	assert_null(place_of(&plan, "on_scx_switch"));

	plan = plan_of(&linux_7_2, EV_BIT(EV_DSQ_DEPTH));
	expect_eq(plan.kinds, EV_BIT(EV_DSQ_DEPTH));
	expect_eq(plan.nr, 2);
	assert_null(place_of(&plan, "on_scx_switch"));

	plan = plan_of(&linux_7_2, EV_BIT(EV_SCX_COUNTER));
	expect_eq(plan.kinds, EV_BIT(EV_SCX_COUNTER)); /* from a file */
	expect_eq(plan.nr, 0);

	plan = plan_of(&linux_7_2, EV_BIT(EV_SWITCH));
	expect_eq(plan.kinds | plan.nr, 0);
}

static void a_kernel_without_sched_ext_gets_nothing(void **state)
{
	const struct kernel none = { 0 };
	struct scx_plan plan = plan_of(&none, SCX_KINDS);

	(void)state;
	expect_eq(plan.kinds, 0);
	expect_eq(plan.nr, 0);
}

static void other_arguments_are_not_taken_for_known_ones(void **state)
{
	struct kernel k = linux_7_2;
	struct scx_plan plan;

	(void)state;
	k.at[0].function = (struct scx_function){ 4, { "sch", "dsq", "p", "enq_flags" } };
	plan = plan_of(&k, SCX_KINDS);
	expect_eq(plan.kinds, SCX_KINDS);
	expect_eq(plan.dsq_at, 1);

	k.at[0].function = (struct scx_function){ 3, { "p", "dsq", "enq_flags" } };
	plan = plan_of(&k, SCX_KINDS);
	expect_eq(plan.kinds, EV_BIT(EV_SCX_STATE) | EV_BIT(EV_SCX_COUNTER));
	assert_null(place_of(&plan, "on_scx_switch"));

	k.at[0].function = (struct scx_function){ 6, { "a", "b", "c", "dsq", "p", "enq_flags" } };
	expect_eq(plan_of(&k, SCX_KINDS).kinds, EV_BIT(EV_SCX_STATE) | EV_BIT(EV_SCX_COUNTER));

	k.at[3].function = (struct scx_function){ 1, { "kdata" } };
	expect_eq(plan_of(&k, SCX_KINDS & ~EV_BIT(EV_SCX_COUNTER)).kinds, 0);
	expect_eq(plan_of(&k, SCX_KINDS & ~EV_BIT(EV_SCX_COUNTER)).nr, 0);
}

static void by_kprobe_the_same_is_seen_and_what_a_function_returned_by_one_more(void **state)
{
	static const struct kernel *const kernels[] = { &linux_6_12, &linux_7_2 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct scx_plan fentry = plan_of(kernels[i], SCX_KINDS), plan;

		scx_plan_make(SCX_KINDS, SCX_BY_KPROBE, find, (void *)kernels[i], &plan);
		expect_eq(plan.way, SCX_BY_KPROBE);
		expect_eq(fentry.way, SCX_BY_FENTRY);
		expect_eq(plan.kinds, fentry.kinds);
		expect_eq(plan.dsq_at, fentry.dsq_at);
		expect_eq(plan.nr, fentry.nr + 1);
		for (size_t j = 0; j < fentry.nr; j++)
			assert_non_null(place_of(&plan, fentry.programs[j].program));
		for (size_t j = 0; j < plan.nr; j++)
			expect_eq(plan.programs[j].is_return,
			          strcmp(plan.programs[j].program, "on_scx_regret") == 0);
		assert_string_equal(place_of(&plan, "on_scx_regret"), "bpf_scx_reg");
		assert_null(place_of(&fentry, "on_scx_regret"));
	}
}

static void a_queue_without_a_way_out_has_no_depth(void **state)
{
	struct kernel k = linux_6_12;

	(void)state;
	k.at[1].name = "task_unlink_from_dsq.constprop.0";
	expect_eq(plan_of(&k, SCX_KINDS).kinds, SCX_KINDS & ~EV_BIT(EV_DSQ_DEPTH));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_found_on_6_12),
		cmocka_unit_test(everything_is_found_on_7_2),
		cmocka_unit_test(only_what_was_asked_for_is_loaded),
		cmocka_unit_test(a_kernel_without_sched_ext_gets_nothing),
		cmocka_unit_test(other_arguments_are_not_taken_for_known_ones),
		cmocka_unit_test(a_queue_without_a_way_out_has_no_depth),
		cmocka_unit_test(
			by_kprobe_the_same_is_seen_and_what_a_function_returned_by_one_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
