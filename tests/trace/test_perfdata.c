/* perf.data, made by hand: each record, both byte orders, pipes, packed records, damage. */
#include "perf_load.h"

#include <zstd.h>

static void check_switch_and_waking(void)
{
	const struct ev_wake *wake = rec_at(&got, 0, EV_WAKING);
	const struct ev_switch *sw = rec_at(&got, 1, EV_SWITCH);

	expect_eq(got.nr, 2);
	expect_eq(wake->hdr.ts_ns, 1000);
	expect_eq(wake->hdr.cpu, 1);
	expect_eq(wake->hdr.flags, EV_FLAG_SOFTIRQ);
	expect_eq(wake->tid, 8);
	expect_eq(wake->waker_tid, 7);
	expect_eq(wake->target_cpu, 1);
	expect_eq(wake->prio, 100);
	expect_eq(sw->hdr.ts_ns, 2000);
	expect_eq(sw->hdr.cpu, 1);
	expect_eq(sw->prev_tid, 7);
	expect_eq(sw->prev_state, EV_STATE_D);
	expect_eq(sw->next_tid, 8);
	expect_eq(events("sched_switch"), 1);
	expect_eq(got.info->nr_damage, 0);
	assert_string_equal(got.info->producer_name, "perf");
}

static void kernel_events_of_both_byte_orders(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		usual(&file, big);
		sched_switch(&file, 101, 2000, 1, 7, 2, 8);
		sched_waking(&file, 102, 1000, 1, 7, 8,
		             0x10); /* later in the file, earlier in time */
		load_file(&file);
		check_switch_and_waking();
		assert_string_equal(got.info->enabled[0], "sched_switch");
	}
}

/* One attribute, and no id in its samples. */
static void one_event_without_ids(void **state)
{
	size_t mark;

	(void)state;
	usual(&file, false);
	file.nr_attrs = 1;
	file.attrs[0].sample_type = T_TIME | T_CPU | T_RAW;
	mark = begin(&file, 9, 0);
	put64(&file, &file.data, 3000);
	put64(&file, &file.data, 4);
	put_switch(&file, 1, 1, 2);
	end(&file, mark);
	load_file(&file);
	expect_eq(((const struct ev_switch *)rec_at(&got, 0, EV_SWITCH))->hdr.cpu, 4);
}

/* Everything that may stand before the raw bytes, and between them and the cgroup. */
static void all_parts_of_a_sample(void **state)
{
	size_t mark;

	(void)state;
	for (int is_group = 0; is_group < 2; is_group++) {
		usual(&file, false);
		file.attrs[0].sample_type = T_USUAL | T_ADDR | T_ID | T_STREAM | T_READ |
		                            T_CALLCHAIN | T_BRANCH | T_REGS_USER | T_STACK_USER |
		                            T_WEIGHT | T_DATA_SRC | T_TRANSACTION | T_REGS_INTR |
		                            T_PHYS | T_CGROUP;
		file.attrs[0].read_format = is_group ? 31 : 23;
		file.attrs[0].branch = 1 << 17 | 1 << 19;
		file.attrs[0].regs_user = 7;
		file.attrs[0].regs_intr = 1;
		mark = begin(&file, 9, 0);
		put64(&file, &file.data, 101);
		put64(&file, &file.data, 0x1234); /* ip */
		put32(&file, &file.data, 7);
		put32(&file, &file.data, 7);
		put64(&file, &file.data, 5000);
		put64(&file, &file.data, 1); /* addr */
		put64(&file, &file.data, 101);
		put64(&file, &file.data, 2); /* stream */
		put64(&file, &file.data, 0); /* cpu */
		put64(&file, &file.data, 9); /* period */
		if (is_group)
			put64(&file, &file.data, 2);
		for (int i = 0; i < (is_group ? 2 + 6 : 5); i++)
			put64(&file, &file.data, 0x77);
		put64(&file, &file.data, 2);
		put64(&file, &file.data, (uint64_t)-512);
		put64(&file, &file.data, 0x401000);
		put_switch(&file, 7, 1, 8);
		put64(&file, &file.data, 2); /* branches */
		for (int i = 0; i < 1 + 2 * 4; i++)
			put64(&file, &file.data, 0x88);
		put64(&file, &file.data, 2); /* registers */
		for (int i = 0; i < 3; i++)
			put64(&file, &file.data, 0x99);
		put64(&file, &file.data, 16); /* stack */
		for (int i = 0; i < 2 + 1 + 3; i++)
			put64(&file, &file.data, 0xaa);
		put64(&file, &file.data, 1); /* registers */
		put64(&file, &file.data, 0xbb);
		put64(&file, &file.data, 0xcc); /* physical address */
		put64(&file, &file.data, 4242); /* cgroup */
		end(&file, mark);
		load_file(&file);
		expect_eq(nr_of(EV_SWITCH), 1);
		expect_eq(((const struct ev_cgroup *)first_of(EV_CGROUP))->cgroup, 4242);
		expect_eq(((const struct ev_cgroup *)first_of(EV_CGROUP))->tid, 7);
		expect_eq(got.info->nr_samples, 1);
		expect_eq(got.info->samples[0].kind, TRACE_SAMPLE_OFFCPU);
		expect_eq(got.info->samples[0].weight, 9);
		expect_eq(got.info->nr_damage, 0);
	}
}

static void tasks_live(void **state)
{
	const struct ev_fork *fork;
	const struct ev_exit *gone;

	(void)state;
	usual(&file, false);
	comm(0, 50, 50, "before", 0);
	family(4, 50, 50, 51, 50, 9000); /* in the file before what precedes it */
	family(7, 50, 50, 51, 50, 4000);
	comm(1 << 13, 60, 60, "program", 5000);
	comm(0, 50, 51, "renamed", 6000);
	load_file(&file);
	fork = first_of(EV_FORK);
	expect_eq(fork->tid, 51);
	expect_eq(fork->tgid, 50);
	assert_string_equal(fork->comm, "before");
	assert_string_equal(((const struct ev_exec *)first_of(EV_EXEC))->comm, "program");
	assert_string_equal(((const struct ev_rename *)first_of(EV_RENAME))->comm, "renamed");
	assert_string_equal(((const struct ev_rename *)first_of(EV_RENAME))->old_comm, "before");
	gone = first_of(EV_EXIT);
	expect_eq(gone->hdr.ts_ns, 9000);
	assert_string_equal(gone->comm, "renamed");
}

/* The kernel's event of a fork says the same as perf's record of it, which knows the process. */
static void a_fork_counts_once(void **state)
{
	size_t mark;

	(void)state;
	usual(&file, false);
	(void)add_attr(&file, 2, ID_FORK, 103);
	family(7, 50, 50, 51, 50, 4000);
	mark = begin_sample(&file, 103, 4010, 0, 50, 50);
	put_common(&file, 48, ID_FORK, 0, 50);
	put_text(&file.data, "parent", 16);
	put32(&file, &file.data, 50);
	put_text(&file.data, "child", 16);
	put32(&file, &file.data, 51);
	end(&file, mark);
	load_file(&file);
	expect_eq(nr_of(EV_FORK), 1);
	expect_eq(((const struct ev_fork *)first_of(EV_FORK))->tgid, 50);
	expect_eq(events("sched_process_fork"), 1);
}

static void lost(uint32_t type, uint32_t misc, uint64_t count, uint64_t ts, uint32_t cpu)
{
	size_t mark = begin(&file, type, misc);

	if (type == 2)
		put64(&file, &file.data, 101);
	put64(&file, &file.data, count);
	trailer(&file, 0, 0, ts, cpu, 101);
	end(&file, mark);
}

static uint64_t lost_of(uint32_t cpu)
{
	for (size_t i = 0; i < got.info->nr_cpus; i++)
		if (got.info->cpus[i].cpu == cpu)
			return got.info->cpus[i].nr_lost;
	return 0;
}

static void losses(void **state)
{
	(void)state;
	usual(&file, false);
	sched_switch(&file, 101, 1000, 0, 0, 0, 8);
	sched_switch(&file, 101, 1500, 1, 0, 0, 9);
	lost(2, 0, 5, 2000, 1);
	lost(13, 0, 3, 2500, 1);
	lost(13, 1 << 15, 1000, 2600, 1); /* a filter's */
	lost(13, 0, 8, 0, 0);             /* perf's own total, which is known already */
	sched_switch(&file, 101, 3000, 1, 9, 1, 0);
	load_file(&file);
	expect_eq(lost_of(0), 0);
	expect_eq(lost_of(1), 8);
	expect_eq(((const struct ev_lost *)first_of(EV_LOST))->hdr.ts_ns, 2000);
	expect_eq(((const struct ev_lost *)first_of(EV_LOST))->hdr.cpu, 1);

	usual(&file, false);
	sched_switch(&file, 101, 1000, 0, 0, 0, 8);
	sched_switch(&file, 101, 1500, 1, 0, 0, 9);
	lost(13, 0, 7, 0, 0); /* nothing says where */
	load_file(&file);
	expect_eq(lost_of(0) + lost_of(1), 7);
	expect_eq(got.info->cpus[0].nr_losses, 1);
	expect_eq(got.info->cpus[1].nr_losses, 1);
}

static void what_is_only_counted(void **state)
{
	size_t mark;

	(void)state;
	usual(&file, false);
	for (uint32_t type = 5; type <= 6; type++) { /* throttle, unthrottle */
		mark = begin(&file, type, 0);
		put_text(&file.data, "", 24);
		trailer(&file, 0, 0, 100, 0, 101);
		end(&file, mark);
	}
	end(&file, begin(&file, 68, 0)); /* end of a round */
	end(&file, begin(&file, 44, 0)); /* nothing that there is */
	mark = begin(&file, 71, 0);      /* data of a processor's trace, behind its record */
	put64(&file, &file.data, 24);
	put_text(&file.data, "", 32);
	end(&file, mark);
	put_text(&file.data, "\377\377\377\377\377\377\377\377", 24);
	sched_switch(&file, 101, 1000, 0, 0, 0, 8);
	load_file(&file);
	expect_eq(damage("perf_samples_throttled"), 1);
	expect_eq(damage("perf_records_unknown"), 1);
	expect_eq(damage("perf_auxtrace_skipped"), 1);
	expect_eq(damage("truncated_bytes"), 0);
	expect_eq(nr_of(EV_SWITCH), 1);
}

static void switch_record(uint32_t type, uint32_t misc, uint32_t tid, uint32_t other, uint64_t ts)
{
	size_t mark = begin(&file, type, misc);

	if (type == 15) {
		put32(&file, &file.data, other);
		put32(&file, &file.data, other);
	}
	trailer(&file, tid, tid, ts, 1, 101);
	end(&file, mark);
}

#define OUT     (1 << 13)
#define PREEMPT (1 << 14)

static void context_switch_records(void **state)
{
	const struct ev_switch *sw;

	(void)state;
	memset(&file, 0, sizeof(file));
	(void)add_attr(&file, 1, 9, 101); /* dummy */
	switch_record(15, OUT | PREEMPT, 5, 6, 1000);
	switch_record(15, 0, 6, 5, 1001); /* the same, of the one that comes */
	switch_record(15, OUT, 6, 0, 2000);
	switch_record(15, OUT, 0, 7, 3000);
	family(4, 7, 1, 7, 1, 3500);
	file.data.buf[file.data.len - 16] = 1; /* on CPU 1 */
	switch_record(15, OUT, ~0U, 0, 4000);  /* it has no number any more */
	load_file(&file);
	expect_eq(nr_of(EV_SWITCH), 4);
	sw = rec_at(&got, 0, EV_SWITCH);
	expect_eq(sw->prev_tid, 5);
	expect_eq(sw->next_tid, 6);
	expect_eq(sw->prev_state, EV_STATE_PREEMPTED);
	expect_eq(((const struct ev_switch *)rec_at(&got, 1, EV_SWITCH))->prev_state, EV_STATE_S);
	expect_eq(((const struct ev_switch *)rec_at(&got, 2, EV_SWITCH))->prev_state,
	          EV_STATE_RUNNABLE);
	sw = rec_at(&got, got.nr - 1, EV_SWITCH);
	expect_eq(sw->prev_tid, 7);
	expect_eq(sw->prev_state, EV_STATE_DEAD);
	expect_eq(got.info->nr_damage, 0);
}

static void switches_of_some_tasks(void **state)
{
	const struct ev_switch *sw;

	(void)state;
	memset(&file, 0, sizeof(file));
	add_attr(&file, 1, 9, 101)->flags |= F_ON_EXEC;
	switch_record(14, 0, 5, 0, 1000);
	switch_record(14, OUT, 5, 0, 2000);
	load_file(&file);
	sw = rec_at(&got, 0, EV_SWITCH);
	expect_eq(sw->next_tid, 5);
	expect_eq(sw->hdr.flags & EV_FLAG_OTHER_PREV, EV_FLAG_OTHER_PREV);
	expect_eq(((const struct ev_switch *)rec_at(&got, 1, EV_SWITCH))->prev_tid, 5);
	assert_non_null(got.info->filter);

	usual(&file, false); /* where there is the kernel's own event, that counts */
	switch_record(15, OUT, 5, 6, 1000);
	load_file(&file);
	expect_eq(got.nr, 0);
}

/* In pieces, the first of which ends within a record. */
static void pack(uint32_t type, const uint8_t *bytes, size_t len, ZSTD_CCtx *z)
{
	static uint8_t packed[4096];
	ZSTD_inBuffer in = { bytes, len, 0 };
	ZSTD_outBuffer out = { packed, sizeof(packed), 0 };
	size_t mark = begin(&file, type, 0);

	expect_eq(ZSTD_compressStream2(z, &out, &in, ZSTD_e_flush), 0);
	if (type == 83)
		put64(&file, &file.data, out.pos);
	enc_raw(&file.data, packed, out.pos);
	if (type == 83)
		put_text(&file.data, "", 7 - (out.pos + 7) % 8);
	end(&file, mark);
}

static void packed_records(void **state)
{
	static uint8_t plain[4096];
	ZSTD_CCtx *z = ZSTD_createCCtx();
	size_t len;

	(void)state;
	for (uint32_t type = 81; type <= 83; type += 2) {
		(void)ZSTD_CCtx_reset(z, ZSTD_reset_session_only);
		usual(&file, false);
		sched_switch(&file, 101, 1000, 0, 0, 0, 8);
		sched_switch(&file, 101, 2000, 0, 8, 1, 0);
		len = file.data.len;
		memcpy(plain, file.data.buf, len);
		file.data.len = 0;
		pack(type, plain, len / 2 + 5, z);
		sched_waking(&file, 102, 1500, 1, 9, 10, 0); /* between them, not packed */
		pack(type, plain + len / 2 + 5, len - len / 2 - 5, z);
		load_file(&file);
		expect_eq(nr_of(EV_SWITCH), 2);
		expect_eq(nr_of(EV_WAKING), 1);
		expect_eq(got.info->nr_packets, 3);
		expect_eq(got.info->nr_damage, 0);
		file.data.buf[type == 83 ? 17 : 9] ^= 0xff;
		load_file(&file);
		assert_true(damage("compressed_packets_damaged") > 0);
		expect_eq(nr_of(EV_WAKING), 1);
		assert_non_null(got.info->incomplete);
	}
	ZSTD_freeCCtx(z);
}

/* The header is in the first; each is packed on its own. */
static void files_of_a_folder(void **state)
{
	static struct enc all;
	static uint8_t plain[4096];
	struct ev_sink sink = { .push = loaded_push, .ctx = &got };
	size_t ends[3], len;

	(void)state;
	usual(&file, false);
	sched_switch(&file, 101, 1000, 0, 0, 0, 8);
	finish_as(&file, false);
	all.len = 0;
	enc_raw(&all, file.out.buf, file.out.len);
	ends[0] = all.len;
	for (size_t i = 1; i < 3; i++) {
		ZSTD_CCtx *z = ZSTD_createCCtx();

		file.data.len = 0;
		sched_switch(&file, 101, 1000 + i, (uint32_t)i, 0, 0, 8 + (uint32_t)i);
		len = file.data.len;
		memcpy(plain, file.data.buf, len);
		file.data.len = 0;
		pack(81, plain, len, z);
		enc_raw(&all, file.data.buf, file.data.len);
		ends[i] = all.len;
		ZSTD_freeCCtx(z);
	}
	loaded_done(&got);
	expect_eq(trace_read_memory(&(struct trace_bytes){ .bytes = all.buf,
	                                                   .len = all.len,
	                                                   .name = "test",
	                                                   .ends = ends,
	                                                   .nr_ends = 3 },
	                            NULL, &sink, &got.d, &got.info),
	          0);
	for (size_t i = 0; i < got.nr; i++)
		got.recs[i] = (const struct ev_hdr *)(got.bytes + got.offsets[i]);
	expect_eq(nr_of(EV_SWITCH), 3);
	expect_eq(((const struct ev_switch *)rec_at(&got, 2, EV_SWITCH))->next_tid, 10);
	expect_eq(got.info->nr_damage, 0);
	assert_null(got.info->incomplete);
}

static void cgroups(void **state)
{
	const struct ev_cgroup_info *info;
	size_t mark;

	(void)state;
	usual(&file, false);
	file.attrs[0].sample_type |= T_CGROUP;
	mark = begin(&file, 19, 0);
	put64(&file, &file.data, 77);
	put_text(&file.data, "/web", 8);
	trailer(&file, 0, 0, 0, 0, 101);
	end(&file, mark);
	for (int i = 0; i < 3; i++) {
		mark = begin_sample(&file, 101, 1000U + (uint64_t)i, 0, 5, 5);
		put_switch(&file, 5, 1, 6);
		put64(&file, &file.data, i < 2 ? 77 : 78);
		end(&file, mark);
	}
	load_file(&file);
	expect_eq(nr_of(EV_CGROUP), 2);
	info = first_of(EV_CGROUP_INFO);
	expect_eq(info->cgroup, 77);
	assert_string_equal((const char *)(info + 1), "/web");
	expect_eq(((const struct ev_cgroup *)first_of(EV_CGROUP))->flags, EV_CGROUP_STATED);
}

static void call(uint64_t id, uint64_t ts, uint32_t cpu, uint32_t tid, uint64_t nr)
{
	bool is_enter = id == 103;
	size_t mark = begin_sample(&file, id, ts, cpu, tid, tid);

	put_common(&file, is_enter ? 68 : 28, is_enter ? ID_ENTER : ID_EXIT, 0, tid);
	put64(&file, &file.data, nr);
	for (uint64_t i = 0; i < (is_enter ? 6 : 1); i++)
		put64(&file, &file.data, 30 + i);
	put32(&file, &file.data, 0);
	end(&file, mark);
}

static void sleeps_in_system_calls(void **state)
{
	const struct ev_sleep *sleep;

	(void)state;
	for (int is_arm = 0; is_arm < 2; is_arm++) {
		usual(&file, false);
		(void)add_attr(&file, 2, ID_ENTER, 103);
		(void)add_attr(&file, 2, ID_EXIT, 104);
		text_feature(&file, 6, is_arm ? "aarch64" : "x86_64");
		sched_switch(&file, 101, 3000, 1, 5, 1, 0); /* on another CPU, first in the file */
		call(103, 1000, 0, 5, is_arm ? 63 : 0);     /* read */
		sched_switch(&file, 101, 2000, 0, 5, 0x100, 6);
		call(104, 4000, 1, 5, 0);
		sched_switch(&file, 101, 5000, 1, 5, 2, 0); /* a page fault */
		sched_switch(&file, 101, 5500, 0, 6, 1, 0); /* nothing is known */
		load_file(&file);
		expect_eq(nr_of(EV_SLEEP), 2);
		sleep = first_of(EV_SLEEP);
		expect_eq(sleep->hdr.ts_ns, 3000);
		expect_eq(sleep->tid, 5);
		expect_eq(sleep->call, ABI_CALL_read);
		expect_eq(sleep->args[0], 30);
		expect_eq(sleep->args[1], 31);
		for (size_t i = 0; i < got.nr; i++)
			if (got.recs[i]->kind == EV_SLEEP && got.recs[i]->ts_ns == 5000)
				expect_eq(((const struct ev_sleep *)got.recs[i])->call,
				          ABI_CALL_NONE);
	}
}

static void put_features(void)
{
	struct enc *e = feature(&file, 7);

	put32(&file, e, 4);
	put32(&file, e, 2);
	e = feature(&file, 11);
	put32(&file, e, 2);
	put_string(&file, e, "perf");
	put_string(&file, e, "-p5");
	e = feature(&file, 12);
	put32(&file, e, 1);
	put32(&file, e, 0);
	put32(&file, e, 1);
	put_string(&file, e, "sched:sched_waking");
	put64(&file, e, 102);
	e = feature(&file, 13);
	put32(&file, e, 1);
	put_string(&file, e, "0-1");
	put32(&file, e, 2);
	put_string(&file, e, "0");
	put_string(&file, e, "1");
	e = feature(&file, 14);
	put32(&file, e, 1);
	put32(&file, e, 3);
	put_text(e, "", 16);
	put_string(&file, e, "0-1");
	e = feature(&file, 20);
	put32(&file, e, 1);
	put32(&file, e, 2);
	for (uint32_t level = 2; level <= 3; level++) {
		put32(&file, e, level);
		put_text(e, "", 12);
		put_string(&file, e, "Unified");
		put_string(&file, e, "1M");
		put_string(&file, e, level == 3 ? "0-1" : "0");
	}
	e = feature(&file, 29);
	put32(&file, e, 1);
	put32(&file, e, 1);
	put64(&file, e, 1700000000000000000);
	put64(&file, e, 500);
}

static void what_perf_says_of_the_machine(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		usual(&file, big);
		file.attrs[0].flags |= F_CLOCKID;
		file.attrs[0].clockid = 1;
		text_feature(&file, 3, "host");
		text_feature(&file, 4, "6.1.0");
		text_feature(&file, 5, "6.12");
		text_feature(&file, 6, "x86_64");
		put_features();
		sched_switch(&file, 101, 1500, 0, 0, 0, 8);
		load_file(&file);
		assert_string_equal(got.info->machine_name, "host");
		assert_string_equal(got.info->release, "6.1.0");
		assert_string_equal(got.info->producer_version, "6.12");
		assert_string_equal(got.info->machine, "x86_64");
		expect_eq(got.info->nr_cpus_reported, 2);
		expect_eq(got.info->cpus[1].core, 1);
		expect_eq(got.info->cpus[1].llc, 0);
		expect_eq(got.info->cpus[1].node, 3);
		expect_eq(got.info->clock, 3);
		expect_eq(got.info->has_wall_clock, true);
		expect_eq(got.info->start_real_ns, 1700000000000001000);
		assert_string_equal(got.info->enabled[1], "sched/sched_waking");
		assert_non_null(got.info->filter);
		expect_eq(got.info->nr_damage, 0);
	}
}

static void an_unnamed_clock_is_unknown(void **state)
{
	(void)state;
	usual(&file, false);
	sched_switch(&file, 101, 1500, 0, 0, 0, 8);
	load_file(&file);
	expect_eq(got.info->clock, 0);
	expect_eq(got.info->has_wall_clock, false);
	assert_null(got.info->filter);
	assert_null(got.info->incomplete);
}

/* As perf writes it into a pipe: the header's parts are records. */
static void make_pipe(bool is_big)
{
	static struct enc data, formats;
	size_t mark;

	usual(&file, is_big);
	sched_switch(&file, 101, 2000, 1, 7, 2, 8);
	sched_waking(&file, 102, 1000, 1, 7, 8, 0x10);
	data = file.data;
	formats = file.features[0].body;
	file.data.len = 0;
	for (size_t i = 0; i < file.nr_attrs; i++) {
		mark = begin(&file, 64, 0);
		put_attr(&file, &file.data, &file.attrs[i]);
		put64(&file, &file.data, file.attrs[i].id);
		end(&file, mark);
	}
	mark = begin(&file, 66, 0);
	put32(&file, &file.data, formats.len);
	end(&file, mark);
	enc_raw(&file.data, formats.buf, formats.len);
	put_text(&file.data, "", (8 - formats.len % 8) % 8);
	mark = begin(&file, 80, 0);
	put64(&file, &file.data, 4);
	put_string(&file, &file.data, "7.2.0");
	end(&file, mark);
	mark = begin(&file, 78, 0);
	put64(&file, &file.data, 2);
	put64(&file, &file.data, 102);
	put_text(&file.data, "sched:wake", 16);
	end(&file, mark);
	enc_raw(&file.data, data.buf, data.len);
	file.out.len = 0;
	enc_raw(&file.out, is_big ? "2ELIFREP" : "PERFILE2", 8);
	put64(&file, &file.out, 16);
	enc_raw(&file.out, file.data.buf, file.data.len);
}

static void pipes(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		make_pipe(big);
		loaded_done(&got);
		load_cfg(&got, file.out.buf, file.out.len, NULL);
		expect_eq(got.err, 0);
		check_switch_and_waking();
		assert_string_equal(got.info->release, "7.2.0");
		assert_string_equal(got.info->enabled[1], "sched/wake");
	}
}

static void a_killed_perf(void **state)
{
	(void)state;
	usual(&file, false);
	sched_switch(&file, 101, 1500, 0, 0, 0, 8);
	comm(1 << 13, 60, 60, "program", 5000);
	finish_as(&file, true);
	loaded_done(&got);
	load_cfg(&got, file.out.buf, file.out.len, NULL);
	expect_eq(got.err, 0);
	assert_non_null(got.info->incomplete);
	expect_eq(nr_of(EV_SWITCH), 0); /* what its bytes mean is not known */
	expect_eq(events("tracepoint 11"), 1);
	expect_eq(nr_of(EV_EXEC), 1);
}

/* Cut anywhere: what is whole is read, or a sentence says why not; never more than before the cut. */
static void cut_anywhere(void **state)
{
	size_t whole;

	(void)state;
	for (int is_pipe = 0; is_pipe < 2; is_pipe++) {
		if (is_pipe) {
			make_pipe(false);
		} else {
			usual(&file, false);
			sched_switch(&file, 101, 1500, 0, 0, 0, 8);
			sched_switch(&file, 101, 1600, 0, 8, 1, 0);
			put_features();
			finish_as(&file, false);
		}
		whole = file.out.len;
		for (size_t len = 8; len < whole; len++) {
			uint8_t *copy = malloc(len); /* so that reading beyond it is seen */

			memcpy(copy, file.out.buf, len);
			loaded_done(&got);
			load_cfg(&got, copy, len, NULL);
			free(copy);
			expect_eq(got.err != 0, got.d.what[0] != '\0');
			assert_true(nr_of(EV_SWITCH) <= 2);
		}
	}
}

static void samples_that_are_damaged(void **state)
{
	size_t mark;

	(void)state;
	usual(&file, false);
	sched_switch(&file, 999, 1500, 0, 0, 0, 8); /* of no event */
	mark = begin_sample(&file, 101, 1600, 0, 1, 1);
	put32(&file, &file.data, 4000); /* more than there is */
	end(&file, mark);
	mark = begin_sample(&file, 101, 1700, 0, 1, 1);
	put_common(&file, 8, ID_SWITCH, 0, 1); /* less than was described */
	put32(&file, &file.data, 0);
	end(&file, mark);
	sched_switch(&file, 101, 1800, 9999, 0, 0, 8); /* no CPU has that number */
	sched_switch(&file, 101, 1900, 0, 0, 0, 8);
	load_file(&file);
	expect_eq(damage("perf_records_damaged"), 3);
	expect_eq(counted_of(got.info, "perf_records_damaged"), 5);
	expect_eq(damage("cpu_out_of_range"), 1);
	expect_eq(nr_of(EV_SWITCH), 1);
}

static void headers_that_are_none(void **state)
{
	(void)state;
	usual(&file, false);
	finish_as(&file, false);
	loaded_done(&got);
	load_cfg(&got, file.out.buf, 50, NULL);
	expect_eq(got.err, -EBADMSG);
	assert_non_null(strstr(got.d.what, "perf"));
	file.nr_attrs = 0;
	finish_as(&file, false);
	loaded_done(&got);
	load_cfg(&got, file.out.buf, file.out.len, NULL);
	expect_eq(got.err, -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_events_of_both_byte_orders),
		cmocka_unit_test(one_event_without_ids),
		cmocka_unit_test(all_parts_of_a_sample),
		cmocka_unit_test(tasks_live),
		cmocka_unit_test(a_fork_counts_once),
		cmocka_unit_test(losses),
		cmocka_unit_test(what_is_only_counted),
		cmocka_unit_test(context_switch_records),
		cmocka_unit_test(switches_of_some_tasks),
		cmocka_unit_test(packed_records),
		cmocka_unit_test(files_of_a_folder),
		cmocka_unit_test(cgroups),
		cmocka_unit_test(sleeps_in_system_calls),
		cmocka_unit_test(what_perf_says_of_the_machine),
		cmocka_unit_test(an_unnamed_clock_is_unknown),
		cmocka_unit_test(pipes),
		cmocka_unit_test(a_killed_perf),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(samples_that_are_damaged),
		cmocka_unit_test(headers_that_are_none),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	loaded_done(&got);
	return failed;
}
