/* Stacks of a trace as analyses see them: what recorders put around names is gone. */
#include "../unit.h"

#include <string.h>

#include "session/recording_stacks.h"
#include "trace/reader.h"

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
		{ .ts_ns = 6, .tid = 7, .cpu = ~0U, .stack = ~0U, .kind = TRACE_SAMPLE_OTHER },
		{ .ts_ns = 7, .kind = TRACE_SAMPLE_WAKER },
		{ .ts_ns = 8, .kind = TRACE_SAMPLE_CPU },
	};
	const struct trace_info info = { .samples = samples,
		                         .nr_samples = 4,
		                         .stacks = stacks,
		                         .nr_stacks = 1,
		                         .stack_frames = stack_frames,
		                         .frames = frames,
		                         .nr_frames = 4,
		                         .sampled_event = "cycles",
		                         .sampling_frequency = 99 };
	struct recording_stacks *s = NULL;
	const struct source_stacks *view;

	(void)state;
	assert_int_equal(recording_stacks_new(&info, &s), 0);
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
	for (int kind = 0; kind < SOURCE_STACK_KINDS; kind++)
		expect_eq(view->nr_of[kind], 1);
	expect_eq(view->stacks[0].nr, 4);
	assert_string_equal(view->event, "cycles");
	expect_eq(view->frequency, 99);
	recording_stacks_free(s);
}

static void without_samples_there_is_nothing(void **state)
{
	const struct trace_info info = { .sampled_event = "" };
	struct recording_stacks *s = NULL;

	(void)state;
	assert_int_equal(recording_stacks_new(&info, &s), 0);
	assert_null(s);
	assert_null(recording_stacks_get(s));
	recording_stacks_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_bare_and_modules_have_no_path),
		cmocka_unit_test(without_samples_there_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
