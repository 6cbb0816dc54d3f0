/* Stacks of a trace as analyses see them: what recorders put around names is gone. */
#include "../unit.h"

#include <string.h>

#include "record/frame_names.h"
#include "record/recording_stacks.h"
#include "trace/reader.h"

static const struct frame_namer nobody;

static void names_are_bare_and_modules_have_no_path(void **state)
{
	static const struct trace_frame frames[] = {
		{ .name = "[K] schedule", .mapping = "", .file = "", .is_kernel = true },
		{ .name = "[U] main", .mapping = "/usr/bin/server", .file = "main.c", .line = 3 },
		{ .name = "[U] <unknown>", .mapping = "[vdso]", .file = "", .rel_pc = 9 },
		{ .name = "tiny", .mapping = "dir/", .file = "", .is_inlined = true },
	};
	static const uint32_t stack_frames[] = { 0, 1, 2, 3 };
	static const struct trace_stack stacks[] = { { 0, 4 } };
	static const struct trace_sample samples[] = {
		{ .ts_ns = 5, .tid = 7, .cpu = 1, .kind = TRACE_SAMPLE_OFFCPU },
		{ .ts_ns = 6,
		  .tid = 7,
		  .cpu = ~0U,
		  .stack = ~0U,
		  .event = 2,
		  .kind = TRACE_SAMPLE_OTHER },
		{ .ts_ns = 7, .kind = TRACE_SAMPLE_WAKER },
		{ .ts_ns = 8, .event = 1, .kind = TRACE_SAMPLE_CPU },
	};
	static const char *const events[] = { "", "cycles", "page-faults" };
	const struct trace_info info = { .samples = samples,
		                         .nr_samples = 4,
		                         .stacks = stacks,
		                         .nr_stacks = 1,
		                         .stack_frames = stack_frames,
		                         .frames = frames,
		                         .nr_frames = 4,
		                         .sample_events = events,
		                         .nr_sample_events = 3,
		                         .sampling_frequency = 99 };
	struct recording_stacks *s = NULL;
	const struct source_stacks *view;

	(void)state;
	assert_int_equal(recording_stacks_new(&info, &nobody, &s), 0);
	view = recording_stacks_get(s);
	assert_string_equal(view->frames[0].name, "schedule");
	assert_string_equal(view->frames[0].module, "kernel");
	assert_string_equal(view->frames[1].name, "main");
	assert_string_equal(view->frames[1].module, "server");
	expect_eq(view->frames[1].line, 3);
	assert_string_equal(view->frames[2].name, "");
	assert_string_equal(view->frames[2].module, "[vdso]");
	expect_eq(view->frames[2].address, 9);
	assert_string_equal(view->frames[3].module, "dir/");
	assert_true(view->frames[3].is_inlined && view->frames[0].is_kernel);
	expect_eq(view->samples[0].kind, SOURCE_STACK_OFF_CPU);
	expect_eq(view->samples[1].kind, SOURCE_STACK_OTHER);
	expect_eq(view->samples[2].kind, SOURCE_STACK_WAKER);
	expect_eq(view->samples[3].kind, SOURCE_STACK_CPU);
	for (int kind = 0; kind < SOURCE_STACK_OTHER; kind++)
		expect_eq(view->nr_of[kind], 1);
	expect_eq(view->nr_events, 1);
	assert_string_equal(view->events[0].name, "page-faults");
	expect_eq(view->events[0].count, 1);
	expect_eq(view->stacks[0].nr, 4);
	assert_string_equal(view->event, "cycles");
	expect_eq(view->frequency, 99);
	recording_stacks_free(s);
}

static void without_samples_there_is_nothing(void **state)
{
	const struct trace_info info = { 0 };
	struct recording_stacks *s = NULL;

	(void)state;
	assert_int_equal(recording_stacks_new(&info, &nobody, &s), 0);
	assert_null(s);
	assert_null(recording_stacks_get(s));
	recording_stacks_free(s);
}

/* Two events that both tell of CPUs: the one with more samples does, the other one is apart. */
static void events_are_not_mixed(void **state)
{
	static const char *const events[] = { "", "cpu-clock", "cycles", "page-faults" };
	static const struct trace_sample samples[] = {
		{ .event = 2, .kind = TRACE_SAMPLE_CPU },
		{ .event = 1, .kind = TRACE_SAMPLE_CPU },
		{ .event = 3, .kind = TRACE_SAMPLE_OTHER },
		{ .event = 1, .kind = TRACE_SAMPLE_CPU },
		{ .event = 3, .kind = TRACE_SAMPLE_OTHER },
		{ .event = 3, .kind = TRACE_SAMPLE_OTHER },
	};
	const struct trace_info info = {
		.samples = samples, .nr_samples = 6, .sample_events = events, .nr_sample_events = 4
	};
	const struct source_stacks *view;
	struct recording_stacks *s = NULL;

	(void)state;
	assert_int_equal(recording_stacks_new(&info, &nobody, &s), 0);
	view = recording_stacks_get(s);
	assert_string_equal(view->event, "cpu-clock");
	expect_eq(view->nr_of[SOURCE_STACK_CPU], 2);
	expect_eq(view->nr_events, 2);
	assert_string_equal(view->events[0].name, "cycles");
	assert_string_equal(view->events[1].name, "page-faults");
	expect_eq(view->events[1].count, 3);
	expect_eq(view->samples[5].kind, SOURCE_STACK_OTHER + 1);
	recording_stacks_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_bare_and_modules_have_no_path),
		cmocka_unit_test(without_samples_there_is_nothing),
		cmocka_unit_test(events_are_not_mixed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
