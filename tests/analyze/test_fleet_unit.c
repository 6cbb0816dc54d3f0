/* Recordings of several hosts: compared as sets (analyze/diff_fleet), and in one table (analyses/side_by_side). */
#include "pass_fixture.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyses/side_by_side.h"
#include "analyze/diff_fleet.h"

#define US 1000ULL

/* A task that is woken each ms, waits for wait_us and a little more or less, and runs for 100 us; for a second. */
static struct pass_fixture *recorded(const char *host, uint64_t wait_us)
{
	struct pass_fixture *p;
	uint64_t t = 1000 * US;
	void *made;

	pass_setup(&made);
	p = made;
	forked(&p->f, t, 1, 10, "task");
	sw(&p->f, t, 0, 5, 0, EV_STATE_S);
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t at = t + (1 + i) * 1000 * US, wait = (wait_us + i % 7) * US;

		waking(&p->f, at, 0, 10, 0);
		sw(&p->f, at + wait, 0, 0, 10, EV_STATE_RUNNABLE);
		sw(&p->f, at + wait + 100 * US, 0, 10, 0, EV_STATE_S);
	}
	finish(p, t + (1002 * 1000 + wait_us) * US);
	p->facts.host = host;
	return p;
}

static void give_back(struct pass_fixture *p)
{
	void *made = p;

	pass_teardown(&made);
}

static void add(struct diff_fleet *f, int side, const char *host, uint64_t wait_us)
{
	struct pass_fixture *p = recorded(host, wait_us);
	struct diag d = { 0 };

	expect_eq(diff_fleet_add(f, side, &p->source, &p->args, &d), 0);
	give_back(p);
}

static void hosts_before_and_after_are_compared(void **state)
{
	static const char *const hosts[] = { "h1", "h2", "h3", "h4" };
	struct diff_fleet *f = diff_fleet_new();
	struct report *r = NULL;
	const struct report_node *root;
	struct diag d = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 4; i++) {
		add(f, 0, hosts[i], 50 + i);
		add(f, 1, hosts[i], 90 + i);
	}
	expect_eq(diff_fleet_report(f, &(struct diff_fleet_cfg){ .has_noise = true }, &d, &r), 0);
	root = report_root(r);
	assert_string_equal(text_at(root, "unit"), "host");
	expect_eq(num_at(root, "a.recordings"), 4);
	expect_eq(num_at(root, "b.hosts"), 4);
	assert_string_equal(text_at(root, "overall.0.metric"), "wakeup_latency_mean_us");
	assert_string_equal(text_at(root, "overall.0.verdict"), "worse");
	assert_true(fabs(real_at(root, "overall.0.a") - 54.5) < 0.3); /* 50..53, and 3 */
	assert_true(fabs(real_at(root, "overall.0.b") - 94.5) < 0.3);
	assert_non_null(strstr(text_at(root, "note"), "each host is one value"));
	report_free(r);
	diff_fleet_free(f);
}

static void a_label_names_the_host(void **state)
{
	static const struct source_label label = { "host", "rack7" };
	struct source_facts facts = { .host = "localhost", .labels = &label, .nr_labels = 1 };

	(void)state;
	assert_string_equal(source_host(&facts), "rack7");
	facts.nr_labels = 0;
	assert_string_equal(source_host(&facts), "localhost");
	facts.host = NULL;
	assert_null(source_host(&facts));
}

static void the_same_recording_twice_is_refused(void **state)
{
	struct diff_fleet *f = diff_fleet_new();
	struct pass_fixture *p = recorded("h1", 50);
	struct report *r = NULL;
	struct diag d = { 0 };

	(void)state;
	expect_eq(diff_fleet_report(f, &(struct diff_fleet_cfg){ 0 }, &d, &r), -EINVAL);
	d = (struct diag){ 0 };
	p->facts.name = "x.pftrace";
	expect_eq(diff_fleet_add(f, 0, &p->source, &p->args, &d), 0);
	expect_eq(diff_fleet_add(f, 0, &p->source, &p->args, &d), -EINVAL);
	assert_non_null(strstr(d.what, "'x.pftrace' is in --a twice"));
	expect_eq(diff_fleet_add(f, 1, &p->source, &p->args, &d),
	          0); /* the other side may have it */
	expect_eq(diff_fleet_report(f, &(struct diff_fleet_cfg){ 0 }, &d, &r), 0);
	assert_string_equal(text_at(report_root(r), "unit"), "part");
	expect_eq(num_at(report_root(r), "changes_found"), 0);
	report_free(r);
	give_back(p);
	diff_fleet_free(f);
}

static void a_table_has_a_row_for_each(void **state)
{
	static const struct source_label label = { "role", "web" };
	struct side_by_side *t = side_by_side_new();
	struct pass_fixture *a = recorded("h1", 50), *b = recorded(NULL, 90);
	const struct report_node *root;
	struct report *r = NULL;
	struct diag d = { 0 };

	(void)state;
	a->facts.unix_ns = 2000 * US;
	a->facts.labels = &label;
	a->facts.nr_labels = 1;
	b->facts.unix_ns = 500 * US;
	expect_eq(side_by_side_add(t, &a->source, &a->args, &d), 0);
	expect_eq(side_by_side_add(t, &b->source, &b->args, &d), 0);
	expect_eq(side_by_side_report(t, &d, &r), 0);
	root = report_root(r);
	expect_eq(num_at(root, "hosts"), 1);
	expect_eq(len_at(root, "recordings"), 2);
	assert_string_equal(text_at(root, "recordings.0.metadata"), "role=web");
	expect_eq(num_at(root, "recordings.0.after_first_ns"), 1500 * US);
	expect_eq(num_at(root, "recordings.0.wakeups"), 1000);
	expect_eq(num_at(root, "recordings.0.max_latency_ns"), 56 * US);
	assert_true(is_null_at(root, "recordings.1.host"));
	assert_true(is_null_at(root, "recordings.1.metadata"));
	expect_eq(num_at(root, "recordings.1.after_first_ns"), 0);
	expect_eq(num_at(root, "recordings.1.max_latency_ns"), 96 * US);
	report_free(r);
	give_back(a);
	give_back(b);
	side_by_side_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_before_and_after_are_compared),
		cmocka_unit_test(a_label_names_the_host),
		cmocka_unit_test(the_same_recording_twice_is_refused),
		cmocka_unit_test(a_table_has_a_row_for_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
