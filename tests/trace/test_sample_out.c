/* Stacks through the writer and back through the reader: tables that fill up, deep stacks, programs that change. */
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/event.h"
#include "abi/profile.h"
#include "trace/perfetto/write/writer.h"
#include "trace/reader.h"

#define DEPTH_MAX 300U

struct sample {
	struct ev_sample s;
	__u64 addresses[DEPTH_MAX];
};

struct fixture {
	struct trace_writer *w;
	struct ev_sink sink;
	int fd;
	const char *image; /* what the program is called now */
	struct trace_info *info;
};

/* A long name, so that a packet cannot hold many. */
static bool place(void *ctx, uint32_t tgid, uint64_t ts_ns, uint64_t address,
                  struct trace_place *out)
{
	const struct fixture *f = ctx;
	static char name[400];

	(void)ts_ns;
	(void)snprintf(name, sizeof(name), "%s_%llx_%0300d", tgid ? f->image : "kernel",
	               (unsigned long long)address, 0);
	*out = (struct trace_place){ .rel_pc = address,
		                     .nr_code = 1,
		                     .code = { { .name = name } } };
	return true;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct trace_writer_cfg cfg = { .sampling = { "cycles", 997 },
		                        .calls = { .ctx = f, .place = place } };
	struct diag d = { 0 };

	assert_non_null(f);
	f->image = "a";
	f->fd = memfd_create("trace", MFD_CLOEXEC);
	assert_true(f->fd >= 0);
	assert_int_equal(trace_writer_open(dup(f->fd), &cfg, &d, &f->w), 0);
	f->sink = trace_writer_sink(f->w);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	trace_info_free(f->info);
	close(f->fd);
	free(f);
	return 0;
}

static void push_stack(struct fixture *f, uint64_t ts, uint32_t event, uint64_t base, uint16_t nr)
{
	struct sample rec = {
		.s = { .hdr = { .kind = EV_SAMPLE, .ts_ns = ts },
		       .tid = 10,
		       .tgid = 10,
		       .period = 1,
		       .event = (__u16)event,
		       .nr_user = nr },
	};

	rec.s.hdr.size = (__u16)(sizeof(rec.s) + nr * sizeof(__u64));
	for (uint32_t i = 0; i < nr; i++)
		rec.addresses[i] = base + 16ULL * i;
	assert_int_equal(f->sink.push(f->sink.ctx, &rec.s.hdr), 0);
}

static int forget(void *ctx, const struct ev_hdr *rec)
{
	(void)ctx;
	(void)rec;
	return 0;
}

static const struct trace_info *read_back(struct fixture *f)
{
	struct ev_sink sink = { .push = forget };
	char path[64];
	struct diag d = { 0 };

	assert_int_equal(trace_writer_close(f->w, &d), 0);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	assert_int_equal(trace_read_file(path, &(struct trace_read_cfg){ 0 }, &sink, &d, &f->info),
	                 0);
	expect_eq(f->info->nr_damage, 0);
	return f->info;
}

static const struct trace_frame *frame_at(const struct trace_info *info, size_t sample, uint32_t i)
{
	const struct trace_stack *stack;

	assert_true(sample < info->nr_samples && info->samples[sample].stack < info->nr_stacks);
	stack = &info->stacks[info->samples[sample].stack];
	assert_true(i < stack->nr);
	return &info->frames[info->stack_frames[stack->first + i]];
}

static void expect_name(const struct trace_info *info, size_t sample, uint32_t i, const char *begin)
{
	const char *name = frame_at(info, sample, i)->name;

	if (strncmp(name, begin, strlen(begin)) != 0)
		fail_msg("'%.40s' does not begin with '%s'", name, begin);
}

static void kinds_are_distinguished(void **state)
{
	struct fixture *f = *state;
	const struct trace_info *info;

	for (uint32_t event = 0; event < EV_SAMPLE_KINDS; event++)
		push_stack(f, 100 + event, event, 0x1000, 2);
	info = read_back(f);
	expect_eq(info->nr_samples, 3);
	expect_eq(info->samples[0].kind, TRACE_SAMPLE_CPU);
	expect_eq(info->samples[1].kind, TRACE_SAMPLE_OFFCPU);
	expect_eq(info->samples[2].kind, TRACE_SAMPLE_WAKER);
	expect_eq(info->samples[2].ts_ns, 102);
	assert_string_equal(info->sample_events[info->samples[0].event], "cycles");
	expect_eq(info->sampling_frequency, 997);
	expect_name(info, 0, 0, "a_1000_");
	expect_name(info, 0, 1, "a_100f_");
}

/* A stack whose names are far more than a packet may hold comes whole. */
static void deep_stacks_take_several_packets(void **state)
{
	struct fixture *f = *state;
	const struct trace_info *info;

	push_stack(f, 100, EV_SAMPLE_CPU, 0x100000, DEPTH_MAX);
	push_stack(f, 101, EV_SAMPLE_CPU, 0x100000, DEPTH_MAX);
	info = read_back(f);
	expect_eq(info->nr_samples, 2);
	expect_eq(info->nr_stacks, 1);
	/* The outermost beyond what the kernel walks are cut. */
	expect_eq(info->stacks[0].nr, 2 * EV_SAMPLE_DEPTH);
	expect_name(info, 1, 0, "a_100000_");
	expect_name(info, 1, 253, "a_100fcf_");
}

/* More places than the tables hold: they begin anew, and nothing gets a wrong name. */
static void full_tables_begin_anew(void **state)
{
	struct fixture *f = *state;
	const struct trace_info *info;
	char name[32];

	for (uint32_t i = 0; i < 700; i++)
		push_stack(f, 100 + i, EV_SAMPLE_CPU, 0x100000ULL * (i + 1), 200);
	push_stack(f, 900, EV_SAMPLE_CPU, 0x100000, 200);
	info = read_back(f);
	expect_eq(info->nr_samples, 701);
	assert_true(info->nr_stacks >= 701); /* the first one is there once more */
	for (uint32_t i = 0; i < 700; i++) {
		(void)snprintf(name, sizeof(name), "a_%x_", 0x100000U * (i + 1));
		expect_name(info, i, 0, name);
		(void)snprintf(name, sizeof(name), "a_%x_", 0x100000U * (i + 1) + 199 * 16 - 1);
		expect_name(info, i, 199, name);
	}
	expect_name(info, 700, 0, "a_100000_");
}

/* The same address in the same process is something else after an exec. */
static void a_program_that_changes_gets_new_names(void **state)
{
	struct fixture *f = *state;
	const struct ev_exec became = {
		.hdr = { .size = sizeof(became), .kind = EV_EXEC, .ts_ns = 200 },
		.tid = 10,
		.old_tid = 10,
		.comm = "b"
	};
	const struct trace_info *info;

	push_stack(f, 100, EV_SAMPLE_CPU, 0x1000, 1);
	assert_int_equal(f->sink.push(f->sink.ctx, &became.hdr), 0);
	f->image = "b";
	push_stack(f, 300, EV_SAMPLE_CPU, 0x1000, 1);
	info = read_back(f);
	expect_name(info, 0, 0, "a_1000_");
	expect_name(info, 1, 0, "b_1000_");
}

static void a_sample_without_frames_is_one_all_the_same(void **state)
{
	struct fixture *f = *state;
	struct trace_writer_stats stats;
	const struct trace_info *info;

	push_stack(f, 100, EV_SAMPLE_CPU, 0x1000, 0);
	push_stack(f, 101, EV_SAMPLE_KINDS, 0x1000, 1); /* of a kind that there is not */
	trace_writer_stats(f->w, &stats);
	expect_eq(stats.nr_skipped, 1);
	info = read_back(f);
	expect_eq(info->nr_samples, 1);
	expect_eq(info->samples[0].stack, UINT32_MAX);
}

/* Why a stack is not whole goes into the file and comes back; of one that is whole nothing is said. */
static void ends_of_stacks_are_kept(void **state)
{
	static const uint8_t ends[] = { PROF_END_NOT_KNOWN, PROF_END_WHOLE, PROF_END_NO_TABLE,
		                        PROF_END_READ,      PROF_END_DEPTH, PROF_END_RULE };
	static const uint8_t back[] = {
		0, 0, PROF_END_NO_TABLE, PROF_END_READ, PROF_END_DEPTH, PROF_END_RULE
	};
	struct fixture *f = *state;
	const struct trace_info *info;

	for (uint32_t i = 0; i < sizeof(ends); i++) {
		struct sample rec = {
			.s = { .hdr = { .size = sizeof(rec.s) + sizeof(__u64),
			                .kind = EV_SAMPLE,
			                .ts_ns = 1000 + i },
			       .tid = 10,
			       .tgid = 10,
			       .period = 1,
			       .nr_user = 1,
			       .user_end = ends[i] },
			.addresses = { 0x1000 },
		};

		assert_int_equal(f->sink.push(f->sink.ctx, &rec.s.hdr), 0);
	}
	info = read_back(f);
	expect_eq(info->nr_samples, sizeof(ends));
	for (uint32_t i = 0; i < sizeof(ends); i++)
		expect_eq(info->samples[i].end, back[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kinds_are_distinguished, setup, teardown),
		cmocka_unit_test_setup_teardown(deep_stacks_take_several_packets, setup, teardown),
		cmocka_unit_test_setup_teardown(full_tables_begin_anew, setup, teardown),
		cmocka_unit_test_setup_teardown(a_program_that_changes_gets_new_names, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(a_sample_without_frames_is_one_all_the_same, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(ends_of_stacks_are_kept, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
