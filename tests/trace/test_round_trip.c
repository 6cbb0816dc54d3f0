#include "../unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/event_check.h"
#include "abi/event_make.h"
#include "counted.h"
#include "records.h"
#include "trace/perfetto/write/writer.h"
#include "trace/reader.h"

#define T0 1000000000ULL

/* Records one after the other. */
struct stream {
	uint8_t *bytes;
	size_t len, size;
	struct trace_writer *w; /* what is pushed goes there too; may be NULL */
};

static bool is_metadata(const struct ev_hdr *rec)
{
	return rec->kind == EV_TASK_INFO || rec->kind == EV_STRING || rec->kind == EV_PROBE_INFO;
}

static int keep(void *ctx, const struct ev_hdr *rec)
{
	struct stream *s = ctx;
	struct ev_sink sink;

	assert_true(ev_check(rec, rec->size));
	if (s->w) {
		sink = trace_writer_sink(s->w);
		expect_eq(sink.push(sink.ctx, rec), 0);
	}
	if (is_metadata(rec))
		return 0;
	if (s->len + rec->size > s->size) {
		s->size = s->size ? 2 * s->size : 1 << 20;
		s->bytes = realloc(s->bytes, s->size);
		assert_non_null(s->bytes);
	}
	memcpy(s->bytes + s->len, rec, rec->size);
	s->len += rec->size;
	return 0;
}

static void push(struct stream *s, const struct ev_hdr *rec)
{
	expect_eq(keep(s, rec), 0);
}

static bool clocks(void *ctx, struct trace_clocks *out)
{
	(void)ctx;
	*out = (struct trace_clocks){
		.boot_ns = T0, .mono_ns = T0 - 5, .real_ns = 77 * T0, .raw_ns = 7
	};
	return true;
}

static int open_writer(struct stream *s, bool is_compressed)
{
	static const struct trace_system system = { .sysname = "Linux",
		                                    .release = "6.12.1",
		                                    .nr_cpus = 8 };
	static const struct trace_attr attr = { .key = "scheduler", .text = "scx_demo" };
	const struct trace_writer_cfg cfg = {
		.is_compressed = is_compressed,
		.tool = "schedscope",
		.version = "9.9",
		.system = &system,
		.attrs = &attr,
		.nr_attrs = 1,
		.kinds = EV_BIT(EV_SWITCH) | EV_BIT(EV_WAKING),
		.calls = { .clocks = clocks },
	};
	struct diag d = { 0 };
	int fd = memfd_create("trace", MFD_CLOEXEC);

	assert_true(fd >= 0);
	expect_eq(trace_writer_open(fcntl(fd, F_DUPFD_CLOEXEC, 3), &cfg, &d, &s->w), 0);
	return fd;
}

/* What the reader makes of what the writer wrote. */
static struct trace_info *read_back(int fd, struct stream *out)
{
	struct ev_sink sink = { .push = keep, .ctx = out };
	struct trace_info *info = NULL;
	struct diag d = { 0 };
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	expect_eq(trace_read_file(path, NULL, &sink, &d, &info), 0);
	close(fd);
	return info;
}

static void expect_same(const struct stream *want, const struct stream *got)
{
	const struct ev_hdr *a, *b;

	for (size_t at = 0; at < want->len && at < got->len; at += a->size) {
		a = (const struct ev_hdr *)(want->bytes + at);
		b = (const struct ev_hdr *)(got->bytes + at);
		if (a->size != b->size || memcmp(a, b, a->size) != 0)
			print_message("record of kind %u at %llu, byte %zu\n", a->kind,
			              (unsigned long long)a->ts_ns, at);
		expect_eq(a->kind, b->kind);
		expect_eq(a->size, b->size);
		assert_memory_equal(a, b, a->size);
	}
	expect_eq(want->len, got->len);
}

static void push_cgroup(struct stream *s, uint64_t ts_ns, uint64_t cgroup, const char *path)
{
	struct ev_cgroup_named rec;

	ev_make_cgroup_info(&rec, cgroup, path, ts_ns);
	push(s, &rec.info.hdr);
}

static void write_cpu_events(struct stream *s)
{
	push(s, REC(ev_cpu_idle, EV_CPU_IDLE, 0, T0 + 120, .state = ~0U, .cpu = 0));
	push(s, REC(ev_cpu_freq, EV_CPU_FREQ, 0, T0 + 121, .khz = 1500000, .cpu = 1));
	push(s, REC(ev_cpu_hotplug, EV_CPU_HOTPLUG, 0, T0 + 122, .cpu = 1, .target = 0, .step = 5));
	push(s, REC(ev_cpu_hotplug, EV_CPU_HOTPLUG, 0, T0 + 123, .cpu = 1, .target = 4, .step = 5,
	            .ret = -16, .is_exit = 1));
	push(s, REC(ev_gpu_mem, EV_GPU_MEM, 0, T0 + 125, .bytes = 4096, .gpu = 1, .tgid = 100));
}

/* That only our recorder makes. */
static void write_own_events(struct stream *s)
{
	push(s, REC(ev_throttle, EV_THROTTLE, 1, T0 + 53, .cgroup = 1ULL << 40 | 7,
	            .quota_ns = 20000000, .period_ns = 100000000, .tid = 101));
	push(s,
	     REC(ev_throttle, EV_THROTTLE, 1, T0 + 53, .quota_ns = 10000000, .period_ns = 100000000,
	         .until_ns = T0 + 90000000, .tid = 101, .limit = EV_LIMIT_YIELD));
	push(s, REC(ev_counter, EV_COUNTER, 1, T0 + 54, .value = -7, .tid = 100, .tgid = 100,
	            .name = "queue: a"));
	push(s, REC(ev_rt_limit, EV_RT_LIMIT, 1, T0 + 54, .is_on = 1));
	push(s, REC(ev_rt_limit, EV_RT_LIMIT, 1, T0 + 54, .is_on = 0));
	push(s, REC(ev_steal, EV_STEAL, 1, T0 + 54, .ns = 12345));
	push(s, REC(ev_refill, EV_REFILL, 0, T0 + 55, .cgroup = 1ULL << 40 | 7));
	push(s, REC(ev_refill, EV_REFILL, 0, T0 + 56, .cgroup = 8, .nr_cpus = 2,
	            .cpus = { 3, 0x1234 }));
	push(s, REC(ev_refill, EV_REFILL, 0, T0 + 57, .cgroup = 9, .nr_cpus = EV_REFILL_CPUS + 1));
	push(s, REC(ev_throttled, EV_THROTTLED, 0, T0 + 57, .cgroup = 8, .quota_ns = 20000000,
	            .period_ns = 100000000, .start_ns = T0 - 5, .cpu = 300));
	push(s, REC(ev_sleep, EV_SLEEP, 1, T0 + 58, .tid = 100, .call = ABI_CALL_futex,
	            .args = { 0x7fff12345678, 128 }));
	push(s, REC(ev_lock, EV_LOCK, 1, T0 + 58, .lock = 0xffff888012345678, .start_ns = T0 + 3,
	            .end_ns = T0 + 58, .tid = 100, .type = EV_LOCK_MUTEX | EV_LOCK_FAILED));
	push(s, REC(ev_lock, EV_LOCK, 1, T0 + 58, .lock = ~0ULL, .start_ns = T0 + 3,
	            .end_ns = T0 + 40, .tid = 0, .type = EV_LOCK_SPIN | EV_LOCK_INTERRUPT));
	push(s, REC(ev_policy, EV_POLICY, 1, T0 + 58, .tid = 100, .prio = 49,
	            .policy = ABI_POLICY_FIFO, .cookie = 0xfedcba99));
	push(s, REC(ev_policy, EV_POLICY, 1, T0 + 58, .tid = 101, .prio = -1,
	            .policy = ABI_POLICY_DEADLINE));
	push(s, REC(ev_sleep, EV_SLEEP, 1, T0 + 59, .tid = 100, .call = ABI_CALL_OTHER, .nr = 451,
	            .args = { ~0ULL, 0 }));
}

static void write_events(struct stream *s)
{
	push(s, REC(ev_measures, EV_MEASURES, 0, T0 + 4,
	            .flags = EV_MEASURES_QUOTA | EV_MEASURES_STEAL));
	push_cgroup(s, T0 + 4, 1, "/");
	push_cgroup(s, T0 + 4, 1ULL << 32 | 77, "/a/build");
	push(s, REC(ev_cgroup, EV_CGROUP, 0, T0 + 4, .tid = 100, .flags = EV_CGROUP_STATED,
	            .cgroup = 1ULL << 32 | 77));
	push(s, rec_task_info(100, 100, 1, "server"));
	push(s, rec_task_info(101, 100, 1, "thread"));
	push(s, rec_waking(0, T0 + 5, 77, 100, 1));
	push(s, rec_switch(0, T0 + 10, 0, 0, 100));
	push(s, rec_switch(1, T0 + 11, 555, EV_STATE_D, 0));
	push(s, rec_waking(0, T0 + 20, 100, 101, 1));
	push(s, rec_switch(1, T0 + 30, 0, 0, 101));
	push(s, rec_switch(0, T0 + 40, 100, EV_STATE_S, 0));
	push(s, rec_switch(1, T0 + 50, 101, EV_STATE_PREEMPTED, 100));
	push(s, REC(ev_wake, EV_WAKEUP, 1, T0 + 51, .tid = 101, .waker_tid = 100, .target_cpu = 1,
	            .prio = -1));
	push(s, REC(ev_migrate, EV_MIGRATE, 1, T0 + 52, .tid = 101, .from_cpu = 1, .to_cpu = 0,
	            .prio = 120));
	write_own_events(s);
	push(s, REC(ev_fork, EV_FORK, 1, T0 + 60, .parent_tid = 100, .parent_tgid = 100, .tid = 200,
	            .tgid = 200, .comm = "server"));
	push(s, REC(ev_wake, EV_WAKEUP_NEW, 1, T0 + 61, .tid = 200, .waker_tid = 100,
	            .target_cpu = 0, .prio = 120));
	push(s, REC(ev_fork, EV_FORK, 1, T0 + 62, .parent_tid = 100, .parent_tgid = 100, .tid = 102,
	            .tgid = 100, .comm = "pool"));
	push(s, rec_switch(0, T0 + 70, 0, 0, 200));
	push(s, REC(ev_rename, EV_RENAME, 0, T0 + 75, .tid = 200, .tgid = 200, .old_comm = "server",
	            .comm = "child"));
	push(s, REC(ev_exec, EV_EXEC, 0, T0 + 76, .tid = 200, .old_tid = 200, .comm = "child"));
	push(s, REC(ev_task, EV_WAIT, 1, T0 + 77, .tid = 100, .prio = 120, .comm = "server"));
	push(s, REC(ev_exit, EV_EXIT, 0, T0 + 80, .tid = 200, .tgid = 200, .prio = 120,
	            .comm = "child"));
	push(s, rec_switch(0, T0 + 90, 200, EV_STATE_DEAD, 0));
	push(s, REC(ev_free, EV_FREE, 0, T0 + 95, .tid = 200, .prio = 120, .comm = "child"));
	push(s, REC(ev_task, EV_HANG, 1, T0 + 98, .tid = 300, .comm = "hung"));
	push(s, REC(ev_irq_entry, EV_IRQ_ENTRY, 0, T0 + 100, .irq = 9, .tid = 0, .name = "eth0"));
	push(s, REC(ev_irq_exit, EV_IRQ_EXIT, 0, T0 + 101, .irq = 9, .ret = 1));
	push(s, REC(ev_softirq, EV_SOFTIRQ_ENTRY, 0, T0 + 102, .vector = 3, .tid = 666));
	push(s, REC(ev_softirq, EV_SOFTIRQ_EXIT, 0, T0 + 103, .vector = 3, .tid = 666));
	push(s, REC(ev_ipi_send, EV_IPI_SEND, 0, T0 + 104, .target_cpu = 1, .tid = 0));
	push(s, REC(ev_ipi, EV_IPI_ENTRY, 1, T0 + 105, .reason = "Rescheduling"));
	push(s, REC(ev_ipi, EV_IPI_EXIT, 1, T0 + 106, .reason = "Rescheduling"));
	push(s, REC(ev_work, EV_WORK_START, 1, T0 + 109, .work = 1, .function = 0xffff0002,
	            .tid = 100));
	push(s,
	     REC(ev_work, EV_WORK_END, 1, T0 + 110, .work = 1, .function = 0xffff0002, .tid = 100));
	write_cpu_events(s);
	push(s, REC(ev_block, EV_BLOCK, 1, T0 + 126, .dev = 8, .sector = 1000, .nr_sectors = 8,
	            .tid = 100, .step = EV_BLOCK_ISSUE, .rwbs = "WS"));
	push(s, REC(ev_net, EV_NET, 1, T0 + 127, .bytes = 1500, .is_sent = 1, .name = "eth0"));
	push(s,
	     REC(ev_memory, EV_MEMORY, 1, T0 + 128, .tid = 100, .step = EV_PAGE_ALLOC, .order = 2));
	push(s,
	     REC(ev_fsync, EV_FSYNC, 1, T0 + 129, .dev = 8, .inode = 77, .tid = 100, .is_end = 1));
	/* A thread that takes its leader's tid runs on under it. */
	push(s, rec_switch(1, T0 + 130, 100, EV_STATE_S, 101));
	push(s, REC(ev_exec, EV_EXEC, 1, T0 + 131, .tid = 100, .old_tid = 101, .comm = "fresh"));
	push(s, rec_switch(1, T0 + 140, 100, EV_STATE_S, 0));
	push(s, REC(ev_suspend, EV_SUSPEND, 1, T0 + 141, .value = 3, .is_start = 1,
	            .action = "suspend_enter"));
	push(s, REC(ev_cgroup, EV_CGROUP, 1, T0 + 141, .tid = 100, .cgroup = 1));
	push(s, REC(ev_blocked, EV_BLOCKED, 1, T0 + 142, .caller = 0xffff0003, .tid = 100,
	            .is_io = 1));
}

static void every_kind_of_the_kernels_events_comes_back(void **state)
{
	struct stream want = { 0 }, got = { 0 };
	struct trace_info *info;
	int fd = open_writer(&want, false);

	(void)state;
	write_events(&want);
	expect_eq(trace_writer_close(want.w, NULL), 0);
	info = read_back(fd, &got);
	expect_same(&want, &got);
	expect_eq(info->producer, TRACE_BY_US);
	assert_string_equal(info->producer_version, "9.9");
	assert_string_equal(info->scheduler, "scx_demo");
	assert_string_equal(info->release, "6.12.1");
	expect_eq(info->nr_cpus_reported, 8);
	expect_eq(info->nr_enabled, 2);
	expect_eq(info->start_ns, T0 + 4);
	expect_eq(info->end_ns, T0 + 142);
	assert_true(info->has_wall_clock);
	expect_eq(info->start_real_ns, 77 * T0 + 4);
	expect_eq(info->mono_offset_ns, (uint64_t)-5);
	expect_eq(counted_damage(info, "mismatched_sched_switch_tids"), 0);
	trace_info_free(info);
	free(want.bytes);
	free(got.bytes);
}

/* For others, switches that were not seen are written in; to us they are none, and what is unknown stays so. */
static void switches_that_were_not_seen_come_back_as_breaks(void **state)
{
	struct stream want = { 0 }, got = { 0 };
	struct trace_info *info;
	int fd = open_writer(&want, false);

	(void)state;
	push(&want, rec_switch(0, T0 + 10, 0, 0, 100));
	push(&want, rec_switch(0, T0 + 20, 100, 1, 101));
	push(&want, rec_switch(0, T0 + 300000000, 102, 1, 103)); /* 101 left unseen, 102 came */
	push(&want, rec_switch(0, T0 + 300000001, 103, 1, 0));
	push(&want, rec_switch(0, T0 + 300000002, 104, 1, 0)); /* there was no time for it */
	expect_eq(trace_writer_close(want.w, NULL), 0);
	info = read_back(fd, &got);
	expect_same(&want, &got);
	expect_eq(counted_damage(info, "mismatched_sched_switch_tids"), 2);
	expect_eq(counted_events(info, "sched_switch"), 5);
	expect_eq(info->end_ns, T0 + 300000002);
	trace_info_free(info);
	free(want.bytes);
	free(got.bytes);
}

static void parents_have_names_though_they_take_no_part(void **state)
{
	struct stream want = { 0 }, got = { 0 };
	struct trace_info *info;
	int fd = open_writer(&want, false);

	(void)state;
	push(&want, rec_task_info(1, 1, 0, "init"));
	push(&want, rec_task_info(50, 50, 1, "shell"));
	push(&want, rec_task_info(60, 60, 1, "another"));
	push(&want, rec_task_info(100, 100, 50, "server"));
	push(&want, rec_switch(0, T0 + 10, 0, 0, 100));
	expect_eq(trace_writer_close(want.w, NULL), 0);
	info = read_back(fd, &got);
	expect_eq(info->nr_processes, 3); /* and no other */
	expect_eq(info->processes[0].tgid, 1);
	assert_string_equal(info->processes[0].cmdline, "init");
	expect_eq(info->processes[1].tgid, 50);
	expect_eq(info->processes[1].ppid, 1);
	assert_string_equal(info->processes[1].cmdline, "shell");
	expect_eq(info->processes[2].ppid, 50);
	trace_info_free(info);
	free(want.bytes);
	free(got.bytes);
}

static void a_slice_without_counters_has_no_track(void **state)
{
	struct {
		struct ev_pmu pmu;
		__u64 values[2];
	} rec = { .pmu = { .hdr = { .size = sizeof(rec), .kind = EV_PMU, .ts_ns = T0 + 20 },
		           .tid = 100,
		           .nr = 2 },
		  .values = { EV_PMU_UNKNOWN, EV_PMU_UNKNOWN } };
	struct stream want = { 0 }, got = { 0 };
	struct trace_info *info;
	int fd = open_writer(&want, false);

	(void)state;
	push(&want, rec_switch(0, T0 + 10, 0, 0, 100));
	push(&want, &rec.pmu.hdr);
	push(&want, rec_switch(0, T0 + 20, 100, 1, 0));
	expect_eq(trace_writer_close(want.w, NULL), 0);
	info = read_back(fd, &got);
	expect_eq(info->nr_categories, 0);
	trace_info_free(info);
	free(want.bytes);
	free(got.bytes);
}

static void write_queue_events(struct stream *s)
{
	const uint64_t builtin = 1ULL << 63;

	push(s, REC(ev_scx_state, EV_SCX_STATE, 0, T0 + 1, .state = EV_SCX_ON, .name = "demo"));
	push(s, rec_task_info(100, 100, 1, "server"));
	push(s, rec_task_info(101, 100, 1, "thread"));
	push(s, REC(ev_dsq_depth, EV_DSQ_DEPTH, 0, T0 + 2, .dsq_id = builtin | 1, .depth = 3));
	push(s, REC(ev_dsq_depth, EV_DSQ_DEPTH, 0, T0 + 3, .dsq_id = 0x67, .depth = 2));
	push(s, REC(ev_dsq_leave, EV_DSQ_LEAVE, 1, T0 + 10, .start_ns = T0 + 4, .dsq_id = 0x67,
	            .tid = 100, .layer = EV_NO_LAYER, .vtime = 1ULL << 63 | 5,
	            .flags = EV_SCX_HAS_VTIME, .how = EV_DSQ_INSERT_VTIME));
	push(s, REC(ev_scx_run, EV_SCX_RUN, 1, T0 + 10, .dsq_id = 0x67, .tid = 100,
	            .layer = EV_NO_LAYER, .slice_ns = 20000000, .vtime = 77,
	            .flags = EV_SCX_HAS_SLICE | EV_SCX_HAS_VTIME));
	push(s, REC(ev_dsq_leave, EV_DSQ_LEAVE, 0, T0 + 12, .start_ns = T0 + 11, .dsq_id = 0xc9,
	            .tid = 101, .layer = 1, .is_moved = 1));
	push(s, REC(ev_dsq_leave, EV_DSQ_LEAVE, 0, T0 + 15, .start_ns = T0 + 12,
	            .dsq_id = builtin | 2, .tid = 101, .layer = 1, .how = EV_DSQ_MOVE));
	push(s, REC(ev_scx_run, EV_SCX_RUN, 0, T0 + 15, .dsq_id = EV_DSQ_INVALID, .tid = 101,
	            .layer = 1));
	push(s, REC(ev_dsq_leave, EV_DSQ_LEAVE, 0, T0 + 20, .dsq_id = 0xc9, .tid = 100,
	            .layer = EV_NO_LAYER));
	push(s, REC(ev_dsq_leave, EV_DSQ_LEAVE, 0, T0 + 22, .start_ns = T0 + 21, .dsq_id = 0xc9,
	            .tid = 100, .layer = EV_NO_LAYER, .flags = EV_SCX_DEQUEUED));
	push(s, REC(ev_scx_counter, EV_SCX_COUNTER, 0, T0 + 23, .value = 7, .name = "keep_last"));
	push(s, REC(ev_scx_counter, EV_SCX_COUNTER, 0, T0 + 23, .value = 1, .name = "other"));
	push(s, REC(ev_scx_counter, EV_SCX_COUNTER, 0, T0 + 25, .value = 0, .name = "keep_last"));
	push(s, REC(ev_scx_state, EV_SCX_STATE, 0, T0 + 30, .state = EV_SCX_EJECTED, .name = "demo",
	            .exit_kind = 1026, .message = "demo[7] failed to run for 2.1s"));
	push(s, REC(ev_scx_state, EV_SCX_STATE, 0, T0 + 30, .state = EV_SCX_OFF, .name = "demo",
	            .exit_kind = 65, .exit_code = -3));
	push(s, REC(ev_scx_state, EV_SCX_STATE, 0, T0 + 31, .state = EV_SCX_OFF, .name = "x"));
}

static void what_sched_ext_did_comes_back(void **state)
{
	struct stream want = { 0 }, got = { 0 };
	int fd = open_writer(&want, false);

	(void)state;
	write_queue_events(&want);
	expect_eq(trace_writer_close(want.w, NULL), 0);
	trace_info_free(read_back(fd, &got));
	expect_same(&want, &got);
	free(want.bytes);
	free(got.bytes);
}

static void busy(bool is_compressed)
{
	struct stream want = { 0 }, got = { 0 };
	struct ev_sink sink = { .push = keep, .ctx = &want };
	struct busy b = { .seed = 5, .now_ns = T0, .step_ns = 3000 };
	struct trace_info *info;
	int fd = open_writer(&want, is_compressed);

	expect_eq(busy_introduce(sink, true), 0);
	for (int i = 0; i < 60000; i++)
		push(&want, busy_step(&b));
	expect_eq(trace_writer_close(want.w, NULL), 0);
	info = read_back(fd, &got);
	expect_same(&want, &got);
	expect_eq(info->nr_damage, 0);
	trace_info_free(info);
	free(want.bytes);
	free(got.bytes);
}

static void a_busy_machine_comes_back(void **state)
{
	(void)state;
	busy(false);
}

static void a_busy_machine_comes_back_from_compressed_packets(void **state)
{
	(void)state;
	busy(true);
}

static void a_loss_comes_back_where_it_was(void **state)
{
	struct stream want = { 0 }, got = { 0 };
	const struct ev_hdr *rec;
	struct trace_info *info;
	int fd = open_writer(&want, false);
	uint64_t lost_at = 0;
	size_t nr_lost = 0;

	(void)state;
	push(&want, rec_switch(0, T0, 0, 0, 5));
	push(&want, REC(ev_lost, EV_LOST, 0, T0 + 10, .kind = EV_SWITCH, .count = 5));
	push(&want, rec_switch(0, T0 + 20, 7, 1, 0));
	expect_eq(trace_writer_close(want.w, NULL), 0);
	info = read_back(fd, &got);
	for (size_t at = 0; at < got.len; at += rec->size) {
		rec = (const struct ev_hdr *)(got.bytes + at);
		if (rec->kind == EV_LOST && ((const struct ev_lost *)rec)->kind == EV_SWITCH) {
			lost_at = rec->ts_ns;
			nr_lost++;
		}
	}
	expect_eq(nr_lost, 1);
	assert_true(lost_at > T0 && lost_at <= T0 + 20);
	expect_eq(info->cpus[0].nr_losses, 1);
	trace_info_free(info);
	free(want.bytes);
	free(got.bytes);
}

static int64_t number_of(const struct trace_info *info, const char *key)
{
	for (size_t i = 0; i < info->nr_attrs; i++)
		if (strcmp(info->attrs[i].key, key) == 0)
			return info->attrs[i].number;
	return -1;
}

/* Of the CPU nothing is unknown then. */
static void lost_stacks_are_counted_and_cut_nothing(void **state)
{
	struct stream want = { 0 }, got = { 0 };
	const struct ev_hdr *rec;
	struct trace_info *info;
	int fd = open_writer(&want, false);

	(void)state;
	push(&want, rec_switch(0, T0, 0, 1, 7));
	push(&want, REC(ev_lost, EV_LOST, 0, T0 + 10, .kind = EV_SAMPLE, .count = 5));
	push(&want, rec_switch(0, T0 + 20, 7, 1, 0));
	expect_eq(trace_writer_close(want.w, NULL), 0);
	info = read_back(fd, &got);
	for (size_t at = 0; at < got.len; at += rec->size) {
		rec = (const struct ev_hdr *)(got.bytes + at);
		expect_eq(rec->kind, EV_SWITCH);
	}
	expect_eq(info->cpus[0].nr_losses, 0);
	expect_eq(number_of(info, "lost"), 5);
	expect_eq(number_of(info, "lost.SAMPLE"), 5);
	trace_info_free(info);
	free(want.bytes);
	free(got.bytes);
}

static void what_the_run_lost_is_in_the_file(void **state)
{
	struct trace_losses losses = { .skipped = 3, .damaged = 2 };
	struct stream want = { 0 }, got = { 0 };
	struct trace_info *info;
	int fd = open_writer(&want, false);

	(void)state;
	losses.run.nr[LOSS_mapped_files] = 7;
	losses.run.nr[LOSS_cgroups_cut] = 1;
	push(&want, rec_switch(0, T0, 0, 1, 7));
	trace_writer_losses(want.w, &losses);
	expect_eq(trace_writer_close(want.w, NULL), 0);
	info = read_back(fd, &got);
	expect_eq(number_of(info, "lost"), 5);
	expect_eq(number_of(info, "lost.skipped_by_the_kernel"), 3);
	expect_eq(number_of(info, "lost.damaged"), 2);
	expect_eq(number_of(info, "loss.mapped_files"), 7);
	expect_eq(number_of(info, "loss.cgroups_cut"), 1);
	expect_eq(number_of(info, "loss.trigger_calls"), -1);
	trace_info_free(info);
	free(want.bytes);
	free(got.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_the_kernels_events_comes_back),
		cmocka_unit_test(switches_that_were_not_seen_come_back_as_breaks),
		cmocka_unit_test(parents_have_names_though_they_take_no_part),
		cmocka_unit_test(a_slice_without_counters_has_no_track),
		cmocka_unit_test(what_sched_ext_did_comes_back),
		cmocka_unit_test(a_busy_machine_comes_back),
		cmocka_unit_test(a_busy_machine_comes_back_from_compressed_packets),
		cmocka_unit_test(a_loss_comes_back_where_it_was),
		cmocka_unit_test(lost_stacks_are_counted_and_cut_nothing),
		cmocka_unit_test(what_the_run_lost_is_in_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
