#include "../unit.h"

#include <errno.h>
#include <string.h>

#include "model/trigger.h"

static struct trigger parsed(const char *text)
{
	struct trigger t;
	struct diag d = { 0 };

	expect_eq(trigger_parse(text, &d, &t), 0);
	return t;
}

static void expect_refused(const char *text, const char *what)
{
	struct trigger t = { .limit = 42 };
	struct diag d = { 0 };

	assert_int_equal(trigger_parse(text, &d, &t), -EINVAL);
	if (!strstr(d.what, what))
		fail_msg("'%s' was refused with: %s", text, d.what);
	assert_true(d.hint[0]);
	expect_eq(t.limit, 42);
}

static void times_have_units(void **state)
{
	(void)state;
	expect_eq(parsed("wakeup-latency>5ms").kind, TRIGGER_WAKEUP_LATENCY);
	expect_eq(parsed("wakeup-latency>5ms").limit, 5000000);
	expect_eq(parsed("sleep>1.5s").limit, 1500000000);
	expect_eq(parsed("slice>250us").limit, 250000);
	expect_eq(parsed("dsq-latency>7ns").kind, TRIGGER_DSQ_LATENCY);
	expect_refused("slice>5", "'5' is not a time");
	expect_refused("slice>", "'' is not a time");
	expect_refused("slice>-5ms", "is not a time");
	expect_refused("slice>5 ms", "is not a time");
	expect_refused("slice>99999999999h", "is not a time");
}

static void depths_are_numbers(void **state)
{
	(void)state;
	expect_eq(parsed("queue-depth>8").kind, TRIGGER_QUEUE_DEPTH);
	expect_eq(parsed("queue-depth>8").limit, 8);
	expect_refused("queue-depth>8ms", "'8ms' is not a number");
	expect_eq(parsed("lost>0").kind, TRIGGER_LOST);
	expect_refused("lost>1s", "'1s' is not a number");
	expect_refused("lost>0,comm=a", "lost events are of no task");
}

static void an_ejection_is_all_words(void **state)
{
	(void)state;
	expect_eq(parsed("scx-eject").kind, TRIGGER_SCX_EJECT);
	expect_eq(parsed("throttled>50ms").kind, TRIGGER_THROTTLED);
	expect_refused("scx-eject>5ms", "neither limit nor conditions");
	expect_refused("scx-eject,comm=a", "neither limit nor conditions");
	expect_refused("scx-ejected", "has no '>'");
	expect_refused("throttled", "has no '>'");
}

static void conditions_are_kept(void **state)
{
	struct trigger t = parsed("slice>20ms,comm=nginx*,pid=123,tid=124,cgroup=/web/*");

	(void)state;
	assert_string_equal(t.comm, "nginx*");
	assert_string_equal(t.cgroup, "/web/*");
	expect_eq(t.tgid, 123);
	expect_eq(t.tid, 124);
	t = parsed("slice>20ms");
	assert_string_equal(t.comm, "");
	expect_eq(t.tgid + t.tid, 0);
	expect_refused("slice>1ms,", "'' is not a condition");
	expect_refused("slice>1ms,comm=", "is not a condition");
	expect_refused("slice>1ms,cgroup=", "is not a condition");
	expect_refused("slice>1ms,comm=/(/", "pattern '(' is wrong");
	expect_refused("slice>1ms,cgroup=/[/", "pattern '[' is wrong");
	expect_refused("slice>1ms,cgroup=a,cgroup=b", "is given twice");
	expect_refused("slice>1ms,pid=0", "is not a condition");
	expect_refused("slice>1ms,pid=4194305", "is not a condition");
	expect_refused("slice>1ms,pid=12x", "is not a condition");
	expect_refused("slice>1ms,pid=1,pid=2", "is given twice");
	expect_refused("slice>1ms,cpu=1", "'cpu=1' is not a condition");
}

static void a_uprobe_has_a_file_and_a_symbol(void **state)
{
	struct trigger t = parsed("uprobe:/opt/a:b>c/prog:handle_request>10ms,pid=7");

	(void)state;
	expect_eq(t.kind, TRIGGER_UPROBE);
	assert_string_equal(t.path, "/opt/a:b>c/prog");
	assert_string_equal(t.symbol, "handle_request");
	expect_eq(t.limit, 10000000);
	expect_eq(t.tgid, 7);
	expect_refused("uprobe:/opt/prog>10ms", "is not uprobe:FILE:SYMBOL");
	expect_refused("uprobe:/opt/prog:>10ms", "is not uprobe:FILE:SYMBOL");
	expect_refused("uprobe::f>10ms", "is not uprobe:FILE:SYMBOL");
	/* Neither a place inside a function nor a return alone takes time. */
	expect_refused("uprobe:/opt/prog:f+4>10ms", "is not uprobe:FILE:SYMBOL");
	expect_refused("uprobe:/opt/prog:f%return>10ms", "is not uprobe:FILE:SYMBOL");
	expect_refused("uprobe:ret:/opt/prog:f>10ms", "is not uprobe:FILE:SYMBOL");
}

static void other_words_are_shown_with_the_nearest(void **state)
{
	struct trigger t;
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(trigger_parse("slep>1s", &d, &t), -EINVAL);
	assert_string_equal(d.hint, "did you mean 'sleep'?");
	expect_refused("wakeup-latency", "has no '>'");
	expect_refused("", "has no '>'");
	expect_refused("requested>1s", "is not a trigger");
	expect_refused("\033[1m>1s", "'?[1m' is not a trigger");
}

static void what_does_not_fit_is_refused(void **state)
{
	char text[2 * TRIGGER_PATH_LEN];

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text, "slice>1ms,comm=", 15);
	text[15 + TRIGGER_COMM_LEN] = '\0';
	expect_refused(text, "is not a condition");
	memset(text, 'x', sizeof(text));
	memcpy(text, "uprobe:", 7);
	memcpy(text + 7 + TRIGGER_PATH_LEN, ":f>1s", 6);
	expect_refused(text, "is not uprobe:FILE:SYMBOL");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_have_units),
		cmocka_unit_test(depths_are_numbers),
		cmocka_unit_test(an_ejection_is_all_words),
		cmocka_unit_test(conditions_are_kept),
		cmocka_unit_test(a_uprobe_has_a_file_and_a_symbol),
		cmocka_unit_test(other_words_are_shown_with_the_nearest),
		cmocka_unit_test(what_does_not_fit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
