#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "abi/event.h"
#include "collect/probe_spec.h"

static int parse(uint32_t type, const char *text, struct probe_spec *out)
{
	struct events_probe probe = { .type = type, .spec = text };
	struct diag d = { 0 };
	int err = probe_spec_parse(&probe, out, &d);

	if (err) {
		expect_eq(err, -EINVAL);
		assert_non_null(strstr(d.what, text)); /* it is named */
	}
	return err;
}

static void a_kprobe_is_a_function(void **state)
{
	struct probe_spec s;

	(void)state;
	expect_eq(parse(EV_PROBE_KPROBE, "do_exit.isra.0", &s), 0);
	expect_eq(s.type, EV_PROBE_KPROBE);
	assert_string_equal(s.symbol, "do_exit.isra.0");
	assert_string_equal(s.name, "do_exit.isra.0");
	assert_string_equal(s.path, "");
	expect_eq(parse(EV_PROBE_KPROBE, "", &s), -EINVAL);
	expect_eq(parse(EV_PROBE_KPROBE, "do exit", &s), -EINVAL);
	expect_eq(parse(EV_PROBE_KPROBE, "vfs:read", &s), -EINVAL);
}

static void a_uprobe_has_a_path_and_a_symbol(void **state)
{
	struct probe_spec s;

	(void)state;
	expect_eq(parse(EV_PROBE_UPROBE, "/lib/a:b/libc.so.6:malloc", &s), 0);
	expect_eq(s.type, EV_PROBE_UPROBE);
	assert_string_equal(s.path, "/lib/a:b/libc.so.6");
	assert_string_equal(s.symbol, "malloc");
	assert_string_equal(s.name, "libc.so.6:malloc");
	expect_eq(s.offset, 0);
	expect_eq(parse(EV_PROBE_UPROBE, "libc.so.6:malloc", &s), 0);
	assert_string_equal(s.path, "libc.so.6");
}

static void a_uprobe_may_have_an_offset(void **state)
{
	struct probe_spec s;

	(void)state;
	expect_eq(parse(EV_PROBE_UPROBE, "/bin/g++:main+0x1c", &s), 0);
	expect_eq(s.offset, 28);
	assert_string_equal(s.path, "/bin/g++");
	assert_string_equal(s.symbol, "main");
	assert_string_equal(s.name, "g++:main+0x1c");
	expect_eq(parse(EV_PROBE_UPROBE, "/bin/x:main+28", &s), 0);
	expect_eq(s.offset, 28);
	expect_eq(parse(EV_PROBE_UPROBE, "/bin/x:main+", &s), -EINVAL);
	expect_eq(parse(EV_PROBE_UPROBE, "/bin/x:main+-1", &s), -EINVAL);
	expect_eq(parse(EV_PROBE_UPROBE, "/bin/x:main+28x", &s), -EINVAL);
	expect_eq(parse(EV_PROBE_UPROBE, "/bin/x:main+0x10000000000000000", &s), -EINVAL);
}

static void a_return_is_said_in_front_or_behind(void **state)
{
	static const char *const both[] = { "ret:/bin/x:main", "/bin/x:main%return",
		                            "ret:/bin/x:main%return" };
	struct probe_spec s;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		expect_eq(parse(EV_PROBE_UPROBE, both[i], &s), 0);
		expect_eq(s.type, EV_PROBE_URETPROBE);
		assert_string_equal(s.path, "/bin/x");
		assert_string_equal(s.symbol, "main");
		assert_string_equal(s.name, "x:main%return");
	}
	expect_eq(parse(EV_PROBE_UPROBE, "ret:/bin/x:main+4", &s), -EINVAL);
}

static void what_is_no_uprobe_is_named(void **state)
{
	static const char *const bad[] = { "",        ":",           "main", "/bin/x:",
		                           ":main",   "/bin/:main",  "ret:", "ret:main",
		                           "%return", "/bin/x:ma in" };
	struct probe_spec s;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_eq(parse(EV_PROBE_UPROBE, bad[i], &s), -EINVAL);
}

static void a_tracepoint_has_two_names(void **state)
{
	struct probe_spec s;

	(void)state;
	expect_eq(parse(EV_PROBE_TRACEPOINT, "sched:sched_process_exec", &s), 0);
	assert_string_equal(s.path, "sched");
	assert_string_equal(s.symbol, "sched_process_exec");
	assert_string_equal(s.name, "sched:sched_process_exec");
	expect_eq(parse(EV_PROBE_TRACEPOINT, "sched_switch", &s), -EINVAL);
	expect_eq(parse(EV_PROBE_TRACEPOINT, "sched:", &s), -EINVAL);
	expect_eq(parse(EV_PROBE_TRACEPOINT, "../x:y", &s), -EINVAL);
	expect_eq(parse(EV_PROBE_TRACEPOINT, "a:b:c", &s), -EINVAL);
}

/* Sizes around each limit: whatever fits comes out whole, the rest is refused. */
static void long_words_are_refused_and_long_names_keep_their_end(void **state)
{
	char text[3000];
	struct probe_spec s;
	struct events_probe probe = { .type = EV_PROBE_UPROBE, .spec = text };

	(void)state;
	for (int len = 1; len < 1100; len++) {
		(void)snprintf(text, sizeof(text), "/%0*d:f", len, 1);
		expect_eq(probe_spec_parse(&probe, &s, NULL) == 0, len + 1 < PROBE_PATH_LEN);
	}
	for (int len = 1; len < 300; len++) {
		(void)snprintf(text, sizeof(text), "/x:%0*d", len, 1);
		expect_eq(probe_spec_parse(&probe, &s, NULL) == 0, len < PROBE_SYMBOL_LEN);
	}
	(void)snprintf(text, sizeof(text), "/%0255d:%0200d", 0, 7);
	expect_eq(probe_spec_parse(&probe, &s, NULL), 0);
	expect_eq(strlen(s.name), PROBE_NAME_LEN - 1);
	expect_eq(s.name[PROBE_NAME_LEN - 2], '7');
}

static void there_is_a_most(void **state)
{
	struct events_probe probes[PROBES_MAX + 1];
	struct diag d = { 0 };

	(void)state;
	for (int i = 0; i <= PROBES_MAX; i++)
		probes[i] = (struct events_probe){ EV_PROBE_KPROBE, (uint32_t)i, "f" };
	expect_eq(probe_spec_check(probes, PROBES_MAX, &d), 0);
	expect_eq(probe_spec_check(probes, PROBES_MAX + 1, &d), -EINVAL);
	assert_non_null(strstr(d.what, "65 probes"));
	expect_eq(probe_spec_check(NULL, 0, &d), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kprobe_is_a_function),
		cmocka_unit_test(a_uprobe_has_a_path_and_a_symbol),
		cmocka_unit_test(a_uprobe_may_have_an_offset),
		cmocka_unit_test(a_return_is_said_in_front_or_behind),
		cmocka_unit_test(what_is_no_uprobe_is_named),
		cmocka_unit_test(a_tracepoint_has_two_names),
		cmocka_unit_test(long_words_are_refused_and_long_names_keep_their_end),
		cmocka_unit_test(there_is_a_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
