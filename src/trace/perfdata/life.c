/*
 * Tasks: their names, processes, cgroups, beginnings and ends. Where the file has the kernel's events for these, the records of
 * perf only describe.
 *
 * A file is in order per CPU only: the name that a task has by then, or inherits, is left to the merge.
 */
#include "trace/perfdata/perfdata.h"

#include <errno.h>

#include "base/grow.h"

#define TASKS_MAX   (1U << 22)
#define CGROUPS_MAX (1U << 20)

enum { MISC_COMM_EXEC = 1 << 13 };

/* NULL without memory or beyond the cap. */
static struct pd_task *get(struct perfdata *d, uint32_t tid)
{
	uint32_t *slot = &d->task_cache[tid % PD_TASK_SLOTS];
	uint32_t at;

	if (*slot && d->tasks[*slot - 1].tid == tid)
		return &d->tasks[*slot - 1];
	if (!d->task_ids && map_new(sizeof(uint32_t), TASKS_MAX, &d->task_ids) < 0) {
		pd_fail(d, -ENOMEM);
		return NULL;
	}
	if (!map_find(d->task_ids, &tid, &at)) {
		if (d->nr_tasks == TASKS_MAX)
			return NULL;
		if (!grow_counted(d->r, &d->tasks, d->nr_tasks, &d->cap_tasks, sizeof(*d->tasks)) ||
		    map_insert(d->task_ids, &tid, (uint32_t)d->nr_tasks) < 0) {
			pd_fail(d, -ENOMEM);
			return NULL;
		}
		at = (uint32_t)d->nr_tasks++;
		d->tasks[at] = (struct pd_task){ .tid = tid };
	}
	*slot = at + 1;
	return &d->tasks[at];
}

static void describe(struct perfdata *d, const struct pd_task *t, uint64_t ts_ns)
{
	const struct name_thread named = { .tid = t->tid,
		                           .tgid = t->tgid,
		                           .when = { .ts_ns = ts_ns, .clock = CLOCK_OF_TRACE } };

	pd_fail(d, names_thread(&d->r->names, &named, t->comm, strnlen(t->comm, EV_COMM_LEN)));
}

void pd_task_seen(struct perfdata *d, uint64_t ts_ns, uint32_t pid, uint32_t tid)
{
	struct pd_task *t = tid && tid <= INT32_MAX && pid <= INT32_MAX ? get(d, tid) : NULL;

	if (!t || t->tgid == pid || !pid)
		return;
	t->tgid = pid;
	describe(d, t, ts_ns);
}

/* Where a record without a CPU goes: that of others of its time does not matter. */
static struct ftrace_cpu *cpu_of(struct perfdata *d, const struct pd_when *when)
{
	return ftrace_cpus_get(&d->cpus, when->cpu == PD_NONE ? 0 : when->cpu);
}

static void add_exec(struct perfdata *d, const struct pd_when *when, const struct pd_task *t)
{
	struct ftrace_cpu *on = cpu_of(d, when);
	struct ev_exec *rec;

	if (!on)
		return;
	decoder_see_tid(on->dec, when->ts_ns, t->tid);
	rec = rec_add(on->dec->out, EV_EXEC, sizeof(*rec), on->cpu, when->ts_ns);
	rec->tid = rec->old_tid = t->tid;
	memcpy(rec->comm, t->comm, sizeof(rec->comm));
}

static void add_rename(struct perfdata *d, const struct pd_when *when, const struct pd_task *t)
{
	struct ftrace_cpu *on = cpu_of(d, when);
	struct ev_rename *rec;

	if (!on)
		return;
	decoder_see_tid(on->dec, when->ts_ns, t->tid);
	rec = rec_add(on->dec->out, EV_RENAME, sizeof(*rec), on->cpu, when->ts_ns);
	rec->tid = t->tid;
	rec->tgid = t->tgid;
	memset(rec->old_comm, 0, sizeof(rec->old_comm));
	memcpy(rec->comm, t->comm, sizeof(rec->comm));
}

void pd_comm(struct perfdata *d, const struct pd_record *rec)
{
	uint32_t end, pid, tid;
	struct pd_when when = pd_when_of(d, rec, &end);
	const char *comm = (const char *)rec->bytes + 16;
	struct pd_task *t;

	if (end < 17) {
		pd_damage(d, DAMAGE_PERF_BAD);
		return;
	}
	pid = pd_u32(d, rec->bytes + 8);
	tid = pd_u32(d, rec->bytes + 12);
	t = tid && tid <= INT32_MAX && pid <= INT32_MAX ? get(d, tid) : NULL;
	if (!t)
		return;
	t->tgid = pid;
	names_comm(t->comm, comm, strnlen(comm, end - 16));
	describe(d, t, when.ts_ns);
	if (!when.ts_ns)
		return;
	if (!(rec->misc & MISC_COMM_EXEC)) {
		if (!pd_has_member(d, FTRACE_TASK_RENAME))
			add_rename(d, &when, t);
		return;
	}
	pd_stacks_exec(d, when.ts_ns, pid);
	if (!pd_has_member(d, FTRACE_SCHED_PROCESS_EXEC))
		add_exec(d, &when, t);
}

struct family {
	uint32_t pid, ppid, tid, ptid;
	struct pd_when when;
};

static bool read_family(struct perfdata *d, const struct pd_record *rec, struct family *out)
{
	uint32_t end;

	out->when = pd_when_of(d, rec, &end);
	if (end < 32) {
		pd_damage(d, DAMAGE_PERF_BAD);
		return false;
	}
	out->pid = pd_u32(d, rec->bytes + 8);
	out->ppid = pd_u32(d, rec->bytes + 12);
	out->tid = pd_u32(d, rec->bytes + 16);
	out->ptid = pd_u32(d, rec->bytes + 20);
	if (!out->when.ts_ns)
		out->when.cpu = PD_NONE;
	return out->tid && out->tid <= INT32_MAX && out->pid <= INT32_MAX;
}

static void add_fork(struct perfdata *d, const struct family *f)
{
	struct ftrace_cpu *on = cpu_of(d, &f->when);
	struct ev_fork *rec;

	if (!on)
		return;
	decoder_see_tid(on->dec, f->when.ts_ns, tid_of(f->ptid));
	rec = rec_add(on->dec->out, EV_FORK, sizeof(*rec), on->cpu, f->when.ts_ns);
	rec->parent_tid = tid_of(f->ptid);
	rec->parent_tgid = tid_of(f->ppid);
	rec->tid = f->tid;
	rec->tgid = f->pid;
	memset(rec->comm, 0, sizeof(rec->comm));
}

/* A new task has its parent's name. The process of a thread is known here, and not from sched_process_fork. */
void pd_fork(struct perfdata *d, const struct pd_record *rec)
{
	char comm[EV_COMM_LEN] = "";
	struct family f;
	struct pd_task *t;

	if (!read_family(d, rec, &f))
		return;
	t = f.ptid && f.ptid <= INT32_MAX ? get(d, f.ptid) : NULL;
	if (t)
		memcpy(comm, t->comm, sizeof(comm));
	t = get(d, f.tid);
	if (!t)
		return;
	if (f.when.ts_ns || !t->comm[0])
		memcpy(t->comm, comm, sizeof(t->comm));
	t->tgid = f.pid;
	t->cgroup = 0;
	describe(d, t, f.when.ts_ns);
	if (f.pid != f.ppid && f.when.ts_ns)
		pd_stacks_fork(d, f.when.ts_ns, f.ppid, f.pid);
	if (f.when.ts_ns && !pd_has_member(d, FTRACE_TASK_NEWTASK))
		add_fork(d, &f);
}

void pd_exit(struct perfdata *d, const struct pd_record *rec)
{
	struct ftrace_cpu *on;
	struct ev_exit *out;
	struct family f;

	if (!read_family(d, rec, &f) || !f.when.ts_ns)
		return;
	pd_switch_exits(d, f.when.cpu, f.tid);
	on = pd_has_member(d, FTRACE_SCHED_PROCESS_EXIT) ? NULL : cpu_of(d, &f.when);
	if (!on)
		return;
	decoder_see_tid(on->dec, f.when.ts_ns, f.tid);
	out = rec_add(on->dec->out, EV_EXIT, sizeof(*out), on->cpu, f.when.ts_ns);
	out->tid = f.tid;
	out->tgid = f.pid;
	out->prio = 0;
	memset(out->pad_, 0, sizeof(out->pad_));
	memset(out->comm, 0, sizeof(out->comm));
}

void pd_cgroup_path(struct perfdata *d, const struct pd_record *rec)
{
	uint32_t end, text;
	struct pd_when when = pd_when_of(d, rec, &end);
	struct ftrace_cpu *on = cpu_of(d, &when);
	const char *path = (const char *)rec->bytes + 16;
	uint64_t id;

	if (end < 17) {
		pd_damage(d, DAMAGE_PERF_BAD);
		return;
	}
	if (!on)
		return;
	id = pd_u64(d, rec->bytes + 8);
	text = decoder_text(on->dec, path, strnlen(path, end - 16));
	if ((!d->cgroup_ids && map_new(sizeof(uint64_t), CGROUPS_MAX, &d->cgroup_ids) < 0) ||
	    (!d->cgroups_told && map_new(sizeof(uint64_t), CGROUPS_MAX, &d->cgroups_told) < 0)) {
		pd_fail(d, -ENOMEM);
		return;
	}
	if (map_insert(d->cgroup_ids, &id, text) < 0)
		pd_damage(d, DAMAGE_OVER_CAP);
}

/* Before the first task that is in it. */
static void tell_cgroup(struct perfdata *d, struct ftrace_cpu *on, uint64_t ts_ns, uint64_t cgroup)
{
	struct ev_cgroup_info *rec;
	uint32_t text, size, seen;
	const char *path;
	size_t len;

	if (!d->cgroup_ids || !map_find(d->cgroup_ids, &cgroup, &text) ||
	    map_find(d->cgroups_told, &cgroup, &seen) ||
	    map_insert(d->cgroups_told, &cgroup, 0) < 0)
		return;
	path = reader_text(d->r, text, &len);
	len = len < EV_CGROUP_PATH_MAX ? len : EV_CGROUP_PATH_MAX - 1;
	size = (uint32_t)(sizeof(*rec) + (len + 8) / 8 * 8);
	rec = rec_add(on->dec->out, EV_CGROUP_INFO, size, on->cpu, ts_ns);
	rec->cgroup = cgroup;
	memset(rec + 1, 0, size - sizeof(*rec));
	memcpy(rec + 1, path, len);
}

void pd_task_cgroup(struct perfdata *d, struct ftrace_cpu *on, uint64_t ts_ns, uint32_t tid,
                    uint64_t cgroup)
{
	struct pd_task *t = tid && cgroup ? get(d, tid) : NULL;
	struct ev_cgroup *rec;

	if (!t || t->cgroup == cgroup)
		return;
	tell_cgroup(d, on, ts_ns, cgroup);
	decoder_see_tid(on->dec, ts_ns, tid);
	rec = rec_add(on->dec->out, EV_CGROUP, sizeof(*rec), on->cpu, ts_ns);
	rec->tid = tid;
	rec->flags = t->cgroup ? 0 : EV_CGROUP_STATED;
	rec->cgroup = cgroup;
	t->cgroup = cgroup;
}
