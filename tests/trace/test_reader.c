#include "loaded.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "bundles.h"

static struct loaded l;
static struct enc trace, packet, bundle, sub;

static int setup(void **state)
{
	(void)state;
	trace.len = packet.len = bundle.len = sub.len = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	loaded_done(&l);
	return 0;
}

static uint64_t damage(const char *name)
{
	return counted_damage(l.info, name);
}

/* Appendix A1: one bundle in compact form, byte by byte. */
static const char a1[] = "0a 44 50 02 0a 40 08 02 22 3c 2a 09 73 77 61 70 70 65 72 2f 32"
			 "2a 06 77 6f 72 6b 65 72 0a 04 e8 07 de 02 12 02 01 00 1a 02 00 4d"
			 "22 02 78 78 32 02 00 01 3a 02 94 0a 42 01 4d 4a 01 02 52 01 78"
			 "5a 01 01 62 01 08";

static void check_a1(size_t first)
{
	const struct ev_switch *sw = rec_at(&l, first, EV_SWITCH);
	const struct ev_wake *wake;

	expect_eq(sw->hdr.ts_ns, 1000);
	expect_eq(sw->hdr.cpu, 2);
	expect_eq(sw->next_tid, 0);
	wake = rec_at(&l, first + 1, EV_WAKING);
	expect_eq(wake->hdr.ts_ns, 1300);
	expect_eq(wake->tid, 77);
	expect_eq(wake->waker_tid, 0);
	expect_eq(wake->target_cpu, 2);
	expect_eq(wake->hdr.flags, EV_FLAG_HARDIRQ);
	sw = rec_at(&l, first + 2, EV_SWITCH);
	expect_eq(sw->hdr.ts_ns, 1350);
	expect_eq(sw->hdr.flags, 0);
	expect_eq(sw->prev_tid, 0);
	expect_eq(sw->prev_state, 0);
	expect_eq(sw->next_tid, 77);
	expect_eq(sw->next_prio, 120);
}

/* The same with our word for the interrupt, and a waking that stands in full. */
static void it_is_read_which_interrupt_wakes(void **state)
{
	const struct ev_wake *wake;

	(void)state;
	enc_hex(&trace, "0a 48 50 02 0a 44 08 02 22 40 2a 09 73 77 61 70 70 65 72 2f 32"
	                "2a 06 77 6f 72 6b 65 72 0a 04 e8 07 de 02 12 02 01 00 1a 02 00 4d"
	                "22 02 78 78 32 02 00 01 3a 02 94 0a 42 01 4d 4a 01 02 52 01 78"
	                "5a 01 01 62 01 08 ca 3e 01 01");
	enc_hex(&trace, "0a 19 50 02 0a 15 08 02 12 11 08 dc 0b 10 05"
	                "a2 01 07 10 4d c8 3e ff ff 03 28 48");
	l.with_names = false;
	load(&l, &trace);
	wake = rec_at(&l, 1, EV_WAKING);
	expect_eq(wake->hdr.flags, EV_FLAG_HARDIRQ);
	expect_eq(wake->by, ABI_BY_TIMER);
	wake = rec_at(&l, 3, EV_WAKING);
	expect_eq(wake->hdr.flags, EV_FLAG_HARDIRQ | EV_FLAG_NMI);
	expect_eq(wake->by, ABI_BY_NOT_RECORDED);
	expect_eq(damage("compact_sched_has_parse_errors"), 0);
}

/* Perfetto's own recorder writes the kernel's flags into rows, and none into events in full. */
static void where_flags_are_missing_the_context_is_not_recorded(void **state)
{
	const struct ev_wake *wake;

	(void)state;
	enc_hex(&trace, a1);
	enc_hex(&trace, "0a 14 50 02 0a 10 08 02 12 0c 08 dc 0b 10 05 a2 01 04 10 4d 28 01");
	l.with_names = false;
	load(&l, &trace);
	wake = rec_at(&l, 1, EV_WAKING);
	expect_eq(wake->by, ABI_BY_UNKNOWN);
	wake = rec_at(&l, 3, EV_WAKING);
	expect_eq(wake->waker_tid, 5);
	expect_eq(wake->by, ABI_BY_NOT_RECORDED);
}

static void a_compact_bundle_becomes_records(void **state)
{
	(void)state;
	enc_hex(&trace, a1);
	l.with_names = false;
	load(&l, &trace);
	expect_eq(l.nr, 3);
	check_a1(0);
	/* Which task left at 1000, in which state, is unknown. */
	expect_eq(l.recs[0]->flags, EV_FLAG_UNKNOWN);
	expect_eq(((const struct ev_switch *)l.recs[0])->prev_tid, 0);
	expect_eq(l.nr_names, 1);
	expect_eq(l.info->start_ns, 1000);
	expect_eq(l.info->end_ns, 1350);
	expect_eq(l.info->nr_cpus, 1);
	expect_eq(l.info->cpus[0].cpu, 2);
	expect_eq(counted_events(l.info, "sched_switch"), 2);
	expect_eq(counted_events(l.info, "sched_waking"), 1);
	expect_eq(damage("compact_sched_switch_skipped"), 1);
}

/* The buffer of CPU 0 was overwritten up to 1200, in the words of its own clock 200. */
static void events_before_all_cpus_are_recorded_make_no_records(void **state)
{
	(void)state;
	enc_hex(&trace, a1);
	enc_uint(&bundle, 5, 2);
	enc_uint(&bundle, 6, 200);
	enc_uint(&bundle, 7, 1200);
	enc_uint(&bundle, 10, 200);
	put_switch(&bundle, 150, 7, 1, 8);
	enc_uint(&sub, 1, 9);
	enc_text(&sub, 2, "born");
	put_event(&bundle, 160, 7, 235, &sub);
	put_switch(&bundle, 400, 8, 1, 0);
	put_bundle(&trace, 2, 0, &bundle);
	enc_uint(&bundle, 10, 5000); /* of a bundle that is not the first */
	put_switch(&bundle, 1500, 0, 0, 8);
	put_bundle(&trace, 2, 0, &bundle);
	load(&l, &trace);
	expect_eq(l.info->valid_from_ns, 1200);
	expect_eq(damage("ftrace_events_before_all_cpus_are_recorded"), 2);
	expect_eq(counted_events(l.info, "sched_switch"), 5);
	expect_eq(l.nr, 5);
	expect_eq(((const struct ev_fork *)rec_at(&l, 0, EV_FORK))->tid, 9);
	expect_eq(((const struct ev_wake *)rec_at(&l, 1, EV_WAKING))->hdr.flags, EV_FLAG_HARDIRQ);
	/* What ran before is known. */
	expect_eq(((const struct ev_switch *)rec_at(&l, 2, EV_SWITCH))->hdr.ts_ns, 1350);
	expect_eq(l.recs[2]->flags, 0);
	expect_eq(((const struct ev_switch *)rec_at(&l, 3, EV_SWITCH))->hdr.ts_ns, 1400);
	expect_eq(damage("compact_sched_switch_skipped"), 0);
	expect_eq(damage("compact_sched_waking_skipped"), 0);
}

/* Appendix A3, in a bundle of CPU 2. */
static void an_event_in_full_becomes_a_record(void **state)
{
	const struct ev_switch *sw;

	(void)state;
	enc_hex(&bundle, "12 25 08 d0 0f 10 4d 22 1e 0a 06 77 6f 72 6b 65 72 10 4d 18 78 20 80 02"
	                 "2a 09 73 77 61 70 70 65 72 2f 32 30 00 38 78");
	put_bundle(&trace, 2, 2, &bundle);
	load(&l, &trace);
	expect_eq(l.nr, 1);
	sw = rec_at(&l, 0, EV_SWITCH);
	expect_eq(sw->hdr.ts_ns, 2000);
	expect_eq(sw->prev_tid, 77);
	expect_eq(sw->prev_state, EV_STATE_PREEMPTED);
	expect_eq(sw->prev_prio, 120);
	expect_eq(sw->next_tid, 0);
}

/* The same columns as single values, and in two pieces. */
static void columns_may_come_in_pieces(void **state)
{
	static const uint64_t first[] = { 1000 }, second[] = { 350 }, states[] = { 1, 0 };

	(void)state;
	enc_packed(&sub, 1, first, 1);
	enc_packed(&sub, 1, second, 1);
	enc_packed(&sub, 2, states, 2);
	enc_uint(&sub, 3, 0);
	enc_uint(&sub, 3, 77);
	enc_uint(&sub, 4, 120);
	enc_uint(&sub, 4, 120);
	enc_text(&sub, 5, "worker");
	enc_uint(&sub, 6, 0);
	enc_uint(&sub, 6, 0);
	enc_uint(&sub, 7, 1300);
	enc_uint(&sub, 8, 77);
	enc_uint(&sub, 9, 2);
	enc_uint(&sub, 10, 120);
	enc_uint(&sub, 11, 0);
	enc_uint(&sub, 12, 8);
	enc_msg(&bundle, 4, &sub);
	put_bundle(&trace, 2, 2, &bundle);
	load(&l, &trace);
	expect_eq(l.nr, 3);
	check_a1(0);
	expect_eq(damage("compact_sched_has_parse_errors"), 0);
}

static void unequal_columns_are_counted_and_the_rest_kept(void **state)
{
	static const uint64_t ts[] = { 1000, 1, 1 }, two[] = { 1, 0 }, bad[] = { 0, 9 };

	(void)state;
	enc_packed(&sub, 1, ts, 3);
	enc_packed(&sub, 2, two, 2);
	enc_packed(&sub, 3, two, 2);
	enc_packed(&sub, 4, two, 2);
	enc_packed(&sub, 6, bad, 2); /* the table has no entry 9, nor 0 */
	enc_msg(&bundle, 4, &sub);
	put_bundle(&trace, 2, 0, &bundle);
	load(&l, &trace);
	expect_eq(l.nr, 2);
	expect_eq(damage("compact_sched_has_parse_errors"), 3);
}

static void a_file_that_is_cut_loads_up_to_there(void **state)
{
	(void)state;
	enc_hex(&trace, a1);
	enc_hex(&trace, a1);
	/* 68 bytes and two before them, each; the second one without its end */
	load_cfg(&l, trace.buf, 140 - 30, NULL);
	expect_eq(l.err, 0);
	expect_eq(l.nr, 3);
	expect_eq(damage("truncated_bytes"), 40);
}

static void a_huge_claim_fails_at_once(void **state)
{
	struct rusage before, after;

	(void)state;
	enc_hex(&trace, "0a ff ff ff ff 07 01 02 03 04 05 06 07 08 09 0a");
	getrusage(RUSAGE_SELF, &before);
	load_cfg(&l, trace.buf, 16, NULL);
	getrusage(RUSAGE_SELF, &after);
	expect_eq(l.err, -EBADMSG);
	assert_non_null(strstr(l.d.what, "first packet"));
	assert_true(after.ru_maxrss - before.ru_maxrss < 50000);
	assert_null(l.info);
}

static void what_is_not_a_trace_is_reported_in_a_sentence(void **state)
{
	static const struct {
		const char *bytes;
		const char *what;
	} files[] = {
		{ "", "empty" },
		{ "{\"traceEvents\"", "JSON" },
		{ "PERFILE2........", "perf" },
		{ "hello world", "not" },
		{ "WPROF", "wprof" },
		{ "PK\003\004", "zip" },
		{ "\n\n\n\n\n\n", "not" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		load_cfg(&l, files[i].bytes, strlen(files[i].bytes), NULL);
		assert_true(l.err < 0);
		assert_non_null(strstr(l.d.what, files[i].what));
		loaded_done(&l);
	}
}

static void a_trace_without_events_loads(void **state)
{
	(void)state;
	enc_text(&sub, 1, "Linux");
	enc_text(&sub, 3, "6.12.0");
	enc_msg(&packet, 1, &sub);
	sub.len = 0;
	enc_uint(&sub, 10, 1);
	enc_msg(&sub, 45, &packet);
	put_packet(&trace, &sub);
	enc_hex(&trace, "0a 00"); /* an empty packet */
	load(&l, &trace);
	expect_eq(l.nr, 0);
	assert_false(l.info->has_time);
	expect_eq(l.info->start_ns, 0);
	expect_eq(l.info->end_ns, 0);
	assert_string_equal(l.info->release, "6.12.0");
}

static void compressed_packets_of_both_kinds_load(void **state)
{
	uint8_t packed[1000];
	uLongf len = sizeof(packed);

	(void)state;
	enc_hex(&sub, a1);
	expect_eq(compress2(packed, &len, sub.buf, sub.len, 9), Z_OK);
	enc_bytes(&packet, 50, packed, len);
	put_packet(&trace, &packet);
	len = ZSTD_compress(packed, sizeof(packed), sub.buf, sub.len, 3);
	enc_bytes(&packet, 133, packed, len);
	put_packet(&trace, &packet);
	enc_bytes(&packet, 50, "damaged", 7);
	put_packet(&trace, &packet);
	load(&l, &trace);
	expect_eq(counted_events(l.info, "sched_switch"), 4);
	expect_eq(damage("compressed_packets_damaged"), 1);
}

static void a_whole_file_may_be_compressed(void **state)
{
	uint8_t packed[1000];
	size_t len;

	(void)state;
	enc_hex(&trace, a1);
	len = ZSTD_compress(packed, sizeof(packed), trace.buf, trace.len, 3);
	load_cfg(&l, packed, len, NULL);
	expect_eq(l.err, 0);
	expect_eq(l.nr, 3);
	check_a1(0);
	expect_eq(l.info->nr_bytes, len);
	expect_eq(l.info->nr_plain_bytes, trace.len);
}

static void unpacking_stops_at_the_cap(void **state)
{
	size_t size = (size_t)8 << 20;
	uint8_t *zeroes = calloc(1, size), *packed = malloc(size);
	uLongf len = size;

	(void)state;
	expect_eq(compress2(packed, &len, zeroes, size, 9), Z_OK);
	enc_bytes(&packet, 50, packed, len);
	put_packet(&trace, &packet);
	enc_hex(&trace, a1);
	load_cfg(&l, trace.buf, trace.len, &(struct trace_read_cfg){ .max_bytes = 1 << 20 });
	expect_eq(l.err, -E2BIG);
	free(zeroes);
	free(packed);
}

static uint64_t peak_bytes(void)
{
	struct rusage used;

	expect_eq(getrusage(RUSAGE_SELF, &used), 0);
	return (uint64_t)used.ru_maxrss * 1024;
}

/* Each of them is small enough; together they are not. The workers stop before memory is full, not after. */
static void many_blocks_share_one_budget(void **state)
{
	size_t size = (size_t)8 << 20, len;
	uint8_t *zeroes = calloc(1, size), packed[1024];
	uint64_t before;

	(void)state;
	len = ZSTD_compress(packed, sizeof(packed), zeroes, size, 3);
	assert_true(len <= sizeof(packed));
	free(zeroes);
	for (int i = 0; i < 60; i++) {
		enc_bytes(&packet, 133, packed, len);
		put_packet(&trace, &packet);
	}
	before = peak_bytes();
	load_cfg(&l, trace.buf, trace.len, &(struct trace_read_cfg){ .max_bytes = 32 << 20 });
	expect_eq(l.err, -E2BIG);
	assert_true(peak_bytes() - before < (uint64_t)100 << 20);
}

/* Work functions are numbers of strings, which belong to a sequence and a generation. */
static void put_work(uint64_t ts, uint32_t flags, uint64_t function)
{
	static struct enc p, b, work;

	p.len = b.len = work.len = 0;
	enc_uint(&work, 1, 0xabc);
	enc_uint(&work, 2, function);
	enc_uint(&b, 1, 0);
	put_event(&b, ts, 5, 58, &work);
	enc_uint(&p, 10, 7);
	if (flags)
		enc_uint(&p, 13, flags);
	enc_msg(&p, 1, &b);
	put_packet(&trace, &p);
}

static void put_symbol(uint32_t flags, uint64_t iid, const char *name)
{
	static struct enc p, data, entry;

	p.len = data.len = entry.len = 0;
	enc_uint(&p, 10, 7);
	if (flags)
		enc_uint(&p, 13, flags);
	enc_uint(&entry, 1, iid);
	enc_text(&entry, 2, name);
	enc_msg(&data, 26, &entry);
	enc_msg(&p, 12, &data);
	put_packet(&trace, &p);
}

static const char *function_at(size_t nr)
{
	const struct ev_work *work = rec_at(&l, nr, EV_WORK_START);

	for (size_t i = 0; i < l.info->nr_symbols; i++)
		if (l.info->symbols[i].value == work->function)
			return l.info->symbols[i].name;
	return "";
}

static void strings_belong_to_a_generation_and_may_come_after_their_use(void **state)
{
	(void)state;
	put_symbol(0, 1, "ignored"); /* no generation has begun */
	put_work(10, 1, 1);
	put_symbol(0, 1, "one");
	put_work(20, 2, 1);
	put_work(30, 1, 1); /* a new generation, in which 1 means something else */
	put_symbol(0, 1, "uno");
	put_work(40, 2, 0xffff800012345678);
	load(&l, &trace);
	expect_eq(l.nr, 4);
	assert_string_equal(function_at(0), "one");
	assert_string_equal(function_at(1), "one");
	assert_string_equal(function_at(2), "uno");
	assert_string_equal(function_at(3), "");
	expect_eq(((const struct ev_work *)l.recs[3])->function, 0xffff800012345678);
	expect_eq(damage("interned_data_skipped_incremental_state_invalid"), 1);
	expect_eq(damage("interned_data_redefined"), 0);
}

static void packets_that_need_a_lost_state_are_left_out(void **state)
{
	(void)state;
	put_work(10, 2, 1); /* needs a state that never began */
	put_work(20, 1, 1);
	enc_uint(&packet, 10, 7);
	enc_uint(&packet, 42, 1);
	put_packet(&trace, &packet); /* something was dropped here */
	put_work(30, 2, 1);
	put_work(40, 0, 1); /* needs nothing */
	put_symbol(1, 1, "a");
	put_symbol(0, 1, "b");
	load(&l, &trace);
	expect_eq(damage("packet_skipped_seq_needs_incremental_state_invalid"), 2);
	expect_eq(damage("previous_packet_dropped"), 1);
	expect_eq(damage("interned_data_redefined"), 1);
	/* 20, then a loss of which each kind is reported, then 40 */
	expect_eq(l.nr, 7);
	expect_eq(l.recs[0]->ts_ns, 20);
	expect_eq(l.recs[1]->kind, EV_LOST);
	expect_eq(l.recs[1]->ts_ns, 40);
	expect_eq(l.recs[6]->kind, EV_WORK_START);
	expect_eq(l.info->cpus[0].nr_losses, 1);
}

static void other_machines_are_left_out(void **state)
{
	(void)state;
	put_switch(&sub, 10, 1, 0, 2);
	enc_uint(&bundle, 1, 0);
	enc_raw(&bundle, sub.buf, sub.len);
	enc_uint(&packet, 98, 3);
	enc_msg(&packet, 1, &bundle);
	put_packet(&trace, &packet);
	enc_hex(&trace, a1);
	load(&l, &trace);
	expect_eq(l.nr, 3);
	expect_eq(damage("packet_of_other_machine"), 1);
}

static void a_damaged_packet_costs_only_itself(void **state)
{
	(void)state;
	enc_hex(&trace, "0a 03 0a 7f 01"); /* a bundle longer than its packet */
	enc_hex(&trace, a1);
	put_switch(&bundle, 5000, 1, 0, 2);
	enc_hex(&bundle, "12 02 08 80"); /* an event that is none */
	put_switch(&bundle, 6000, 2, 0, 1);
	put_bundle(&trace, 2, 1, &bundle);
	load(&l, &trace);
	expect_eq(damage("packet_damaged"), 1);
	expect_eq(counted_of(l.info, "packet_damaged"), 3);
	expect_eq(damage("ftrace_bundle_tokenizer_errors"), 1);
	expect_eq(l.nr, 5);
}

static void a_trace_twice_is_still_one(void **state)
{
	(void)state;
	enc_hex(&trace, a1);
	enc_hex(&trace, a1);
	load(&l, &trace);
	expect_eq(counted_events(l.info, "sched_switch"), 4);
	expect_eq(l.nr, 6);
	expect_eq(l.info->nr_packets, 2);
}

static void unknown_things_are_counted_by_number(void **state)
{
	(void)state;
	enc_text(&packet, 777, "?");
	put_packet(&trace, &packet);
	enc_text(&sub, 1, "?");
	put_event(&bundle, 10, 1, 999, &sub);
	put_event(&bundle, 11, 1, 5000, &sub);
	put_event(&bundle, 12, 1, 5000, &sub);
	/* An event that the bundle itself explains. */
	enc_text(&sub, 1, "scx_dump");
	enc_uint(&packet, 1, 70000);
	enc_msg(&packet, 2, &sub);
	enc_msg(&bundle, 11, &packet);
	put_event(&bundle, 13, 1, 70000, &sub);
	put_bundle(&trace, 2, 0, &bundle);
	load(&l, &trace);
	expect_eq(l.info->nr_unknown, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct trace_unknown *u = &l.info->unknown[i];

		assert_true((!u->is_event && u->number == 777 && u->count == 1) ||
		            (u->is_event && u->number == 999 && u->count == 1) ||
		            (u->is_event && u->number == 5000 && u->count == 2));
	}
	expect_eq(counted_events(l.info, "scx_dump"), 1);
	expect_eq(l.nr, 0);
	expect_eq(l.info->end_ns, 13);
}

static void a_sink_that_fails_stops_it(void **state)
{
	(void)state;
	enc_hex(&trace, a1);
	l.fail_after = 2;
	load_cfg(&l, trace.buf, trace.len, NULL);
	expect_eq(l.err, -EPIPE);
	assert_null(l.info);
}

static void files_and_pipes_are_read(void **state)
{
	char path[] = "/tmp/test-reader-XXXXXX";
	struct ev_sink sink = { .push = loaded_push, .ctx = &l };
	struct trace_info *info = NULL;
	struct diag d = { 0 };
	int fd = mkstemp(path);

	(void)state;
	enc_hex(&trace, a1);
	expect_eq(write(fd, trace.buf, trace.len), trace.len);
	expect_eq(trace_read_file(path, NULL, &sink, &d, &info), 0);
	expect_eq(info->nr_bytes, trace.len);
	trace_info_free(info);
	expect_eq(lseek(fd, 0, SEEK_SET), 0);
	expect_eq(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	l.last_ns = 0;
	expect_eq(trace_read_file("-", NULL, &sink, &d, &info), 0);
	trace_info_free(info);
	expect_eq(l.nr, 6);
	expect_eq(trace_read_file("/nowhere/at/all", NULL, &sink, &d, &info), -ENOENT);
	assert_non_null(strstr(d.what, "/nowhere/at/all"));
	d = (struct diag){ 0 };
	expect_eq(trace_read_file("/tmp", NULL, &sink, &d, &info), -EISDIR);
	close(fd);
	unlink(path);
}

static void what_never_ends_is_refused_at_its_beginning(void **state)
{
	struct ev_sink sink = { .push = loaded_push, .ctx = &l };
	struct trace_info *info = NULL;
	struct diag d = { 0 };
	struct rusage before, after;

	(void)state;
	expect_eq(getrusage(RUSAGE_SELF, &before), 0);
	expect_eq(trace_read_file("/dev/zero", NULL, &sink, &d, &info), -EINVAL);
	expect_eq(getrusage(RUSAGE_SELF, &after), 0);
	assert_in_range(after.ru_maxrss - before.ru_maxrss, 0, 64 << 10);
	assert_string_equal(d.what, "'/dev/zero' is not a trace");
}

/* Empty packets without end. */
static pid_t write_packets(const int ends[2])
{
	static uint8_t bytes[1 << 16];
	pid_t pid = fork();

	if (pid)
		return pid;
	close(ends[0]);
	close(STDIN_FILENO);
	for (size_t i = 0; i < sizeof(bytes); i += 2)
		bytes[i] = 0x0a;
	while (write(ends[1], bytes, sizeof(bytes)) > 0)
		;
	_exit(0);
}

static void a_stream_ends_at_the_cap(void **state)
{
	struct trace_read_cfg cfg = { .max_bytes = 3 << 20 };
	struct ev_sink sink = { .push = loaded_push, .ctx = &l };
	struct trace_info *info = NULL;
	struct diag d = { 0 };
	int ends[2];
	pid_t writer;

	(void)state;
	expect_eq(pipe(ends), 0);
	writer = write_packets(ends);
	assert_true(writer > 0);
	close(ends[1]);
	expect_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	expect_eq(trace_read_file("-", &cfg, &sink, &d, &info), -E2BIG);
	close(ends[0]);
	close(STDIN_FILENO);
	expect_eq(waitpid(writer, NULL, 0), writer);
}

/* A file of the kernel says that it is a page long, and is not: as one that shrinks. */
#define SHORT_FILE "/sys/kernel/mm/transparent_hugepage/enabled"

static void a_file_shorter_than_it_said_is_an_error(void **state)
{
	struct ev_sink sink = { .push = loaded_push, .ctx = &l };
	struct trace_info *info = NULL;
	struct diag d = { 0 };

	(void)state;
	expect_eq(trace_read_file(SHORT_FILE, NULL, &sink, &d, &info), -ESTALE);
	assert_non_null(strstr(d.what, "shorter"));
}

static int note_start(void *ctx, __u64 ts_ns)
{
	uint64_t *start_ns = ctx;

	expect_eq(*start_ns, UINT64_MAX); /* once, and first */
	*start_ns = ts_ns;
	return 0;
}

static int count_from_start(void *ctx, const struct ev_hdr *rec)
{
	const uint64_t *start_ns = ctx;

	assert_true(*start_ns != UINT64_MAX && rec->ts_ns >= *start_ns);
	return 0;
}

static int refuse_start(void *ctx, __u64 ts_ns)
{
	(void)ctx;
	(void)ts_ns;
	return -EPIPE;
}

static void the_sink_gets_the_start_first(void **state)
{
	uint64_t start_ns = UINT64_MAX;
	struct ev_sink sink = { .push = count_from_start, .advance = note_start, .ctx = &start_ns };
	struct trace_bytes bytes;
	struct trace_info *info = NULL;
	struct diag d = { 0 };

	(void)state;
	enc_hex(&trace, a1);
	bytes = (struct trace_bytes){ .bytes = trace.buf, .len = trace.len, .name = "test" };
	expect_eq(trace_read_memory(&bytes, NULL, &sink, &d, &info), 0);
	expect_eq(start_ns, info->start_ns);
	trace_info_free(info);
	sink.advance = refuse_start;
	expect_eq(trace_read_memory(&bytes, NULL, &sink, &d, &info), -EPIPE);
	/* Where nothing happened, there is no start. */
	sink.advance = note_start;
	start_ns = UINT64_MAX;
	trace.len = 0;
	enc_uint(&sub, 10, 1);
	put_packet(&trace, &sub);
	enc_hex(&trace, "0a 00");
	bytes = (struct trace_bytes){ .bytes = trace.buf, .len = trace.len, .name = "test" };
	expect_eq(trace_read_memory(&bytes, NULL, &sink, &d, &info), 0);
	expect_eq(start_ns, UINT64_MAX);
	trace_info_free(info);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_sink_gets_the_start_first),
		T(it_is_read_which_interrupt_wakes),
		T(where_flags_are_missing_the_context_is_not_recorded),
		T(a_compact_bundle_becomes_records),
		T(events_before_all_cpus_are_recorded_make_no_records),
		T(an_event_in_full_becomes_a_record),
		T(columns_may_come_in_pieces),
		T(unequal_columns_are_counted_and_the_rest_kept),
		T(a_file_that_is_cut_loads_up_to_there),
		T(a_huge_claim_fails_at_once),
		T(what_is_not_a_trace_is_reported_in_a_sentence),
		T(a_trace_without_events_loads),
		T(compressed_packets_of_both_kinds_load),
		T(a_whole_file_may_be_compressed),
		T(unpacking_stops_at_the_cap),
		T(many_blocks_share_one_budget),
		T(strings_belong_to_a_generation_and_may_come_after_their_use),
		T(packets_that_need_a_lost_state_are_left_out),
		T(other_machines_are_left_out),
		T(a_damaged_packet_costs_only_itself),
		T(a_trace_twice_is_still_one),
		T(unknown_things_are_counted_by_number),
		T(a_sink_that_fails_stops_it),
		T(files_and_pipes_are_read),
		T(what_never_ends_is_refused_at_its_beginning),
		T(a_stream_ends_at_the_cap),
		unit_test_if(access(SHORT_FILE, R_OK) == 0, a_file_shorter_than_it_said_is_an_error,
		             "no such file in /sys"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
