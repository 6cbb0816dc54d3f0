#include "loaded.h"

/* Lines of perf script; those of other programs are in test_trace_text.c. */

static struct loaded l;

static int teardown(void **state)
{
	(void)state;
	loaded_done(&l);
	return 0;
}

static void load_text(const char *text)
{
	loaded_done(&l);
	load_cfg(&l, text, strlen(text), NULL);
	expect_eq(l.err, 0);
}

static void lines_without_cpus_say_too_little(void **state)
{
	const char *text =
		"            perf  7690 25990.623710:       sched:sched_switch: prev_comm=perf prev_pid=7690\n";

	(void)state;
	load_cfg(&l, text, strlen(text), NULL);
	expect_eq(l.err, -EINVAL);
	assert_non_null(strstr(l.d.what, "no CPU numbers"));
}

static void perf_script_says_more_in_its_header(void **state)
{
	(void)state;
	load_text(
		"# ========\n"
		"# captured on    : Tue Nov 17 22:32:10 2026\n"
		"# hostname : vm\n# os release : 6.18.44\n# perf version : 6.1.192\n# arch : x86_64\n"
		"# nrcpus online : 2\n"
		"# event : name = sched:sched_switch, , id = { 1 }, type = 2, use_clockid = 1, clockid = 1\n"
		"# event : name = sched:sched_waking, , id = { 2 }, type = 2, use_clockid = 1, clockid = 1\n"
		"# ========\n#\n"
		"            perf  7690 [001] 25990.623716791:          1                       sched:sched_waking: comm=migration/0 pid=18 prio=0 target_cpu=000\n"
		"         swapper     0 [000]     0.000000: PERF_RECORD_COMM: process_api:1/1\n"
		"            perf  7690 [001] 25990.623717: PERF_RECORD_LOST lost 12\n");
	expect_eq(((const struct ev_wake *)rec_at(&l, 0, EV_WAKING))->waker_tid, 7690);
	expect_eq(l.recs[0]->ts_ns, 25990623716791);
	expect_eq(l.info->clock, 3);
	expect_eq(l.info->nr_cpus_reported, 2);
	expect_eq(l.info->cpus[0].nr_lost + l.info->cpus[l.info->nr_cpus - 1].nr_lost, 24);
	assert_string_equal(l.info->release, "6.18.44");
	assert_string_equal(l.info->machine_name, "vm");
	assert_string_equal(l.info->producer_name, "perf");
	assert_string_equal(l.info->producer_version, "6.1.192");
}

/* Tasks that have ended have no number in perf script; the waker is then the one that runs. */
static void tasks_without_a_number_are_unknown(void **state)
{
	const struct ev_wake *wake;

	(void)state;
	load_text(
		"             :-1    -1 [001] 25939.004674:       sched:sched_switch: prev_comm=n prev_pid=4428 prev_prio=120 prev_state=R+ ==> next_comm=n next_pid=4429 next_prio=120\n"
		":-1 17029/-1    [001] 26100.997890: sched:sched_waking: comm=a pid=7 prio=120 target_cpu=001\n"
		":-1 -1/-1    [001] 26100.997891: sched:sched_waking: comm=a pid=7 prio=120 target_cpu=001\n"
		"            init-1       [001] ..... 26101.000000: sched_waking: comm=a pid=7 prio=120 target_cpu=001\n");
	expect_eq(counted_events(l.info, "sched_switch"), 1);
	expect_eq(l.nr, 4);
	for (size_t i = 1; i < 3; i++) {
		wake = rec_at(&l, i, EV_WAKING);
		expect_eq(wake->waker_tid, 4429);
	}
	wake = rec_at(&l, 3, EV_WAKING);
	expect_eq(wake->waker_tid, 1);
	load_text(":-1    -1 [001] 25939.004674: irq:softirq_exit: vec=1\n");
	expect_eq(((const struct ev_softirq *)rec_at(&l, 0, EV_SOFTIRQ_EXIT))->tid, 0);
}

static void clocks_that_differ_are_unknown(void **state)
{
	(void)state;
	load_text("# perf version : 6.1\n"
	          "# event : name = sched:sched_switch, , use_clockid = 1, clockid = 1\n"
	          "# event : name = cycles, , type = 0\n"
	          "     perf  7690 [001] 1.5: irq:softirq_exit: vec=1\n");
	expect_eq(l.info->clock, 0);
	load_text("# perf version : 6.1\n"
	          "# event : name = cycles, , type = 0\n"
	          "# event : name = sched:sched_switch, , use_clockid = 1, clockid = 1\n"
	          "     perf  7690 [001] 1.5: irq:softirq_exit: vec=1\n");
	expect_eq(l.info->clock, 0);
}

static const char *frame_name(uint32_t stack, uint32_t nr)
{
	const struct trace_stack *s = &l.info->stacks[stack];

	assert_true(nr < s->nr);
	return l.info->frames[l.info->stack_frames[s->first + nr]].name;
}

static void callchains_are_samples(void **state)
{
	const struct trace_sample *s;

	(void)state;
	load_text(
		"qemu-system-aar  6928 [000] 25994.678840:    2004008 cpu-clock: \n"
		"\t          c6472f qht_lookup_custom+0x2f (/usr/bin/qemu)\n"
		"\t    559055cc1d60 [unknown] ([unknown])\n"
		"\n"
		"qemu-system-aar  6928 [001] 25994.679840:    2004008 cpu-clock: \n"
		"\t          c6472e qht_lookup_custom+0x2e (/usr/bin/qemu)\n"
		"\t    559055cc1d60 [unknown] ([unknown])\n"
		"\n"
		"sh  20 [001] 25994.680000: sched:sched_switch: prev_comm=sh prev_pid=20 prev_prio=120 prev_state=S ==> next_comm=b next_pid=31 next_prio=120\n"
		"\tffffffff81a00000 schedule+0x0 ([kernel.kallsyms])\n"
		"\tffffffff81a00001 operator new(unsigned long)+0x1 (inlined)\n"
		"\n"
		"sh  20 [001] 25994.680001: irq:softirq_exit: vec=1\n"
		"sh  20 [001] 25994.680002: page-faults:  7f00 main+0x4 (/bin/sh)\n");
	expect_eq(l.info->nr_samples, 4);
	expect_eq(l.info->nr_stacks, 3);
	s = l.info->samples;
	expect_eq(s[0].kind, TRACE_SAMPLE_CPU);
	expect_eq(s[0].weight, 2004008);
	expect_eq(s[0].tid, 6928);
	expect_eq(s[0].stack, s[1].stack);
	expect_eq(s[1].cpu, 1);
	assert_string_equal(l.info->sample_events[s[0].event], "cpu-clock");
	assert_string_equal(frame_name(s[0].stack, 0), "qht_lookup_custom");
	assert_string_equal(frame_name(s[0].stack, 1), "");
	expect_eq(s[2].kind, TRACE_SAMPLE_OFFCPU);
	assert_string_equal(frame_name(s[2].stack, 0), "schedule");
	assert_string_equal(frame_name(s[2].stack, 1), "operator new(unsigned long)");
	expect_eq(l.info->frames[l.info->stack_frames[l.info->stacks[s[2].stack].first]].is_kernel,
	          true);
	expect_eq(s[3].kind, TRACE_SAMPLE_OTHER);
	assert_string_equal(frame_name(s[3].stack, 0), "main");
	expect_eq(counted_events(l.info, "cpu-clock"), 2);
	expect_eq(l.info->nr_damage, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
	const struct CMUnitTest tests[] = {
		TEST(lines_without_cpus_say_too_little),
		TEST(perf_script_says_more_in_its_header),
		TEST(tasks_without_a_number_are_unknown),
		TEST(clocks_that_differ_are_unknown),
		TEST(callchains_are_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
