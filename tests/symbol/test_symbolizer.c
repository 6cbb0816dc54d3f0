#include "../unit.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "symbol/symbolizer.h"

static struct symbolizer *opened(bool wants_lines)
{
	const struct symbolizer_cfg cfg = { .wants_lines = wants_lines };
	struct symbolizer *s = NULL;
	struct diag d = { 0 };

	expect_eq(symbolizer_new(&cfg, &d, &s), 0);
	return s;
}

static uint64_t address_of(void (*function)(void **state))
{
	return (uint64_t)(uintptr_t)function;
}

static int open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

static void this_process_without_being_met(void **state)
{
	SCOPED(scoped_symbolizer) struct symbolizer *s = opened(true);
	struct symbol_frame f[SYMBOL_FRAMES_MAX];
	uint64_t address = address_of(this_process_without_being_met);
	uint32_t nr;

	(void)state;
	nr = symbolizer_frames(s, (uint32_t)getpid(), clock_boot_ns(), address, f);
	assert_true(nr >= 1);
	assert_string_equal(f[nr - 1].name, "this_process_without_being_met");
	assert_string_equal(f[nr - 1].module, program_invocation_short_name);
	expect_eq(f[nr - 1].start, address);
}

static void what_no_one_knows_is_one_frame(void **state)
{
	SCOPED(scoped_symbolizer) struct symbolizer *s = opened(false);
	struct symbol_frame f[SYMBOL_FRAMES_MAX];

	(void)state;
	expect_eq(symbolizer_frames(s, (uint32_t)getpid(), clock_boot_ns(), 8, f), 1);
	assert_null(f[0].name);
	assert_string_equal(f[0].module, "unknown");
	expect_eq(symbolizer_frames(s, UINT32_MAX, clock_boot_ns(), 8, f), 1);
	assert_string_equal(f[0].module, "unknown");
	expect_eq(symbolizer_read_process(s, UINT32_MAX, 1), -ESRCH);
}

static void a_child_of_a_process_that_was_there_before_us(void **state)
{
	SCOPED(scoped_symbolizer) struct symbolizer *s = opened(false);
	struct symbol_frame f[SYMBOL_FRAMES_MAX];
	uint64_t ts_ns = clock_boot_ns();

	(void)state;
	/* The child itself was never seen: only its parent's mappings can say. */
	expect_eq(symbolizer_forked(s, (uint32_t)getpid(), 4000001, ts_ns), 0);
	symbolizer_exited(s, 4000001, ts_ns + 2);
	expect_eq(symbolizer_frames(s, 4000001, ts_ns + 1,
	                            address_of(a_child_of_a_process_that_was_there_before_us), f),
	          1);
	assert_string_equal(f[0].name, "a_child_of_a_process_that_was_there_before_us");
}

static void a_first_report_does_not_hide_the_rest(void **state)
{
	SCOPED(scoped_symbolizer) struct symbolizer *s = opened(false);
	const struct symbol_mapping m = { .start = 0x1000, .end = 0x2000, .path = "//anon" };
	struct symbol_frame f[SYMBOL_FRAMES_MAX];

	(void)state;
	expect_eq(symbolizer_mapped(s, (uint32_t)getpid(), clock_boot_ns(), &m), 0);
	expect_eq(symbolizer_read_process(s, (uint32_t)getpid(), clock_boot_ns()), 0);
	expect_eq(symbolizer_frames(s, (uint32_t)getpid(), clock_boot_ns(),
	                            address_of(a_first_report_does_not_hide_the_rest), f),
	          1);
	assert_string_equal(f[0].name, "a_first_report_does_not_hide_the_rest");
}

static void texts_live_on(void **state)
{
	SCOPED(scoped_symbolizer) struct symbolizer *s = opened(false);
	struct symbol_frame first[SYMBOL_FRAMES_MAX], again[SYMBOL_FRAMES_MAX];
	uint32_t me = (uint32_t)getpid();

	(void)state;
	symbolizer_frames(s, me, clock_boot_ns(), address_of(texts_live_on), first);
	for (uint64_t i = 0; i < 1000; i++)
		symbolizer_frames(s, me, clock_boot_ns(), address_of(texts_live_on) - i * 64,
		                  again);
	symbolizer_frames(s, me, clock_boot_ns(), address_of(texts_live_on), again);
	assert_ptr_equal(first[0].name, again[0].name);
	assert_string_equal(first[0].name, "texts_live_on");
}

static void a_mapping_without_identity_gives_no_names(void **state)
{
	SCOPED(scoped_symbolizer) struct symbolizer *s = opened(false);
	const struct symbol_mapping m = { .start = 0x1000,
		                          .end = 0x900000,
		                          .path = "/proc/self/exe" };
	struct symbol_frame f[SYMBOL_FRAMES_MAX];

	(void)state;
	expect_eq(symbolizer_execed(s, 4000001, 1), 0);
	expect_eq(symbolizer_mapped(s, 4000001, 2, &m), 0);
	expect_eq(symbolizer_frames(s, 4000001, 3, 0x2000, f), 1);
	assert_null(f[0].name);
	assert_string_equal(f[0].module, "exe");
}

static void no_descriptor_is_left(void **state)
{
	int before = open_descriptors();
	struct symbol_frame f[SYMBOL_FRAMES_MAX];
	struct symbolizer *s = opened(true);

	(void)state;
	symbolizer_frames(s, (uint32_t)getpid(), clock_boot_ns(), address_of(no_descriptor_is_left),
	                  f);
	assert_true(open_descriptors() > before);
	symbolizer_free(s);
	symbolizer_free(NULL);
	expect_eq(open_descriptors(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_process_without_being_met),
		cmocka_unit_test(what_no_one_knows_is_one_frame),
		cmocka_unit_test(a_child_of_a_process_that_was_there_before_us),
		cmocka_unit_test(a_first_report_does_not_hide_the_rest),
		cmocka_unit_test(texts_live_on),
		cmocka_unit_test(a_mapping_without_identity_gives_no_names),
		cmocka_unit_test(no_descriptor_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
