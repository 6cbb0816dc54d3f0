#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/perfetto/schema.h"
#include "trace/perfetto/write/writer_priv.h"

#define IDLE_PRIO 120 /* of every swapper */

/* As writer_task(), but the event carries the name: a thread of no known process is left at that. */
static int named_task(struct trace_writer *w, uint32_t tid, uint64_t ts_ns, struct trace_task **out)
{
	struct trace_task *task = NULL;

	if (tid) {
		task = trace_tasks_get(w->tasks, tid);
		if (!task)
			return -ENOMEM;
	}
	*out = task;
	if (!task || task->flags & TASK_THREAD_WRITTEN || !task->tgid)
		return 0;
	return names_show(&w->names, task, ts_ns);
}

static void copy_comm(char comm[EV_COMM_LEN], const struct trace_task *task, uint32_t cpu)
{
	if (task)
		memcpy(comm, task->comm, EV_COMM_LEN);
	else
		(void)snprintf(comm, EV_COMM_LEN, "swapper/%u", cpu);
}

static int put_switch(struct trace_writer *w, const struct ev_switch *rec,
                      const struct writer_place *at, bool is_inferred, struct ftrace_event *e)
{
	char prev_comm[EV_COMM_LEN], next_comm[EV_COMM_LEN];
	struct trace_task *task;
	int err = named_task(w, rec->prev_tid, at->ts_ns, &task);

	if (err)
		return err;
	copy_comm(prev_comm, task, at->cpu->cpu);
	err = named_task(w, rec->next_tid, at->ts_ns, &task);
	if (err)
		return err;
	copy_comm(next_comm, task, at->cpu->cpu);

	*e = is_inferred
	             ? ftrace_begin_inferred(at->cpu, at->ts_ns, rec->prev_tid, FTRACE_SCHED_SWITCH)
	             : ftrace_begin(at->cpu, at->ts_ns, rec->prev_tid, FTRACE_SCHED_SWITCH);
	pb_text(e->w, SWITCH_PREV_COMM, prev_comm, sizeof(prev_comm));
	pb_uint(e->w, SWITCH_PREV_PID, rec->prev_tid);
	pb_int(e->w, SWITCH_PREV_PRIO, rec->prev_prio);
	pb_uint(e->w, SWITCH_PREV_STATE, rec->prev_state);
	pb_text(e->w, SWITCH_NEXT_COMM, next_comm, sizeof(next_comm));
	pb_uint(e->w, SWITCH_NEXT_PID, rec->next_tid);
	pb_int(e->w, SWITCH_NEXT_PRIO, rec->next_prio);
	return 0;
}

int writer_inferred_switch(struct trace_writer *w, const struct writer_place *at, uint32_t prev_tid,
                           uint32_t next_tid)
{
	struct ev_switch rec = { .prev_tid = prev_tid,
		                 .next_tid = next_tid,
		                 .prev_state = prev_tid ? EV_STATE_S : EV_STATE_RUNNABLE,
		                 .prev_prio = IDLE_PRIO,
		                 .next_prio = IDLE_PRIO };
	struct writer_place place = *at;
	uint64_t now_ns = at->cpu->last_ts_ns; /* there is room for it, not a time that is late */
	struct ftrace_event e;
	int err = ftrace_at(&w->ftrace, at->cpu->cpu, &now_ns, &place.cpu);

	if (!err)
		err = put_switch(w, &rec, &place, true, &e);
	if (!err)
		ftrace_end_inferred(&e);
	return err;
}

/*
 * Switches are missing: the task last switched in has left since, and the one that leaves now was
 * switched in unseen. A reader unaware of that would show the first as running until now, or
 * forever. So it is written as switched out when it was last known to run, and the other as
 * switched in now; in between the CPU is given to tid 0, because its task is unknown.
 */
static int end_last_slice(struct trace_writer *w, const struct ev_switch *rec,
                          const struct writer_place *at)
{
	const struct ftrace_cpu *c = at->cpu;
	struct writer_place left = *at;
	int err = 0;

	if (!c->has_switched || (c->current_tid == rec->prev_tid && !c->is_cut))
		return 0;
	if (c->last_seen_ns < at->ts_ns)
		left.ts_ns = c->last_seen_ns + 1; /* behind the switch that brought it */
	if (c->current_tid)
		err = writer_inferred_switch(w, &left, c->current_tid, 0);
	if (!err && rec->prev_tid)
		err = writer_inferred_switch(w, at, 0, rec->prev_tid);
	return err;
}

static int full_switch(struct trace_writer *w, const struct ev_switch *rec,
                       const struct writer_place *at)
{
	uint64_t ts_ns = at->ts_ns;
	struct writer_place place = *at;
	struct ftrace_event e;
	int err = end_last_slice(w, rec, at);

	if (!err)
		err = ftrace_at(&w->ftrace, at->cpu->cpu, &ts_ns, &place.cpu);
	if (!err)
		err = put_switch(w, rec, &place, false, &e);
	if (err)
		return err;
	ftrace_end(&e, rec->hdr.flags);
	if (at->cpu->knows_current && at->cpu->current_tid != rec->prev_tid &&
	    !(rec->hdr.flags & EV_FLAG_UNKNOWN))
		w->ftrace.nr_breaks++;
	ftrace_set_current(at->cpu, rec->next_tid, at->ts_ns);
	at->cpu->last_full_ns = at->ts_ns;
	return 0;
}

/* An instant of a task that says which task it lost the CPU to, or got it from. */
static int report_other(struct trace_writer *w, const struct writer_place *at, uint32_t tid,
                        uint32_t other_tid, const char *const keys[2])
{
	struct track_arg args[3] = { { .i = at->cpu->cpu },
		                     { .type = ARG_TEXT },
		                     { .i = other_tid } };
	struct track_event event = { .args = args, .nr_args = 3 };
	char comm[EV_COMM_LEN + 1] = { 0 };
	struct trace_task *task;
	int err = named_task(w, other_tid, at->ts_ns, &task);

	if (!err)
		copy_comm(comm, task, at->cpu->cpu);
	if (!err)
		err = writer_task(w, tid, at->ts_ns, &task);
	if (!err)
		err = track_begin(&w->tracks);
	if (!err)
		err = track_of_task(&w->tracks, at->cpu, task, at->ts_ns, &event.track_uuid);
	if (err)
		return err;
	event.category_iid = track_iid(&w->tracks, USE_CATEGORY, "switch");
	event.name_iid = track_iid(&w->tracks, USE_NAME, keys[0]);
	args[0].name_iid = track_iid(&w->tracks, USE_ARG, "cpu");
	args[1].name_iid = track_iid(&w->tracks, USE_ARG, keys[0]);
	args[1].text = comm;
	args[2].name_iid = track_iid(&w->tracks, USE_ARG, keys[1]);
	return track_instant(&w->tracks, at->ts_ns, &event);
}

/*
 * In a filtered stream nothing is known of a CPU while no wanted task is on it: a foreign task may have left
 * long before the next switch that we see. So it is not shown to run at all. The CPU is given to tid 0, and
 * what is known about the foreign task is written on the track of the wanted one.
 */
static int hide_others(struct trace_writer *w, const struct ev_switch *rec,
                       const struct writer_place *at, struct ev_switch *out)
{
	static const char *const from[] = { "switch_from", "switch_from_tid" };
	static const char *const to[] = { "switch_to", "switch_to_tid" };
	bool stays = rec->prev_state == EV_STATE_RUNNABLE || rec->prev_state == EV_STATE_PREEMPTED;
	int err = 0;

	*out = *rec;
	if (rec->hdr.flags & EV_FLAG_OTHER_PREV) {
		out->prev_tid = 0;
		out->prev_state = EV_STATE_RUNNABLE;
		out->prev_prio = IDLE_PRIO;
		if (rec->prev_tid && rec->next_tid)
			err = report_other(w, at, rec->next_tid, rec->prev_tid, from);
	}
	if (rec->hdr.flags & EV_FLAG_OTHER_NEXT) {
		out->next_tid = 0;
		out->next_prio = IDLE_PRIO;
		if (!err && rec->prev_tid && rec->next_tid && stays)
			err = report_other(w, at, rec->prev_tid, rec->next_tid, to);
	}
	return err;
}

/* Columns have no name of the task that leaves: readers would see a new one only when it comes back. */
static bool leaves_renamed(struct trace_writer *w, uint32_t tid)
{
	struct trace_task *task = w->nr_renamed && tid ? trace_tasks_find(w->tasks, tid) : NULL;

	if (!task || !(task->flags & TASK_RENAMED))
		return false;
	task->flags &= ~(uint32_t)TASK_RENAMED;
	w->nr_renamed--;
	return true;
}

int writer_switch(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_switch *rec = (const void *)hdr;
	struct ev_switch shown;
	struct writer_place at;
	struct trace_task *next;
	int err = writer_at(w, hdr, &at);

	if (!err && hdr->flags & (EV_FLAG_OTHER_PREV | EV_FLAG_OTHER_NEXT)) {
		err = hide_others(w, rec, &at, &shown);
		rec = &shown;
	}
	if (err)
		return err;
	/* Of equal times, readers take rows before events in full. */
	if (!ftrace_is_current(at.cpu, rec->prev_tid) || at.ts_ns == at.cpu->last_full_ns ||
	    hdr->flags & EV_FLAG_UNKNOWN || w->keeps_order || leaves_renamed(w, rec->prev_tid))
		return full_switch(w, rec, &at);
	err = named_task(w, rec->next_tid, at.ts_ns, &next);
	if (err)
		return err;
	ftrace_add_switch(at.cpu, at.ts_ns, rec, next);
	return 0;
}

static int full_wake(struct trace_writer *w, const struct ev_wake *rec,
                     const struct writer_place *at, uint32_t member)
{
	char comm[EV_COMM_LEN];
	struct trace_task *task;
	struct ftrace_event e;
	int err = writer_task(w, rec->waker_tid, at->ts_ns, &task);

	if (!err)
		err = named_task(w, rec->tid, at->ts_ns, &task);
	if (err)
		return err;
	copy_comm(comm, task, rec->target_cpu);
	e = ftrace_begin(at->cpu, at->ts_ns, rec->waker_tid, member);
	pb_text(e.w, WAKE_COMM, comm, sizeof(comm));
	pb_uint(e.w, WAKE_PID, rec->tid);
	pb_int(e.w, WAKE_PRIO, rec->prio);
	pb_uint(e.w, WAKE_TARGET_CPU, rec->target_cpu);
	pb_uint(e.w, WAKE_INTERRUPT, rec->by);
	ftrace_end(&e, rec->hdr.flags);
	return 0;
}

int writer_waking(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_wake *rec = (const void *)hdr;
	struct writer_place at;
	struct trace_task *task;
	int err = writer_at(w, hdr, &at);

	if (err)
		return err;
	if (!ftrace_is_current(at.cpu, rec->waker_tid) || hdr->flags & EV_FLAG_UNKNOWN ||
	    w->keeps_order)
		return full_wake(w, rec, &at, FTRACE_SCHED_WAKING);
	err = named_task(w, rec->tid, at.ts_ns, &task);
	if (err)
		return err;
	ftrace_add_waking(at.cpu, at.ts_ns, rec, task);
	return 0;
}

int writer_wakeup(struct trace_writer *w, const struct ev_hdr *hdr)
{
	struct writer_place at;
	int err = writer_at(w, hdr, &at);

	return err ? err : full_wake(w, (const void *)hdr, &at, FTRACE_SCHED_WAKEUP);
}

int writer_wakeup_new(struct trace_writer *w, const struct ev_hdr *hdr)
{
	struct writer_place at;
	int err = writer_at(w, hdr, &at);

	return err ? err : full_wake(w, (const void *)hdr, &at, FTRACE_SCHED_WAKEUP_NEW);
}

int writer_migrate(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_migrate *rec = (const void *)hdr;
	char comm[EV_COMM_LEN];
	struct writer_place at;
	struct trace_task *task;
	struct ftrace_event e;
	int err = writer_at(w, hdr, &at);

	if (!err)
		err = named_task(w, rec->tid, at.ts_ns, &task);
	if (err)
		return err;
	copy_comm(comm, task, rec->from_cpu);
	e = ftrace_begin(at.cpu, at.ts_ns, writer_current(&at, 0), FTRACE_SCHED_MIGRATE_TASK);
	pb_text(e.w, MIGRATE_COMM, comm, sizeof(comm));
	pb_uint(e.w, MIGRATE_PID, rec->tid);
	pb_int(e.w, MIGRATE_PRIO, rec->prio);
	pb_uint(e.w, MIGRATE_ORIG_CPU, rec->from_cpu);
	pb_uint(e.w, MIGRATE_DEST_CPU, rec->to_cpu);
	ftrace_end(&e, rec->hdr.flags);
	return 0;
}
