#include "dat_loaded.h"

static struct dat_build part; /* of a file of version 7 */

/* Short and long events, discarded ones, times that are far apart, and absolute ones without their highest bits. */
static void build_types(void)
{
	const uint64_t base = 8ULL << 59; /* more than 59 bits */
	struct dat_page p;
	size_t table;

	begin(1, &table);
	p = page_begin(&f, base + 1000);
	page_waking(&f, 0, "a", 10);
	page_head(&f, 0, 10); /* its length behind the head */
	dat_num(&f, 4 + 36, 4);
	body_waking(&f, 5, "b", 11);
	page_head(&f, 29, 20); /* discarded, with its time */
	dat_num(&f, 8, 4);
	dat_num(&f, 77, 4);
	page_waking(&f, 200, "c", 12);
	page_head(&f, 29, 1); /* discarded at the time before */
	dat_num(&f, 4, 4);
	page_waking(&f, 6, "d", 13);
	page_head(&f, 30, 100); /* 27 bits are too few */
	dat_num(&f, 3, 4);
	page_waking(&f, 0, "e", 14);
	page_head(&f, 31, 5000); /* absolute */
	dat_num(&f, 4, 4);
	page_waking(&f, 0, "f", 15);
	page_waking(&f, 1, "g", 16);
	page_head(&f, 29, 0); /* nothing from here on */
	page_waking(&f, 1, "never", 99);
	page_end(&f, p, 0, 0);
	put_cpu(table, 0, p.at);
}

static void every_kind_of_event_has_its_time_in_all_byte_orders_and_sizes(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		f.is_big = i & 1;
		f.nr_long = i & 2 ? 4 : 8;
		build_types();
		read_well();
		expect_eq(l.nr, 7);
		expect_eq(l.recs[4]->ts_ns, (8ULL << 59) + 1336 + (3ULL << 27));
		expect_eq(l.recs[5]->ts_ns, (8ULL << 59) + 5000 + (4ULL << 27));
		expect_eq(l.recs[6]->ts_ns, (8ULL << 59) + 5001 + (4ULL << 27));
		for (uint32_t k = 0; k < 4; k++) {
			static const uint64_t times[] = { 1000, 1010, 1230, 1236 };
			const struct ev_wake *wake = rec_at(&l, k, EV_WAKING);

			expect_eq(wake->hdr.ts_ns, (8ULL << 59) + times[k]);
			expect_eq(wake->tid, 10 + k);
			expect_eq(wake->waker_tid, 5);
			expect_eq(wake->prio, 120);
			expect_eq(wake->target_cpu, 1);
		}
		expect_eq(l.info->nr_damage, 0);
		expect_eq(events("sched_waking"), 7);
	}
}

static void an_absolute_time_may_be_beyond_what_its_bits_hold(void **state)
{
	const uint64_t end = 9ULL << 59;
	struct dat_page p;
	size_t table;

	(void)state;
	begin(1, &table);
	p = page_begin(&f, end - 10);
	page_head(&f, 31, 5); /* its bits have begun again from 0 */
	dat_num(&f, 0, 4);
	page_waking(&f, 0, "a", 10);
	page_end(&f, p, 0, 0);
	put_cpu(table, 0, p.at);
	read_well();
	expect_eq(l.recs[0]->ts_ns, end + 5);
}

/* A first page of which events are lost, a whole one, then two after losses. */
static void build_losses(void)
{
	static const uint32_t flags[] = { LOST, 0, LOST, LOST | STORED };
	struct dat_page p;
	size_t table, from;

	begin(1, &table);
	from = f.len;
	for (uint32_t i = 0; i < 4; i++) {
		p = page_begin(&f, 1000 * (i + 1));
		page_waking(&f, 0, "woken", 9);
		page_end(&f, p, flags[i], 41);
	}
	put_cpu(table, 0, from);
}

static void losses_between_pages_are_told_and_counted(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		f.is_big = i & 1;
		f.nr_long = i & 2 ? 4 : 8;
		build_losses();
		read_well();
		expect_eq(events("sched_waking"), 4);
		expect_eq(l.info->cpus[0].nr_losses, 2);
		expect_eq(l.info->cpus[0].nr_lost, 41);
		expect_eq(damage("ftrace_cpu_has_data_loss"), 2);
		expect_eq(l.info->valid_from_ns, 1000); /* before that, events were overwritten */
		expect_eq(l.recs[1]->kind, EV_WAKING);
		expect_eq(l.recs[2]->kind, EV_LOST);
		expect_eq(l.recs[2]->ts_ns, 3000);
	}
}

static void damaged_pages_are_counted_and_the_others_read(void **state)
{
	struct dat_page p;
	size_t table, from;

	(void)state;
	begin(1, &table);
	from = f.len;
	p = page_begin(&f, 1000);
	page_waking(&f, 0, "woken", 9);
	page_end(&f, p, 0, 0);
	p = page_begin(&f, 2000);
	page_end(&f, p, 5000, 0); /* more than a page */
	p = page_begin(&f, 3000);
	page_waking(&f, 0, "woken", 9);
	page_head(&f, 28, 1); /* longer than what is left */
	page_end(&f, p, 0, 0);
	p = page_begin(&f, 4000);
	page_head(&f, 0, 1);
	dat_num(&f, 2, 4); /* shorter than its own length */
	page_waking(&f, 0, "woken", 9);
	page_end(&f, p, 0, 0);
	p = page_begin(&f, 0);
	page_end(&f, p, 0, 0); /* never written */
	p = page_begin(&f, 6000);
	page_waking(&f, 0, "woken", 9);
	page_end(&f, p, 0, 0);
	put_cpu(table, 0, from);
	read_well();
	expect_eq(events("sched_waking"), 3);
	expect_eq(damage("ring_buffer_pages_damaged"), 3);
	expect_eq(counted_of(l.info, "ring_buffer_pages_damaged"), 6);
	expect_eq(l.info->nr_damage, 1);
}

static void unknown_and_short_events_are_counted(void **state)
{
	struct dat_page p;
	size_t table;

	(void)state;
	begin(1, &table);
	p = page_begin(&f, 1000);
	page_other(&f, 0, DAT_OTHER);
	page_other(&f, 1, 999);
	page_other(&f, 1, 999);
	page_other(&f, 1, DAT_WAKING);
	page_other(&f, 1, DAT_PROBE);
	page_end(&f, p, 0, 0);
	put_cpu(table, 0, p.at);
	read_well();
	expect_eq(events("something_else"), 1);
	expect_eq(events("sleep"), 1);
	expect_eq(l.info->nr_unknown, 1);
	expect_eq(l.info->unknown[0].number, 999);
	expect_eq(l.info->unknown[0].count, 2);
	expect_eq(damage("events_shorter_than_described"), 1);
	expect_eq(counted_of(l.info, "events_shorter_than_described"), 5);
	expect_eq(l.nr, 0);
}

static void a_file_that_is_cut_is_read_as_far_as_it_goes(void **state)
{
	struct dat_page p;
	size_t table, from;

	(void)state;
	begin(2, &table);
	from = f.len;
	for (uint32_t i = 0; i < 3; i++) {
		p = page_begin(&f, 1000 * (i + 1));
		page_waking(&f, 0, "woken", 9);
		page_waking(&f, 10, "woken", 9);
		page_end(&f, p, 0, 0);
	}
	put_cpu(table, 0, from);
	from = f.len;
	p = page_begin(&f, 5000);
	page_waking(&f, 0, "woken", 9);
	page_end(&f, p, 0, 0);
	put_cpu(table, 1, from);
	f.len -= 2 * DAT_PAGE - 16 - 40 - 12; /* within the second event of the third page */
	read_well();
	expect_eq(events("sched_waking"), 5);
	assert_non_null(l.info->incomplete);
	expect_eq(damage("truncated_bytes"), 2 * DAT_PAGE - 16 - 40 - 12);
	expect_eq(counted_of(l.info, "truncated_bytes"), f.len + 2 * DAT_PAGE - 16 - 40 - 12);
	expect_eq(damage("ring_buffer_pages_damaged"), 0);
}

/* Of the same CPU: wakings and raised softirqs, so many of each. */
static void put_pages(uint32_t nr_wakings, uint32_t nr_raised)
{
	struct dat_page p = page_begin(&f, 1000);

	for (uint32_t i = 0; i < nr_wakings; i++)
		page_waking(&f, 1, "woken", 9);
	for (uint32_t i = 0; i < nr_raised; i++)
		page_other(&f, 1, DAT_RAISE);
	page_end(&f, p, 0, 0);
}

static void of_what_two_buffers_have_the_larger_part_counts(void **state)
{
	size_t option, first, second, from;

	(void)state;
	dat_v6(&f, 1);
	dat_raw(&f, "options  ", 10);
	dat_num(&f, OPT_BUFFER, 2);
	dat_num(&f, 8 + 5, 4);
	option = f.len;
	dat_num(&f, 0, 8);
	dat_str(&f, "more");
	dat_num(&f, 0, 2);
	flyrecord(1, &first);
	from = f.len;
	put_pages(3, 1);
	put_cpu(first, 0, from);
	dat_put(&f, option, f.len, 8);
	flyrecord(1, &second);
	from = f.len;
	put_pages(2, 5);
	put_cpu(second, 0, from);
	read_well();
	expect_eq(events("sched_waking"), 3);
	expect_eq(events("softirq_raise"), 5);
	expect_eq(damage("events_that_another_buffer_has_too"), 3);
	expect_eq(l.info->cpus[0].nr_events, 8);
}

/* Version 7: options, sections and one buffer or two. */
static void options_v7(const size_t sections[5], const char *clock, size_t at, size_t size)
{
	static const uint32_t ids[] = { 16, 17, 18, 19, 21 };

	part.len = 0;
	for (uint32_t i = 0; i < 5; i++) {
		dat_num(&part, ids[i], 2);
		dat_num(&part, 8, 4);
		dat_num(&part, sections[i], 8);
	}
	for (uint32_t i = 0; i < 2; i++) {
		const char *name = i ? "again" : "";

		dat_num(&part, OPT_BUFFER, 2);
		dat_num(&part, 8 + strlen(name) + 1 + (i ? strlen(clock) : 4) + 1 + 8 + 20, 4);
		dat_num(&part, at, 8);
		dat_str(&part, name);
		dat_str(&part, i ? clock : "mono");
		dat_num(&part, DAT_PAGE, 4);
		dat_num(&part, 1, 4);
		dat_num(&part, 3, 4); /* the CPU */
		dat_num(&part, at + 16, 8);
		dat_num(&part, size, 8);
	}
	dat_num(&part, 0, 2);
	dat_num(&part, 8, 4);
	dat_num(&part, 0, 8);
}

static void put_data(void)
{
	static uint8_t packed[DAT_PAGE * 2];
	size_t at, len;

	if (!f.packed) {
		put_pages(3, 2);
		return;
	}
	dat_num(&f, 1, 4);
	at = f.len;
	put_pages(3, 2);
	len = dat_pack(&f, f.buf + at, f.len - at, packed, sizeof(packed));
	f.len = at;
	dat_num(&f, len, 4);
	dat_num(&f, DAT_PAGE, 4);
	dat_raw(&f, packed, len);
}

static void build_v7(const char *clock)
{
	size_t sections[5], data, offset_at;

	part.is_big = f.is_big;
	part.nr_long = f.nr_long;
	dat_start(&f, "7");
	dat_str(&f, f.packed ? f.packed : "none");
	dat_str(&f, "1.2.3");
	offset_at = f.len;
	dat_num(&f, 0, 8);
	part.len = 0;
	dat_header_info(&part);
	sections[0] = dat_section(&f, 16, &part);
	part.len = 0;
	dat_num(&part, 0, 4);
	sections[1] = dat_section(&f, 17, &part);
	part.len = 0;
	dat_formats(&part);
	sections[2] = dat_section(&f, 18, &part);
	part.len = 0;
	dat_sized(&part, DAT_KALLSYMS, 4);
	sections[3] = dat_section(&f, 19, &part);
	part.len = 0;
	dat_sized(&part, DAT_CMDLINES, 8);
	sections[4] = dat_section(&f, 21, &part);
	data = f.len;
	dat_num(&f, OPT_BUFFER, 2);
	dat_num(&f, f.packed != NULL, 2);
	dat_num(&f, 0, 4);
	dat_num(&f, 0, 8);
	put_data();
	options_v7(sections, clock, data, f.len - data - 16 - (f.packed ? 4 : 0));
	dat_put(&f, offset_at, f.len, 8);
	(void)dat_section(&f, 0, &part);
}

static void version_7_is_read_packed_or_not(void **state)
{
	static const char *const packings[] = { NULL, "zstd", "zlib" };

	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		f.is_big = i & 1;
		f.packed = packings[i / 2];
		build_v7("boot");
		read_well();
		expect_eq(events("sched_waking"), 3);
		expect_eq(events("softirq_raise"), 2);
		expect_eq(l.info->clock, 3);
		expect_eq(l.info->nr_cpus, 1);
		expect_eq(l.info->cpus[0].cpu, 3);
		expect_eq(l.info->nr_threads, 2);
		expect_eq(damage("buffers_of_another_clock"), 1);
		expect_eq(l.info->nr_damage, 1);
	}
}

/* The second buffer names the data of the first: all of it would be read for each that does. */
static void overlapping_data_is_not_read_again_and_again(void **state)
{
	size_t table, from;

	(void)state;
	f.packed = "zstd";
	build_v7("mono");
	read_well();
	expect_eq(events("sched_waking"), 3);
	expect_eq(damage("events_that_another_buffer_has_too"), 5);
	/* A hundred CPUs that are all in the same place. */
	begin(100, &table);
	from = f.len;
	put_pages(3, 2);
	for (uint32_t i = 0; i < 100; i++)
		put_cpu(table, i, from);
	read_well();
	expect_eq(events("sched_waking"), 3 * f.len / DAT_PAGE);
	expect_eq(damage("beyond_the_caps"), 100 - f.len / DAT_PAGE);
}

static void a_chunk_that_is_damaged_is_counted(void **state)
{
	(void)state;
	f.packed = "zlib";
	build_v7("mono");
	memset(memmem(f.buf, f.len, "\x03\0\x01\0", 4) + 40, 0xff, 8);
	read_well();
	expect_eq(events("sched_waking"), 0);
	expect_eq(damage("compressed_chunks_damaged"), 2);
	expect_eq(counted_of(l.info, "compressed_chunks_damaged"), 2);
}

static void what_is_not_known_is_refused_with_a_sentence(void **state)
{
	size_t table;

	(void)state;
	dat_start(&f, "8");
	read_it();
	expect_eq(l.err, -EINVAL);
	assert_string_equal(l.d.what,
	                    "'test' is version 8 of trace-cmd's format; 6 and 7 can be read");
	f.packed = NULL;
	dat_start(&f, "7");
	dat_str(&f, "lzma");
	dat_str(&f, "1");
	dat_num(&f, 0, 8);
	read_it();
	expect_eq(l.err, -EINVAL);
	assert_string_equal(l.d.what, "'test' is compressed by 'lzma', which is not known");
	dat_v6(&f, 1);
	dat_raw(&f, "latency  ", 10);
	dat_raw(&f, "what no format knows\n", 21);
	read_it();
	expect_eq(l.err, -EINVAL);
	assert_string_equal(l.d.what,
	                    "'test' holds the text of a latency tracer instead of events");
	dat_v6(&f, 1);
	dat_raw(&f, "latency  ", 10);
	dat_start(&part, "6");
	dat_raw(&f, part.buf, part.len); /* a file within a file */
	read_it();
	assert_string_equal(l.d.what,
	                    "'test' holds the text of a latency tracer instead of events");
	begin(1, &table);
	f.len = table - 20;
	read_it();
	expect_eq(l.err, -EBADMSG);
	assert_string_equal(l.d.what, "the header of 'test' is damaged or not complete");
}

static void the_data_of_one_cpu_alone_is_recognized(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		f.is_big = i & 1;
		f.nr_long = i & 2 ? 4 : 8;
		f.len = 0;
		put_pages(3, 2);
		read_it();
		expect_eq(l.err, -EINVAL);
		assert_string_equal(
			l.d.what,
			"'test' is the data of one CPU that an interrupted trace-cmd left");
	}
	f.len = 0;
	for (uint32_t i = 0; i < DAT_PAGE / 8; i++)
		dat_num(&f, i * 0x123456789abcdefULL, 8);
	read_it();
	expect_eq(l.err, -EINVAL);
}

/* Options that lead back to themselves. */
static void a_ring_of_options_ends(void **state)
{
	size_t at;

	(void)state;
	dat_start(&f, "7");
	dat_str(&f, "none");
	dat_str(&f, "");
	dat_num(&f, f.len + 8, 8);
	at = f.len;
	dat_num(&f, 0, 8);
	dat_num(&f, 14, 8);
	dat_num(&f, 0, 2);
	dat_num(&f, 8, 4);
	dat_num(&f, at, 8);
	read_it();
	expect_eq(l.err, -EBADMSG);
}

/* Whatever is missing or other than it was: records in order, or a sentence. */
static void any_cut_or_changed_byte_is_survived(void **state)
{
	static uint8_t whole[sizeof(f.buf)];
	size_t len;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		f.packed = i == 2 ? "zstd" : NULL;
		if (i == 0)
			build_types();
		else
			build_v7("mono");
		len = f.len;
		memcpy(whole, f.buf, len);
		for (size_t k = 0; k < len; k += k < 1024 ? 1 : 7) {
			f.len = k;
			read_it();
			f.len = len;
			f.buf[k] ^= 0xff;
			read_it();
			f.buf[k] = whole[k];
		}
		f.len = len;
		read_well();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			every_kind_of_event_has_its_time_in_all_byte_orders_and_sizes, setup,
			teardown),
		cmocka_unit_test_setup_teardown(an_absolute_time_may_be_beyond_what_its_bits_hold,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(losses_between_pages_are_told_and_counted, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(damaged_pages_are_counted_and_the_others_read,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(unknown_and_short_events_are_counted, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(a_file_that_is_cut_is_read_as_far_as_it_goes, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(of_what_two_buffers_have_the_larger_part_counts,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(version_7_is_read_packed_or_not, setup, teardown),
		cmocka_unit_test_setup_teardown(overlapping_data_is_not_read_again_and_again, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(a_chunk_that_is_damaged_is_counted, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(what_is_not_known_is_refused_with_a_sentence, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(the_data_of_one_cpu_alone_is_recognized, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(a_ring_of_options_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(any_cut_or_changed_byte_is_survived, setup,
		                                teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
