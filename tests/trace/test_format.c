#include "../unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/ftrace/format.h"

#define COMMON                                                                         \
	"format:\n"                                                                    \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define WAKING                                                        \
	"name: sched_waking\nID: 326\n" COMMON                        \
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"    \
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"        \
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"         \
	"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n" \
	"print fmt: \"field:int pid; offset:0; size:4;\", REC->pid\n"
#define IRQ_ENTRY                                           \
	"name: irq_handler_entry\nID: 150\n" COMMON         \
	"\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n" \
	"\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n\n"

/* Bytes of an event, all its own: what is read beyond them is found by a sanitizer. */
struct raw {
	uint8_t *bytes;
	size_t len;
};

static struct reader r;
static struct ftrace_formats formats;

static int setup(void **state)
{
	(void)state;
	r.texts = intern_new(100, 10000);
	return r.texts ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	ftrace_formats_done(&formats);
	intern_free(r.texts);
	return 0;
}

#define PRINT                                                                                      \
	"name: print\nID: 5\n" COMMON "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n" \
	"\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n\n"

static int describe(const char *text)
{
	/* Without a NUL behind it, as in a file. */
	size_t len = strlen(text);
	char *copy = malloc(len ? len : 1);
	int err;

	assert_non_null(copy);
	memcpy(copy, text, len);
	err = ftrace_formats_add(&formats, &r, copy, len);
	free(copy);
	return err;
}

static struct raw raw_of(size_t len)
{
	struct raw raw = { calloc(1, len), len };

	assert_non_null(raw.bytes);
	return raw;
}

static void put32(struct raw *raw, size_t at, uint32_t value)
{
	assert_true(at + sizeof(value) <= raw->len);
	memcpy(raw->bytes + at, &value, sizeof(value));
}

static struct raw waking(void)
{
	struct raw raw = raw_of(36);

	put32(&raw, 0, 326 | COMMON_FLAG_SOFTIRQ << 16);
	put32(&raw, 4, 77);
	memcpy(raw.bytes + 8, "0123456789abcdef", 16); /* a name without its NUL */
	put32(&raw, 24, 4711);
	put32(&raw, 28, (uint32_t)-1);
	put32(&raw, 32, 3);
	return raw;
}

static bool read_raw(const struct raw *raw, struct ftrace_event_in *e)
{
	const struct ftrace_format *format;
	uint32_t id;

	assert_true(ftrace_formats_id(&formats, raw->bytes, raw->len, &id));
	format = ftrace_formats_find(&formats, id);
	assert_non_null(format);
	return ftrace_format_read(&formats, format, raw->bytes, raw->len, e);
}

static void fields_are_where_the_format_says(void **state)
{
	struct raw raw = waking();
	struct ftrace_event_in e;

	(void)state;
	expect_eq(describe(WAKING), 0);
	assert_true(read_raw(&raw, &e));
	expect_eq(e.member, FTRACE_SCHED_WAKING);
	expect_eq(e.pid, 77);
	expect_eq(e.flags, EV_FLAG_SOFTIRQ);
	expect_eq(e.values[WAKE_PID], 4711);
	expect_eq((int64_t)e.values[WAKE_PRIO], -1);
	expect_eq(e.values[WAKE_TARGET_CPU], 3);
	expect_eq(e.values[WAKE_COMM], 16);
	assert_memory_equal(e.bytes[WAKE_COMM], "0123456789abcdef", 16);
	expect_eq(e.texts, 1U << WAKE_COMM);
	free(raw.bytes);
}

/* What is printed may look like a field. */
static void the_format_ends_where_printing_begins(void **state)
{
	(void)state;
	expect_eq(describe(WAKING), 0);
	expect_eq(ftrace_formats_find(&formats, 326)->nr_fields, 4);
	expect_eq(ftrace_formats_find(&formats, 326)->size, 36);
}

static void what_is_shorter_than_its_format_is_refused(void **state)
{
	struct raw raw = waking();
	struct ftrace_event_in e;
	uint32_t id;

	(void)state;
	expect_eq(describe(WAKING), 0);
	raw.len = 35;
	assert_false(read_raw(&raw, &e));
	assert_false(ftrace_formats_id(&formats, raw.bytes, 1, &id));
	free(raw.bytes);
}

static void texts_may_be_behind_the_fields(void **state)
{
	struct raw raw = raw_of(21);
	struct ftrace_event_in e;

	(void)state;
	expect_eq(describe(IRQ_ENTRY), 0);
	put32(&raw, 0, 150);
	put32(&raw, 8, 25);
	put32(&raw, 12, 5U << 16 | 16);
	memcpy(raw.bytes + 16, "eth0", 5);
	assert_true(read_raw(&raw, &e));
	expect_eq(e.values[IRQ_ENTRY_IRQ], 25);
	expect_eq(e.values[IRQ_ENTRY_NAME], 4);
	assert_memory_equal(e.bytes[IRQ_ENTRY_NAME], "eth0", 4);
	/* Beyond the event: the text is unknown, the event is not. */
	put32(&raw, 12, 6U << 16 | 16);
	assert_true(read_raw(&raw, &e));
	expect_eq(e.has, 1U << IRQ_ENTRY_IRQ);
	put32(&raw, 12, 1U << 16 | 0xffff);
	assert_true(read_raw(&raw, &e));
	expect_eq(e.has, 1U << IRQ_ENTRY_IRQ);
	free(raw.bytes);
}

static void a_text_without_a_size_is_the_rest(void **state)
{
	struct raw raw = raw_of(20);
	struct ftrace_event_in e;

	(void)state;
	expect_eq(describe(PRINT), 0);
	put32(&raw, 0, 5);
	memcpy(raw.bytes + 16, "B|1|", 4); /* without a NUL */
	assert_true(read_raw(&raw, &e));
	expect_eq(e.values[MARK_TEXT], 4);
	assert_memory_equal(e.bytes[MARK_TEXT], "B|1|", 4);
	raw.len = 16;
	assert_true(read_raw(&raw, &e));
	expect_eq(e.values[MARK_TEXT], 0);
	raw.len = 15;
	assert_false(read_raw(&raw, &e));
	free(raw.bytes);
}

static void places_may_count_from_their_field(void **state)
{
	struct raw raw = raw_of(24);
	struct ftrace_event_in e;

	(void)state;
	expect_eq(describe("name: irq_handler_entry\nID: 150\n" COMMON
	                   "\tfield:__rel_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;\n"),
	          0);
	put32(&raw, 0, 150);
	put32(&raw, 8, 4U << 16 | 8);
	memcpy(raw.bytes + 20, "abc", 4);
	assert_true(read_raw(&raw, &e));
	expect_eq(e.values[IRQ_ENTRY_NAME], 3);
	assert_memory_equal(e.bytes[IRQ_ENTRY_NAME], "abc", 3);
	free(raw.bytes);
}

static void the_other_byte_order_is_read(void **state)
{
	struct raw raw = waking();
	struct ftrace_event_in e;

	(void)state;
	expect_eq(describe(WAKING), 0);
	formats.is_swapped = true;
	raw.bytes[0] = 326 >> 8;
	raw.bytes[1] = 326 & 0xff;
	put32(&raw, 4, __builtin_bswap32(77));
	put32(&raw, 24, __builtin_bswap32(4711));
	put32(&raw, 28, (uint32_t)-1);
	put32(&raw, 32, __builtin_bswap32(3));
	assert_true(read_raw(&raw, &e));
	expect_eq(e.pid, 77);
	expect_eq(e.flags, EV_FLAG_SOFTIRQ);
	expect_eq(e.values[WAKE_PID], 4711);
	expect_eq((int64_t)e.values[WAKE_PRIO], -1);
	expect_eq(e.values[WAKE_TARGET_CPU], 3);
	free(raw.bytes);
}

static void events_that_we_do_not_know_have_a_name(void **state)
{
	struct raw raw = raw_of(8);
	struct ftrace_event_in e;
	size_t len;

	(void)state;
	expect_eq(describe("name: my_event\nID: 9\n" COMMON), 0);
	put32(&raw, 0, 9);
	assert_true(read_raw(&raw, &e));
	expect_eq(e.member, 0);
	assert_string_equal(intern_string(r.texts, ftrace_formats_find(&formats, 9)->name, &len),
	                    "my_event");
	assert_null(ftrace_formats_find(&formats, 10));
	free(raw.bytes);
}

static void the_last_format_of_an_id_counts(void **state)
{
	(void)state;
	expect_eq(describe("name: sched_wakeup\nID: 326\n" COMMON), 0);
	expect_eq(describe(WAKING), 0);
	expect_eq(ftrace_formats_find(&formats, 326)->member, FTRACE_SCHED_WAKING);
	expect_eq(formats.nr, 1);
}

static void what_is_no_format_is_refused(void **state)
{
	static const char *const bad[] = { "",
		                           "name: a\n",
		                           "ID: 3\n",
		                           "name: a\nID: x\n",
		                           "name: a\nID: 70000\n",
		                           "name: a\nID:" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_eq(describe(bad[i]), -EBADMSG);
	expect_eq(formats.nr, 0);
}

/* Sizes that no number has, places beyond any event, lines that are cut: such fields are not there. */
static void odd_fields_are_left_out(void **state)
{
	(void)state;
	expect_eq(describe("name: sched_waking\nID: 1\nformat:\n"
	                   "\tfield:int pid;\toffset:8;\tsize:3;\tsigned:1;\n"
	                   "\tfield:int prio;\toffset:99999;\tsize:4;\tsigned:1;\n"
	                   "\tfield:char comm[0];\toffset:8;\tsize:0;\tsigned:1;\n"
	                   "\tfield:];\toffset:8;\tsize:4;\tsigned:1;\n"
	                   "\tfield:[;\toffset:8;\tsize:4;\tsigned:1;\n"
	                   "\tfield:int target_cpu;\toffset:8;\tsize:"),
	          0);
	expect_eq(ftrace_formats_find(&formats, 1)->nr_fields, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(fields_are_where_the_format_says, setup, teardown),
		cmocka_unit_test_setup_teardown(the_format_ends_where_printing_begins, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(what_is_shorter_than_its_format_is_refused, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(texts_may_be_behind_the_fields, setup, teardown),
		cmocka_unit_test_setup_teardown(a_text_without_a_size_is_the_rest, setup, teardown),
		cmocka_unit_test_setup_teardown(places_may_count_from_their_field, setup, teardown),
		cmocka_unit_test_setup_teardown(the_other_byte_order_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(events_that_we_do_not_know_have_a_name, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(the_last_format_of_an_id_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_format_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(odd_fields_are_left_out, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
