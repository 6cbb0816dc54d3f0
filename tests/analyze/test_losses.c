#include "pass_fixture.h"

#include <string.h>

#include "analyses/passes.h"
#include "analyze/losses.h"
#include "model/allowed.h"
#include "query/query.h"

static const struct report_node *find(const struct report_node *root, const char *what)
{
	const struct report_node *at = report_at(root, "losses")->first;

	while (at && strcmp(text_at(at, "what"), what))
		at = at->next;
	return at;
}

static void a_recording_that_lost_nothing_says_nothing(void **state)
{
	struct pass_fixture *p = *state;

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	finish(p, 2000);
	expect_eq(len_at(run_pass(p, &pass_summary), "losses"), 0);
}

/* Tables with hardly any room, in place of those of the fixture. */
static void the_summary_says_what_its_tables_lost(void **state)
{
	struct pass_fixture *p = *state;
	struct timeline *timeline;
	struct event_log *log;
	struct allowed *affinity;
	struct tasks *tasks;
	struct pair_out out;
	struct ev_sink sink;
	const struct report_node *root;

	assert_int_equal(timeline_new(&(struct timeline_cfg){ .cap_bytes = 1 }, &timeline), 0);
	assert_int_equal(event_log_new(&(struct event_log_cfg){ .cap_bytes = 1 }, &log), 0);
	assert_int_equal(allowed_new(1, &affinity), 0);
	assert_int_equal(tasks_new(&(struct tasks_cfg){ .max_tasks = 2 }, &tasks), 0);
	out = timeline_out(timeline);
	assert_int_equal(pair_add_out(p->f.pair, &out), 0);
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 2000, 0, 10, 0, EV_STATE_S);
	waking(&p->f, 3000, 0, 11, 0);
	waking(&p->f, 4000, 0, 11, 0); /* 11 ran unseen between */
	for (int i = 0; i < 3; i++) {
		struct {
			struct ev_affinity head;
			uint64_t mask;
		} rec = {
			.head = { .hdr = { sizeof(rec), EV_AFFINITY, 0, 0, 1 }, .tid = 7, .nr = 1 },
			.mask = 1
		};
		struct ev_softirq other = { .hdr = { sizeof(other), EV_SOFTIRQ_ENTRY, 0, 0, 1 } };

		sink = allowed_sink(affinity);
		assert_int_equal(sink.push(sink.ctx, &rec.head.hdr), 0);
		sink = event_log_sink(log);
		assert_int_equal(sink.push(sink.ctx, &other.hdr), 0);
		(void)tasks_see(tasks, 20 + (uint32_t)i, 1000);
	}
	finish(p, 5000);
	p->source.affinity = affinity;
	root = run_pass(p, &pass_summary);
	expect_eq(num_at(find(root, "affinities"), "count"), 3);
	expect_eq(num_at(find(root, "unproven_waits"), "count"), 1);
	assert_non_null(strstr(text_at(find(root, "affinities"), "meaning"), "found no place"));
	p->source.timeline = timeline;
	p->source.log = log;
	root = run_pass(p, &pass_summary);
	assert_true(num_at(find(root, "timeline_rows"), "count") >= 2);
	expect_eq(num_at(find(root, "logged_events"), "count"), 3);
	p->source.timeline = p->timeline;
	{
		struct losses losses;
		struct source s = p->source;

		s.tasks = tasks;
		source_losses(&s, &losses);
		assert_true(losses.nr[LOSS_tasks] > 0);
		expect_eq(losses.nr[LOSS_cgroups_cut], 0);
	}
	p->source.log = p->log;
	p->source.affinity = NULL;
	tasks_free(tasks);
	timeline_free(timeline);
	event_log_free(log);
	allowed_free(affinity);
}

static void a_query_says_that_events_are_missing(void **state)
{
	struct pass_fixture *p = *state;
	struct query q = { .cpu = EVENT_LOG_ANY, .tid = EVENT_LOG_ANY };
	struct ev_softirq rec = { .hdr = { sizeof(rec), EV_SOFTIRQ_ENTRY, 0, 0, 1 } };
	struct report *r = report_new(0);
	struct event_log *log;
	struct diag d = { 0 };
	struct ev_sink sink;

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	finish(p, 2000);
	assert_int_equal(event_log_new(&(struct event_log_cfg){ .cap_bytes = 1 }, &log), 0);
	sink = event_log_sink(log);
	assert_int_equal(sink.push(sink.ctx, &rec.hdr), 0);
	p->source.log = log;
	report_begin_object(r, NULL);
	assert_int_equal(query_run(&p->source, &q, r, &d), 0);
	report_end_object(r);
	assert_non_null(strstr(text_at(report_root(r), "incomplete"), "1 events are beyond"));
	report_free(r);
	p->source.log = p->log;
	r = report_new(0);
	report_begin_object(r, NULL);
	assert_int_equal(query_run(&p->source, &q, r, &d), 0);
	report_end_object(r);
	assert_null(report_at(report_root(r), "incomplete"));
	report_free(r);
	event_log_free(log);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_recording_that_lost_nothing_says_nothing),
		CASE(the_summary_says_what_its_tables_lost),
		CASE(a_query_says_that_events_are_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
