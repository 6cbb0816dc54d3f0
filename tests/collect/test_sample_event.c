#include "../unit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/cleanup.h"
#include "collect/sample/sample_event.h"

static void expect_software(const char *text, uint64_t config, const char *name)
{
	SCOPED(sample_event_done) struct sample_event e = { 0 };
	struct diag d = { 0 };

	expect_eq(sample_event_parse(text, &e, &d), 0);
	expect_eq(e.kind, SAMPLE_PERF);
	assert_true(e.is_software);
	assert_false(e.is_default);
	expect_eq(e.pmu.nr, 1);
	expect_eq(e.pmu.items[0].type, PERF_TYPE_SOFTWARE);
	expect_eq(e.pmu.items[0].config, config);
	assert_string_equal(e.name, name);
}

static void expect_refused(const char *text, int err, const char *words)
{
	struct sample_event e = { 0 };
	struct diag d = { 0 };
	char line[600];

	expect_eq(sample_event_parse(text, &e, &d), err);
	expect_eq(d.code, err);
	diag_format(&d, line, sizeof(line));
	if (!strstr(line, words))
		fail_msg("no '%s' in: %s", words, line);
}

/* Whether this machine has a PMU or not: never an unknown event. */
static void expect_hardware(const char *text)
{
	SCOPED(sample_event_done) struct sample_event e = { 0 };
	struct diag d = { 0 };
	int err = sample_event_parse(text, &e, &d);

	if (err) {
		expect_eq(err, -ENOTSUP);
		assert_non_null(strstr(d.what, "no hardware counters"));
		return;
	}
	expect_eq(e.kind, SAMPLE_PERF);
	assert_false(e.is_software);
	assert_true(e.pmu.nr > 0);
}

static void software_events_are_known_with_and_without_a_prefix(void **state)
{
	(void)state;
	expect_software("cpu-clock", PERF_COUNT_SW_CPU_CLOCK, "cpu-clock");
	expect_software("sw:cpu-clock", PERF_COUNT_SW_CPU_CLOCK, "cpu-clock");
	expect_software("software:task-clock", PERF_COUNT_SW_TASK_CLOCK, "task-clock");
	expect_software("context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES, "context-switches");
	expect_software("sw:page-faults", PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	expect_software("minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN, "minor-faults");
	expect_software("major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ, "major-faults");
	expect_software("migrations", PERF_COUNT_SW_CPU_MIGRATIONS, "cpu-migrations");
}

static void aliases_and_upper_case_mean_the_same(void **state)
{
	(void)state;
	expect_software("cs", PERF_COUNT_SW_CONTEXT_SWITCHES, "context-switches");
	expect_software("SW:CS", PERF_COUNT_SW_CONTEXT_SWITCHES, "context-switches");
	expect_software("faults", PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	expect_software("cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS, "cpu-migrations");
	expect_software("CPU_CLOCK", PERF_COUNT_SW_CPU_CLOCK, "cpu-clock");
	expect_software("Software:Cpu-Clock", PERF_COUNT_SW_CPU_CLOCK, "cpu-clock");
}

static void the_clock_that_others_call_hardware_is_taken_for_what_it_is(void **state)
{
	(void)state;
	expect_software("hw:cpu-clock", PERF_COUNT_SW_CPU_CLOCK, "cpu-clock");
}

static void hardware_events_are_known_on_every_machine(void **state)
{
	static const char *const names[] = {
		"cycles",
		"hw:cycles",
		"hardware:cpu-cycles",
		"CPU_CYCLES",
		"instructions",
		"hw:instr",
		"branches",
		"branch-instructions",
		"hw:branch-misses",
		"cache-misses",
		"cache-references",
		"ref-cycles",
		"stalled-cycles-backend",
		"stalled-cycles-frontend",
		"bus-cycles",
		"bus_cycles",
		"HW:Cycles",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		expect_hardware(names[i]);
}

static void what_is_unknown_is_named_with_what_is_near(void **state)
{
	(void)state;
	expect_refused("cpu-clok", -ENOENT, "did you mean cpu-clock?");
	expect_refused("sw:page-fault", -ENOENT, "no software event 'page-fault'");
	expect_refused("hw:zzzzzzzz", -ENOENT, "no hardware event 'zzzzzzzz'");
	expect_refused("sw:cycles", -ENOENT, "'cycles' is not a software event");
	expect_refused("hw:", -EINVAL, "is not an event");
	expect_refused("sw:", -ENOENT, "no software event ''");
	expect_refused("a b", -EINVAL, "is not an event");
	expect_refused("\x1b[2J", -EINVAL, "?[2J");
}

static void tracepoints_and_uprobes_are_taken_apart(void **state)
{
	struct sample_event e = { 0 };

	(void)state;
	expect_eq(sample_event_parse("tracepoint:sched:sched_switch", &e, NULL), 0);
	expect_eq(e.kind, SAMPLE_TRACEPOINT);
	assert_string_equal(e.spec, "sched:sched_switch");
	assert_string_equal(e.name, "tracepoint:sched:sched_switch");
	expect_eq(sample_event_parse("Tracepoint:SCHED:sched_Switch", &e, NULL), 0);
	assert_string_equal(e.spec, "sched:sched_switch");
	expect_eq(sample_event_parse("UPROBE:/usr/Bin/X:Main", &e, NULL), 0);
	expect_eq(e.kind, SAMPLE_UPROBE);
	assert_string_equal(e.spec, "/usr/Bin/X:Main");
	assert_string_equal(e.name, "uprobe:/usr/Bin/X:Main");
	expect_eq(sample_event_parse("uprobe:ret:libc:malloc", &e, NULL), 0);
	assert_string_equal(e.spec, "ret:libc:malloc");
}

static void malformed_probes_are_refused(void **state)
{
	char text[2048];

	(void)state;
	expect_refused("tracepoint:sched", -EINVAL, "is not a tracepoint");
	expect_refused("tracepoint:", -EINVAL, "is not a tracepoint");
	expect_refused("uprobe:/bin/x", -EINVAL, "is not a uprobe");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memcpy(text, "uprobe:", 7);
	expect_refused(text, -EINVAL, "too long");
	memcpy(text, "tracepoint:", 11);
	expect_refused(text, -EINVAL, "too long");
	memcpy(text, "xxxxxxxxxxx", 11);
	expect_refused(text, -EINVAL, "is not an event");
}

static void off_cpu_and_waker_have_words_of_their_own(void **state)
{
	static const struct {
		const char *text;
		enum sample_kind kind;
		const char *name;
	} words[] = {
		{ "off-cpu", SAMPLE_OFF_CPU, "off-cpu" }, { "offcpu", SAMPLE_OFF_CPU, "off-cpu" },
		{ "OFF_CPU", SAMPLE_OFF_CPU, "off-cpu" }, { "waker", SAMPLE_WAKER, "waker" },
		{ "Wakers", SAMPLE_WAKER, "waker" },
	};
	struct sample_event e = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		expect_eq(sample_event_parse(words[i].text, &e, NULL), 0);
		expect_eq(e.kind, words[i].kind);
		assert_string_equal(e.name, words[i].name);
	}
}

static void nothing_asked_for_is_cycles_or_the_clock_with_a_reason(void **state)
{
	static const char *const nothing[] = { NULL, "" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		SCOPED(sample_event_done) struct sample_event e = { 0 };

		expect_eq(sample_event_parse(nothing[i], &e, NULL), 0);
		assert_true(e.is_default);
		if (e.why_default) {
			assert_string_equal(e.name, "cpu-clock");
			assert_true(e.is_software);
		} else {
			assert_string_equal(e.name, "cycles");
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(software_events_are_known_with_and_without_a_prefix),
		cmocka_unit_test(aliases_and_upper_case_mean_the_same),
		cmocka_unit_test(the_clock_that_others_call_hardware_is_taken_for_what_it_is),
		cmocka_unit_test(hardware_events_are_known_on_every_machine),
		cmocka_unit_test(what_is_unknown_is_named_with_what_is_near),
		cmocka_unit_test(tracepoints_and_uprobes_are_taken_apart),
		cmocka_unit_test(malformed_probes_are_refused),
		cmocka_unit_test(off_cpu_and_waker_have_words_of_their_own),
		cmocka_unit_test(nothing_asked_for_is_cycles_or_the_clock_with_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
