#include "../unit.h"

#include <string.h>
#include <unistd.h>

#include "sys/scx/scx_log.h"

static void an_end_and_its_reason_are_found(void **state)
{
	struct scx_log_end end = { 0 };

	(void)state;
	assert_true(scx_log_parse(
		"3,701,12345678,-;sched_ext: BPF scheduler \"vm_stall\" disabled (runnable task stall)\n",
		&end));
	assert_string_equal(end.scheduler, "vm_stall");
	assert_string_equal(end.reason, "runnable task stall");
	assert_true(scx_log_parse(
		"3,702,12345679,-;sched_ext: vm_stall: stallme[169] failed to run for 2.888s\n",
		&end));
	assert_string_equal(end.reason,
	                    "runnable task stall: stallme[169] failed to run for 2.888s");
	/* A trace of calls follows. */
	assert_false(
		scx_log_parse("3,703,12345680,-;sched_ext: vm_stall:    do_exit+0x12\n", &end));
	assert_false(scx_log_parse("3,703,12345680,-;   check_rq_for_timeouts+0x12\n", &end));
	assert_true(scx_log_parse(
		"6,710,1,-;sched_ext: BPF scheduler \"b\" disabled (unregistered from user space)\n",
		&end));
	assert_string_equal(end.scheduler, "b");
	assert_string_equal(end.reason, "unregistered from user space");
}

static void other_lines_are_none(void **state)
{
	static const char *const lines[] = {
		"",
		"6,1,2,-;",
		"sched_ext: BPF scheduler \"a\" disabled (x)",
		"6,1,2,-;sched_ext: BPF scheduler \"a\" enabled\n",
		"6,1,2,-;sched_ext: BPF scheduler \"a\n",
		"6,1,2,-;sched_ext: BPF scheduler \"a\" disabled (x\n",
		"6,1,2,-;sched_ext: vm_stall: what of it\n",
		"6,1,2,-;other: BPF scheduler \"a\" disabled (x)\n",
	};
	struct scx_log_end end = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_false(scx_log_parse(lines[i], &end));
		assert_string_equal(end.scheduler, "");
	}
}

static void long_ones_are_cut_and_control_bytes_taken_out(void **state)
{
	struct scx_log_end end = { 0 };
	char line[1024] = "3,1,2,-;sched_ext: BPF scheduler \"a\x1b[2J\" disabled (";

	(void)state;
	memset(line + strlen(line), 'x', 600);
	strcat(line, ")");
	assert_true(scx_log_parse(line, &end));
	assert_null(strchr(end.scheduler, '\x1b'));
	assert_true(strlen(end.reason) < sizeof(end.reason));
}

static void reading_ends_where_there_is_nothing_more(void **state)
{
	static const char record[] =
		"3,1,2,-;sched_ext: BPF scheduler \"a\" disabled (runtime error)\n";
	struct scx_log_end end = { 0 };
	int ends[2];

	(void)state;
	expect_eq(pipe(ends), 0);
	expect_eq(write(ends[1], record, strlen(record)), strlen(record));
	close(ends[1]);
	assert_true(scx_log_read(ends[0], &end));
	assert_string_equal(end.reason, "runtime error");
	assert_false(scx_log_read(ends[0], &end));
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_end_and_its_reason_are_found),
		cmocka_unit_test(other_lines_are_none),
		cmocka_unit_test(long_ones_are_cut_and_control_bytes_taken_out),
		cmocka_unit_test(reading_ends_where_there_is_nothing_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
