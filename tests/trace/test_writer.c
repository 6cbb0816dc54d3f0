#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "records.h"
#include "trace/perfetto/write/writer.h"

#define SECOND 1000000000ULL

struct fixture {
	int fd; /* the file, for reading */
	struct trace_writer *w;
	struct ev_sink sink;
	int nr_clocks;
};

static bool clocks(void *ctx, struct trace_clocks *out)
{
	((struct fixture *)ctx)->nr_clocks++;
	*out = (struct trace_clocks){ 1, 1, 1, 1 };
	return true;
}

static void open_writer(struct fixture *f, struct trace_writer_cfg cfg)
{
	struct diag d = { 0 };

	f->fd = memfd_create("trace", MFD_CLOEXEC);
	assert_true(f->fd >= 0);
	cfg.calls.ctx = f;
	expect_eq(trace_writer_open(fcntl(f->fd, F_DUPFD_CLOEXEC, 3), &cfg, &d, &f->w), 0);
	f->sink = trace_writer_sink(f->w);
}

static void push(struct fixture *f, const struct ev_hdr *rec)
{
	expect_eq(f->sink.push(f->sink.ctx, rec), 0);
}

static size_t size_of(int fd)
{
	struct stat st;

	expect_eq(fstat(fd, &st), 0);
	return (size_t)st.st_size;
}

/* Packets in the file; fails unless all of them are whole. */
static int nr_packets(int fd)
{
	size_t size = size_of(fd), at = 0, len;
	uint8_t *bytes = malloc(size + 1);
	int nr = 0;

	expect_eq(pread(fd, bytes, size, 0), size);
	for (; at < size; nr++, at += len) {
		expect_eq(bytes[at++], 0x0a);
		len = 0;
		for (unsigned int shift = 0;; shift += 7) {
			assert_true(at < size && shift < 35);
			len |= (size_t)(bytes[at] & 0x7f) << shift;
			if (bytes[at++] < 0x80)
				break;
		}
		assert_true(len <= size - at);
	}
	free(bytes);
	return nr;
}

static void close_writer(struct fixture *f)
{
	struct diag d = { 0 };

	expect_eq(trace_writer_close(f->w, &d), 0);
	expect_eq(d.code, 0);
	nr_packets(f->fd);
	close(f->fd);
}

static void an_empty_trace_names_its_recorder(void **state)
{
	struct fixture f = { 0 };
	struct trace_attr attr = { .key = "k", .text = "v" };
	struct trace_system system = { .sysname = "Linux" };

	(void)state;
	open_writer(&f, (struct trace_writer_cfg){ .tool = "schedscope",
	                                           .version = "1",
	                                           .command_line = "x",
	                                           .uuid = { 1, 2 },
	                                           .system = &system,
	                                           .attrs = &attr,
	                                           .nr_attrs = 1,
	                                           .kinds = EV_BIT(EV_SWITCH),
	                                           .calls.clocks = clocks });
	/* On disk before the first record: clocks, system, uuid, attributes twice, config. */
	expect_eq(nr_packets(f.fd), 6);
	close_writer(&f);
}

static void nothing_known_is_a_trace_too(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	open_writer(&f, (struct trace_writer_cfg){ 0 });
	expect_eq(size_of(f.fd), 0);
	close_writer(&f);
	expect_eq(trace_writer_close(NULL, NULL), 0);
}

static double bytes_per_event(bool has_own_names)
{
	struct fixture f = { 0 };
	struct busy b = { .seed = 1, .now_ns = 5000 * SECOND, .step_ns = 2000 };
	struct trace_writer_stats st;

	open_writer(&f, (struct trace_writer_cfg){ 0 });
	expect_eq(busy_introduce(f.sink, has_own_names), 0);
	for (int i = 0; i < 100000; i++)
		push(&f, busy_step(&b));
	expect_eq(trace_writer_flush(f.w, NULL), 0);
	trace_writer_stats(f.w, &st);
	expect_eq(st.nr_bytes, size_of(f.fd));
	expect_eq(st.nr_breaks, 0);
	expect_eq(st.nr_clamped, 0);
	close_writer(&f);
	return (double)st.nr_bytes / 100000;
}

static void a_scheduling_event_takes_at_most_12_bytes(void **state)
{
	double shared = bytes_per_event(false), own = bytes_per_event(true);

	(void)state;
	print_message("# %.2f bytes per event; %.2f with 400 names on every CPU\n", shared, own);
	assert_true(shared <= 12.0);
	assert_true(own <= 15.0);
}

static void gzip_makes_it_smaller_and_packets_stay_below_512_kb(void **state)
{
	struct fixture plain = { 0 }, packed = { 0 };

	(void)state;
	open_writer(&plain, (struct trace_writer_cfg){ 0 });
	open_writer(&packed, (struct trace_writer_cfg){ .is_compressed = true });
	for (int which = 0; which < 2; which++) {
		struct fixture *f = which ? &packed : &plain;
		struct busy b = { .seed = 1, .now_ns = SECOND, .step_ns = 1000 };

		expect_eq(busy_introduce(f->sink, false), 0);
		for (int i = 0; i < 200000; i++)
			push(f, busy_step(&b));
		expect_eq(trace_writer_flush(f->w, NULL), 0);
	}
	print_message("# %zu bytes, %zu compressed\n", size_of(plain.fd), size_of(packed.fd));
	assert_true(size_of(packed.fd) < size_of(plain.fd) * 7 / 10);
	assert_true(nr_packets(packed.fd) >= (int)(size_of(plain.fd) / (512U << 10)));
	close_writer(&plain);
	close_writer(&packed);
}

static void time_alone_brings_events_to_disk(void **state)
{
	struct fixture f = { 0 };
	uint64_t now = SECOND;

	(void)state;
	open_writer(&f, (struct trace_writer_cfg){ .calls.clocks = clocks });
	size_t start = size_of(f.fd);

	push(&f, rec_switch(0, now, 1, 0, 2));
	push(&f, rec_switch(1, now, 3, 0, 4));
	expect_eq(size_of(f.fd), start);
	for (int i = 0; i < 12; i++)
		expect_eq(f.sink.advance(f.sink.ctx, now += SECOND / 10), 0);
	assert_true(size_of(f.fd) > start);
	expect_eq(f.nr_clocks, 1);
	for (int i = 0; i < 30; i++)
		expect_eq(f.sink.advance(f.sink.ctx, now += SECOND), 0);
	/* Every ten seconds, though nothing happened. */
	expect_eq(f.nr_clocks, 4);
	close_writer(&f);
}

static void a_full_disk_stops_the_writer_and_is_reported(void **state)
{
	struct trace_writer *w = NULL;
	struct diag d = { 0 };
	struct ev_sink sink;
	struct busy b = { .seed = 1, .step_ns = 1000 };
	int err = 0, i;

	(void)state;
	expect_eq(trace_writer_create("/dev/full", &(struct trace_writer_cfg){ 0 }, &d, &w), 0);
	sink = trace_writer_sink(w);
	for (i = 0; i < 1000000 && !err; i++)
		err = sink.push(sink.ctx, busy_step(&b));
	expect_eq(err, -ENOSPC);
	assert_non_null(trace_writer_error(w));
	expect_eq(sink.push(sink.ctx, busy_step(&b)), -ENOSPC);
	expect_eq(sink.advance(sink.ctx, UINT64_MAX), -ENOSPC);
	expect_eq(trace_writer_flush(w, &d), -ENOSPC);
	assert_non_null(strstr(d.what, "cannot write the trace"));
	assert_true(d.hint[0]);
	d = (struct diag){ 0 };
	expect_eq(trace_writer_close(w, &d), -ENOSPC);
	expect_eq(d.code, -ENOSPC);
}

static void a_disk_that_is_full_from_the_start_is_reported_at_once(void **state)
{
	struct trace_writer *w = NULL;
	struct diag d = { 0 };

	(void)state;
	expect_eq(trace_writer_create("/dev/full", &(struct trace_writer_cfg){ .tool = "t" }, &d,
	                              &w),
	          -ENOSPC);
	assert_null(w);
	expect_eq(d.code, -ENOSPC);
}

/* The limit on file sizes lets a write through by half: the half is taken back. */
static void half_a_chunk_is_taken_back(void **state)
{
	const struct rlimit limit = { 600001, RLIM_INFINITY };
	struct rlimit before;
	struct fixture f = { 0 };
	struct busy b = { .seed = 1, .now_ns = SECOND, .step_ns = 1000 };
	int err = 0;

	(void)state;
	open_writer(&f, (struct trace_writer_cfg){ 0 });
	expect_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	(void)signal(SIGXFSZ, SIG_IGN);
	expect_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 1000000 && !err; i++)
		err = f.sink.push(f.sink.ctx, busy_step(&b));
	expect_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	expect_eq(err, -EFBIG);
	assert_in_range(size_of(f.fd), 300000, 600000);
	assert_true(nr_packets(f.fd) > 1);
	expect_eq(trace_writer_close(f.w, NULL), -EFBIG);
	assert_true(nr_packets(f.fd) > 1);
	close(f.fd);
}

static void a_closed_pipe_is_an_error(void **state)
{
	struct trace_writer *w = NULL;
	struct diag d = { 0 };
	int fds[2];

	(void)state;
	(void)signal(SIGPIPE, SIG_IGN);
	expect_eq(pipe(fds), 0);
	expect_eq(trace_writer_open(fds[1], &(struct trace_writer_cfg){ .tool = "t" }, &d, &w), 0);
	close(fds[0]);
	expect_eq(trace_writer_close(w, &d), -EPIPE);
	expect_eq(d.code, -EPIPE);
}

static void a_path_that_cannot_be_is_reported(void **state)
{
	struct trace_writer *w = NULL;
	struct diag d = { 0 };

	(void)state;
	expect_eq(trace_writer_create("/nonexistent/x", &(struct trace_writer_cfg){ 0 }, &d, &w),
	          -ENOENT);
	assert_non_null(strstr(d.what, "/nonexistent/x"));
	assert_null(w);
}

static void a_trace_is_for_its_owner_and_never_goes_through_a_link(void **state)
{
	char dir[] = "/tmp/schedscope-writer-XXXXXX", path[64], other[64];
	struct trace_writer *w = NULL;
	struct diag d = { 0 };
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/trace", dir);
	(void)snprintf(other, sizeof(other), "%s/other", dir);
	expect_eq(trace_writer_create(other, &(struct trace_writer_cfg){ .tool = "t" }, &d, &w), 0);
	expect_eq(trace_writer_close(w, &d), 0);
	expect_eq(stat(other, &st), 0);
	expect_eq(st.st_mode & 07777, 0600);

	expect_eq(truncate(other, 7), 0);
	expect_eq(symlink(other, path), 0);
	w = NULL;
	expect_eq(trace_writer_create(path, &(struct trace_writer_cfg){ .tool = "t" }, &d, &w),
	          -ELOOP);
	assert_null(w);
	expect_eq(stat(other, &st), 0);
	expect_eq(st.st_size, 7);
	expect_eq(unlink(path) | unlink(other) | rmdir(dir), 0);
}

static void kinds_and_cpus_that_cannot_be_are_counted(void **state)
{
	struct fixture f = { 0 };
	struct trace_writer_stats st;
	struct ev_hdr unknown = { .size = 16, .kind = 63 }, beyond = { .size = 16, .kind = 255 };

	(void)state;
	open_writer(&f, (struct trace_writer_cfg){ 0 });
	push(&f, &unknown);
	push(&f, &beyond);
	push(&f, rec_switch(8192, 1, 1, 0, 2));
	push(&f, rec_switch(1023, 1, 1, 0, 2));
	trace_writer_stats(f.w, &st);
	expect_eq(st.nr_skipped, 3);
	expect_eq(st.nr_records, 1);
	assert_false(st.has_high_cpu);
	push(&f, rec_switch(1024, 1, 1, 0, 2));
	trace_writer_stats(f.w, &st);
	assert_true(st.has_high_cpu);
	close_writer(&f);
}

static void late_records_and_broken_chains_are_counted(void **state)
{
	struct fixture f = { 0 };
	struct trace_writer_stats st;

	(void)state;
	open_writer(&f, (struct trace_writer_cfg){ 0 });
	push(&f, rec_switch(0, 100, 1, 0, 2));
	push(&f, rec_switch(0, 90, 2, 0, 3));  /* late */
	push(&f, rec_switch(0, 200, 9, 0, 4)); /* 3 never left */
	push(&f, REC(ev_lost, EV_LOST, 0, 300, .kind = EV_SWITCH, .count = 7));
	push(&f, rec_switch(0, 400, 9, 0, 4)); /* explained */
	push(&f, REC(ev_lost, EV_LOST, 0, 500, .kind = 1000, .count = 1));
	push(&f, REC(ev_lost, EV_LOST, 0, 500, .kind = EV_WAKING, .count = 0));
	trace_writer_stats(f.w, &st);
	expect_eq(st.nr_clamped, 1);
	expect_eq(st.nr_breaks, 1);
	expect_eq(st.nr_lost, 8);
	close_writer(&f);
}

/* Ten times as many tasks as may be remembered come and go. */
static void tasks_are_remembered_within_bounds(void **state)
{
	struct fixture f = { 0 };
	struct trace_writer_stats st;

	(void)state;
	open_writer(&f, (struct trace_writer_cfg){ .tasks_max = 100 });
	for (uint32_t tid = 10; tid < 1010; tid++) {
		push(&f, REC(ev_fork, EV_FORK, 0, tid, .parent_tid = 1, .parent_tgid = 1,
		             .tid = tid, .tgid = tid, .comm = "child"));
		push(&f, rec_switch(0, tid, 0, 0, tid));
		push(&f, rec_switch(0, tid, tid, EV_STATE_DEAD, 0));
		push(&f, REC(ev_exit, EV_EXIT, 0, tid, .tid = tid, .tgid = tid, .comm = "child"));
		if (tid % 2)
			push(&f, REC(ev_free, EV_FREE, 0, tid, .tid = tid, .comm = "child"));
		trace_writer_stats(f.w, &st);
		assert_true(st.nr_tasks <= 100);
	}
	expect_eq(st.nr_tasks, 100);
	close_writer(&f);
}

static void memory_stays_flat(void **state)
{
	struct fixture f = { .fd = -1 };
	struct busy b = { .seed = 1, .now_ns = SECOND, .step_ns = 1000 };
	struct diag d = { 0 };
	size_t before;

	(void)state;
	expect_eq(trace_writer_create("/dev/null", &(struct trace_writer_cfg){ 0 }, &d, &f.w), 0);
	f.sink = trace_writer_sink(f.w);
	expect_eq(busy_introduce(f.sink, true), 0);
	for (int i = 0; i < 100000; i++)
		push(&f, busy_step(&b));
	before = mallinfo2().uordblks;
	for (int i = 0; i < 1000000; i++)
		push(&f, busy_step(&b));
	expect_eq(mallinfo2().uordblks, before);
	expect_eq(trace_writer_close(f.w, &d), 0);
}

/* No kind may fail with nothing known, on the idle task, or with numbers out of this world. */
static void a_mark_has_so_many_arguments_and_no_more(void **state)
{
	struct trace_attr args[TRACE_MARK_ARGS + 1];
	struct trace_mark mark = {
		.ts_ns = 5, .name = "m", .args = args, .nr_args = TRACE_MARK_ARGS
	};
	struct trace_writer *w = NULL;
	struct diag d = { 0 };

	(void)state;
	for (size_t i = 0; i <= TRACE_MARK_ARGS; i++)
		args[i] = (struct trace_attr){ .key = "k", .number = 1 };
	expect_eq(trace_writer_create("/dev/null", &(struct trace_writer_cfg){ 0 }, &d, &w), 0);
	expect_eq(trace_writer_mark(w, &mark), 0);
	mark.nr_args++;
	assert_int_equal(trace_writer_mark(w, &mark), -EINVAL);
	assert_int_equal(trace_writer_close(w, &d), -EINVAL);
}

static void every_kind_is_written_whatever_it_says(void **state)
{
	struct fixture f = { 0 };
	struct trace_writer_stats st;
	union {
		struct ev_hdr hdr;
		char bytes[512];
	} r;

	(void)state;
	open_writer(&f, (struct trace_writer_cfg){ 0 });
	for (int round = 0; round < 3; round++)
		for (unsigned int kind = 1; kind < EV_KIND_MAX; kind++) {
			memset(&r, round == 1 ? 0xff : 0, sizeof(r));
			r.hdr = (struct ev_hdr){ .size = 256, .kind = (__u8)kind, .ts_ns = kind };
			if (kind == EV_SAMPLE)
				((struct ev_sample *)&r)->nr_kernel =
					((struct ev_sample *)&r)->nr_user = 20;
			if (kind == EV_PMU)
				((struct ev_pmu *)&r)->nr = 40;
			if (kind == EV_AFFINITY)
				((struct ev_affinity *)&r)->nr = 29;
			push(&f, &r.hdr);
		}
	trace_writer_stats(f.w, &st);
	assert_true(st.nr_records > 60);
	close_writer(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_trace_names_its_recorder),
		cmocka_unit_test(nothing_known_is_a_trace_too),
		cmocka_unit_test(a_scheduling_event_takes_at_most_12_bytes),
		cmocka_unit_test(gzip_makes_it_smaller_and_packets_stay_below_512_kb),
		cmocka_unit_test(time_alone_brings_events_to_disk),
		cmocka_unit_test(a_full_disk_stops_the_writer_and_is_reported),
		cmocka_unit_test(a_disk_that_is_full_from_the_start_is_reported_at_once),
		cmocka_unit_test(half_a_chunk_is_taken_back),
		cmocka_unit_test(a_closed_pipe_is_an_error),
		cmocka_unit_test(a_path_that_cannot_be_is_reported),
		cmocka_unit_test(a_trace_is_for_its_owner_and_never_goes_through_a_link),
		cmocka_unit_test(kinds_and_cpus_that_cannot_be_are_counted),
		cmocka_unit_test(late_records_and_broken_chains_are_counted),
		cmocka_unit_test(tasks_are_remembered_within_bounds),
		cmocka_unit_test(memory_stays_flat),
		cmocka_unit_test(a_mark_has_so_many_arguments_and_no_more),
		cmocka_unit_test(every_kind_is_written_whatever_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
