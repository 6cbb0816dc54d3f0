#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/system_stats.h"
#include "trace/perfetto/write/writer.h"

#define MS 1000000ULL

/* Bytes of the trace after a look at that time. */
static uint64_t bytes_at(struct system_stats *s, uint64_t now_ns, struct trace_writer *w)
{
	struct trace_writer_stats st;

	expect_eq(system_stats_tick(s, now_ns, w), 0);
	expect_eq(trace_writer_flush(w, NULL), 0);
	trace_writer_stats(w, &st);
	return st.nr_bytes;
}

static void it_is_written_ten_times_a_second_and_not_more_often(void **state)
{
	const struct trace_writer_cfg cfg = { .tool = "test" };
	struct trace_writer *w = NULL;
	struct system_stats *s = NULL;
	uint64_t start, at_0, at_100;

	(void)state;
	expect_eq(trace_writer_open(memfd_create("trace", MFD_CLOEXEC), &cfg, NULL, &w), 0);
	expect_eq(system_stats_new(4, &s), 0);
	start = bytes_at(s, 0, w); /* the first is due at once */
	expect_eq(bytes_at(s, 50 * MS, w), start);
	expect_eq(bytes_at(s, 99 * MS, w), start);
	at_0 = bytes_at(s, 105 * MS, w);
	assert_true(at_0 > start);
	/* 5 ms late: the next one is due at 200 all the same. */
	expect_eq(bytes_at(s, 199 * MS, w), at_0);
	at_100 = bytes_at(s, 200 * MS, w);
	assert_true(at_100 > at_0);
	/* A second is missed, and not made up for. */
	at_0 = bytes_at(s, 1200 * MS, w);
	assert_true(at_0 > at_100);
	expect_eq(bytes_at(s, 1299 * MS, w), at_0);
	assert_true(bytes_at(s, 1300 * MS, w) > at_0);
	system_stats_free(s);
	expect_eq(trace_writer_close(w, NULL), 0);
}

static void a_full_disk_is_reported(void **state)
{
	const struct trace_writer_cfg cfg = { .is_compressed = false };
	struct trace_writer *w = NULL;
	struct system_stats *s = NULL;
	int err = 0;

	(void)state;
	expect_eq(trace_writer_open(open("/dev/full", O_WRONLY | O_CLOEXEC), &cfg, NULL, &w), 0);
	expect_eq(system_stats_new(4, &s), 0);
	for (uint64_t i = 0; i < 3000 && !err; i++)
		err = system_stats_tick(s, i * 100 * MS, w);
	expect_eq(err, -ENOSPC);
	system_stats_free(s);
	system_stats_free(NULL);
	expect_eq(trace_writer_close(w, NULL), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_written_ten_times_a_second_and_not_more_often),
		cmocka_unit_test(a_full_disk_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
