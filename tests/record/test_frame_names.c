#include "../unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "record/frame_names.h"
#include "record/frame_query.h"
#include "symbol/symbolizer.h"
#include "trace/reader.h"

static const struct frame_namer this_machine = { .find = frame_names_find_all };

/* What is looked for; it must be here as such. */
static __attribute__((noinline)) int looked_for(int x)
{
	return x * 3 + getpid();
}

static struct symbolizer *symbols;
static struct symbol_mapping mapping;
static uint64_t place; /* of looked_for() in the file */

static int setup(void **state)
{
	uint64_t address = (uint64_t)(uintptr_t)looked_for, file_address;

	(void)state;
	if (symbolizer_new(&(struct symbolizer_cfg){ 0 }, NULL, &symbols) ||
	    symbolizer_read_process(symbols, (uint32_t)getpid(), 1) ||
	    !symbolizer_locate(symbols, (uint32_t)getpid(), 2, address, &mapping, &file_address))
		return -1;
	place = address - mapping.start + mapping.offset;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	symbolizer_free(symbols);
	return 0;
}

static struct trace_frame_id id_of_file(void)
{
	struct trace_frame_id id = { .nr = mapping.nr_build_id };

	memcpy(id.bytes, mapping.build_id, id.nr);
	return id;
}

/* The second of two frames, of which the first is the leaf, has this name; NULL = none. */
static void look_up(const struct trace_frame frames[2], const char *want)
{
	static const uint32_t stack_frames[] = { 0, 1 };
	const struct trace_stack stack = { 0, 2 };
	const struct trace_info info = { .release = "",
		                         .frames = frames,
		                         .nr_frames = 2,
		                         .stacks = &stack,
		                         .nr_stacks = 1,
		                         .stack_frames = stack_frames };
	struct frame_names *names = NULL;

	expect_eq(frame_names_new(&info, &this_machine, &names), 0);
	if (want) {
		assert_non_null(frame_names_of(names, 1));
		assert_string_equal(frame_names_of(names, 1), want);
	} else {
		assert_null(frame_names_of(names, 1));
	}
	assert_null(frame_names_of(names, 0));
	assert_null(frame_names_of(names, 2));
	frame_names_free(names);
}

static void functions_are_found_by_build_id(void **state)
{
	const struct trace_frame_id id = id_of_file();
	struct trace_frame frames[2] = {
		{ .name = "known", .mapping = "", .file = "" },
		{ .name = "",
		  .mapping = mapping.path,
		  .file = "",
		  .build_id = &id,
		  .rel_pc = place + 1 },
	};

	(void)state;
	assert_true(id.nr);
	look_up(frames, "looked_for");
	/* A caller goes on behind its call, be it the next function: at the very beginning it is the one before. */
	frames[1].rel_pc = place;
	{
		const struct trace_info info = { .release = "", .frames = frames, .nr_frames = 2 };
		struct frame_names *names = NULL;

		expect_eq(frame_names_new(&info, &this_machine, &names), 0);
		assert_true(!frame_names_of(names, 1) ||
		            strcmp(frame_names_of(names, 1), "looked_for") != 0);
		frame_names_free(names);
	}
}

static void another_file_at_the_same_path_gives_no_names(void **state)
{
	struct trace_frame_id id = id_of_file();
	const struct trace_frame frames[2] = {
		{ .name = "known", .mapping = "", .file = "" },
		{ .name = "",
		  .mapping = mapping.path,
		  .file = "",
		  .build_id = &id,
		  .rel_pc = place + 1 },
	};

	(void)state;
	assert_true(id.nr);
	id.bytes[0] ^= 1;
	look_up(frames, NULL);
}

/* Names that the file has are not asked for; without an id nothing can be told. */
static void what_cannot_be_told_has_no_name(void **state)
{
	const struct trace_frame_id id = id_of_file();
	const struct trace_frame frames[2] = {
		{ .name = "known", .mapping = mapping.path, .file = "", .build_id = &id },
		{ .name = "", .mapping = mapping.path, .file = "", .rel_pc = place + 1 },
	};
	const struct trace_frame far[2] = {
		{ .name = "known", .mapping = "", .file = "" },
		{ .name = "",
		  .mapping = mapping.path,
		  .file = "",
		  .build_id = &id,
		  .rel_pc = UINT64_MAX },
	};

	(void)state;
	look_up(frames, NULL);
	look_up(far, NULL);
}

/* Of another boot, or of another machine: its release is not ours. */
static void the_kernel_must_be_this_one(void **state)
{
	const struct trace_frame frame = {
		.name = "",
		.mapping = "[kernel.kallsyms]",
		.file = "",
		.is_kernel = true,
		.rel_pc = 0xffffffff81000100,
	};
	const struct trace_info info = { .release = "1.2.3",
		                         .frames = &frame,
		                         .nr_frames = 1,
		                         .kernel_text = 0xffffffff81000000 };
	struct frame_names *names = NULL;

	(void)state;
	expect_eq(frame_names_new(&info, &this_machine, &names), 0);
	assert_null(frame_names_of(names, 0));
	frame_names_free(names);
}

static bool at_once(void *ctx)
{
	(void)ctx;
	return true;
}

/* Two files, of which the second is this program; only its function has a name. */
static bool is_found(const struct frame_limits *limits)
{
	const struct trace_frame_id id = id_of_file();
	struct frame_file files[2] = { { .path = "/nowhere", .build_id = { 1 }, .nr_build_id = 20 },
		                       { .path = mapping.path, .nr_build_id = id.nr } };
	struct frame_place places[2] = { { .at = 8, .file = 0 }, { .at = place + 1, .file = 1 } };
	const struct frame_query q = {
		.files = files, .nr_files = 2, .places = places, .nr_places = 2
	};
	struct frame_names *names = NULL;
	bool has_name;

	memcpy(files[1].build_id, id.bytes, sizeof(files[1].build_id));
	expect_eq(frame_names_find(&q, limits, &names), 0);
	assert_null(frame_names_of(names, 0));
	has_name = frame_names_of(names, 1) != NULL;
	frame_names_free(names);
	return has_name;
}

static void what_is_beyond_the_limits_has_no_name(void **state)
{
	(void)state;
	if (!id_of_file().nr)
		skip();
	assert_true(is_found(&(struct frame_limits){ 0 }));
	assert_true(is_found(&(struct frame_limits){ .wall_ns = 60000000000, .max_files = 2 }));
	assert_false(is_found(&(struct frame_limits){ .max_files = 1 }));
	assert_false(is_found(&(struct frame_limits){ .wall_ns = 1 }));
	assert_false(is_found(&(struct frame_limits){ .should_stop = at_once }));
}

static void names_are_kept_by_frame(void **state)
{
	struct frame_names *names = NULL;

	(void)state;
	expect_eq(frame_names_begin(2, &names), 0);
	assert_true(frame_names_set(names, 1, "one"));
	assert_false(frame_names_set(names, 2, "two"));
	assert_null(frame_names_of(names, 0));
	assert_string_equal(frame_names_of(names, 1), "one");
	frame_names_free(names);
}

/* As /proc/kallsyms has it; 0 = it does not say. */
static uint64_t kernel_address(const char *name)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], found[256];
	uint64_t address = 0;
	unsigned long long at;

	while (f && !address && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %*c %255s", &at, found) == 2 && strcmp(found, name) == 0)
			address = at;
	if (f)
		(void)fclose(f);
	return address;
}

/* arm64 has no _text among the functions; perf takes _stext there. */
static uint64_t kernel_text(void)
{
	uint64_t text = kernel_address("_text");

	return text ? text : kernel_address("_stext");
}

/* The place in the file of a module is not where its code was; its address is, in this boot. */
static void modules_are_found_by_their_address(void **state)
{
	struct utsname us;
	struct trace_frame frame = { .name = "",
		                     .mapping = "/lib/modules/x.ko",
		                     .file = "",
		                     .is_kernel = true,
		                     .rel_pc = 0x11,
		                     .address = kernel_address("schedule") };
	const struct trace_info info = { .release = us.release,
		                         .frames = &frame,
		                         .nr_frames = 1,
		                         .kernel_text = kernel_text() };
	struct frame_names *names = NULL;

	(void)state;
	assert_int_equal(uname(&us), 0);
	frame.address += 2;
	expect_eq(frame_names_new(&info, &this_machine, &names), 0);
	assert_non_null(frame_names_of(names, 0));
	assert_string_equal(frame_names_of(names, 0), "schedule");
	frame_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_found_by_build_id),
		cmocka_unit_test(another_file_at_the_same_path_gives_no_names),
		cmocka_unit_test(what_cannot_be_told_has_no_name),
		cmocka_unit_test(the_kernel_must_be_this_one),
		unit_test_if(kernel_address("schedule") && kernel_text(),
		             modules_are_found_by_their_address,
		             "the kernel's addresses are hidden"),
		cmocka_unit_test(what_is_beyond_the_limits_has_no_name),
		cmocka_unit_test(names_are_kept_by_frame),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
