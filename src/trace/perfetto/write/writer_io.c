/* What tasks sleep for: files, devices, memory. Most kinds are of other recorders, as the ftrace events that they were. */
#include <errno.h>
#include <stdio.h>

#include "trace/perfetto/schema.h"
#include "trace/perfetto/write/writer_priv.h"

#define SECTOR_BYTES 512U

static uint32_t task_of(uint32_t tid)
{
	return tid ? tid : WRITER_CURRENT;
}

int writer_block(struct trace_writer *w, const struct ev_hdr *hdr)
{
	static const uint32_t members[] = {
		[EV_BLOCK_INSERT] = FTRACE_BLOCK_RQ_INSERT,
		[EV_BLOCK_ISSUE] = FTRACE_BLOCK_RQ_ISSUE,
		[EV_BLOCK_COMPLETE] = FTRACE_BLOCK_RQ_COMPLETE,
	};
	const struct ev_block *rec = (const void *)hdr;
	struct ftrace_event e;
	int err;

	if (rec->step >= sizeof(members) / sizeof(members[0]))
		return -ERANGE;
	err = writer_begin(w, hdr, task_of(rec->tid), members[rec->step], &e);
	if (err)
		return err;
	pb_uint(e.w, BLOCK_DEV, rec->dev);
	pb_uint(e.w, BLOCK_SECTOR, rec->sector);
	pb_uint(e.w, BLOCK_NR_SECTOR, rec->nr_sectors);
	if (rec->step != EV_BLOCK_COMPLETE)
		pb_uint(e.w, BLOCK_BYTES, 1ULL * SECTOR_BYTES * rec->nr_sectors);
	pb_text(e.w, BLOCK_RWBS, rec->rwbs, sizeof(rec->rwbs));
	ftrace_end(&e, hdr->flags);
	return 0;
}

int writer_net(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_net *rec = (const void *)hdr;
	struct ftrace_event e;
	int err = writer_begin(w, hdr, WRITER_CURRENT,
	                       rec->is_sent ? FTRACE_NET_DEV_XMIT : FTRACE_NETIF_RECEIVE_SKB, &e);

	if (err)
		return err;
	pb_uint(e.w, NET_LEN, rec->bytes);
	pb_text(e.w, NET_NAME, rec->name, sizeof(rec->name));
	ftrace_end(&e, hdr->flags);
	return 0;
}

int writer_memory(struct trace_writer *w, const struct ev_hdr *hdr)
{
	static const struct {
		uint32_t member;
		uint32_t order; /* its field; 0 = none */
	} steps[] = {
		[EV_PAGE_ALLOC] = { FTRACE_MM_PAGE_ALLOC, PAGE_ALLOC_ORDER },
		[EV_PAGE_FREE] = { FTRACE_MM_PAGE_FREE, PAGE_FREE_ORDER },
		[EV_RECLAIM_BEGIN] = { FTRACE_DIRECT_RECLAIM_BEGIN, RECLAIM_BEGIN_ORDER },
		[EV_RECLAIM_END] = { FTRACE_DIRECT_RECLAIM_END, 0 },
	};
	const struct ev_memory *rec = (const void *)hdr;
	struct ftrace_event e;
	int err;

	if (rec->step >= sizeof(steps) / sizeof(steps[0]))
		return -ERANGE;
	err = writer_begin(w, hdr, task_of(rec->tid), steps[rec->step].member, &e);
	if (err)
		return err;
	if (steps[rec->step].order)
		pb_uint(e.w, steps[rec->step].order, rec->order);
	ftrace_end(&e, hdr->flags);
	return 0;
}

int writer_fsync(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_fsync *rec = (const void *)hdr;
	struct ftrace_event e;
	int err = writer_begin(w, hdr, task_of(rec->tid),
	                       rec->is_end ? FTRACE_EXT4_SYNC_FILE_EXIT
	                                   : FTRACE_EXT4_SYNC_FILE_ENTER,
	                       &e);

	if (err)
		return err;
	pb_uint(e.w, SYNC_FILE_DEV, rec->dev);
	pb_uint(e.w, SYNC_FILE_INO, rec->inode);
	ftrace_end(&e, hdr->flags);
	return 0;
}

/* As programs write it: readers know it by its form. */
int writer_counter(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_counter *rec = (const void *)hdr;
	char text[sizeof(rec->name) + 48];
	struct ftrace_event e;
	int err = writer_begin(w, hdr, task_of(rec->tid), FTRACE_PRINT, &e);

	if (err)
		return err;
	(void)snprintf(text, sizeof(text), "C|%u|%.*s|%lld\n", rec->tgid,
	               (int)sizeof(rec->name) - 1, rec->name, (long long)rec->value);
	pb_string(e.w, PRINT_BUF, text);
	ftrace_end(&e, hdr->flags);
	return 0;
}

int writer_suspend(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_suspend *rec = (const void *)hdr;
	struct ftrace_event e;
	int err = writer_begin(w, hdr, WRITER_CURRENT, FTRACE_SUSPEND_RESUME, &e);

	if (err)
		return err;
	pb_text(e.w, SUSPEND_ACTION, rec->action, sizeof(rec->action));
	pb_int(e.w, SUSPEND_VAL, rec->value);
	pb_uint(e.w, SUSPEND_START, rec->is_start);
	ftrace_end(&e, hdr->flags);
	return 0;
}

int writer_blocked(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_blocked *rec = (const void *)hdr;
	struct trace_task *task;
	struct ftrace_event e;
	int err = writer_task(w, rec->tid, hdr->ts_ns, &task);

	/* Reported by the CPU that dequeues or wakes the task, not by the task. */
	if (!err)
		err = writer_begin(w, hdr, WRITER_CURRENT, FTRACE_SCHED_BLOCKED_REASON, &e);
	if (err)
		return err;
	pb_uint(e.w, BLOCKED_PID, rec->tid);
	if (rec->caller)
		pb_uint(e.w, BLOCKED_CALLER, rec->caller);
	pb_uint(e.w, BLOCKED_IO_WAIT, rec->is_io);
	ftrace_end(&e, hdr->flags);
	return 0;
}

int writer_sleep(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_sleep *rec = (const void *)hdr;
	struct ftrace_event e;
	int err = writer_begin(w, hdr, rec->tid, FTRACE_SLEEP, &e);

	if (err)
		return err;
	pb_uint(e.w, SLEEP_PID, rec->tid);
	pb_uint(e.w, SLEEP_CALL, rec->call);
	if (rec->nr)
		pb_uint(e.w, SLEEP_NR, rec->nr);
	pb_uint(e.w, SLEEP_ARG0, rec->args[0]);
	pb_uint(e.w, SLEEP_ARG1, rec->args[1]);
	ftrace_end(&e, hdr->flags);
	return 0;
}

int writer_lock(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_lock *rec = (const void *)hdr;
	struct trace_task *task;
	struct ftrace_event e;
	int err = writer_task(w, rec->tid, hdr->ts_ns, &task);

	if (!err)
		err = writer_begin(w, hdr, WRITER_CURRENT, FTRACE_LOCK, &e);
	if (err)
		return err;
	pb_uint(e.w, LOCK_ADDRESS, rec->lock);
	pb_uint(e.w, LOCK_START_NS, rec->start_ns);
	pb_uint(e.w, LOCK_END_NS, rec->end_ns);
	pb_uint(e.w, LOCK_PID, rec->tid);
	pb_uint(e.w, LOCK_TYPE, rec->type);
	ftrace_end(&e, hdr->flags);
	return 0;
}
