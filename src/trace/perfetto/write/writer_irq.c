#include <errno.h>
#include <string.h>

#include "trace/perfetto/schema.h"
#include "trace/perfetto/write/packets.h"
#include "trace/perfetto/write/writer_priv.h"

#define SYMBOL_BYTES 256U
#define MASK_CPUS    32U /* ipi_raise has a mask of 32 bits */

int writer_softirq(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_softirq *rec = (const void *)hdr;
	struct ftrace_event e;
	int err = writer_begin(w, hdr, rec->tid,
	                       hdr->kind == EV_SOFTIRQ_ENTRY ? FTRACE_SOFTIRQ_ENTRY
	                                                     : FTRACE_SOFTIRQ_EXIT,
	                       &e);

	if (err)
		return err;
	pb_uint(e.w, SOFTIRQ_VEC, rec->vector);
	ftrace_end(&e, 0);
	return 0;
}

int writer_irq_entry(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_irq_entry *rec = (const void *)hdr;
	struct ftrace_event e;
	int err = writer_begin(w, hdr, rec->tid, FTRACE_IRQ_HANDLER_ENTRY, &e);

	if (err)
		return err;
	pb_uint(e.w, IRQ_ENTRY_IRQ, rec->irq);
	pb_text(e.w, IRQ_ENTRY_NAME, rec->name, sizeof(rec->name));
	ftrace_end(&e, 0);
	return 0;
}

int writer_irq_exit(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_irq_exit *rec = (const void *)hdr;
	struct ftrace_event e;
	int err = writer_begin(w, hdr, WRITER_CURRENT, FTRACE_IRQ_HANDLER_EXIT, &e);

	if (err)
		return err;
	pb_uint(e.w, IRQ_EXIT_IRQ, rec->irq);
	pb_int(e.w, IRQ_EXIT_RET, rec->ret);
	ftrace_end(&e, 0);
	return 0;
}

static bool kernel_symbol(struct trace_writer *w, uint64_t address, char *buf, size_t size)
{
	return address && w->calls.symbol && w->calls.symbol(w->calls.ctx, 0, address, buf, size);
}

/* To several CPUs, or to one that the mask has no bit for. */
static int ipi_instant(struct trace_writer *w, const struct ev_ipi_send *rec,
                       const struct writer_place *at, struct trace_task *task)
{
	bool is_single = rec->target_cpu != ~0U;
	struct track_arg args[2] = { { .i = rec->hdr.cpu }, { .i = rec->target_cpu } };
	struct track_event event = { .args = args, .nr_args = is_single ? 2 : 1 };
	int err = track_begin(&w->tracks);

	if (!err)
		err = track_of_task(&w->tracks, at->cpu, task, at->ts_ns, &event.track_uuid);
	if (err)
		return err;
	event.category_iid = track_iid(&w->tracks, USE_CATEGORY, "IPI_SEND");
	event.name_iid = track_iid(&w->tracks, USE_NAME,
	                           is_single ? "IPI_SEND:single" : "IPI_SEND:multi");
	args[0].name_iid = track_iid(&w->tracks, USE_ARG, "cpu");
	if (is_single)
		args[1].name_iid = track_iid(&w->tracks, USE_ARG, "target_cpu");
	return track_instant(&w->tracks, at->ts_ns, &event);
}

int writer_ipi_send(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_ipi_send *rec = (const void *)hdr;
	char reason[SYMBOL_BYTES];
	struct writer_place at;
	struct trace_task *task;
	struct ftrace_event e;
	int err = writer_at(w, hdr, &at);

	if (!err)
		err = writer_task(w, rec->tid, at.ts_ns, &task);
	if (err)
		return err;
	if (rec->target_cpu >= MASK_CPUS)
		return ipi_instant(w, rec, &at, task);
	e = ftrace_begin(at.cpu, at.ts_ns, rec->tid, FTRACE_IPI_RAISE);
	pb_uint(e.w, IPI_RAISE_TARGET_CPUS, 1U << rec->target_cpu);
	if (kernel_symbol(w, rec->callback, reason, sizeof(reason)))
		pb_text(e.w, IPI_RAISE_REASON, reason, sizeof(reason));
	ftrace_end(&e, 0);
	return 0;
}

int writer_ipi(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_ipi *rec = (const void *)hdr;
	struct ftrace_event e;
	int err = writer_begin(w, hdr, WRITER_CURRENT,
	                       hdr->kind == EV_IPI_ENTRY ? FTRACE_IPI_ENTRY : FTRACE_IPI_EXIT, &e);

	if (err)
		return err;
	pb_text(e.w, IPI_REASON, rec->reason, sizeof(rec->reason));
	ftrace_end(&e, 0);
	return 0;
}

/* A packet of its own, before the bundle that will refer to it. */
static int put_symbol(struct trace_writer *w, uint32_t iid, const char *name)
{
	struct pb *pb = &w->chunk.packets;
	struct packet_head head = { .seq = SEQ_FTRACE,
		                    .seq_flags = w->ftrace.is_started ? 0 : SEQ_STATE_CLEARED };
	struct pb_mark packet = packet_begin(pb, &head);
	struct pb_mark interned = pb_begin(pb, PACKET_INTERNED_DATA);
	struct pb_mark entry = pb_begin(pb, INTERNED_KERNEL_SYMBOLS);

	pb_uint(pb, ENTRY_IID, iid);
	pb_string(pb, ENTRY_STRING, name);
	pb_end(pb, entry);
	pb_end(pb, interned);
	packet_end(pb, packet);
	w->ftrace.is_started = true;
	return chunk_packet_done(&w->chunk);
}

/* The number of the function's name; its address if it has none, or there are too many. */
static int symbol_iid(struct trace_writer *w, uint64_t address, uint64_t *out)
{
	char name[SYMBOL_BYTES];
	uint32_t iid;
	int err;

	*out = address;
	if (!w->calls.symbol || !address)
		return 0;
	if (!map_find(w->symbols, &address, &iid)) {
		iid = kernel_symbol(w, address, name, sizeof(name)) ? map_nr(w->symbols) + 1 : 0;
		err = map_insert(w->symbols, &address, iid);
		if (err)
			return err == -E2BIG ? 0 : err;
		err = iid ? put_symbol(w, iid, name) : 0;
		if (err)
			return err;
	}
	if (iid)
		*out = iid;
	return 0;
}

int writer_work(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_work *rec = (const void *)hdr;
	uint64_t function = 0;
	struct ftrace_event e;
	int err = symbol_iid(w, rec->function, &function);

	if (!err)
		err = writer_begin(w, hdr, rec->tid,
		                   hdr->kind == EV_WORK_START ? FTRACE_WORKQUEUE_EXECUTE_START
		                                              : FTRACE_WORKQUEUE_EXECUTE_END,
		                   &e);
	if (err)
		return err;
	pb_uint(e.w, WORK_WORK, rec->work);
	if (function)
		pb_uint(e.w, WORK_FUNCTION, function);
	ftrace_end(&e, 0);
	return 0;
}
