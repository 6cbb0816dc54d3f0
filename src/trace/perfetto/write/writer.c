#include "trace/perfetto/write/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/new_file.h"
#include "trace/perfetto/write/packets.h"
#include "trace/perfetto/write/writer_priv.h"

#define TICK_NS     FTRACE_BUNDLE_NS
#define CHUNK_NS    500000000ULL   /* on disk after so much trace time at the latest */
#define CLOCKS_NS   10000000000ULL /* between two snapshots of the clocks */
#define SYMBOLS_MAX 16384U
#define HIGH_CPU    1024U /* the first that Perfetto's reader refuses */

writer_fn *const writer_handlers[EV_KIND_MAX] = {
	[EV_SWITCH] = writer_switch,
	[EV_WAKING] = writer_waking,
	[EV_WAKEUP] = writer_wakeup,
	[EV_WAKEUP_NEW] = writer_wakeup_new,
	[EV_MIGRATE] = writer_migrate,
	[EV_FORK] = writer_fork,
	[EV_EXEC] = writer_exec,
	[EV_EXIT] = writer_exit,
	[EV_RENAME] = writer_rename,
	[EV_FREE] = writer_free,
	[EV_HANG] = writer_hang,
	[EV_WAIT] = writer_wait,
	[EV_SOFTIRQ_ENTRY] = writer_softirq,
	[EV_SOFTIRQ_EXIT] = writer_softirq,
	[EV_IRQ_ENTRY] = writer_irq_entry,
	[EV_IRQ_EXIT] = writer_irq_exit,
	[EV_IPI_SEND] = writer_ipi_send,
	[EV_IPI_ENTRY] = writer_ipi,
	[EV_IPI_EXIT] = writer_ipi,
	[EV_WORK_START] = writer_work,
	[EV_WORK_END] = writer_work,
	[EV_CPU_IDLE] = writer_cpu_idle,
	[EV_CPU_FREQ] = writer_cpu_freq,
	[EV_CPU_HOTPLUG] = writer_cpu_hotplug,
	[EV_HW_PRESSURE] = writer_hw_pressure,
	[EV_GPU_MEM] = writer_gpu_mem,
	[EV_PROBE] = writer_probe,
	[EV_SAMPLE] = writer_sample,
	[EV_PMU] = writer_pmu,
	[EV_AFFINITY] = writer_affinity,
	[EV_SCX_RUN] = writer_scx_run,
	[EV_DSQ_LEAVE] = writer_dsq_leave,
	[EV_DSQ_DEPTH] = writer_dsq_depth,
	[EV_SCX_STATE] = writer_scx_state,
	[EV_SCX_COUNTER] = writer_scx_counter,
	[EV_COUNTER] = writer_counter,
	[EV_BLOCK] = writer_block,
	[EV_NET] = writer_net,
	[EV_MEMORY] = writer_memory,
	[EV_FSYNC] = writer_fsync,
	[EV_SUSPEND] = writer_suspend,
	[EV_BLOCKED] = writer_blocked,
	[EV_CGROUP] = writer_cgroup,
	[EV_CGROUP_INFO] = writer_cgroup_info,
	[EV_SLEEP] = writer_sleep,
	[EV_POLICY] = writer_policy,
	[EV_LOCK] = writer_lock,
	[EV_TASK_INFO] = writer_task_info,
	[EV_PROBE_INFO] = writer_probe_info,
	[EV_STRING] = writer_string,
	[EV_SPAN] = writer_span,
	[EV_LOST] = writer_lost,
	[EV_SAMPLING] = writer_sampling,
	[EV_THROTTLE] = writer_throttle,
	[EV_REFILL] = writer_refill,
	[EV_STEAL] = writer_steal,
	[EV_THROTTLED] = writer_throttled,
	[EV_RT_LIMIT] = writer_rt_limit,
	[EV_MEASURES] = writer_measures,
};

int writer_at(struct trace_writer *w, const struct ev_hdr *rec, struct writer_place *out)
{
	out->ts_ns = rec->ts_ns;
	return ftrace_at(&w->ftrace, rec->cpu, &out->ts_ns, &out->cpu);
}

int writer_task(struct trace_writer *w, uint32_t tid, uint64_t ts_ns, struct trace_task **out)
{
	*out = NULL;
	if (!tid)
		return 0;
	*out = trace_tasks_get(w->tasks, tid);
	return *out ? writer_name(w, *out, ts_ns) : -ENOMEM;
}

uint32_t writer_current(const struct writer_place *at, uint32_t otherwise)
{
	return at->cpu->knows_current ? at->cpu->current_tid : otherwise;
}

int writer_begin(struct trace_writer *w, const struct ev_hdr *rec, uint32_t tid, uint32_t member,
                 struct ftrace_event *out)
{
	struct writer_place at;
	struct trace_task *task;
	int err = writer_at(w, rec, &at);

	if (!err && tid != WRITER_CURRENT)
		err = writer_task(w, tid, at.ts_ns, &task);
	if (!err)
		*out = ftrace_begin(at.cpu, at.ts_ns,
		                    tid == WRITER_CURRENT ? writer_current(&at, 0) : tid, member);
	return err;
}

static int put_clocks(struct trace_writer *w)
{
	struct trace_clocks clocks;

	if (!w->calls.clocks || !w->calls.clocks(w->calls.ctx, &clocks))
		return 0;
	packet_clock_snapshot(&w->chunk.packets, &clocks);
	return chunk_packet_done(&w->chunk);
}

/* What is due by the time of the trace: old bundles, a chunk, the clocks. */
static int tick(struct trace_writer *w, uint64_t now_ns)
{
	bool is_first = w->next_tick_ns == 0;
	int err = 0;

	w->next_tick_ns = now_ns + TICK_NS;
	if (is_first) {
		w->next_chunk_ns = now_ns + CHUNK_NS;
		w->next_clocks_ns = now_ns + CLOCKS_NS;
		return 0;
	}
	err = ftrace_flush(&w->ftrace, now_ns > TICK_NS ? now_ns - TICK_NS : 0);
	if (!err && now_ns >= w->next_clocks_ns) {
		w->next_clocks_ns = now_ns + CLOCKS_NS;
		err = put_clocks(w);
	}
	if (!err && now_ns >= w->next_chunk_ns) {
		w->next_chunk_ns = now_ns + CHUNK_NS;
		err = names_flush(&w->names);
		if (!err)
			err = chunk_flush(&w->chunk);
	}
	return err;
}

int writer_fail(struct trace_writer *w, int err)
{
	return diag_set(&w->chunk.diag, err, NULL, "cannot write the trace");
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct trace_writer *w = ctx;
	writer_fn *fn = rec->kind < EV_KIND_MAX ? writer_handlers[rec->kind] : NULL;
	int err = w->chunk.diag.code;

	if (err)
		return err;
	err = fn ? fn(w, rec) : -ERANGE;
	if (err == -ERANGE) {
		w->nr_skipped++;
		err = 0;
	} else {
		w->nr_records++;
	}
	if (rec->ts_ns > w->reached_ns)
		w->reached_ns = rec->ts_ns;
	if (!err && rec->ts_ns >= w->next_tick_ns)
		err = tick(w, rec->ts_ns);
	return err ? writer_fail(w, err) : 0;
}

static int advance(void *ctx, __u64 ts_ns)
{
	struct trace_writer *w = ctx;
	int err = w->chunk.diag.code;

	if (ts_ns > w->reached_ns)
		w->reached_ns = ts_ns;
	if (!err && ts_ns >= w->next_tick_ns)
		err = tick(w, ts_ns);
	return err ? writer_fail(w, err) : 0;
}

struct ev_sink trace_writer_sink(struct trace_writer *w)
{
	return (struct ev_sink){ .push = push, .advance = advance, .ctx = w };
}

static void set_pmu_keys(struct trace_writer *w, const struct trace_writer_cfg *cfg)
{
	for (uint32_t i = 0; i < WRITER_PMU_MAX; i++) {
		if (i < cfg->nr_pmu_names)
			(void)snprintf(w->pmu_keys[i], WRITER_NAME_BYTES, "pmu:%s",
			               cfg->pmu_names[i]);
		else
			(void)snprintf(w->pmu_keys[i], WRITER_NAME_BYTES, "pmu:%u", i);
	}
}

static int make_samples(struct trace_writer *w, const struct trace_writer_cfg *cfg)
{
	for (uint32_t i = 0; i < EV_SAMPLE_KINDS; i++) {
		if (sample_init(&w->samples[i], &w->chunk, i, &cfg->sampling) < 0)
			return -ENOMEM;
		w->samples[i].code.place = cfg->calls.place;
		w->samples[i].code.symbol = cfg->calls.symbol;
		w->samples[i].code.ctx = cfg->calls.ctx;
	}
	return 0;
}

/* The parts, each empty; trace_writer_close() undoes it, also half of it. */
static int make_parts(struct trace_writer *w, const struct trace_writer_cfg *cfg)
{
	uint32_t tasks_max = cfg->tasks_max ? cfg->tasks_max : TRACE_WRITER_TASKS;

	if (trace_tasks_new(tasks_max, &w->tasks) < 0 || track_init(&w->tracks, &w->chunk) < 0 ||
	    map_new(sizeof(uint64_t), SYMBOLS_MAX, &w->symbols) < 0 ||
	    map_new(sizeof(uint32_t), WRITER_PROBES_MAX, &w->probe_ids) < 0 ||
	    map_new(sizeof(uint64_t), WRITER_DSQS_MAX, &w->dsq_ids) < 0 ||
	    spans_init(&w->spans) < 0)
		return -ENOMEM;
	names_init(&w->names, &w->chunk, w->tasks);
	ftrace_init(&w->ftrace, &w->chunk, &w->names);
	stacks_init(&w->stacks, &w->chunk, cfg->sampling.frequency);
	w->calls = cfg->calls;
	w->keeps_order = cfg->keeps_order;
	w->names_all = cfg->names_all;
	w->names.cmdline = cfg->calls.cmdline;
	w->names.cmdline_ctx = cfg->calls.ctx;
	set_pmu_keys(w, cfg);
	return make_samples(w, cfg);
}

static void free_parts(struct trace_writer *w)
{
	ftrace_done(&w->ftrace);
	names_done(&w->names);
	for (uint32_t i = 0; i < EV_SAMPLE_KINDS; i++)
		sample_done(&w->samples[i]);
	track_done(&w->tracks);
	map_free(w->symbols);
	map_free(w->probe_ids);
	map_free(w->dsq_ids);
	free(w->probes);
	free(w->dsqs);
	spans_done(&w->spans);
	stacks_done(&w->stacks);
	trace_tasks_free(w->tasks);
	free(w);
}

static void put_attributes(struct trace_writer *w, const struct trace_writer_cfg *cfg)
{
	struct trace_attr own[3];
	size_t nr = 0;

	if (cfg->tool)
		own[nr++] = (struct trace_attr){ .key = "tool", .text = cfg->tool };
	if (cfg->version)
		own[nr++] = (struct trace_attr){ .key = "tool_version", .text = cfg->version };
	if (cfg->command_line)
		own[nr++] = (struct trace_attr){ .key = "command_line", .text = cfg->command_line };
	if (nr)
		packet_attributes(&w->chunk.packets, own, nr);
	if (cfg->nr_attrs)
		packet_attributes(&w->chunk.packets, cfg->attrs, cfg->nr_attrs);
}

/* Names of ftrace for the kinds that become its events. */
static void put_config(struct trace_writer *w, const struct trace_writer_cfg *cfg)
{
	static const char *const names[EV_KIND_MAX] = {
		[EV_SWITCH] = "sched/sched_switch",
		[EV_WAKING] = "sched/sched_waking",
		[EV_WAKEUP] = "sched/sched_wakeup",
		[EV_WAKEUP_NEW] = "sched/sched_wakeup_new",
		[EV_MIGRATE] = "sched/sched_migrate_task",
		[EV_FORK] = "task/task_newtask",
		[EV_EXEC] = "sched/sched_process_exec",
		[EV_EXIT] = "sched/sched_process_exit",
		[EV_RENAME] = "task/task_rename",
		[EV_FREE] = "sched/sched_process_free",
		[EV_HANG] = "sched/sched_process_hang",
		[EV_WAIT] = "sched/sched_process_wait",
		[EV_SOFTIRQ_ENTRY] = "irq/softirq_entry",
		[EV_SOFTIRQ_EXIT] = "irq/softirq_exit",
		[EV_IRQ_ENTRY] = "irq/irq_handler_entry",
		[EV_IRQ_EXIT] = "irq/irq_handler_exit",
		[EV_IPI_SEND] = "ipi/ipi_raise",
		[EV_IPI_ENTRY] = "ipi/ipi_entry",
		[EV_IPI_EXIT] = "ipi/ipi_exit",
		[EV_WORK_START] = "workqueue/workqueue_execute_start",
		[EV_WORK_END] = "workqueue/workqueue_execute_end",
		[EV_CPU_IDLE] = "power/cpu_idle",
		[EV_CPU_FREQ] = "power/cpu_frequency",
		[EV_CPU_HOTPLUG] = "cpuhp/cpuhp_enter",
		[EV_GPU_MEM] = "gpu_mem/gpu_mem_total",
		[EV_BLOCK] = "block/block_rq_issue",
		[EV_NET] = "net/net_dev_xmit",
		[EV_MEMORY] = "kmem/mm_page_alloc",
		[EV_FSYNC] = "ext4/ext4_sync_file_enter",
		[EV_CGROUP] = "cgroup/cgroup_attach_task",
		[EV_CGROUP_INFO] = "cgroup/cgroup_mkdir",
	};
	const char *asked[EV_KIND_MAX];
	size_t nr = 0;

	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++)
		if (cfg->kinds & EV_BIT(kind) && names[kind])
			asked[nr++] = names[kind];
	if (nr)
		packet_config(&w->chunk.packets, asked, nr);
	else if (cfg->nr_enabled)
		packet_config(&w->chunk.packets, cfg->enabled, cfg->nr_enabled);
}

static int put_start(struct trace_writer *w, const struct trace_writer_cfg *cfg)
{
	struct pb *pb = &w->chunk.packets;
	char tool[WRITER_NAME_BYTES];
	int err = put_clocks(w);

	(void)snprintf(tool, sizeof(tool), "%s %s", cfg->tool ? cfg->tool : "",
	               cfg->version ? cfg->version : "");
	if (cfg->system)
		packet_system_info(pb, cfg->system, cfg->tool ? tool : NULL);
	if (cfg->uuid.msb || cfg->uuid.lsb)
		packet_uuid(pb, &cfg->uuid);
	put_attributes(w, cfg);
	if (cfg->nr_cpus)
		packet_cpu_info(pb, cfg->cpus, cfg->nr_cpus);
	put_config(w, cfg);
	if (!err)
		err = chunk_packet_done(&w->chunk);
	return err ? err : chunk_flush(&w->chunk);
}

static int give_up(struct trace_writer *w, int err, struct diag *d)
{
	writer_fail(w, err);
	diag_set(d, err, w->chunk.diag.hint, "%s", w->chunk.diag.what);
	(void)chunk_close(&w->chunk);
	free_parts(w);
	return err;
}

int trace_writer_open(int fd, const struct trace_writer_cfg *cfg, struct diag *d,
                      struct trace_writer **out)
{
	struct trace_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w) {
		close(fd);
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	}
	err = chunk_open(&w->chunk, fd, cfg->is_compressed, d);
	if (err) {
		free(w);
		return err;
	}
	err = make_parts(w, cfg);
	if (!err)
		err = put_start(w, cfg);
	if (err)
		return give_up(w, err, d);
	*out = w;
	return 0;
}

int trace_writer_create(const char *path, const struct trace_writer_cfg *cfg, struct diag *d,
                        struct trace_writer **out)
{
	int fd = new_file_open(path, cfg->is_real_path, d);

	return fd < 0 ? fd : trace_writer_open(fd, cfg, d, out);
}

static int put_mark(struct trace_writer *w, const struct trace_mark *mark)
{
	struct track_arg args[TRACE_MARK_ARGS];
	struct track_event event = { .args = args, .nr_args = mark->nr_args };
	int err = track_begin(&w->tracks);

	if (!err)
		err = track_of_marks(&w->tracks, mark->ts_ns, &event.track_uuid);
	if (err)
		return err;
	event.category_iid = track_iid(&w->tracks, USE_CATEGORY, "mark");
	event.name_iid = track_iid(&w->tracks, USE_NAME, mark->name);
	for (size_t i = 0; i < mark->nr_args; i++) {
		const struct trace_attr *arg = &mark->args[i];

		args[i] = (struct track_arg){ .name_iid = track_iid(&w->tracks, USE_ARG, arg->key),
			                      .type = ARG_INT,
			                      .i = arg->number };
		if (arg->text) {
			args[i].type = ARG_TEXT;
			args[i].text = arg->text;
		}
	}
	return track_instant(&w->tracks, mark->ts_ns, &event);
}

int trace_writer_stack(struct trace_writer *w, const struct trace_known_stack *stack)
{
	int err = w->chunk.diag.code;
	struct trace_task *task = NULL;

	if (!err)
		err = writer_task(w, stack->tid, stack->ts_ns, &task);
	if (!err)
		err = stacks_put(&w->stacks, stack, task ? task->tgid : 0);
	if (err == -ERANGE) {
		w->nr_skipped++;
		return 0;
	}
	return err ? writer_fail(w, err) : 0;
}

int trace_writer_mark(struct trace_writer *w, const struct trace_mark *mark)
{
	int err = w->chunk.diag.code;

	if (!err)
		err = mark->nr_args > TRACE_MARK_ARGS ? -EINVAL : put_mark(w, mark);
	return err ? writer_fail(w, err) : 0;
}

static int flush(struct trace_writer *w)
{
	int err = w->chunk.diag.code;

	if (!err)
		err = ftrace_flush(&w->ftrace, UINT64_MAX);
	if (!err)
		err = names_flush(&w->names);
	if (!err)
		err = chunk_flush(&w->chunk);
	return err ? writer_fail(w, err) : 0;
}

static int report_error(const struct diag *from, struct diag *d)
{
	if (from->code)
		diag_set(d, from->code, from->hint, "%s", from->what);
	return from->code;
}

int trace_writer_flush(struct trace_writer *w, struct diag *d)
{
	(void)flush(w);
	return report_error(&w->chunk.diag, d);
}

void trace_writer_losses(struct trace_writer *w, const struct trace_losses *losses)
{
	w->losses = *losses;
}

int trace_writer_close(struct trace_writer *w, struct diag *d)
{
	int err;

	if (!w)
		return 0;
	err = flush(w);
	if (!err)
		err = put_clocks(w);
	if (!err)
		err = writer_put_ends(w);
	if (!err)
		err = writer_put_totals(w);
	if (!err)
		err = chunk_flush(&w->chunk);
	if (err)
		writer_fail(w, err);
	err = chunk_close(&w->chunk);
	(void)report_error(&w->chunk.diag, d);
	free_parts(w);
	return err;
}

void trace_writer_stats(const struct trace_writer *w, struct trace_writer_stats *out)
{
	*out = (struct trace_writer_stats){
		.nr_records = w->nr_records,
		.nr_skipped = w->nr_skipped,
		.nr_bytes = w->chunk.nr_bytes,
		.nr_clamped = w->ftrace.nr_clamped,
		.nr_breaks = w->ftrace.nr_breaks,
		.nr_lost = writer_sum_lost(w),
		.nr_tasks = trace_tasks_nr(w->tasks),
		.has_high_cpu = w->ftrace.nr_cpus > HIGH_CPU,
	};
}

const struct diag *trace_writer_error(const struct trace_writer *w)
{
	return w->chunk.diag.code ? &w->chunk.diag : NULL;
}
