/* Stacks of perf.data: which file was mapped where when a sample was taken. */
#include "perf_load.h"

static void mmap2(uint32_t pid, uint64_t start, uint64_t len, uint64_t offset, const char *path,
                  uint64_t ts)
{
	size_t mark = begin(&file, 10, 2);

	put32(&file, &file.data, pid);
	put32(&file, &file.data, pid);
	put64(&file, &file.data, start);
	put64(&file, &file.data, len);
	put64(&file, &file.data, offset);
	put_text(&file.data, "", 32);
	put_text(&file.data, path, (strlen(path) + 8) / 8 * 8);
	trailer(&file, pid, pid, ts, 0, 101);
	end(&file, mark);
}

/* A sample of cpu-clock with a kernel and a user frame. */
static void clock_sample(uint32_t pid, uint64_t ts, uint64_t user)
{
	size_t mark = begin_sample(&file, 101, ts, 0, pid, pid);

	put64(&file, &file.data, 4);
	put64(&file, &file.data, (uint64_t)-128);
	put64(&file, &file.data, 0xffffffff81000010);
	put64(&file, &file.data, (uint64_t)-512);
	put64(&file, &file.data, user);
	end(&file, mark);
}

static void clock_file(bool is_big)
{
	memset(&file, 0, sizeof(file));
	file.is_big = is_big;
	add_attr(&file, 1, 0, 101)->sample_type = (T_USUAL & ~T_RAW) | T_CALLCHAIN;
	file.attrs[0].flags |= F_FREQ;
	file.attrs[0].period = 999;
}

static const struct trace_frame *frame(size_t sample, size_t nr)
{
	const struct trace_stack *s = &got.info->stacks[got.info->samples[sample].stack];

	assert_true(nr < s->nr);
	return &got.info->frames[got.info->stack_frames[s->first + nr]];
}

static void stacks_by_what_is_mapped_then(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		clock_file(big);
		mmap2(50, 0x400000, 0x10000, 0x1000, "/bin/before", 0);
		clock_sample(50, 5500, 0x408000); /* what the program before had there is gone */
		clock_sample(50, 1000, 0x402000);
		clock_sample(51, 3000, 0x402000); /* forked: the same */
		clock_sample(
			50, 5000,
			0x402000); /* another program, whose mapping is further on in the file */
		mmap2(50, 0x401000, 0x4000, 0, "/bin/after", 4500); /* before what precedes it */
		family(7, 51, 50, 51, 50, 2000);
		comm(1 << 13, 50, 50, "after", 4000);
		load_file(&file);
		expect_eq(got.info->nr_samples, 4);
		expect_eq(got.info->samples[0].kind, TRACE_SAMPLE_CPU);
		expect_eq(got.info->sampling_frequency, 999);
		assert_string_equal(got.info->sample_events[got.info->samples[0].event],
		                    "cpu-clock");
		expect_eq(frame(0, 0)->is_kernel, true);
		expect_eq(frame(0, 0)->rel_pc, 0xffffffff81000010);
		assert_string_equal(frame(0, 0)->mapping, "[kernel.kallsyms]");
		assert_string_equal(frame(0, 1)->mapping, "/bin/before");
		expect_eq(frame(0, 1)->rel_pc, 0x3000);
		assert_string_equal(frame(1, 1)->mapping, "/bin/before");
		assert_string_equal(frame(2, 1)->mapping, "/bin/after");
		expect_eq(frame(2, 1)->rel_pc, 0x1000);
		assert_string_equal(frame(3, 1)->mapping, "");
		expect_eq(frame(3, 1)->rel_pc, 0x408000);
		expect_eq(got.info->has_time, true);
		expect_eq(got.info->end_ns, 5500);
		expect_eq(events("cpu-clock"), 4);
	}
}

/* A mapping over the middle of another leaves both of its ends. */
static void mappings_over_mappings(void **state)
{
	(void)state;
	clock_file(false);
	mmap2(50, 0x1000, 0x9000, 0, "/a", 0);
	mmap2(50, 0x4000, 0x1000, 0, "/b", 0);
	clock_sample(50, 1000, 0x3fff);
	clock_sample(50, 1001, 0x4000);
	clock_sample(50, 1002, 0x5000);
	clock_sample(50, 1003, 0xa000);
	load_file(&file);
	assert_string_equal(frame(0, 1)->mapping, "/a");
	assert_string_equal(frame(1, 1)->mapping, "/b");
	assert_string_equal(frame(2, 1)->mapping, "/a");
	expect_eq(frame(2, 1)->rel_pc, 0x4000);
	assert_string_equal(frame(3, 1)->mapping, "");
}

static void names_of_kernel_functions(void **state)
{
	size_t mark;

	(void)state;
	clock_file(false);
	(void)add_attr(&file, 2, ID_WORK, 102);
	put_tracing_data(&file, feature(&file, 1),
	                 "ffffffff81000000 T first\nffffffff81000020 t second\t[module]\n");
	mark = begin(&file, 17, 0);
	put64(&file, &file.data, 0xffffffffc0000000);
	put32(&file, &file.data, 0x100);
	put32(&file, &file.data, 0);
	put_text(&file.data, "bpf_prog_x", 16);
	trailer(&file, 0, 0, 0, 0, 101);
	end(&file, mark);
	clock_sample(50, 1000,
	             0xffffffffc0000010); /* also in the kernel, whatever the marker before it */
	mark = begin_sample(&file, 102, 2000, 0, 7, 7);
	put_common(&file, 28, ID_WORK, 0, 7);
	put64(&file, &file.data, 0x1111);
	put64(&file, &file.data, 0xffffffff81000020);
	put32(&file, &file.data, 0);
	end(&file, mark);
	load_file(&file);
	assert_string_equal(frame(0, 0)->name, "first");
	expect_eq(got.info->nr_symbols, 1);
	assert_string_equal(got.info->symbols[0].name, "second");
	expect_eq(((const struct ev_work *)first_of(EV_WORK_START))->function,
	          got.info->symbols[0].value);
}

/* A record of the section: 8 bytes of header, pid, 24 of the id, path. misc: whether the length is among them. */
static void put_build_id(struct enc *e, uint16_t misc, uint8_t len, uint8_t first, const char *path)
{
	uint8_t id[24] = { first, 2, 3 };

	id[20] = len;
	put32(&file, e, 0);
	put(&file, e, 2, misc);
	put(&file, e, 2, 36 + 16);
	put32(&file, e, 50);
	enc_raw(e, id, sizeof(id));
	put_text(e, path, 16);
}

static void build_ids_of_files(void **state)
{
	size_t mark;

	(void)state;
	for (int big = 0; big < 2; big++) {
		clock_file(big);
		mmap2(50, 0x1000, 0x1000, 0, "/old", 0);
		mmap2(50, 0x2000, 0x1000, 0, "/new", 0);
		mmap2(50, 0x3000, 0x1000, 0, "/without", 0);
		mark = begin(&file, 10, 2 | 1 << 14); /* with its build id in place of the inode */
		put32(&file, &file.data, 50);
		put32(&file, &file.data, 50);
		put64(&file, &file.data, 0x4000);
		put64(&file, &file.data, 0x1000);
		put64(&file, &file.data, 0);
		put_text(&file.data, "\x03", 4);
		put_text(&file.data, "\x09\x08\x07", 28);
		put_text(&file.data, "/own", 8);
		trailer(&file, 50, 50, 0, 0, 101);
		end(&file, mark);
		mmap2((uint32_t)-1, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
		      "[kernel.kallsyms]_text", 0);
		put_build_id(feature(&file, 2), 0, 0, 1, "/old");
		put_build_id(&file.features[0].body, 1 << 15, 3, 7, "/new");
		put_build_id(&file.features[0].body, 1 << 15, 21, 7,
		             "/without"); /* longer than any */
		for (uint64_t i = 0; i < 4; i++)
			clock_sample(50, 1000 + i, 0x1010 + 0x1000 * i);
		load_file(&file);
		assert_non_null(frame(0, 1)->build_id);
		expect_eq(frame(0, 1)->build_id->nr, 20);
		expect_eq(frame(0, 1)->build_id->bytes[0], 1);
		assert_non_null(frame(1, 1)->build_id);
		expect_eq(frame(1, 1)->build_id->nr, 3);
		expect_eq(frame(1, 1)->build_id->bytes[0], 7);
		assert_null(frame(2, 1)->build_id);
		assert_non_null(frame(3, 1)->build_id);
		expect_eq(frame(3, 1)->build_id->nr, 3);
		expect_eq(frame(3, 1)->build_id->bytes[2], 7);
		assert_null(frame(0, 0)->build_id);
		expect_eq(got.info->kernel_text, 0xffffffff81000000);
	}
}

/* Its file has the place; where it was then finds its name in this boot. */
static void modules_have_both_places(void **state)
{
	(void)state;
	clock_file(false);
	mmap2((uint32_t)-1, 0xffffffff81000000, 0x1000, 0x40, "/lib/modules/x.ko", 0);
	clock_sample(50, 1000, 0x1010);
	load_file(&file);
	assert_string_equal(frame(0, 0)->mapping, "/lib/modules/x.ko");
	expect_eq(frame(0, 0)->rel_pc, 0x50);
	expect_eq(frame(0, 0)->address, 0xffffffff81000010);
	expect_eq(frame(0, 1)->address, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(build_ids_of_files),
		cmocka_unit_test(stacks_by_what_is_mapped_then),
		cmocka_unit_test(mappings_over_mappings),
		cmocka_unit_test(names_of_kernel_functions),
		cmocka_unit_test(modules_have_both_places),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	loaded_done(&got);
	return failed;
}
