/* explain --by: how the tasks that one waited behind are grouped. */
#include "../analyze/pass_fixture.h"

#include <errno.h>
#include <stdio.h>

#include "abi/event_make.h"
#include "analyses/passes.h"

#define US  1000ULL
#define WEB 70
#define JOB 71

static void put(struct pass_fixture *p, uint32_t tid, uint64_t cgroup)
{
	struct ev_cgroup rec = { { sizeof(rec), EV_CGROUP, 0, 0, 900 * US },
		                 .tid = tid,
		                 .cgroup = cgroup };

	push(&p->f, &rec);
}

/*
 * "late" 20 of /web waits 100 us behind: "a" 30 and "b" 31, threads of process 100, in /web, 40 and 30 us; "a" 40 of /job 20 us;
 * "c" 41 of /job 10 us.
 */
static const struct report_node *explain_of(struct pass_fixture *p, enum pass_by by, bool has_job)
{
	struct ev_cgroup_named rec;

	ev_make_cgroup_info(&rec, WEB, "/web", 800 * US);
	push(&p->f, &rec);
	ev_make_cgroup_info(&rec, JOB, "/job", 800 * US);
	push(&p->f, &rec);
	forked(&p->f, 850 * US, 1, 20, "late");
	thread_of(&p->f, 850 * US, 30, "a");
	thread_of(&p->f, 850 * US, 31, "b");
	forked(&p->f, 850 * US, 1, 40, "a");
	forked(&p->f, 850 * US, 1, 41, "c");
	put(p, 20, WEB);
	put(p, 30, WEB);
	put(p, 31, WEB);
	if (has_job) { /* else their cgroup is unknown */
		put(p, 40, JOB);
		put(p, 41, JOB);
	}
	sw(&p->f, 1000 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1100 * US, 0, 20, 30, EV_STATE_S);
	wakeup(&p->f, 1100 * US, 0, 20, 0);
	sw(&p->f, 1140 * US, 0, 30, 31, EV_STATE_S);
	sw(&p->f, 1170 * US, 0, 31, 40, EV_STATE_S);
	sw(&p->f, 1190 * US, 0, 40, 41, EV_STATE_S);
	sw(&p->f, 1200 * US, 0, 41, 20, EV_STATE_S);
	finish(p, 1300 * US);
	p->args.tid = 20;
	p->args.by = by;
	return run_pass(p, &pass_explain);
}

static const struct report_node *explain(struct pass_fixture *p, enum pass_by by)
{
	return explain_of(p, by, true);
}

struct expected {
	uint64_t us;
	const char *text;
};

static void expect_parts(const struct report_node *root, const struct expected *parts, uint32_t nr)
{
	uint64_t sum_us = 0;

	expect_eq(len_at(root, "waits.0.parts"), nr);
	for (uint32_t i = 0; i < nr; i++) {
		char at[64];

		(void)snprintf(at, sizeof(at), "waits.0.parts.%u.text", i);
		assert_string_equal(text_at(root, at), parts[i].text);
		(void)snprintf(at, sizeof(at), "waits.0.parts.%u.ns", i);
		expect_eq(num_at(root, at), parts[i].us * US);
		sum_us += parts[i].us;
	}
	expect_eq(sum_us, 100);
}

#define EXPECT_PARTS(root, ...)                                        \
	expect_parts((root), (const struct expected[]){ __VA_ARGS__ }, \
	             sizeof((const struct expected[]){ __VA_ARGS__ }) / sizeof(struct expected))

static void each_thread_is_one(void **state)
{
	EXPECT_PARTS(explain(*state, PASS_BY_THREAD), { 40, "behind a (30) on CPU 0" },
	             { 30, "behind b (31) on CPU 0" },
	             { 20, "behind a (40, of another cgroup, /job) on CPU 0" },
	             { 10, "behind c (41, of another cgroup, /job) on CPU 0" });
}

static void threads_of_a_process_are_one(void **state)
{
	EXPECT_PARTS(explain(*state, PASS_BY_PROCESS),
	             { 70, "behind 2 tasks of process 100 (a most of it) on CPU 0" },
	             { 20, "behind a (40, of another cgroup, /job) on CPU 0" },
	             { 10, "behind c (41, of another cgroup, /job) on CPU 0" });
}

/* Those of another cgroup stay apart. */
static void tasks_of_a_name_are_one(void **state)
{
	EXPECT_PARTS(explain(*state, PASS_BY_COMM), { 40, "behind a (30) on CPU 0" },
	             { 30, "behind b (31) on CPU 0" },
	             { 20, "behind a (40, of another cgroup, /job) on CPU 0" },
	             { 10, "behind c (41, of another cgroup, /job) on CPU 0" });
}

static void tasks_of_a_cgroup_are_one(void **state)
{
	EXPECT_PARTS(explain(*state, PASS_BY_CGROUP),
	             { 70, "behind 2 tasks of its cgroup, /web (a most of it) on CPU 0" },
	             { 30, "behind 2 tasks of another cgroup, /job (a most of it) on CPU 0" });
}

static void tasks_of_unknown_cgroups_stay_apart(void **state)
{
	EXPECT_PARTS(explain_of(*state, PASS_BY_CGROUP, false),
	             { 70, "behind 2 tasks of its cgroup, /web (a most of it) on CPU 0" },
	             { 20, "behind a (40) on CPU 0" }, { 10, "behind c (41) on CPU 0" });
}

static void what_cannot_be_is_refused(void **state)
{
	struct pass_fixture *p = *state;
	struct report *r = NULL;
	struct diag d = { 0 };

	explain(p, PASS_BY_THREAD);
	p->args.by = PASS_BY_CLASS;
	expect_eq(pass_run(&pass_explain, &p->source, &p->args, &d, &r), -EINVAL);
	assert_null(r);
	p->args.by = PASS_BY_CGROUP;
	p->facts.kinds[EV_CGROUP] = 0;
	expect_eq(pass_run(&pass_explain, &p->source, &p->args, &d, &r), -ENODATA);
	assert_null(r);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(each_thread_is_one),
		CASE(threads_of_a_process_are_one),
		CASE(tasks_of_a_name_are_one),
		CASE(tasks_of_a_cgroup_are_one),
		CASE(tasks_of_unknown_cgroups_stay_apart),
		CASE(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
