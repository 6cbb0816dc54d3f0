#include "../analyze/pass_fixture.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/units.h"
#include "analyze/walk.h"
#include "outside_pass.h"

/* How long each process ran, by the way that most analyses go: scope and units come ready, and are freed. */
struct times {
	struct scope sc;
	struct units units;
	uint64_t *ns; /* by unit */
};

static int nr_done;
static bool has_no_memory;

static int collect_times(void *work)
{
	struct times *x = work;
	struct walk w = { .sc = &x->sc, .table = TIMELINE_SLICE };
	const union timeline_row *row;

	x->ns = calloc(x->units.nr + 1, sizeof(*x->ns));
	if (!x->ns || has_no_memory)
		return -ENOMEM;
	while ((row = walk_next(&w)))
		x->ns[units_of(&x->units, row->slice.task)] +=
			scope_cut(&x->sc, row->slice.start_ns, row->slice.end_ns);
	return 0;
}

static int show_times(void *work, struct report *r)
{
	const struct times *x = work;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < x->units.nr; i++)
		sum += x->ns[i];
	report_u64(r, "sum_ns", sum);
	return 0;
}

static void free_times(void *work)
{
	struct times *x = work;

	free(x->ns);
	nr_done++;
}

static const struct pass times_pass = {
	.id = "times",
	.needs = EV_BIT(EV_SWITCH),
	.work = { .size = sizeof(struct times),
	          .units_at = offsetof(struct times, units),
	          .collect = collect_times,
	          .show = show_times,
	          .done = free_times },
};

static void work_is_collected_shown_and_freed(void **state)
{
	struct pass_fixture *p = *state;

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1400, 0, 10, 0, EV_STATE_S);
	sw(&p->f, 2000, 0, 0, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 2700, 0, 11, 0, EV_STATE_S);
	finish(p, 4000);
	nr_done = 0;
	has_no_memory = false;
	expect_eq(num_at(run_pass(p, &times_pass), "sum_ns"), 1100);
	expect_eq(nr_done, 1);
	p->args.tid = 10;
	p->args.from_ns = 1100;
	p->args.to_ns = 4000;
	expect_eq(num_at(run_pass(p, &times_pass), "sum_ns"), 300);
	expect_eq(nr_done, 2);
}

static void work_without_memory_is_freed_too(void **state)
{
	struct pass_fixture *p = *state;
	struct report *r = NULL;
	struct diag d = { 0 };

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	finish(p, 4000);
	nr_done = 0;
	has_no_memory = true;
	expect_eq(pass_run(&times_pass, &p->source, &p->args, &d, &r), -ENOMEM);
	assert_string_equal(d.what, "out of memory");
	assert_null(r);
	expect_eq(nr_done, 1);
}

static void it_runs_like_those_of_the_table(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 0, 10, 0, EV_STATE_S);
	sw(&p->f, 1400, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 2000, 1, 11, 0, EV_STATE_S);
	sw(&p->f, 3000, 0, 10, 0, EV_STATE_S);
	sw(&p->f, 3900, 0, 0, 10, EV_STATE_RUNNABLE);
	finish(p, 4000);
	root = run_pass(p, &outside_pass);
	assert_string_equal(text_at(root, "analysis_type"), "longest_idle");
	expect_eq(len_at(root, "cpus"), 2);
	expect_eq(num_at(root, "cpus.0.longest_idle_ns"), 900);
	expect_eq(num_at(root, "cpus.1.longest_idle_ns"), 2000);
	p->args.cpu = 0;
	p->args.to_ns = 3000;
	root = run_pass(p, &outside_pass);
	expect_eq(len_at(root, "cpus"), 1);
	expect_eq(num_at(root, "cpus.0.longest_idle_ns"), 400);
}

static void it_is_in_no_table(void **state)
{
	(void)state;
	assert_null(pass_find(outside_pass.id));
}

static void it_does_not_apply_without_what_it_needs(void **state)
{
	struct pass_fixture *p = *state;
	struct diag d = { 0 };
	struct report *r = NULL;

	waking(&p->f, 1000, 0, 10, 11);
	finish(p, 2000);
	assert_int_not_equal(pass_run(&outside_pass, &p->source, &p->args, &d, &r), 0);
	assert_string_equal(d.what,
	                    "longest_idle needs sched_switch, which this trace does not have");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)
	const struct CMUnitTest tests[] = {
		T(it_runs_like_those_of_the_table),         T(it_is_in_no_table),
		T(it_does_not_apply_without_what_it_needs), T(work_is_collected_shown_and_freed),
		T(work_without_memory_is_freed_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
