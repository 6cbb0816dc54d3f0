#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "trace/ftrace/events.h"
#include "trace/merge_priv.h"

#define FORK_PAIR_NS \
	1000000000ULL /* task_newtask and sched_process_fork of one fork are at most this far apart */

/* NULL without memory; a tid of which nothing is known yet is not described. */
static struct merge_task *get(struct merge *m, uint32_t tid)
{
	uint32_t at;

	if (map_find(m->task_ids, &tid, &at))
		return &m->tasks[at];
	if (GROW(m->tasks, m->cap_tasks, m->nr_tasks) ||
	    map_insert(m->task_ids, &tid, (uint32_t)m->nr_tasks) < 0)
		return NULL;
	m->tasks[m->nr_tasks] = (struct merge_task){ .tid = tid };
	return &m->tasks[m->nr_tasks++];
}

/* Our own writer calls a task that it knows no name of "<tid N>". */
static bool has_comm(uint32_t tid, const char comm[EV_COMM_LEN])
{
	char unnamed[EV_COMM_LEN + 8];

	if (comm[0] != '<')
		return comm[0] != '\0';
	(void)snprintf(unnamed, sizeof(unnamed), "<tid %u>", tid);
	return strncmp(comm, unnamed, EV_COMM_LEN - 1) != 0;
}

/* What the trace describes of a task, unless events have said it already. */
static void describe(struct merge *m, struct merge_task *t, uint64_t ts_ns)
{
	const struct name_thread *named = names_find_thread(&m->r->names, t->tid, t->born_ns,
	                                                    ts_ns);

	if (!named)
		return;
	if (!t->tgid)
		t->tgid = named->tgid;
	t->is_kthread |= named->is_kthread;
	if (!has_comm(t->tid, t->comm) && has_comm(t->tid, named->comm))
		memcpy(t->comm, named->comm, EV_COMM_LEN);
}

static int emit_info(struct merge *m, struct merge_task *t, uint64_t ts_ns)
{
	struct ev_task_info rec = {
		.hdr = { .size = sizeof(rec), .kind = EV_TASK_INFO, .ts_ns = ts_ns },
		.tid = t->tid,
	};
	const struct name_process *p;

	describe(m, t, ts_ns);
	p = t->tgid ? names_find_process(&m->r->names, t->tgid, t->born_ns, ts_ns) : NULL;
	if (p) {
		t->is_kthread |= p->is_kthread;
		rec.ppid = p->ppid;
		if (t->tid == t->tgid && p->start_ns <= ts_ns)
			rec.start_ns = p->start_ns;
	}
	rec.tgid = t->tgid;
	rec.flags = t->is_kthread ? EV_TASK_KTHREAD : 0;
	memcpy(rec.comm, t->comm, sizeof(rec.comm));
	t->is_reported = true;
	return merge_push(m, &rec.hdr);
}

int merge_name(struct merge *m, const struct in_name *rec)
{
	struct merge_task *t = get(m, rec->tid);

	if (!t)
		return -ENOMEM;
	if (t->is_reported &&
	    (!has_comm(rec->tid, rec->comm) || memcmp(t->comm, rec->comm, sizeof(t->comm)) == 0))
		return 0;
	if (has_comm(rec->tid, rec->comm))
		memcpy(t->comm, rec->comm, sizeof(t->comm));
	return emit_info(m, t, rec->hdr.ts_ns);
}

int merge_see(struct merge *m, uint32_t tid, uint64_t ts_ns)
{
	struct merge_task *t;

	if (!tid)
		return 0;
	t = get(m, tid);
	if (!t)
		return -ENOMEM;
	return t->is_reported ? 0 : emit_info(m, t, ts_ns);
}

static uint32_t tgid_of(struct merge *m, uint32_t tid, uint64_t ts_ns)
{
	struct merge_task *t = tid ? get(m, tid) : NULL;

	if (!t)
		return 0;
	if (!t->tgid)
		describe(m, t, ts_ns);
	return t->tgid;
}

/* sched_process_fork does not say whether the child is a thread: a description of it might. */
static void guess_tgid(struct merge *m, struct ev_fork *rec)
{
	const struct name_thread *named = names_find_thread(&m->r->names, rec->tid, rec->hdr.ts_ns,
	                                                    rec->hdr.ts_ns);

	rec->tgid = named && named->tgid ? named->tgid : rec->tid;
}

/* A new task has its parent's name. */
static void inherit_comm(struct merge *m, struct ev_fork *rec)
{
	struct merge_task *parent = rec->parent_tid ? get(m, rec->parent_tid) : NULL;

	if (!parent || has_comm(rec->tid, rec->comm))
		return;
	if (!has_comm(parent->tid, parent->comm))
		describe(m, parent, rec->hdr.ts_ns);
	memcpy(rec->comm, parent->comm, sizeof(rec->comm));
}

static int forked(struct merge *m, struct ev_fork *rec, bool *is_wanted)
{
	struct merge_task *t = get(m, rec->tid);

	if (!t || !rec->tid) {
		*is_wanted = false;
		return t ? 0 : -ENOMEM;
	}
	if (rec->hdr.flags & REC_IS_FORK && t->is_fresh &&
	    rec->hdr.ts_ns - t->born_ns <= FORK_PAIR_NS) {
		t->is_fresh = false;
		*is_wanted = false;
		return 0;
	}
	rec->parent_tgid = tgid_of(m, rec->parent_tid, rec->hdr.ts_ns);
	if (rec->hdr.flags & REC_IS_FORK)
		guess_tgid(m, rec);
	else if (!rec->tgid)
		rec->tgid = rec->parent_tgid;
	inherit_comm(m, rec);
	t = get(m, rec->tid); /* others may have moved it */
	if (!t)
		return -ENOMEM;
	*t = (struct merge_task){ .tid = rec->tid,
		                  .tgid = rec->tgid,
		                  .born_ns = rec->hdr.ts_ns,
		                  .is_reported = true,
		                  .is_fresh = !(rec->hdr.flags & REC_IS_FORK) };
	memcpy(t->comm, rec->comm, sizeof(t->comm));
	return 0;
}

/* A thread that takes its leader's tid runs on under it. */
static int became(struct merge *m, const struct ev_exec *rec)
{
	struct merge_cpu *c = &m->cpus[rec->hdr.cpu];
	struct merge_task *old, *t = get(m, rec->tid);

	if (!t)
		return -ENOMEM;
	if (rec->old_tid && rec->old_tid != rec->tid) {
		if (c->is_known && c->tid == rec->old_tid)
			c->tid = rec->tid;
		old = get(m, rec->old_tid);
		if (old)
			old->is_reported = false;
		t = get(m, rec->tid); /* others may have moved it */
	}
	if (!t || t->tgid)
		return t ? 0 : -ENOMEM;
	t->tgid = rec->tid; /* a task that has executed a program leads its process */
	return emit_info(m, t, rec->hdr.ts_ns);
}

static int renamed(struct merge *m, uint32_t tid, const char comm[EV_COMM_LEN])
{
	struct merge_task *t = get(m, tid);

	if (!t)
		return -ENOMEM;
	if (has_comm(tid, comm))
		memcpy(t->comm, comm, sizeof(t->comm));
	return 0;
}

/* What is freed while it runs is freed when it leaves, so that its last run is its own. */
static int freed(struct merge *m, const struct ev_free *rec, bool *is_wanted)
{
	struct merge_task *t = get(m, rec->tid);

	if (!t)
		return -ENOMEM;
	for (uint32_t cpu = 0; rec->tid && cpu < m->nr_cpus; cpu++) {
		struct merge_cpu *c = &m->cpus[cpu];

		if (!c->is_known || c->tid != rec->tid || c->has_held)
			continue;
		if (GROW(m->held, m->cap_held, m->nr_held))
			return -ENOMEM;
		m->held[m->nr_held++] = (struct merge_held){ .cpu = cpu, .rec = *rec };
		c->has_held = true;
		*is_wanted = false;
		return 0;
	}
	*t = (struct merge_task){ .tid = t->tid, .born_ns = rec->hdr.ts_ns };
	return 0;
}

int merge_release(struct merge *m, uint32_t cpu)
{
	struct merge_task *t;
	struct ev_free rec;
	size_t at = 0;

	while (at < m->nr_held && m->held[at].cpu != cpu)
		at++;
	if (at == m->nr_held)
		return 0;
	rec = m->held[at].rec;
	m->held[at] = m->held[--m->nr_held];
	t = get(m, rec.tid);
	if (!t)
		return -ENOMEM;
	if (t->born_ns > rec.hdr.ts_ns)
		return 0; /* another one has the tid by now */
	if (rec.hdr.ts_ns < m->last_ns)
		rec.hdr.ts_ns = m->last_ns;
	*t = (struct merge_task){ .tid = t->tid, .born_ns = rec.hdr.ts_ns };
	return merge_push(m, &rec.hdr);
}

int merge_life(struct merge *m, struct ev_hdr *rec, bool *is_wanted)
{
	struct ev_exit *exit = (struct ev_exit *)rec;
	struct ev_rename *rename = (struct ev_rename *)rec;
	struct merge_task *t;
	int err;

	switch (rec->kind) {
	case EV_FORK:
		return forked(m, (struct ev_fork *)rec, is_wanted);
	case EV_EXEC:
		err = became(m, (struct ev_exec *)rec);
		if (err)
			return err;
		return renamed(m, ((struct ev_exec *)rec)->tid, ((struct ev_exec *)rec)->comm);
	case EV_RENAME:
		if (!rename->tgid)
			rename->tgid = tgid_of(m, rename->tid, rec->ts_ns);
		t = rename->tid ? get(m, rename->tid) : NULL;
		if (t && !has_comm(rename->tid, rename->old_comm))
			memcpy(rename->old_comm, t->comm, sizeof(rename->old_comm));
		return renamed(m, rename->tid, rename->comm);
	case EV_EXIT:
		if (!exit->tgid)
			exit->tgid = tgid_of(m, exit->tid, rec->ts_ns);
		t = exit->tid ? get(m, exit->tid) : NULL;
		if (t && !has_comm(exit->tid, exit->comm))
			memcpy(exit->comm, t->comm, sizeof(exit->comm));
		return 0;
	default: /* EV_FREE: the next owner of the tid is another task */
		return freed(m, (const struct ev_free *)rec, is_wanted);
	}
}

int merge_call(struct merge *m, const struct in_call *rec)
{
	struct merge_task *t = get(m, rec->tid);

	if (!t)
		return -ENOMEM;
	t->call = rec->is_end ? ABI_CALL_NONE : ABI_CALL_OTHER;
	t->call_nr = (uint16_t)(rec->nr < UINT16_MAX ? rec->nr : UINT16_MAX);
	memcpy(t->call_args, rec->args, sizeof(t->call_args));
	return 0;
}

int merge_sleep(struct merge *m, const struct ev_switch *rec)
{
	const struct merge_task *t = rec->prev_tid && rec->prev_state & (EV_STATE_S | EV_STATE_D)
	                                     ? get(m, rec->prev_tid)
	                                     : NULL;
	struct ev_sleep out = { .hdr = { .size = sizeof(out),
		                         .kind = EV_SLEEP,
		                         .cpu = rec->hdr.cpu,
		                         .ts_ns = rec->hdr.ts_ns } };

	if (!t || t->call == ABI_CALL_UNKNOWN)
		return 0;
	out.tid = rec->prev_tid;
	out.call = t->call;
	if (t->call == ABI_CALL_OTHER) {
		if (!ftrace_call_of(&m->r->info, t->call_nr, &out.call))
			return 0;
		out.nr = out.call == ABI_CALL_OTHER ? t->call_nr : 0;
		memcpy(out.args, t->call_args, sizeof(out.args));
	}
	return merge_push(m, &out.hdr);
}
