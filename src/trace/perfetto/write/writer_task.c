#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/perfetto/schema.h"
#include "trace/perfetto/write/writer_priv.h"

#define AFFINITY_BYTES 16384U /* every second of 8192 CPUs takes more: such a set is not written */

/* Takes what a record says of a task; true if what was written of it is no longer correct. */
static bool learn(struct trace_task *task, uint32_t tgid, const char comm[EV_COMM_LEN])
{
	bool was_written = task->flags & TASK_THREAD_WRITTEN;

	if (tgid && task->tgid != tgid) {
		task->tgid = tgid;
		task->flags &= ~(uint32_t)(TASK_THREAD_WRITTEN | TASK_HAS_TRACK |
		                           TASK_HAS_PMU_TRACK | TASK_HAS_SCX_TRACK);
	}
	trace_tasks_rename(task, comm);
	return was_written && !(task->flags & TASK_THREAD_WRITTEN);
}

/* On the CPU that the task has, or on any that there is; NULL = there is none. */
static const struct ftrace_cpu *cpu_of(const struct trace_writer *w, uint32_t tid)
{
	const struct ftrace_cpu *any = NULL;

	for (uint32_t i = 0; i < w->ftrace.nr_cpus; i++) {
		if (w->ftrace.cpus[i] && ftrace_is_current(w->ftrace.cpus[i], tid))
			return w->ftrace.cpus[i];
		any = any ? any : w->ftrace.cpus[i];
	}
	return any;
}

/* An event that was not recorded says what a task is called from now on; false in *is_put if there is no CPU yet. */
static int put_name(struct trace_writer *w, const struct trace_task *task, const char *comm,
                    uint64_t ts_ns, bool *is_put)
{
	const struct ftrace_cpu *on = cpu_of(w, task->tid);
	struct ftrace_cpu *c;
	struct ftrace_event e;
	int err = on ? ftrace_at(&w->ftrace, on->cpu, &ts_ns, &c) : 0;

	*is_put = on && !err;
	if (!*is_put)
		return err;
	e = ftrace_begin_inferred(c, ts_ns, task->tid, FTRACE_TASK_RENAME);
	pb_uint(e.w, RENAME_PID, task->tid);
	pb_text(e.w, RENAME_OLDCOMM, task->comm, sizeof(task->comm));
	pb_text(e.w, RENAME_NEWCOMM, comm, EV_COMM_LEN);
	ftrace_end_inferred(&e);
	return ftrace_at(&w->ftrace, on->cpu, &ts_ns, &c); /* room for what is to follow */
}

int writer_name(struct trace_writer *w, struct trace_task *task, uint64_t ts_ns)
{
	bool is_put = false;
	int err = 0;

	if (task->flags & TASK_THREAD_WRITTEN)
		return 0;
	if (w->names_all && !task->tgid && task->flags & TASK_HAS_NAME)
		err = put_name(w, task, task->comm, ts_ns, &is_put);
	if (err || !is_put)
		return err ? err : names_show(&w->names, task, ts_ns);
	task->flags |= TASK_THREAD_WRITTEN;
	return 0;
}

/* The task of a record that knows its process and name. */
static int known_task(struct trace_writer *w, uint32_t tid, uint32_t tgid,
                      const char comm[EV_COMM_LEN], struct trace_task **out)
{
	struct trace_task *task = tid ? trace_tasks_get(w->tasks, tid) : NULL;

	if (!task)
		return tid ? -ENOMEM : -ERANGE;
	learn(task, tgid, comm);
	*out = task;
	return 0;
}

static int born(struct trace_writer *w, const struct ev_fork *rec, uint64_t ts_ns)
{
	struct trace_task *parent, *child;
	bool is_thread = rec->tgid == rec->parent_tgid, is_kthread;
	uint32_t ppid;
	int err = writer_task(w, rec->parent_tid, ts_ns, &parent);

	if (err)
		return err;
	is_kthread = parent && parent->flags & TASK_KTHREAD;
	ppid = is_thread ? (parent ? parent->ppid : 0) : rec->parent_tgid;
	child = trace_tasks_get(w->tasks, rec->tid);
	if (!child)
		return -ENOMEM;
	trace_tasks_reborn(w->tasks, child);
	learn(child, rec->tgid, rec->comm);
	child->ppid = ppid;
	child->image = ++w->nr_images;
	child->start_ns = ts_ns;
	child->flags |= is_kthread ? TASK_KTHREAD : 0;
	/*
	 * Just after the fork: at the same time, the name would go to the previous task with this
	 * tid.
	 */
	return names_change(&w->names, child, ts_ns + 1);
}

int writer_fork(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_fork *rec = (const void *)hdr;
	struct writer_place at;
	struct ftrace_event e;
	int err = rec->tid ? writer_at(w, hdr, &at) : -ERANGE;

	if (!err)
		err = born(w, rec, at.ts_ns);
	if (err)
		return err;
	e = ftrace_begin(at.cpu, at.ts_ns, rec->parent_tid, FTRACE_TASK_NEWTASK);
	pb_uint(e.w, NEWTASK_PID, rec->tid);
	pb_text(e.w, NEWTASK_COMM, rec->comm, sizeof(rec->comm));
	pb_uint(e.w, NEWTASK_CLONE_FLAGS, rec->tgid == rec->parent_tgid ? CLONE_FLAG_THREAD : 0);
	ftrace_end(&e, hdr->flags);
	return 0;
}

/* The command line has changed, whether the name has or not; kernel threads become processes. */
static int became(struct trace_writer *w, const struct ev_exec *rec, uint64_t ts_ns)
{
	struct trace_task *task, *old;
	int err = known_task(w, rec->tid, rec->tid, rec->comm, &task);

	if (err)
		return err;
	task->image = ++w->nr_images;
	task->flags &= ~(uint32_t)(TASK_KTHREAD | TASK_THREAD_WRITTEN | TASK_PROCESS_WRITTEN);
	err = names_change(&w->names, task, ts_ns);
	old = rec->old_tid != rec->tid ? trace_tasks_find(w->tasks, rec->old_tid) : NULL;
	if (old)
		trace_tasks_gone(w->tasks, old);
	return err;
}

int writer_exec(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_exec *rec = (const void *)hdr;
	struct writer_place at;
	struct ftrace_event e;
	int err = writer_at(w, hdr, &at);

	if (!err)
		err = became(w, rec, at.ts_ns);
	if (err)
		return err;
	e = ftrace_begin(at.cpu, at.ts_ns, rec->tid, FTRACE_SCHED_PROCESS_EXEC);
	/* The name after exec is the end of the file name, cut: all that we have of it. */
	pb_text(e.w, EXEC_FILENAME, rec->comm, sizeof(rec->comm));
	pb_uint(e.w, EXEC_PID, rec->tid);
	pb_uint(e.w, EXEC_OLD_PID, rec->old_tid);
	ftrace_end(&e, hdr->flags);
	/* A thread that took the leader's tid runs on under it. */
	if (rec->old_tid == rec->tid || !ftrace_is_current(at.cpu, rec->old_tid))
		return 0;
	err = writer_inferred_switch(w, &at, rec->old_tid, rec->tid);
	at.cpu->current_tid = rec->tid;
	at.cpu->knows_current = false;
	return err;
}

int writer_exit(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_exit *rec = (const void *)hdr;
	struct writer_place at;
	struct trace_task *task;
	struct ftrace_event e;
	int err = writer_at(w, hdr, &at);

	if (!err)
		err = known_task(w, rec->tid, rec->tgid, rec->comm, &task);
	if (!err)
		err = writer_name(w, task, at.ts_ns);
	if (err)
		return err;
	e = ftrace_begin(at.cpu, at.ts_ns, rec->tid, FTRACE_SCHED_PROCESS_EXIT);
	pb_text(e.w, EXIT_COMM, task->comm, sizeof(task->comm));
	pb_uint(e.w, EXIT_PID, rec->tid);
	pb_uint(e.w, EXIT_TGID, rec->tgid);
	pb_int(e.w, EXIT_PRIO, rec->prio);
	ftrace_end(&e, hdr->flags);
	return 0;
}

int writer_rename(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_rename *rec = (const void *)hdr;
	struct writer_place at;
	struct trace_task *task;
	struct ftrace_event e;
	int err = writer_at(w, hdr, &at);

	if (!err)
		err = known_task(w, rec->tid, rec->tgid, rec->comm, &task);
	if (!err)
		err = task->tgid || !w->names_all ? names_change(&w->names, task, at.ts_ns) : 0;
	if (err)
		return err;
	e = ftrace_begin(at.cpu, at.ts_ns, writer_current(&at, rec->tid), FTRACE_TASK_RENAME);
	pb_uint(e.w, RENAME_PID, rec->tid);
	pb_text(e.w, RENAME_OLDCOMM, rec->old_comm, sizeof(rec->old_comm));
	pb_text(e.w, RENAME_NEWCOMM, rec->comm, sizeof(rec->comm));
	ftrace_end(&e, hdr->flags);
	return 0;
}

/* Free, hang and wait have the same record and nearly the same message. */
static int put_task(struct trace_writer *w, const struct ev_task *rec, uint32_t member,
                    struct trace_task **out)
{
	static const char unnamed[EV_COMM_LEN];
	struct writer_place at;
	struct ftrace_event e;
	int err = writer_at(w, &rec->hdr, &at);

	if (!err)
		err = known_task(w, rec->tid, 0, unnamed, out);
	if (!err && !((*out)->flags & TASK_HAS_NAME)) /* else some recorders have an old one here */
		trace_tasks_rename(*out, rec->comm);
	if (!err)
		err = writer_name(w, *out, at.ts_ns);
	if (err)
		return err;
	e = ftrace_begin(at.cpu, at.ts_ns, writer_current(&at, 0), member);
	pb_text(e.w, TASK_COMM, (*out)->comm, EV_COMM_LEN);
	pb_uint(e.w, TASK_PID, rec->tid);
	if (member != FTRACE_SCHED_PROCESS_HANG)
		pb_int(e.w, TASK_PRIO, rec->prio);
	ftrace_end(&e, rec->hdr.flags);
	return 0;
}

_Static_assert(sizeof(struct ev_free) == sizeof(struct ev_task) &&
                       offsetof(struct ev_free, comm) == offsetof(struct ev_task, comm),
               "put_task() takes both");

int writer_free(struct trace_writer *w, const struct ev_hdr *hdr)
{
	struct trace_task *task;
	int err = put_task(w, (const void *)hdr, FTRACE_SCHED_PROCESS_FREE, &task);

	if (!err)
		trace_tasks_gone(w->tasks, task);
	return err;
}

int writer_hang(struct trace_writer *w, const struct ev_hdr *hdr)
{
	struct trace_task *task;

	return put_task(w, (const void *)hdr, FTRACE_SCHED_PROCESS_HANG, &task);
}

int writer_wait(struct trace_writer *w, const struct ev_hdr *hdr)
{
	struct trace_task *task;

	return put_task(w, (const void *)hdr, FTRACE_SCHED_PROCESS_WAIT, &task);
}

int writer_task_info(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_task_info *rec = (const void *)hdr;
	struct trace_task *task = rec->tid ? trace_tasks_get(w->tasks, rec->tid) : NULL;
	bool is_stale, is_renamed, is_put;
	int err = 0;

	if (!task)
		return rec->tid ? -ENOMEM : -ERANGE;
	is_renamed = task->flags & TASK_HAS_NAME && rec->comm[0] &&
	             memcmp(task->comm, rec->comm, sizeof(task->comm)) != 0;
	if (is_renamed && !(task->flags & TASK_RENAMED)) {
		task->flags |= TASK_RENAMED;
		w->nr_renamed++;
	}
	if (is_renamed && w->names_all)
		err = put_name(w, task, rec->comm, hdr->ts_ns, &is_put);
	if (err)
		return err;
	is_stale = learn(task, rec->tgid, rec->comm);
	if (rec->ppid)
		task->ppid = rec->ppid;
	if (rec->start_ns && !(task->flags & TASK_HAS_TRACK))
		task->start_ns = rec->start_ns;
	if (rec->flags & EV_TASK_KTHREAD)
		task->flags |= TASK_KTHREAD;
	if (is_stale && task->tgid)
		return names_change(&w->names, task, hdr->ts_ns);
	if (w->names_all && (is_renamed || (!task->tgid && !cpu_of(w, rec->tid))))
		return 0; /* it has been said, or will be with the first event */
	return w->names_all || is_stale ? writer_name(w, task, hdr->ts_ns) : 0;
}

static bool has_cpu(const struct ev_affinity *rec, uint32_t cpu)
{
	const __u64 *words = (const __u64 *)(rec + 1);

	return cpu < rec->nr * 64U && words[cpu / 64] >> cpu % 64 & 1;
}

/* The set in the kernel's notation, "0-3,8". False if it has no member or does not fit. */
static bool list_cpus(const struct ev_affinity *rec, char *buf, size_t size)
{
	size_t len = 0;

	for (uint32_t cpu = 0, end; cpu < rec->nr * 64U; cpu = end + 1) {
		int n;

		for (end = cpu; has_cpu(rec, end); end++)
			;
		if (end == cpu)
			continue;
		n = snprintf(buf + len, size - len, end - cpu > 1 ? "%s%u-%u" : "%s%u",
		             len ? "," : "", cpu, end - 1);
		if (n < 0 || (size_t)n >= size - len)
			return false;
		len += (size_t)n;
	}
	return len > 0;
}

static int put_cpus(struct trace_writer *w, struct trace_task *task, uint64_t ts_ns,
                    const char *cpus)
{
	struct track_arg arg = { .type = ARG_TEXT, .text = cpus };
	struct track_event event = { .args = &arg, .nr_args = 1 };
	int err = writer_name(w, task, ts_ns);

	if (!err)
		err = track_begin(&w->tracks);
	if (!err)
		err = track_of_task(&w->tracks, NULL, task, ts_ns, &event.track_uuid);
	if (err)
		return err;
	event.category_iid = track_iid(&w->tracks, USE_CATEGORY, "affinity");
	event.name_iid = track_iid(&w->tracks, USE_NAME, "affinity");
	arg.name_iid = track_iid(&w->tracks, USE_ARG, "cpus_allowed");
	return track_instant(&w->tracks, ts_ns, &event);
}

/*
 * Perfetto has no place for it: an instant on the thread's track, for tasks that may not run on
 * every CPU. One that could until now gets two at that time: readers take the first for what was before.
 */
int writer_affinity(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_affinity *rec = (const void *)hdr;
	bool is_all = rec->flags & EV_AFFINITY_ALL;
	struct trace_task *task = rec->tid ? trace_tasks_get(w->tasks, rec->tid) : NULL;
	char cpus[AFFINITY_BYTES];
	int err = 0;

	if (!task)
		return rec->tid ? -ENOMEM : -ERANGE;
	if (!list_cpus(rec, cpus, sizeof(cpus)))
		return -ERANGE;
	if (is_all && !(task->flags & TASK_RESTRICTED)) {
		task->flags |= TASK_UNRESTRICTED;
		if (strlen(cpus) < sizeof(w->all_cpus))
			memcpy(w->all_cpus, cpus, strlen(cpus) + 1);
		return 0;
	}
	if (task->flags & TASK_UNRESTRICTED && w->all_cpus[0])
		err = put_cpus(w, task, hdr->ts_ns, w->all_cpus);
	if (!err)
		err = put_cpus(w, task, hdr->ts_ns, cpus);
	task->flags &= ~(uint32_t)(TASK_UNRESTRICTED | TASK_RESTRICTED);
	/* What was written of it is the last word until it is bound again. */
	if (!is_all)
		task->flags |= TASK_RESTRICTED;
	return err;
}

int writer_policy(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_policy *rec = (const void *)hdr;
	struct trace_task *task;
	struct ftrace_event e;
	int err = rec->tid ? writer_task(w, rec->tid, hdr->ts_ns, &task) : -ERANGE;

	if (!err)
		err = writer_begin(w, hdr, WRITER_CURRENT, FTRACE_POLICY, &e);
	if (err)
		return err;
	pb_uint(e.w, POLICY_PID, rec->tid);
	pb_uint(e.w, POLICY_POLICY, rec->policy);
	pb_int(e.w, POLICY_PRIO, rec->prio);
	if (rec->cookie)
		pb_uint(e.w, POLICY_COOKIE, rec->cookie);
	ftrace_end(&e, hdr->flags);
	return 0;
}
