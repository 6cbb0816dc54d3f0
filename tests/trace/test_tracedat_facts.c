#include "dat_loaded.h"

/* One CPU with one page that has one event, of that time, behind an option, or some. */
static void one_event_at(uint64_t ts, void (*options)(void))
{
	struct dat_page p;
	size_t table;

	dat_v6(&f, 1);
	dat_raw(&f, "options  ", 10);
	options();
	dat_num(&f, 0, 2);
	flyrecord(1, &table);
	p = page_begin(&f, ts);
	page_waking(&f, 0, "woken", 9);
	page_end(&f, p, 0, 0);
	put_cpu(table, 0, p.at);
}

static void one_event_with(void (*options)(void))
{
	one_event_at(1000, options);
}

static void no_options(void)
{
}

static void put_clock(const char *name)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "local [%s] other\n", name);
	dat_opt_text(&f, OPT_CLOCK, text);
}

static void mono(void)
{
	put_clock("mono");
}

static void boot(void)
{
	put_clock("boot");
}

static void mono_raw(void)
{
	put_clock("mono_raw");
}

static void local(void)
{
	dat_opt_text(&f, OPT_CLOCK, "[local] mono\n");
}

static void uptime(void)
{
	put_clock("uptime");
}

static void counter(void)
{
	put_clock("counter");
}

static void tsc(void)
{
	put_clock("x86-tsc");
}

static void tsc_with_its_frequency(void)
{
	tsc();
	dat_num(&f, OPT_TSC, 2);
	dat_num(&f, 16, 4);
	dat_num(&f, 3U << 30, 4); /* 0.75 ns */
	dat_num(&f, 32, 4);
	dat_num(&f, 12345, 8);
}

static void offset(void)
{
	dat_opt_text(&f, OPT_OFFSET, "0x100");
}

static void clock_is(void (*options)(void), uint32_t number, uint64_t ts_ns)
{
	one_event_with(options);
	read_well();
	expect_eq(l.info->clock, number);
	expect_eq(l.recs[0]->ts_ns, ts_ns);
}

static void clocks_are_known_by_their_names(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		f.is_big = i;
		clock_is(no_options, 0, 1000);
		clock_is(local, 0, 1000);
		clock_is(mono, 3, 1000);
		clock_is(mono_raw, 5, 1000);
		clock_is(boot, 6, 1000);
		clock_is(tsc_with_its_frequency, 0, 750);
		clock_is(offset, 0, 1256);
	}
}

/* Version 6 has the clock once more, behind the table: the option may be empty. */
static void the_clock_behind_the_table_counts(void **state)
{
	struct dat_page p;
	size_t table;

	(void)state;
	dat_v6(&f, 1);
	dat_raw(&f, "flyrecord", 10);
	table = f.len;
	dat_num(&f, 0, 8);
	dat_num(&f, 0, 8);
	dat_sized(&f, "local mono [boot]\n", 8);
	p = page_begin(&f, 1000);
	page_waking(&f, 0, "woken", 9);
	page_end(&f, p, 0, 0);
	put_cpu(table, 0, p.at);
	read_well();
	expect_eq(l.info->clock, 6);
	expect_eq(events("sched_waking"), 1);
}

static void what_is_no_time_is_refused(void **state)
{
	(void)state;
	one_event_with(counter);
	read_it();
	expect_eq(l.err, -EINVAL);
	assert_string_equal(
		l.d.what,
		"the clock of 'test' is 'counter', which numbers events and is not a time");
	one_event_with(uptime);
	read_it();
	expect_eq(l.err, -EINVAL);
	assert_string_equal(
		l.d.what,
		"the clock of 'test' is 'uptime', whose ticks of 10 ms are too long for scheduling");
	one_event_with(tsc);
	read_it();
	expect_eq(l.err, -EINVAL);
	assert_string_equal(
		l.d.what,
		"times of 'test' are cycles ('x86-tsc'), and it does not say how long one is");
}

/* Of CPU 0: so many corrections, at 900, 1100, 1300, ... by 10, 30, 50, ...; scaled by 2. */
static void put_shift(uint32_t nr, uint32_t flags)
{
	dat_num(&f, OPT_SHIFT, 2);
	dat_num(&f, 16 + 4 + 32 * nr, 4);
	dat_num(&f, 4711, 8);
	dat_num(&f, flags, 4);
	dat_num(&f, 1, 4);
	dat_num(&f, nr, 4);
	for (uint32_t i = 0; i < nr; i++)
		dat_num(&f, 900 + 200 * i, 8);
	for (uint32_t i = 0; i < nr; i++)
		dat_num(&f, 10 + 20 * i, 8);
	for (uint32_t i = 0; i < nr; i++)
		dat_num(&f, 4, 8);
	for (uint32_t i = 0; i < nr; i++)
		dat_num(&f, 1, 8); /* bits behind the point */
}

static void shift_once(void)
{
	put_shift(1, 0);
}

static void shift_often(void)
{
	put_shift(5, 0);
}

static void shift_between(void)
{
	put_shift(5, 1);
}

static void times_of_a_guest_become_those_of_its_host(void **state)
{
	(void)state;
	clock_is(shift_once, 0, 1010);
	clock_is(shift_often, 0, 2010);
	clock_is(shift_between, 0, 2020);
	one_event_at(1350, shift_often);
	read_well();
	expect_eq(l.recs[0]->ts_ns, 2750);
	one_event_at(1350, shift_between);
	read_well();
	expect_eq(l.recs[0]->ts_ns, 2755);
	one_event_at(1357, shift_between); /* 5.7 of the next 20 is 6 */
	read_well();
	expect_eq(l.recs[0]->ts_ns, 2770);
	one_event_at(1900, shift_between); /* behind the last one: as between the last two */
	read_well();
	expect_eq(l.recs[0]->ts_ns, 3910);
}

static void facts(void)
{
	dat_opt_text(&f, OPT_UNAME, "Linux box 4.9.1-x aarch64");
	dat_opt_text(&f, OPT_VERSION, "3.1.6 x");
	dat_num(&f, OPT_CPUCOUNT, 2);
	dat_num(&f, 4, 4);
	dat_num(&f, 48, 4);
	dat_opt(&f, OPT_CPUCOUNT, "x", 1); /* damaged */
	dat_opt_text(&f, 1000, "unknown");
}

static void options_say_what_the_machine_is(void **state)
{
	(void)state;
	one_event_with(facts);
	read_well();
	assert_string_equal(l.info->producer_name, "trace-cmd");
	assert_string_equal(l.info->producer_version, "3.1.6 x");
	assert_string_equal(l.info->sysname, "Linux");
	assert_string_equal(l.info->machine_name, "box");
	assert_string_equal(l.info->release, "4.9.1-x");
	assert_string_equal(l.info->machine, "aarch64");
	expect_eq(l.info->nr_cpus_reported, 48);
	expect_eq(damage("options_damaged"), 1);
}

static const char *name_of(uint32_t tid)
{
	for (size_t i = 0; i < l.nr; i++) {
		const struct ev_task_info *rec = (const struct ev_task_info *)l.recs[i];

		if (rec->hdr.kind == EV_TASK_INFO && rec->tid == tid)
			return rec->comm;
	}
	return NULL;
}

static void names_come_from_events_and_else_from_the_list(void **state)
{
	struct dat_page p;
	size_t table;

	(void)state;
	begin(1, &table);
	p = page_begin(&f, 1000);
	page_head(&f, 9, 0);
	body_waking(&f, 8, "event", 7);
	page_end(&f, p, 0, 0);
	put_cpu(table, 0, p.at);
	loaded_done(&l);
	l.with_names = true;
	load_cfg(&l, f.buf, f.len, NULL);
	expect_eq(l.err, 0);
	assert_string_equal(name_of(7), "event");
	assert_string_equal(name_of(8), "has a name");
	expect_eq(l.info->nr_threads, 2);
}

static void page_work(uint32_t delta, uint64_t function)
{
	page_head(&f, 6, delta);
	body_common(&f, DAT_WORK, 5);
	dat_num(&f, 1, 8);
	dat_num(&f, function, 8);
}

static void functions_have_the_names_of_kallsyms(void **state)
{
	static const uint64_t addresses[] = { 0xffffffff81000000, 0xffffffff810001f0,
		                              0xffffffffc0000004, 0xffffffffd0000000, 1 };
	struct dat_page p;
	size_t table;

	(void)state;
	begin(1, &table);
	p = page_begin(&f, 1000);
	for (uint32_t i = 0; i < 5; i++)
		page_work(1, addresses[i]);
	page_end(&f, p, 0, 0);
	put_cpu(table, 0, p.at);
	read_well();
	expect_eq(l.info->nr_symbols, 3);
	assert_string_equal(l.info->symbols[0].name, "first");
	assert_string_equal(l.info->symbols[1].name, "second");
	assert_string_equal(l.info->symbols[2].name, "other");
	expect_eq(((const struct ev_work *)rec_at(&l, 3, EV_WORK_START))->function, addresses[3]);
	expect_eq(((const struct ev_work *)rec_at(&l, 4, EV_WORK_START))->function, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(clocks_are_known_by_their_names, setup, teardown),
		cmocka_unit_test_setup_teardown(the_clock_behind_the_table_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_time_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(times_of_a_guest_become_those_of_its_host, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(options_say_what_the_machine_is, setup, teardown),
		cmocka_unit_test_setup_teardown(names_come_from_events_and_else_from_the_list,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(functions_have_the_names_of_kallsyms, setup,
		                                teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
