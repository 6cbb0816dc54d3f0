/*
 * write_demo story|filtered|affinity|stats|busy FILE [gzip]: writes a trace for test_trace_file.py to read.
 *
 * story: one record or two of every kind, known by heart in the test; the next three have one thing each. busy: 60,000 switches and wakings with
 * gaps; prints as JSON what was pushed. busy stops without closing, as a program that is killed, after
 * "killed".
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/diag.h"
#include "records.h"
#include "trace/perfetto/write/writer.h"

#define T0 1000000000ULL /* when the story begins */

static bool clocks(void *ctx, struct trace_clocks *out)
{
	(void)ctx;
	*out = (struct trace_clocks){ .boot_ns = T0, .mono_ns = 900, .real_ns = 800, .raw_ns = 700 };
	return true;
}

static bool symbol(void *ctx, uint32_t tgid, uint64_t address, char *buf, size_t size)
{
	(void)ctx;
	if (address == 0xffff0999)
		return false;
	(void)snprintf(buf, size, "%s_%llx", tgid ? "user" : "kernel", (unsigned long long)address);
	return true;
}

/* Of processes: a file, and at 0x30 a call that was inlined. */
static bool place(void *ctx, uint32_t tgid, uint64_t ts_ns, uint64_t address,
                  struct trace_place *out)
{
	static char name[32];

	(void)ts_ns;
	if (!symbol(ctx, tgid, address, name, sizeof(name)))
		return false;
	*out = (struct trace_place){
		.code = { { .name = name } }, .nr_code = 1, .path = "kernel", .rel_pc = address
	};
	if (address == 0xffff0000)
		out->code[0].name = "bpf_trace_run4";
	if (!tgid)
		return true;
	out->path = "/opt/bin/server";
	memcpy(out->build_id, "\x01\x02\xff\x00", 4);
	out->nr_build_id = 4;
	out->end = 0x2000;
	out->offset = 0x1000;
	out->rel_pc = address + 0x1000;
	if (address != 0x30)
		return true;
	out->code[1] = (struct trace_code){ .name = name, .file = "/src/outer.c", .line = 12 };
	out->code[0] = (struct trace_code){ .name = "inner", .file = "/src/inner.h", .line = 3 };
	out->nr_code = 2;
	return true;
}

static size_t cmdline(void *ctx, uint32_t tgid, char *buf, size_t size)
{
	static const char args[] = "/bin/server\0--port\0";

	(void)ctx;
	if (tgid != 100 || size < sizeof(args))
		return 0;
	memcpy(buf, args, sizeof(args) - 1);
	return sizeof(args) - 1;
}

static const char *const pmu_names[] = { "cycles", "instructions" };

static void fail(const struct diag *d)
{
	char line[512];

	diag_format(d, line, sizeof(line));
	(void)fprintf(stderr, "write_demo: %s\n", line);
	exit(1);
}

static struct trace_writer *open_writer(const char *path, bool is_compressed)
{
	static const uint32_t khz[] = { 1000000, 2000000 };
	const struct trace_system system = {
		.sysname = "Linux", .release = "6.1.0", .machine = "x", .nr_cpus = 2
	};
	const struct trace_cpu cpus[] = { { .khz = khz, .nr_khz = 2, .capacity = 1024 },
		                          { .khz = khz, .nr_khz = 2, .capacity = 512 } };
	const struct trace_attr attr = { .key = "scheduler", .text = "EEVDF" };
	const struct trace_writer_cfg cfg = {
		.is_compressed = is_compressed,
		.tool = "schedscope",
		.version = "0.1",
		.command_line = "schedscope record",
		.uuid = { 1, 2 },
		.system = &system,
		.cpus = cpus,
		.nr_cpus = 2,
		.attrs = &attr,
		.nr_attrs = 1,
		.kinds = EV_BIT(EV_SWITCH) | EV_BIT(EV_WAKING),
		.pmu_names = pmu_names,
		.nr_pmu_names = 2,
		.sampling = { .event = "cpu-clock", .frequency = 99 },
		.calls = { .clocks = clocks, .place = place, .symbol = symbol, .cmdline = cmdline },
	};
	struct trace_writer *w = NULL;
	struct diag d = { 0 };

	if (trace_writer_create(path, &cfg, &d, &w) < 0)
		fail(&d);
	return w;
}

static void push(struct ev_sink sink, const struct ev_hdr *rec)
{
	if (sink.push(sink.ctx, rec) < 0)
		exit(1);
}

static void write_sched(struct ev_sink s)
{
	push(s, rec_task_info(100, 100, 1, "server"));
	push(s, rec_task_info(101, 100, 1, "thread"));
	push(s, rec_task_info(2, 2, 0, "kthreadd"));
	/* No task is known to run: in full. */
	push(s, rec_waking(0, T0 + 5, 77, 100, 1));
	push(s, rec_switch(0, T0 + 10, 0, 0, 100));
	push(s, rec_switch(1, T0 + 11, 555, EV_STATE_D, 0)); /* 555 is unknown */
	push(s, rec_waking(0, T0 + 20, 100, 101, 1));
	push(s, rec_switch(1, T0 + 30, 0, 0, 101));
	push(s, rec_switch(0, T0 + 40, 100, EV_STATE_S, 0));
	push(s, rec_switch(1, T0 + 50, 101, EV_STATE_PREEMPTED, 100));
	push(s, REC(ev_wake, EV_WAKEUP, 1, T0 + 51, .tid = 101, .waker_tid = 100, .target_cpu = 1,
	            .prio = -1));
	push(s, REC(ev_migrate, EV_MIGRATE, 1, T0 + 52, .tid = 101, .from_cpu = 1, .to_cpu = 0,
	            .prio = 120));
	push(s, REC(ev_sampling, EV_SAMPLING, 0, T0 + 53, .one_in = 4));
}

static void write_lives(struct ev_sink s)
{
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
	push(s, REC(ev_fork, EV_FORK, 1, T0 + 97, .parent_tid = 2, .parent_tgid = 2, .tid = 200,
	            .tgid = 200, .comm = "again"));
	push(s, REC(ev_task, EV_HANG, 1, T0 + 98, .tid = 300, .comm = "\xff"));
}

static void write_interrupts(struct ev_sink s)
{
	push(s, REC(ev_irq_entry, EV_IRQ_ENTRY, 0, T0 + 100, .irq = 9, .tid = 0, .name = "eth0"));
	push(s, REC(ev_irq_exit, EV_IRQ_EXIT, 0, T0 + 101, .irq = 9, .ret = 1));
	push(s, REC(ev_softirq, EV_SOFTIRQ_ENTRY, 0, T0 + 102, .vector = 3, .tid = 666));
	push(s, REC(ev_softirq, EV_SOFTIRQ_EXIT, 0, T0 + 103, .vector = 3, .tid = 666));
	push(s,
	     REC(ev_ipi_send, EV_IPI_SEND, 0, T0 + 104, .target_cpu = 3, .callback = 0xffff0001));
	push(s, REC(ev_ipi_send, EV_IPI_SEND, 0, T0 + 105, .target_cpu = 40));
	push(s, REC(ev_ipi_send, EV_IPI_SEND, 1, T0 + 106, .target_cpu = ~0U, .tid = 100));
	push(s, REC(ev_ipi, EV_IPI_ENTRY, 1, T0 + 107, .reason = "resched"));
	push(s, REC(ev_ipi, EV_IPI_EXIT, 1, T0 + 108, .reason = "resched"));
	push(s, REC(ev_work, EV_WORK_START, 1, T0 + 109, .work = 1, .function = 0xffff0002,
	            .tid = 100));
	push(s,
	     REC(ev_work, EV_WORK_END, 1, T0 + 110, .work = 1, .function = 0xffff0002, .tid = 100));
	push(s, REC(ev_work, EV_WORK_START, 1, T0 + 111, .work = 2, .function = 0xffff0999,
	            .tid = 100));
}

static void report_cpus(struct ev_sink s)
{
	push(s, REC(ev_cpu_idle, EV_CPU_IDLE, 0, T0 + 120, .state = ~0U, .cpu = 0));
	push(s, REC(ev_cpu_freq, EV_CPU_FREQ, 0, T0 + 121, .khz = 1500000, .cpu = 1));
	push(s, REC(ev_cpu_hotplug, EV_CPU_HOTPLUG, 0, T0 + 122, .cpu = 1, .target = 0, .step = 5));
	push(s, REC(ev_cpu_hotplug, EV_CPU_HOTPLUG, 0, T0 + 123, .cpu = 1, .target = 4, .step = 5,
	            .ret = -16, .is_exit = 1));
	push(s, REC(ev_hw_pressure, EV_HW_PRESSURE, 0, T0 + 124, .pressure = 100, .cpu = 1));
	push(s, REC(ev_gpu_mem, EV_GPU_MEM, 0, T0 + 125, .bytes = 4096, .gpu = 1, .tgid = 100));
}

static void write_probes(struct ev_sink s)
{
	struct {
		struct ev_probe_info info;
		char name[16];
	} info = { .info = { .hdr = { .size = sizeof(info), .kind = EV_PROBE_INFO } } };
	struct {
		struct ev_sample sample;
		__u64 addresses[4];
	} sample = {
		.sample = { .hdr = { .size = sizeof(sample), .kind = EV_SAMPLE, .ts_ns = T0 + 140 },
		            .tid = 101,
		            .tgid = 100,
		            .period = 10,
		            .nr_kernel = 2,
		            .nr_user = 2 },
		.addresses = { 0xffff0010, 0xffff0020, 0x30, 0x40 }
	};
	struct {
		struct ev_pmu pmu;
		__u64 values[4];
	} pmu = {
		.pmu = { .hdr = { .size = sizeof(pmu), .kind = EV_PMU, .cpu = 1, .ts_ns = T0 + 150 },
		         .tid = 101,
		         .nr = 4 },
		.values = { 1000, 2000, EV_PMU_UNKNOWN, 3 }
	};

	info.info.probe = 1;
	info.info.type = EV_PROBE_KPROBE;
	memcpy(info.name, "do_exit", 8);
	push(s, &info.info.hdr);
	info.info.probe = 2;
	info.info.type = EV_PROBE_UPROBE;
	memcpy(info.name, "malloc", 7);
	push(s, &info.info.hdr);
	push(s, REC(ev_probe, EV_PROBE, 1, T0 + 130, .probe = 1, .tid = 101, .ip = 0xffff));
	push(s, REC(ev_probe, EV_PROBE, 1, T0 + 131, .probe = 2, .tid = 101, .ip = 0x1234));
	push(s, REC(ev_probe, EV_PROBE, 1, T0 + 132, .probe = 3, .tid = 555));
	push(s, &sample.sample.hdr);
	sample.sample.hdr.ts_ns++;
	push(s, &sample.sample.hdr);
	sample.addresses[0] = 0xffff0001;
	for (__u16 event = EV_SAMPLE_OFF_CPU; event < EV_SAMPLE_KINDS; event++) {
		sample.sample.hdr.ts_ns++;
		sample.sample.event = event;
		sample.sample.period = 1;
		push(s, &sample.sample.hdr);
	}
	push(s, &pmu.pmu.hdr);
}

#define LOCAL_ON_3 0xc000000000000003ULL

static void write_queue(struct ev_sink s)
{
	push(s, REC(ev_scx_state, EV_SCX_STATE, 0, T0 + 151, .state = EV_SCX_ON, .name = "simple"));
	push(s, REC(ev_dsq_leave, EV_DSQ_LEAVE, 0, T0 + 152, .start_ns = T0 + 141, .dsq_id = 0x1f,
	            .vtime = 77, .tid = 101, .layer = 4, .flags = EV_SCX_HAS_VTIME,
	            .how = EV_DSQ_INSERT_VTIME, .is_moved = 1));
	push(s, REC(ev_dsq_leave, EV_DSQ_LEAVE, 1, T0 + 154, .start_ns = T0 + 152,
	            .dsq_id = LOCAL_ON_3, .tid = 101, .layer = EV_NO_LAYER, .how = EV_DSQ_MOVE));
	push(s, REC(ev_dsq_leave, EV_DSQ_LEAVE, 1, T0 + 155, .dsq_id = 0x1f, .tid = 100,
	            .layer = EV_NO_LAYER, .how = EV_DSQ_INSERT));
	push(s, REC(ev_dsq_leave, EV_DSQ_LEAVE, 1, T0 + 155, .start_ns = T0 + 150, .dsq_id = 0x1f));
	push(s, REC(ev_dsq_leave, EV_DSQ_LEAVE, 1, T0 + 155, .dsq_id = EV_DSQ_INVALID, .tid = 100));
	push(s, REC(ev_scx_run, EV_SCX_RUN, 1, T0 + 155, .dsq_id = 0x1f, .slice_ns = 20000000,
	            .vtime = ~0ULL, .tid = 101, .layer = 4,
	            .flags = EV_SCX_HAS_SLICE | EV_SCX_HAS_VTIME));
	push(s, REC(ev_scx_run, EV_SCX_RUN, 1, T0 + 156, .dsq_id = EV_DSQ_INVALID, .tid = 100,
	            .layer = EV_NO_LAYER));
	push(s, REC(ev_dsq_depth, EV_DSQ_DEPTH, 1, T0 + 156, .dsq_id = 0x1f, .depth = 2));
	push(s, REC(ev_dsq_depth, EV_DSQ_DEPTH, 1, T0 + 157, .dsq_id = 0x1f, .depth = 2));
	push(s, REC(ev_dsq_depth, EV_DSQ_DEPTH, 1, T0 + 158, .dsq_id = 0x1f, .depth = 1));
	push(s, REC(ev_dsq_depth, EV_DSQ_DEPTH, 1, T0 + 158, .dsq_id = 1ULL << 63 | 1, .depth = 0));
	push(s, REC(ev_dsq_depth, EV_DSQ_DEPTH, 1, T0 + 158, .dsq_id = EV_DSQ_INVALID));
	push(s, REC(ev_scx_state, EV_SCX_STATE, 0, T0 + 159, .state = EV_SCX_EJECTED,
	            .name = "simple"));
}

static void write_io(struct ev_sink s)
{
	push(s, REC(ev_block, EV_BLOCK, 0, T0 + 151, .dev = 8, .sector = 1000, .nr_sectors = 16,
	            .tid = 100, .step = EV_BLOCK_INSERT, .rwbs = "WS"));
	push(s, REC(ev_block, EV_BLOCK, 0, T0 + 152, .dev = 8, .sector = 1000, .nr_sectors = 16,
	            .tid = 100, .step = EV_BLOCK_ISSUE, .rwbs = "WS"));
	push(s, REC(ev_block, EV_BLOCK, 1, T0 + 153, .dev = 8, .sector = 1000, .nr_sectors = 16,
	            .step = EV_BLOCK_COMPLETE, .rwbs = "WS"));
	push(s, REC(ev_net, EV_NET, 0, T0 + 153, .bytes = 1500, .is_sent = 1, .name = "eth0"));
	push(s, REC(ev_net, EV_NET, 0, T0 + 153, .bytes = 60, .name = "lo"));
	push(s,
	     REC(ev_memory, EV_MEMORY, 0, T0 + 154, .tid = 100, .step = EV_PAGE_ALLOC, .order = 3));
	push(s,
	     REC(ev_memory, EV_MEMORY, 0, T0 + 154, .tid = 100, .step = EV_PAGE_FREE, .order = 2));
	push(s, REC(ev_memory, EV_MEMORY, 0, T0 + 155, .tid = 100, .step = EV_RECLAIM_BEGIN,
	            .order = 1));
	push(s, REC(ev_memory, EV_MEMORY, 1, T0 + 156, .tid = 100, .step = EV_RECLAIM_END));
	push(s, REC(ev_fsync, EV_FSYNC, 0, T0 + 157, .dev = 8, .inode = 99, .tid = 100));
	push(s,
	     REC(ev_fsync, EV_FSYNC, 1, T0 + 158, .dev = 8, .inode = 99, .tid = 100, .is_end = 1));
	push(s, REC(ev_suspend, EV_SUSPEND, 0, T0 + 159, .value = -3, .is_start = 1,
	            .action = "suspend_enter"));
	push(s, REC(ev_blocked, EV_BLOCKED, 0, T0 + 159, .caller = 0xffff0123, .tid = 100,
	            .is_io = 1));
}

static void emit_losses(struct ev_sink s)
{
	push(s, REC(ev_lost, EV_LOST, 1, T0 + 160, .kind = EV_SWITCH, .count = 5));
	push(s, REC(ev_lost, EV_LOST, 1, T0 + 160, .kind = EV_WAKING, .count = 2));
	push(s, rec_switch(1, T0 + 170, 101, EV_STATE_S, 100));
	push(s, rec_switch(1, T0 + 180, 100, EV_STATE_S, 0));
	/* Without a word of a loss: 100 is not there any more. */
	push(s, rec_switch(1, T0 + 190, 101, EV_STATE_S, 0));
	/* A thread other than the leader takes over its tid. */
	push(s, rec_switch(1, T0 + 200, 0, 0, 101));
	push(s, REC(ev_exec, EV_EXEC, 1, T0 + 201, .tid = 100, .old_tid = 101, .comm = "fresh"));
	push(s, rec_switch(1, T0 + 210, 100, EV_STATE_S, 0));
	push(s, rec_switch(1, T0 + 205, 0, 0, 101)); /* late */
}

static void push_flagged(struct ev_sink s, const struct ev_hdr *rec, unsigned int flags)
{
	struct ev_switch copy;

	memcpy(&copy, rec, sizeof(copy));
	copy.hdr.flags = (__u8)flags;
	push(s, &copy.hdr);
}

/* Only 100 and 101 were asked for; 7, 8 and 9 are others. */
static void write_filtered(struct ev_sink s)
{
	push(s, rec_task_info(100, 100, 1, "server"));
	push(s, rec_task_info(101, 100, 1, "thread"));
	push(s, rec_task_info(7, 7, 1, "other"));
	push_flagged(s, rec_switch(0, T0 + 10, 7, EV_STATE_PREEMPTED, 100), EV_FLAG_OTHER_PREV);
	push_flagged(s, rec_switch(0, T0 + 20, 100, EV_STATE_S, 7), EV_FLAG_OTHER_NEXT);
	/* 7 went, 8 came and went: without records. */
	push(s, rec_waking(0, T0 + 25, 9, 100, 0));
	push_flagged(s, rec_switch(0, T0 + 30, 9, EV_STATE_S, 100), EV_FLAG_OTHER_PREV);
	push(s, rec_switch(0, T0 + 40, 100, EV_STATE_S, 101));
	push_flagged(s, rec_switch(0, T0 + 50, 101, EV_STATE_PREEMPTED, 8), EV_FLAG_OTHER_NEXT);
	push_flagged(s, rec_switch(0, T0 + 60, 0, 0, 101), EV_FLAG_OTHER_PREV);
	push_flagged(s, rec_switch(0, T0 + 70, 101, EV_STATE_S, 0), EV_FLAG_OTHER_NEXT);
}

static void push_affinity(struct ev_sink s, uint64_t ts_ns, uint32_t tid, uint64_t low,
                          uint64_t high)
{
	struct {
		struct ev_affinity rec;
		__u64 words[2];
	} r = { .rec = { .hdr = { .size = sizeof(r), .kind = EV_AFFINITY, .ts_ns = ts_ns },
		         .tid = tid,
		         .nr = 2 },
		.words = { low, high } };

	r.rec.flags = low == ~0ULL ? EV_AFFINITY_ALL : 0;
	push(s, &r.rec.hdr);
}

static void emit_affinity(struct ev_sink s)
{
	push(s, rec_task_info(100, 100, 1, "server"));
	push(s, rec_task_info(101, 100, 1, "thread"));
	push_affinity(s, T0 + 1, 100, ~0ULL, ~0ULL); /* not worth a word */
	push_affinity(s, T0 + 2, 101, 0x10d, 0);
	push_affinity(s, T0 + 3, 101, 1ULL << 63, 3);
	push_affinity(s, T0 + 4, 101, ~0ULL, 0);
	push_affinity(s, T0 + 5, 101, ~0ULL, 0); /* still */
	push_affinity(s, T0 + 6, 100, 0, 0);     /* cannot be */
	push_affinity(s, T0 + 7, 100, 2, 0);     /* free till now */
	push_affinity(s, T0 + 8, 101, 4, 0);
}

static void write_stats(struct trace_writer *w)
{
	static struct trace_cpu_times cpus[513];
	const struct trace_pair memory[] = { { "MemFree", 1000 },
		                             { "Bogus", 1 },
		                             { "SwapFree", 7 } };
	const struct trace_pair paging[] = { { "pgfault", 5 }, { "pgmajfault", 6 } };
	const struct trace_pair pressure[] = { { "cpu.some", 8 }, { "memory.full", 9 } };
	const uint32_t khz[] = { 0, 2400000 };
	struct trace_net nets[] = { { "lo", { 1, 2, 3, 4, 5, 6, 7, 8 } } };
	struct trace_sys_stats stats = { .ts_ns = T0 + 100,
		                         .cpus = cpus,
		                         .nr_cpus = 513,
		                         .memory = memory,
		                         .nr_memory = 3,
		                         .paging = paging,
		                         .nr_paging = 2,
		                         .pressure = pressure,
		                         .nr_pressure = 2,
		                         .forks = 11,
		                         .khz = khz,
		                         .nr_khz = 2,
		                         .nets = nets,
		                         .nr_nets = 1 };

	for (uint32_t i = 0; i < 513; i++)
		cpus[i] = (struct trace_cpu_times){ i * 2, { i, 1, 2, 3, 4, 5, 6, 7 } };
	if (trace_writer_sys_stats(w, &stats) < 0)
		exit(1);
	stats = (struct trace_sys_stats){ .ts_ns = T0 + 200, .nets = nets, .nr_nets = 1 };
	nets[0].values[0] = 100; /* the others stand still */
	if (trace_writer_sys_stats(w, &stats) < 0)
		exit(1);
}

static void write_busy(struct trace_writer *w, struct ev_sink s)
{
	struct busy b = { .seed = 7, .now_ns = T0, .step_ns = 1000 };
	uint64_t nr[3] = { 0 }, nr_lost = 0;
	struct diag d = { 0 };

	if (busy_introduce(s, true) < 0)
		exit(1);
	for (uint32_t i = 0; i < 60000; i++) {
		const struct ev_hdr *rec = busy_step(&b);

		if (i % 5000 > 4995) {
			push(s, REC(ev_lost, EV_LOST, rec->cpu, rec->ts_ns, .kind = rec->kind,
			            .count = 1));
			nr_lost++;
			continue;
		}
		nr[rec->kind]++;
		push(s, rec);
	}
	if (trace_writer_flush(w, &d) < 0)
		fail(&d);
	printf("{\"switches\": %llu, \"wakings\": %llu, \"lost\": %llu}\n",
	       (unsigned long long)nr[1], (unsigned long long)nr[2], (unsigned long long)nr_lost);
}

int main(int argc, char **argv)
{
	bool is_compressed = argc > 3 && strcmp(argv[3], "gzip") == 0;
	bool is_killed = argc > 3 && strcmp(argv[3], "killed") == 0;
	struct trace_writer *w;
	struct ev_sink sink;
	struct diag d = { 0 };

	if (argc < 3)
		return 2;
	w = open_writer(argv[2], is_compressed);
	sink = trace_writer_sink(w);
	if (strcmp(argv[1], "busy") == 0) {
		write_busy(w, sink);
	} else if (strcmp(argv[1], "filtered") == 0) {
		write_filtered(sink);
	} else if (strcmp(argv[1], "affinity") == 0) {
		emit_affinity(sink);
	} else if (strcmp(argv[1], "stats") == 0) {
		write_stats(w);
	} else {
		write_sched(sink);
		write_lives(sink);
		write_interrupts(sink);
		report_cpus(sink);
		write_probes(sink);
		write_queue(sink);
		write_io(sink);
		emit_losses(sink);
	}
	(void)fflush(stdout);
	if (is_killed)
		_exit(0);
	if (trace_writer_close(w, &d) < 0)
		fail(&d);
	return 0;
}
