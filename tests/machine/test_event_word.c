#include "../unit.h"

#include <errno.h>
#include <string.h>

#include "machine/event_word.h"

static struct event_word taken(const char *text)
{
	struct event_word w = { 0 };
	struct diag d = { 0 };

	if (event_word_parse(text, &w, &d))
		print_message("# '%s': %s\n", text, d.what);
	assert_int_equal(d.code, 0);
	return w;
}

static void expect_title(const char *text, const char *title)
{
	struct event_word w = taken(text);
	char buf[EVENT_WORD_BYTES];

	assert_string_equal(event_word_title(&w, buf, sizeof(buf)), title);
}

static void words_are_taken_apart(void **state)
{
	struct event_word w;

	(void)state;
	w = taken("perf:hw:cycles");
	assert_int_equal(w.source, EVENT_PERF);
	assert_string_equal(w.subsystem, "hw");
	assert_string_equal(w.name, "cycles");
	assert_true(event_word_is_rate(&w));
	w = taken("perf:cpu:cycles");
	assert_string_equal(w.subsystem, "cpu");
	assert_string_equal(taken("perf:hardware:cycles").subsystem, "hw");
	assert_string_equal(taken("perf:software:cs").subsystem, "sw");
	w = taken("kprobe:do_sys_open");
	assert_int_equal(w.source, EVENT_KPROBE);
	assert_string_equal(w.name, "do_sys_open");
	w = taken("raw:l2-misses:0x964:4");
	assert_int_equal(w.source, EVENT_RAW);
	assert_int_equal(w.config, 0x964);
	assert_int_equal(w.type, 4);
	assert_int_equal(taken("raw:all:0xffffffffffffffff:12").config, UINT64_MAX);
}

/* The peer's command line did not take the frequency. */
static void all_numbers_of_a_cpu_can_be_asked_for(void **state)
{
	struct event_word w;

	(void)state;
	assert_int_equal(taken(EVENT_WORD_BUSY).share, EVENT_BUSY);
	assert_int_equal(taken("cpu:cpu_user_util_percent").share, EVENT_USER);
	assert_int_equal(taken("cpu:cpu_system_util_percent").share, EVENT_SYSTEM);
	w = taken("cpu:cpu_frequency_mhz");
	assert_int_equal(w.share, EVENT_MHZ);
	assert_false(event_word_is_rate(&w));
}

static void what_is_no_event_is_refused_with_a_sentence(void **state)
{
	static const char *const texts[] = {
		"",
		"cycles",
		"gpu:cycles",
		"cpu:",
		"cpu:cpu_total",
		"perf:",
		"perf:cycles",
		"perf::cycles",
		"perf:hw:",
		"perf:hw:cycles:more",
		"perf:a b:c",
		"perf:a:b\n",
		"perf:a:\x1b[31m",
		"kprobe:",
		"kprobe:a:b",
		"raw:",
		"raw:name:0x12",
		"raw:name:12:4",
		"raw:name:0xzz:4",
		"raw:name:0x:4",
		"raw::0x12:4",
		"raw:name:0x12:",
		"raw:name:0x12:4294967296",
		"raw:name:0x12:4:5",
		"raw:name:0x11112222333344445:4",
	};
	char endless[600];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct event_word w;
		struct diag d = { 0 };

		if (!event_word_parse(texts[i], &w, &d))
			print_message("# '%s' was taken\n", texts[i]);
		assert_int_equal(d.code, -EINVAL);
		assert_true(strlen(d.what) > 5 && strlen(d.hint) > 5);
		assert_null(strchr(d.what, '\x1b'));
	}
	memset(endless, 'a', sizeof(endless));
	memcpy(endless, "kprobe:", 7);
	endless[sizeof(endless) - 1] = '\0';
	assert_int_equal(event_word_parse(endless, &(struct event_word){ 0 }, NULL), -EINVAL);
}

static void titles_are_short(void **state)
{
	(void)state;
	expect_title("perf:hw:cycles", "cycles");
	expect_title("perf:sched:sched_switch", "sched:sched_switch");
	expect_title("kprobe:do_sys_open", "do_sys_open");
	expect_title("raw:l2-misses:0x964:4", "l2-misses");
	expect_title(EVENT_WORD_BUSY, "cpu_total_util_percent");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_taken_apart),
		cmocka_unit_test(all_numbers_of_a_cpu_can_be_asked_for),
		cmocka_unit_test(what_is_no_event_is_refused_with_a_sentence),
		cmocka_unit_test(titles_are_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
