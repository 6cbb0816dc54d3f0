#include "trace/perfetto/schema.h"
#include "trace/perfetto/write/packets.h"
#include "trace/perfetto/write/writer_priv.h"

int writer_cpu_idle(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_cpu_idle *rec = (const void *)hdr;
	struct ftrace_event e;
	int err = writer_begin(w, hdr, WRITER_CURRENT, FTRACE_CPU_IDLE, &e);

	if (err)
		return err;
	pb_uint(e.w, CPU_IDLE_STATE, rec->state);
	pb_uint(e.w, CPU_IDLE_CPU, rec->cpu);
	ftrace_end(&e, 0);
	return 0;
}

int writer_cpu_freq(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_cpu_freq *rec = (const void *)hdr;
	struct ftrace_event e;
	int err = writer_begin(w, hdr, WRITER_CURRENT, FTRACE_CPU_FREQUENCY, &e);

	if (err)
		return err;
	pb_uint(e.w, CPU_FREQUENCY_STATE, rec->khz);
	pb_uint(e.w, CPU_FREQUENCY_CPU, rec->cpu);
	ftrace_end(&e, 0);
	return 0;
}

int writer_cpu_hotplug(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_cpu_hotplug *rec = (const void *)hdr;
	struct ftrace_event e;
	int err = writer_begin(w, hdr, WRITER_CURRENT,
	                       rec->is_exit ? FTRACE_CPUHP_EXIT : FTRACE_CPUHP_ENTER, &e);

	if (err)
		return err;
	if (rec->is_exit) {
		pb_uint(e.w, CPUHP_EXIT_CPU, rec->cpu);
		pb_int(e.w, CPUHP_EXIT_IDX, rec->step);
		pb_int(e.w, CPUHP_EXIT_RET, rec->ret);
		pb_int(e.w, CPUHP_EXIT_STATE, rec->target);
	} else {
		pb_uint(e.w, CPUHP_ENTER_CPU, rec->cpu);
		pb_int(e.w, CPUHP_ENTER_IDX, rec->step);
		pb_int(e.w, CPUHP_ENTER_TARGET, rec->target);
	}
	ftrace_end(&e, 0);
	return 0;
}

int writer_gpu_mem(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_gpu_mem *rec = (const void *)hdr;
	struct writer_place at;
	struct trace_task *task;
	struct ftrace_event e;
	int err = writer_at(w, hdr, &at);

	if (!err)
		err = writer_task(w, rec->tgid, at.ts_ns, &task);
	if (err)
		return err;
	e = ftrace_begin(at.cpu, at.ts_ns, writer_current(&at, rec->tgid), FTRACE_GPU_MEM_TOTAL);
	pb_uint(e.w, GPU_MEM_GPU_ID, rec->gpu);
	pb_uint(e.w, GPU_MEM_PID, rec->tgid);
	pb_uint(e.w, GPU_MEM_SIZE, rec->bytes);
	ftrace_end(&e, 0);
	return 0;
}

/* The counter is of the CPU that has lost capacity, which need not be the one that noticed. */
int writer_hw_pressure(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_hw_pressure *rec = (const void *)hdr;
	struct writer_place at;
	struct ev_hdr of = *hdr;
	int err;

	of.cpu = rec->cpu;
	err = writer_at(w, &of, &at);
	return err ? err : track_pressure(&w->tracks, at.cpu, at.ts_ns, rec->pressure);
}

/*
 * Of another recorder, where how many were lost is unknown: all kinds at once, and the time at which the loss ends, which
 * the next event that is written here may not have.
 */
static int uncounted_loss(struct trace_writer *w, const struct writer_place *at)
{
	bool is_behind = at->cpu->last_ts_ns == at->ts_ns;
	struct ftrace_event e;
	int err;

	if (at->cpu->has_loss && at->cpu->last_loss_ns == at->ts_ns)
		return 0;
	err = ftrace_lost(&w->ftrace, at->cpu);
	if (err)
		return err;
	at->cpu->has_loss = true;
	at->cpu->last_loss_ns = at->ts_ns;
	e = ftrace_begin(at->cpu, at->ts_ns, 0, FTRACE_LOSS);
	if (is_behind) /* an event at the same time: of those, readers take a loss first */
		pb_uint(e.w, LOSS_IS_BEHIND, 1);
	ftrace_end(&e, 0);
	return 0;
}

int writer_lost(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_lost *rec = (const void *)hdr;
	struct writer_place at;
	int err;

	w->nr_lost[rec->kind < EV_KIND_MAX ? rec->kind : 0] += rec->count;
	err = writer_at(w, hdr, &at);
	if (err)
		return err;
	if (hdr->flags & EV_FLAG_LAST) { /* the time is behind that of the last event */
		at.cpu->has_end = true;
		at.cpu->end_ns = at.ts_ns ? at.ts_ns - 1 : 0;
		return 0;
	}
	/* Stacks are no part of a CPU's events, and are lost first: without them all that it did is still known. */
	if (!rec->count)
		return rec->kind == EV_SAMPLE ? 0 : uncounted_loss(w, &at);
	at.cpu->nr_lost += rec->count;
	if (rec->kind != EV_SAMPLE)
		err = ftrace_lost(&w->ftrace, at.cpu);
	return err ? err : track_lost(&w->tracks, at.cpu, at.ts_ns);
}

int writer_sampling(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_sampling *rec = (const void *)hdr;
	struct trace_attr attr = { .key = "sampling_one_in", .number = (int64_t)rec->one_in };

	if (rec->one_in == w->one_in)
		return 0;
	w->one_in = rec->one_in;
	packet_attributes(&w->chunk.packets, &attr, 1);
	return chunk_packet_done(&w->chunk);
}
