#include "../analyze/pass_fixture.h"

#include <errno.h>
#include <string.h>

#include "query/event_fields.h"
#include "query/query.h"

struct query_fixture {
	struct pass_fixture *p;
	struct query q;
	struct report *r;
};

static struct query_fixture begin(void **state)
{
	struct pass_fixture *p = *state;

	forked(&p->f, 900, 10, 11, "child");
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	waking(&p->f, 1500, 0, 11, 10);
	sw(&p->f, 2000, 1, 0, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 3000, 0, 10, 0, EV_STATE_S);
	softirq(&p->f, 3100, 0, 1, false);
	softirq(&p->f, 3200, 0, 1, true);
	waking(&p->f, 3300, 1, 10, 11);
	sw(&p->f, 4000, 1, 11, 10, EV_STATE_D);
	finish(p, 5000);
	return (struct query_fixture){ .p = p,
		                       .q = { .cpu = EVENT_LOG_ANY, .tid = EVENT_LOG_ANY } };
}

static const struct report_node *ask(struct query_fixture *f)
{
	struct diag d = { 0 };

	report_free(f->r);
	f->r = report_new(0);
	report_begin_object(f->r, NULL);
	if (query_run(&f->p->source, &f->q, f->r, &d))
		fail_msg("%s", d.what);
	report_end_object(f->r);
	assert_int_equal(report_error(f->r), 0);
	return report_root(f->r);
}

static void where(struct query_fixture *f, const char *text)
{
	struct diag d = { 0 };

	if (query_parse_where(text, &f->q, &d))
		fail_msg("%s", d.what);
}

static void everything_comes_in_time_order(void **state)
{
	struct query_fixture f = begin(state);
	const struct report_node *root = ask(&f);

	expect_eq(num_at(root, "total_matched"), 9);
	expect_eq(len_at(root, "events"), 9);
	assert_string_equal(text_at(root, "events.0.event_type"), "sched_process_fork");
	expect_eq(num_at(root, "events.8.timestamp"), 4000);
	expect_eq(num_at(root, "events.8.cpu"), 1);
	expect_eq(num_at(root, "events.8.fields.next_pid"), 10);
	assert_string_equal(text_at(root, "events.8.fields.prev_comm"), "child");
	report_free(f.r);
}

/* W33, W34: every filter counts, any event can be asked for, and the total is of what matches. */
static void all_filters_hold_together(void **state)
{
	struct query_fixture f = begin(state);
	const struct report_node *root;

	f.q.kinds = event_kinds_by_name("sched_switch");
	f.q.cpu = 1;
	f.q.from_ns = 1500;
	f.q.to_ns = 4000;
	root = ask(&f);
	expect_eq(num_at(root, "total_matched"), 1);
	expect_eq(num_at(root, "events.0.timestamp"), 2000);
	f.q = (struct query){ .cpu = EVENT_LOG_ANY,
		              .tid = EVENT_LOG_ANY,
		              .kinds = event_kinds_by_name("softirq_exit") };
	root = ask(&f);
	expect_eq(num_at(root, "total_matched"), 1);
	expect_eq(num_at(root, "events.0.timestamp"), 3200);
	report_free(f.r);
}

static void a_tid_is_found_in_any_part_of_an_event(void **state)
{
	struct query_fixture f = begin(state);

	f.q.tid = 11;
	/* fork (as child), waking (as wakee), switch in, waking (as waker), switch out */
	expect_eq(num_at(ask(&f), "total_matched"), 5);
	f.q.tid = EVENT_LOG_ANY;
	f.q.comm = "chi*";
	expect_eq(num_at(ask(&f), "total_matched"), 5);
	report_free(f.r);
}

static void conditions_compare_numbers_and_texts(void **state)
{
	struct query_fixture f = begin(state);

	where(&f, "prev_state=2");
	expect_eq(num_at(ask(&f), "total_matched"), 1);
	f.q.nr_where = 0;
	where(&f, "prev_state>=1");
	expect_eq(num_at(ask(&f), "total_matched"), 2);
	f.q.nr_where = 0;
	where(&f, "next_pid!=0");
	where(&f, "timestamp<4000");
	expect_eq(num_at(ask(&f), "total_matched"), 2);
	f.q.nr_where = 0;
	where(&f, "prev_comm~hil");
	expect_eq(num_at(ask(&f), "total_matched"), 1);
	f.q.nr_where = 0;
	where(&f, "prio<-5"); /* no task has one */
	expect_eq(num_at(ask(&f), "total_matched"), 0);
	report_free(f.r);
}

/* The name that a part of finds above, as a glob, which is about all of it, and as an expression. */
static void names_are_chosen_by_patterns(void **state)
{
	static const struct {
		const char *pattern;
		unsigned int found;
	} cases[] = { { "prev_comm~*hil*", 1 },
		      { "prev_comm~hil*", 0 },
		      { "prev_comm~/h.l/", 1 },
		      { "prev_comm~/^h.l$/", 0 },
		      { "prev_comm~(", 0 } };
	struct query_fixture f = begin(state);
	struct diag d = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		f.q.nr_where = 0;
		where(&f, cases[i].pattern);
		expect_eq(num_at(ask(&f), "total_matched"), cases[i].found);
		assert_null(f.q.where[0].match);
	}
	assert_int_equal(query_parse_where("prev_comm~/(/", &f.q, &d), -EINVAL);
	assert_non_null(strstr(d.what, "pattern '(' is wrong"));
	report_free(f.r);
}

static void pages_follow_each_other(void **state)
{
	struct query_fixture f = begin(state);
	const struct report_node *root;

	f.q.limit = 4;
	f.q.offset = 4;
	root = ask(&f);
	expect_eq(num_at(root, "total_matched"), 9);
	expect_eq(num_at(root, "returned_count"), 4);
	expect_eq(num_at(root, "events.0.timestamp"), 3000);
	assert_true(report_at(root, "has_more")->b);
	f.q.offset = 8;
	root = ask(&f);
	expect_eq(len_at(root, "events"), 1);
	assert_false(report_at(root, "has_more")->b);
	f.q.offset = 100;
	root = ask(&f);
	expect_eq(num_at(root, "returned_count"), 0);
	expect_eq(num_at(root, "total_matched"), 9);
	report_free(f.r);
}

static void sorting_reads_all_before_it_cuts(void **state)
{
	struct query_fixture f = begin(state);
	const struct report_node *root;
	struct diag d = { 0 };

	f.q.kinds = event_kinds_by_name("sched_switch");
	f.q.limit = 2;
	assert_int_equal(query_parse_sort("next_pid:desc", &f.q, &d), 0);
	assert_int_equal(query_parse_select("next_pid,timestamp", &f.q, &d), 0);
	root = ask(&f);
	expect_eq(num_at(root, "total_matched"), 4);
	expect_eq(num_at(root, "events.0.next_pid"), 11);
	expect_eq(num_at(root, "events.1.next_pid"), 10);
	expect_eq(num_at(root, "events.1.timestamp"), 1000); /* equal ones in time order */
	assert_null(report_at(root, "events.0.cpu"));
	report_free(f.r);
}

/* The longest record of fixed size, its text filled up. */
static void sorting_keeps_records_whole(void **state)
{
	struct pass_fixture *p = *state;
	struct query_fixture f = { .p = p, .q = { .cpu = EVENT_LOG_ANY, .tid = EVENT_LOG_ANY } };
	struct ev_scx_state ejected = {
		.hdr = { sizeof(ejected), EV_SCX_STATE, 0, 1, 2000 },
		.state = EV_SCX_EJECTED,
		.name = "broken",
	};
	const struct report_node *root;
	struct diag d = { 0 };

	memset(ejected.message, 'x', sizeof(ejected.message) - 1);
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	push(&p->f, &ejected);
	finish(p, 5000);
	f.q.kinds = EV_BIT(EV_SCX_STATE);
	assert_int_equal(query_parse_sort("timestamp:desc", &f.q, &d), 0);
	root = ask(&f);
	expect_eq(num_at(root, "total_matched"), 1);
	assert_string_equal(text_at(root, "events.0.fields.message"), ejected.message);
	report_free(f.r);
}

static void groups_count_all_whatever_the_limit(void **state)
{
	struct query_fixture f = begin(state);
	const struct report_node *root;
	struct diag d = { 0 };

	f.q.kinds = event_kinds_by_name("sched_switch");
	f.q.limit = 1;
	assert_int_equal(query_set_group("next_pid", &f.q, &d), 0);
	assert_int_equal(query_parse_fn("avg:timestamp", &f.q, &d), 0);
	root = ask(&f);
	expect_eq(num_at(root, "total_matched"), 4);
	expect_eq(num_at(root, "aggregation.total_groups"), 3);
	expect_eq(len_at(root, "aggregation.groups"), 1);
	assert_string_equal(text_at(root, "aggregation.groups.0.value"), "10");
	expect_eq(num_at(root, "aggregation.groups.0.count"), 2);
	assert_true(real_at(root, "aggregation.groups.0.result") == 2500.0);
	report_free(f.r);
}

static void functions_add_up(void **state)
{
	struct query_fixture f = begin(state);
	struct diag d = { 0 };

	f.q.kinds = event_kinds_by_name("sched_switch");
	assert_int_equal(query_parse_fn("max:timestamp", &f.q, &d), 0);
	assert_true(report_at(ask(&f), "aggregation.result")->i64 == 4000);
	assert_int_equal(query_parse_fn("p50:timestamp", &f.q, &d), 0);
	expect_eq(num_at(ask(&f), "aggregation.result"), 2000);
	assert_int_equal(query_parse_fn("sum:prev_state", &f.q, &d), 0);
	assert_true(real_at(ask(&f), "aggregation.result") == 3.0);
	assert_int_equal(query_parse_fn("count", &f.q, &d), 0);
	f.q.fn_field[0] = '\0';
	expect_eq(num_at(ask(&f), "aggregation.result"), 4);
	f.q.kinds = event_kinds_by_name("cpu_idle");
	assert_int_equal(query_parse_fn("min:state", &f.q, &d), 0);
	assert_true(is_null_at(ask(&f), "aggregation.result"));
	report_free(f.r);
}

static void wrong_words_are_named(void **state)
{
	static const char *const bad[] = { "",         "=5",         "nothing=5",
		                           "prev_pid", "prev_pid<>", "prev_pid5" };
	struct query q = { 0 };
	struct diag d;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int err;

		d = (struct diag){ 0 };
		err = query_parse_where(bad[i], &q, &d);
		assert_int_equal(err, -EINVAL);
		assert_true(d.what[0]);
	}
	d = (struct diag){ 0 };
	assert_int_equal(query_parse_where("prio<5x", &q, &d), -EINVAL);
	d = (struct diag){ 0 };
	assert_int_equal(query_parse_where("prio=", &q, &d), -EINVAL);
	assert_string_equal(d.what, "prio is a number, and '' is not");
	assert_int_equal(query_parse_where("comm=", &q, &d), 0); /* a name may be empty */
	assert_int_equal(query_parse_where("prio~1", &q, &d), 0);
	d = (struct diag){ 0 };
	assert_int_equal(query_parse_fn("median:prio", &q, &d), -EINVAL);
	assert_string_equal(d.what, "'median' is not a function");
	d = (struct diag){ 0 };
	assert_int_equal(query_parse_select("cpu,bogus", &q, &d), -EINVAL);
	assert_string_equal(d.what, "no event has a field 'bogus'");
	d = (struct diag){ 0 };
	assert_int_equal(query_parse_sort("cpu:up", &q, &d), -EINVAL);
	expect_eq(event_kinds_by_name("sched_swtich"), 0);
}

static void published_operators_work_by_name(void **state)
{
	enum query_op op;

	(void)state;
	assert_true(query_op_by_name("greater_or_equal", &op) && op == QUERY_GE);
	assert_true(query_op_by_name("contains", &op) && op == QUERY_CONTAINS);
	assert_false(query_op_by_name("like", &op));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(everything_comes_in_time_order),
		CASE(all_filters_hold_together),
		CASE(a_tid_is_found_in_any_part_of_an_event),
		CASE(conditions_compare_numbers_and_texts),
		CASE(names_are_chosen_by_patterns),
		CASE(pages_follow_each_other),
		CASE(sorting_reads_all_before_it_cuts),
		CASE(sorting_keeps_records_whole),
		CASE(groups_count_all_whatever_the_limit),
		CASE(functions_add_up),
		cmocka_unit_test(wrong_words_are_named),
		cmocka_unit_test(published_operators_work_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
