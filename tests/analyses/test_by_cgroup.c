/* Filters and rows by cgroup and by class of the scheduler, in analyses, explanations and queries. */
#include "../analyze/pass_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event_make.h"
#include "analyses/passes.h"
#include "analyze/cgroups.h"
#include "analyze/diff.h"
#include "query/query.h"

#define US 1000ULL

enum { ROOT = 1, WEB = 10, BUILD = 20, DEEP = 21 };

static void path(struct pass_fixture *p, uint64_t cgroup, const char *text)
{
	struct ev_cgroup_named rec;

	ev_make_cgroup_info(&rec, cgroup, text, 900 * US);
	push(&p->f, &rec);
}

static void put(struct pass_fixture *p, uint64_t ts, uint32_t tid, uint64_t cgroup)
{
	push(&p->f,
	     &(struct ev_cgroup){
		     .hdr = { .size = sizeof(struct ev_cgroup), .kind = EV_CGROUP, .ts_ns = ts },
		     .tid = tid,
		     .cgroup = cgroup });
}

static void switch_prio(struct pass_fixture *p, uint64_t ts, uint32_t prev, uint32_t next,
                        int16_t prio)
{
	push(&p->f,
	     &(struct ev_switch){
		     .hdr = { .size = sizeof(struct ev_switch), .kind = EV_SWITCH, .ts_ns = ts },
		     .prev_tid = prev,
		     .next_tid = next,
		     .prev_state = EV_STATE_S,
		     .next_prio = prio });
}

static void paths(struct pass_fixture *p)
{
	path(p, ROOT, "/");
	path(p, WEB, "/web");
	path(p, BUILD, "/build");
	path(p, DEEP, "/build/deep");
}

/*
 * CPU 0: "web" 30, of /web, waits 100 us from 1100 us on: 30 us behind 31, "make", which is in /build, 40 us behind 32, "web" too
 * and in the same cgroup, and 30 us behind 31 again, which has been moved to /build/deep.
 */
static void one_wait(struct pass_fixture *p)
{
	paths(p);
	forked(&p->f, 900 * US, 1, 30, "web");
	forked(&p->f, 900 * US, 1, 31, "make");
	forked(&p->f, 900 * US, 1, 32, "web");
	put(p, 901 * US, 30, WEB);
	put(p, 901 * US, 31, BUILD);
	put(p, 901 * US, 32, WEB);
	sw(&p->f, 1000 * US, 0, 0, 30, EV_STATE_RUNNABLE);
	sw(&p->f, 1010 * US, 0, 30, 31, EV_STATE_S);
	wakeup(&p->f, 1100 * US, 0, 30, 0);
	sw(&p->f, 1130 * US, 0, 31, 32, EV_STATE_S);
	put(p, 1131 * US, 31, DEEP);
	wakeup(&p->f, 1170 * US, 0, 31, 0);
	sw(&p->f, 1170 * US, 0, 32, 31, EV_STATE_S);
	sw(&p->f, 1200 * US, 0, 31, 30, EV_STATE_S);
	finish(p, 1300 * US);
}

static void a_pattern_means_cgroups_with_all_below_them(void **state)
{
	static const struct {
		const char *pattern, *picked; /* of root, web, build, deep */
	} cases[] = {
		{ "/web", "0100" },     { "web", "0100" },         { "/build", "0011" },
		{ "build", "0011" },    { "b*", "0011" },          { "deep", "0001" },
		{ "/build/*", "0001" }, { "/", "1000" },           { "*", "1111" },
		{ "/?eb", "0100" },     { "/build/deep", "0001" },
	};
	struct pass_fixture *p = *state;

	paths(p);
	put(p, 1000, 5, ROOT);
	finish(p, 2000);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct diag d = { 0 };
		uint8_t *picks = NULL;

		expect_eq(cgroups_pick(&p->source, cases[i].pattern, &d, &picks), 0);
		expect_eq(picks[0], 0);
		for (uint32_t k = 0; k < 4; k++)
			if (picks[k + 1] != (cases[i].picked[k] == '1'))
				fail_msg("'%s' and number %u", cases[i].pattern, k + 1);
		free(picks);
	}
}

static void expect_refused(struct pass_fixture *p, const struct pass *pass, const char *what)
{
	struct report *r = NULL;
	struct diag d = { 0 };

	expect_eq(pass_run(pass, &p->source, &p->args, &d, &r), -ENODATA);
	assert_string_equal(d.what, what);
	assert_true(d.hint[0]);
}

static void what_is_not_there_is_reported_and_not_empty(void **state)
{
	static const char none[] = "the recording does not say in which cgroups its tasks were";
	struct pass_fixture *p = *state;
	struct query q = { .cpu = EVENT_LOG_ANY, .tid = EVENT_LOG_ANY, .cgroup = "/web" };
	struct pass_args any = p->args;
	struct report *r = NULL;
	struct diag d = { 0 };

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	waking(&p->f, 1500, 0, 11, 10);
	sw(&p->f, 2000, 0, 10, 11, EV_STATE_RUNNABLE);
	finish(p, 3000);
	p->args.cgroup = "/web";
	expect_refused(p, &pass_blame, none);
	expect_refused(p, &pass_explain, none);
	expect_eq(diff_run(&(struct diff_cfg){ .a = &p->source,
	                                       .b = &p->source,
	                                       .args_a = &any,
	                                       .args_b = &p->args },
	                   &d, &r),
	          -ENODATA);
	assert_string_equal(d.what, none);
	p->args.cgroup = NULL;
	p->args.by = PASS_BY_CGROUP;
	expect_refused(p, &pass_blame, none);
	r = report_new(0);
	d = (struct diag){ 0 };
	report_begin_object(r, NULL);
	expect_eq(query_run(&p->source, &q, r, &d), -ENODATA);
	q.cgroup = NULL;
	expect_eq(query_set_group("cgroup", &q, &d), 0);
	expect_eq(query_run(&p->source, &q, r, &d), -ENODATA);
	assert_string_equal(d.what, none);
	report_free(r);
}

static void a_pattern_that_matches_nothing_is_reported(void **state)
{
	struct pass_fixture *p = *state;

	one_wait(p);
	p->args.cgroup = "/db";
	expect_refused(p, &pass_blame, "no cgroup of the recording matches '/db'");
}

/* The CPU time of a row, in percent of one CPU; -1 if no row is called that. */
static double runtime_of(const struct report_node *root, const char *by, const char *name)
{
	char at[64];

	for (uint32_t i = 0; i < len_at(root, "changes"); i++) {
		snprintf(at, sizeof(at), "changes.%u.%s", i, by);
		if (strcmp(text_at(root, at), name) != 0)
			continue;
		snprintf(at, sizeof(at), "changes.%u.metric", i);
		if (strcmp(text_at(root, at), "runtime_percent_of_one_cpu") != 0)
			continue;
		snprintf(at, sizeof(at), "changes.%u.a", i);
		return real_at(root, at);
	}
	return -1;
}

/* From 900 us on, for 400 us. */
static void recordings_are_compared_by_cgroup_class_or_task(void **state)
{
	static const struct {
		enum pass_by by;
		const char *name;
		double percent; /* -1: there is none */
	} cases[] = {
		{ PASS_BY_DEFAULT, "make", 37.5 },    { PASS_BY_COMM, "web", 37.5 },
		{ PASS_BY_CGROUP, "/build", 30 },     { PASS_BY_CGROUP, "/build/deep", 7.5 },
		{ PASS_BY_CGROUP, "/web", 37.5 },     { PASS_BY_CGROUP, "make", -1 },
		{ PASS_BY_THREAD, "web/30", 27.5 },   { PASS_BY_THREAD, "web/32", 10 },
		{ PASS_BY_PROCESS, "make/31", 37.5 }, { PASS_BY_CLASS, "fair", 75 },
	};
	struct pass_fixture *p = *state;

	one_wait(p);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct diff_cfg cfg = { .a = &p->source,
			                .b = &p->source,
			                .args_a = &p->args,
			                .args_b = &p->args,
			                .limit = 1000,
			                .has_noise = true };
		struct report *r = NULL;
		struct diag d = { 0 };

		p->args.by = cases[i].by;
		expect_eq(diff_run(&cfg, &d, &r), 0);
		assert_true(runtime_of(report_root(r),
		                       pass_by_name(cases[i].by ? cases[i].by : PASS_BY_COMM),
		                       cases[i].name) == cases[i].percent);
		report_free(r);
	}
}

static void waits_are_blamed_on_cgroups(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	one_wait(p);
	p->args.by = PASS_BY_CGROUP;
	p->args.cgroup = "/web";
	root = run_pass(p, &pass_blame);
	assert_string_equal(text_at(root, "aggregation_mode"), "per_cgroup");
	expect_eq(num_at(root, "wait_ns"), 100 * US);
	expect_eq(len_at(root, "victims"), 1);
	assert_string_equal(text_at(root, "victims.0.cgroup"), "/web");
	expect_eq(len_at(root, "culprits"), 3);
	/* The task that was moved counts where it was then. */
	assert_string_equal(text_at(root, "culprits.0.cgroup"), "/web");
	expect_eq(num_at(root, "culprits.0.caused_wait_ns"), 40 * US);
	expect_eq(num_at(root, "culprits.1.caused_wait_ns"), 30 * US);
	expect_eq(num_at(root, "culprits.2.caused_wait_ns"), 30 * US);
}

static void time_counts_for_the_cgroup_in_which_it_was_spent(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	one_wait(p);
	p->args.by = PASS_BY_CGROUP;
	root = run_pass(p, &pass_process_runtime);
	expect_eq(len_at(root, "processes"), 3);
	assert_string_equal(text_at(root, "processes.0.cgroup"), "/web");
	expect_eq(num_at(root, "processes.0.total_runtime_ns"), (10 + 40 + 100) * US);
	expect_eq(num_at(root, "processes.0.thread_count"), 2);
	assert_string_equal(text_at(root, "processes.1.cgroup"), "/build");
	expect_eq(num_at(root, "processes.1.total_runtime_ns"), 120 * US);
	assert_string_equal(text_at(root, "processes.2.cgroup"), "/build/deep");
	expect_eq(num_at(root, "processes.2.total_runtime_ns"), 30 * US);
	/* The same with a filter: only slices that began there. */
	p->args.by = PASS_BY_THREAD;
	p->args.cgroup = "deep";
	root = run_pass(p, &pass_process_runtime);
	expect_eq(num_at(root, "total_runtime_ns"), 30 * US);
	p->args.cgroup = "/build";
	root = run_pass(p, &pass_process_runtime);
	expect_eq(num_at(root, "total_runtime_ns"), 150 * US);
}

static void classes_are_told_by_priority(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	forked(&p->f, 900 * US, 1, 10, "rt");
	forked(&p->f, 900 * US, 1, 11, "dl");
	forked(&p->f, 900 * US, 1, 12, "plain");
	switch_prio(p, 1000 * US, 0, 12, 120);
	switch_prio(p, 1010 * US, 12, 10, 49);
	wakeup(&p->f, 1020 * US, 0, 12, 0);
	switch_prio(p, 1050 * US, 10, 11, -1);
	switch_prio(p, 1070 * US, 11, 12, 139);
	switch_prio(p, 1080 * US, 12, 10, 110); /* no longer real-time */
	finish(p, 1100 * US);
	p->args.by = PASS_BY_CLASS;
	root = run_pass(p, &pass_blame);
	expect_eq(len_at(root, "victims"), 1);
	assert_string_equal(text_at(root, "victims.0.class"), "fair");
	expect_eq(len_at(root, "culprits"), 2);
	assert_string_equal(text_at(root, "culprits.0.class"), "real-time");
	expect_eq(num_at(root, "culprits.0.caused_wait_ns"), 30 * US);
	assert_string_equal(text_at(root, "culprits.1.class"), "deadline");
	expect_eq(num_at(root, "culprits.1.caused_wait_ns"), 20 * US);
	root = run_pass(p, &pass_process_runtime);
	assert_string_equal(text_at(root, "processes.0.class"), "real-time");
	expect_eq(num_at(root, "processes.0.total_runtime_ns"), 40 * US);
	assert_string_equal(text_at(root, "processes.1.class"), "fair");
	expect_eq(num_at(root, "processes.1.total_runtime_ns"), (10 + 10 + 20) * US);
}

static void the_policy_idle_is_a_class(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	push(&p->f,
	     &(struct ev_policy){ .hdr = { sizeof(struct ev_policy), EV_POLICY, 0, 0, 999 * US },
	                          .tid = 12,
	                          .prio = 120,
	                          .policy = ABI_POLICY_IDLE });
	switch_prio(p, 1000 * US, 0, 12, 120);
	switch_prio(p, 1010 * US, 12, 10, 120);
	switch_prio(p, 1030 * US, 10, 12, 49); /* inherited: it is real-time for now */
	finish(p, 1100 * US);
	p->args.by = PASS_BY_CLASS;
	root = run_pass(p, &pass_process_runtime);
	assert_string_equal(text_at(root, "processes.0.class"), "real-time");
	assert_string_equal(text_at(root, "processes.1.class"), "fair");
	assert_string_equal(text_at(root, "processes.2.class"), "idle");
	expect_eq(num_at(root, "processes.2.total_runtime_ns"), 10 * US);
}

static void without_priorities_the_class_is_unknown(void **state)
{
	struct pass_fixture *p = *state;

	switch_prio(p, 1000 * US, 0, 12, 0);
	switch_prio(p, 1010 * US, 12, 10, 0);
	finish(p, 1100 * US);
	p->args.by = PASS_BY_CLASS;
	assert_string_equal(text_at(run_pass(p, &pass_process_runtime), "processes.0.class"),
	                    "unknown");
}

static bool says(const struct report_node *root, const char *words)
{
	for (const struct report_node *n = report_at(root, "waits.0.sentences")->first; n;
	     n = n->next)
		if (strstr(n->text, words))
			return true;
	return false;
}

static void another_cgroup_is_named_where_it_is_another(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	one_wait(p);
	p->args.tid = 30;
	root = run_pass(p, &pass_explain);
	assert_string_equal(text_at(root, "waits.0.cgroup"), "/web");
	assert_true(says(root, "behind web (32) on CPU 0"));
	assert_true(says(root, "behind make (31, of another cgroup, /build) on CPU 0"));
	assert_true(says(root, "behind make (31, of another cgroup, /build/deep) on CPU 0"));
	expect_eq(len_at(root, "waits.0.parts"), 3);
	assert_string_equal(text_at(root, "waits.0.parts.0.cgroup"), "/web");
	expect_eq(num_at(root, "waits.0.task_ns"), 100 * US);
}

/* 30, of /web, waits behind eight commands of /build in turn, and one of its own cgroup. */
static void a_crowd_of_another_cgroup_is_one(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	char name[8] = "cc0";

	paths(p);
	forked(&p->f, 900 * US, 1, 30, "web");
	forked(&p->f, 900 * US, 1, 50, "own");
	put(p, 901 * US, 30, WEB);
	put(p, 901 * US, 50, WEB);
	for (uint32_t i = 0; i < 8; i++, name[2]++) {
		forked(&p->f, 902 * US, 1, 40 + i, name);
		put(p, 903 * US, 40 + i, BUILD);
	}
	sw(&p->f, 1000 * US, 0, 0, 30, EV_STATE_RUNNABLE);
	sw(&p->f, 1010 * US, 0, 30, 40, EV_STATE_S);
	wakeup(&p->f, 1010 * US, 0, 30, 0);
	for (uint32_t i = 1; i < 8; i++)
		sw(&p->f, (1010 + i * 10) * US, 0, 39 + i, 40 + i, EV_STATE_S);
	sw(&p->f, 1095 * US, 0, 47, 50, EV_STATE_S);
	sw(&p->f, 1110 * US, 0, 50, 30, EV_STATE_S);
	finish(p, 1200 * US);
	p->args.tid = 30;
	root = run_pass(p, &pass_explain);
	expect_eq(len_at(root, "waits.0.parts"), 2);
	expect_eq(num_at(root, "waits.0.parts.0.ns"), 85 * US);
	expect_eq(num_at(root, "waits.0.parts.0.tasks"), 8);
	assert_true(
		says(root, "behind 8 tasks of another cgroup, /build (cc7 most of it) on CPU 0"));
	expect_eq(num_at(root, "waits.0.parts.1.ns"), 15 * US);
	assert_true(says(root, "behind own (50) on CPU 0"));
}

static void events_are_found_and_grouped_by_cgroup(void **state)
{
	struct pass_fixture *p = *state;
	struct query q = { .cpu = EVENT_LOG_ANY,
		           .tid = EVENT_LOG_ANY,
		           .kinds = EV_BIT(EV_SWITCH),
		           .cgroup = "deep" };
	struct report *r = report_new(0);
	const struct report_node *root;
	struct diag d = { 0 };

	one_wait(p);
	report_begin_object(r, NULL);
	expect_eq(query_parse_select("timestamp,cgroup", &q, &d), 0);
	expect_eq(query_run(&p->source, &q, r, &d), 0);
	report_end_object(r);
	root = report_root(r);
	expect_eq(num_at(root, "total_matched"), 2); /* to it and away from it */
	expect_eq(num_at(root, "events.0.timestamp"), 1170 * US);
	assert_string_equal(text_at(root, "events.1.cgroup"),
	                    "/build/deep"); /* of the one that leaves */
	report_free(r);
	q = (struct query){ .cpu = EVENT_LOG_ANY,
		            .tid = EVENT_LOG_ANY,
		            .kinds = EV_BIT(EV_SWITCH) };
	expect_eq(query_set_group("cgroup", &q, &d), 0);
	r = report_new(0);
	report_begin_object(r, NULL);
	expect_eq(query_run(&p->source, &q, r, &d), 0);
	report_end_object(r);
	root = report_root(r);
	assert_string_equal(text_at(root, "aggregation.groups.0.value"), "/web");
	expect_eq(num_at(root, "aggregation.groups.0.count"), 2);
	report_free(r);
}

static void cgroups_without_a_path_have_their_number(void **state)
{
	struct pass_fixture *p = *state;

	sw(&p->f, 1000 * US, 0, 0, 30, EV_STATE_RUNNABLE);
	put(p, 1000 * US, 30, 77);
	put(p, 1000 * US, 31, 78);
	sw(&p->f, 1010 * US, 0, 30, 31, EV_STATE_S);
	finish(p, 1100 * US);
	p->args.by = PASS_BY_CGROUP;
	assert_string_equal(text_at(run_pass(p, &pass_process_runtime), "processes.0.cgroup"),
	                    "cgroup 78");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_pattern_means_cgroups_with_all_below_them,
		                                pass_setup, pass_teardown),
		cmocka_unit_test_setup_teardown(what_is_not_there_is_reported_and_not_empty,
		                                pass_setup, pass_teardown),
		cmocka_unit_test_setup_teardown(a_pattern_that_matches_nothing_is_reported,
		                                pass_setup, pass_teardown),
		cmocka_unit_test_setup_teardown(recordings_are_compared_by_cgroup_class_or_task,
		                                pass_setup, pass_teardown),
		cmocka_unit_test_setup_teardown(waits_are_blamed_on_cgroups, pass_setup,
		                                pass_teardown),
		cmocka_unit_test_setup_teardown(time_counts_for_the_cgroup_in_which_it_was_spent,
		                                pass_setup, pass_teardown),
		cmocka_unit_test_setup_teardown(classes_are_told_by_priority, pass_setup,
		                                pass_teardown),
		cmocka_unit_test_setup_teardown(the_policy_idle_is_a_class, pass_setup,
		                                pass_teardown),
		cmocka_unit_test_setup_teardown(without_priorities_the_class_is_unknown, pass_setup,
		                                pass_teardown),
		cmocka_unit_test_setup_teardown(another_cgroup_is_named_where_it_is_another,
		                                pass_setup, pass_teardown),
		cmocka_unit_test_setup_teardown(a_crowd_of_another_cgroup_is_one, pass_setup,
		                                pass_teardown),
		cmocka_unit_test_setup_teardown(events_are_found_and_grouped_by_cgroup, pass_setup,
		                                pass_teardown),
		cmocka_unit_test_setup_teardown(cgroups_without_a_path_have_their_number,
		                                pass_setup, pass_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
