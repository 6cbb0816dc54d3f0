#include "model/event_notes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/event_log.h"
#include "model/pair.h"

#define NOT_LOGGED UINT64_MAX
#define SCX_BYTES  (2 * sizeof(struct event_scx)) /* of both tasks of a switch */

/* What follows a record in the log, after two struct event_scx if has_scx. */
struct event_note {
	uint64_t used_ns;
	struct event_task tasks[2];
	uint32_t size; /* of the record alone */
	uint32_t has_scx;
};

_Static_assert(sizeof(struct event_note) % 8 == 0 && SCX_BYTES % 8 == 0, "records stay aligned");

/* The task on a CPU since its last switch, and what sched_ext reported of it. */
struct notes_cpu {
	uint64_t since_ns; /* 0 = no switch yet */
	uint64_t place;    /* of that switch in the log */
	uint32_t tid;
	uint32_t vector;     /* of the softirq that runs */
	uint64_t softirq_ns; /* since when; 0 = none */
	struct event_scx scx;
	struct event_scx early; /* of a task that has not been switched in yet */
};

struct event_notes {
	const struct tasks *tasks;
	struct event_log *log;
	bool has_scx; /* sched_ext has said anything, so switches get room for it */
	struct notes_cpu *cpus;
	uint32_t nr_cpus;
	uint64_t room[UINT16_MAX / 8 + 1]; /* for a record with its notes */
};

void event_notes_free(struct event_notes *n)
{
	if (!n)
		return;
	free(n->cpus);
	free(n);
}

int event_notes_new(const struct tasks *tasks, struct event_log *log, struct event_notes **out)
{
	struct event_notes *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->tasks = tasks;
	n->log = log;
	*out = n;
	return 0;
}

static struct event_scx nothing(uint32_t tid)
{
	return (struct event_scx){ .dsq_id = EV_DSQ_INVALID, .layer = EV_NO_LAYER, .tid = tid };
}

static struct notes_cpu *cpu_for(struct event_notes *n, uint32_t cpu)
{
	if (cpu >= PAIR_MAX_CPUS || GROW_ZEROED(n->cpus, n->nr_cpus, cpu))
		return NULL;
	return &n->cpus[cpu];
}

static struct event_task task_of(const struct event_notes *n, uint32_t tid)
{
	const struct task *t = tasks_at(n->tasks, tasks_find(n->tasks, tid));

	return t ? (struct event_task){ t->comm_id, t->tgid } : (struct event_task){ 0 };
}

static void note_tasks(const struct event_notes *n, const struct ev_hdr *rec,
                       struct event_task *tasks)
{
	uint32_t first = 0, second = 0;

	switch (rec->kind) {
	case EV_SWITCH:
		first = ((const struct ev_switch *)rec)->prev_tid;
		second = ((const struct ev_switch *)rec)->next_tid;
		break;
	case EV_WAKING:
	case EV_WAKEUP:
	case EV_WAKEUP_NEW:
		first = ((const struct ev_wake *)rec)->tid;
		second = ((const struct ev_wake *)rec)->waker_tid;
		break;
	case EV_FORK:
		first = ((const struct ev_fork *)rec)->parent_tid;
		second = ((const struct ev_fork *)rec)->tid;
		break;
	case EV_MIGRATE:
		first = ((const struct ev_migrate *)rec)->tid;
		break;
	case EV_EXEC:
		first = ((const struct ev_exec *)rec)->tid;
		break;
	case EV_SOFTIRQ_ENTRY:
	case EV_SOFTIRQ_EXIT:
		first = ((const struct ev_softirq *)rec)->tid;
		break;
	case EV_SCX_RUN:
		first = ((const struct ev_scx_run *)rec)->tid;
		break;
	case EV_DSQ_LEAVE:
		first = ((const struct ev_dsq_leave *)rec)->tid;
		break;
	default:
		break;
	}
	if (first)
		tasks[0] = task_of(n, first);
	if (second)
		tasks[1] = task_of(n, second);
}

static const struct event_note *note_of(const struct ev_hdr *rec)
{
	return (const struct event_note *)(const void *)((const uint8_t *)rec + rec->size -
	                                                 sizeof(struct event_note));
}

/* Of both tasks of a switch; NULL if there is no room for it. */
static const struct event_scx *scx_of(const struct ev_hdr *rec)
{
	const struct event_note *note = note_of(rec);

	return note->has_scx
	               ? (const struct event_scx *)(const void *)((const uint8_t *)note - SCX_BYTES)
	               : NULL;
}

/* The switch-in of the running task gets what has become known since. */
static void patch(const struct event_notes *n, const struct notes_cpu *c)
{
	struct ev_hdr *rec = c->since_ns ? event_log_change(n->log, c->place) : NULL;

	if (rec && note_of(rec)->has_scx)
		memcpy((uint8_t *)rec + note_of(rec)->size + sizeof(struct event_scx), &c->scx,
		       sizeof(c->scx));
}

static struct event_scx *scx_for(struct notes_cpu *c, uint32_t tid)
{
	if (c->since_ns && c->tid == tid)
		return &c->scx;
	if (c->early.tid != tid)
		c->early = nothing(tid);
	return &c->early;
}

static void note_run(struct notes_cpu *c, const struct ev_scx_run *ev)
{
	struct event_scx *s = scx_for(c, ev->tid);

	s->dsq_id = ev->dsq_id;
	s->layer = ev->layer;
	s->has_slice = ev->flags & EV_SCX_HAS_SLICE;
	s->slice_ns = ev->slice_ns;
	s->has_vtime = ev->flags & EV_SCX_HAS_VTIME;
	s->vtime = ev->vtime;
}

static void note_leave(struct notes_cpu *c, const struct ev_dsq_leave *ev)
{
	struct event_scx *s;

	if (ev->is_moved || !ev->tid)
		return;
	s = scx_for(c, ev->tid);
	s->dsq_id = ev->dsq_id;
	s->layer = ev->layer;
	s->has_dsq_ns = ev->start_ns && ev->start_ns <= ev->hdr.ts_ns;
	s->dsq_ns = s->has_dsq_ns ? ev->hdr.ts_ns - ev->start_ns : 0;
	if (ev->flags & EV_SCX_HAS_VTIME) {
		s->has_vtime = true;
		s->vtime = ev->vtime;
	}
}

static void note_depth(struct notes_cpu *c, const struct ev_dsq_depth *ev)
{
	if (c->scx.dsq_id != ev->dsq_id || ev->dsq_id == EV_DSQ_INVALID || !c->scx.tid)
		return;
	c->scx.has_depth = true;
	c->scx.depth = ev->depth;
}

/* sched_ext's records of a switch-in come shortly before or after it, on the same CPU. */
static void note_scx(struct event_notes *n, const struct ev_hdr *rec)
{
	struct notes_cpu *c;

	if (rec->kind != EV_SCX_RUN && rec->kind != EV_DSQ_LEAVE && rec->kind != EV_DSQ_DEPTH)
		return;
	n->has_scx = true;
	c = cpu_for(n, rec->cpu);
	if (!c)
		return;
	if (rec->kind == EV_SCX_RUN)
		note_run(c, (const struct ev_scx_run *)rec);
	else if (rec->kind == EV_DSQ_LEAVE)
		note_leave(c, (const struct ev_dsq_leave *)rec);
	else
		note_depth(c, (const struct ev_dsq_depth *)rec);
	patch(n, c);
}

static void note_switch(struct event_notes *n, const struct ev_switch *ev, struct event_note *note,
                        struct event_scx scx[2])
{
	struct notes_cpu *c = cpu_for(n, ev->hdr.cpu);

	scx[0] = nothing(ev->prev_tid);
	scx[1] = nothing(ev->next_tid);
	if (!c)
		return;
	if (c->since_ns && c->tid == ev->prev_tid) {
		scx[0] = c->scx;
		if (ev->hdr.ts_ns > c->since_ns)
			note->used_ns = ev->hdr.ts_ns - c->since_ns;
	}
	if (c->early.tid && c->early.tid == ev->next_tid)
		scx[1] = c->early;
	c->scx = scx[1];
	c->early = nothing(0);
	c->tid = ev->next_tid;
	c->since_ns = ev->hdr.ts_ns;
}

static void note_softirq(struct event_notes *n, const struct ev_softirq *ev,
                         struct event_note *note)
{
	struct notes_cpu *c = cpu_for(n, ev->hdr.cpu);

	if (!c)
		return;
	if (ev->hdr.kind == EV_SOFTIRQ_ENTRY) {
		c->vector = ev->vector;
		c->softirq_ns = ev->hdr.ts_ns;
		return;
	}
	if (c->softirq_ns && c->vector == ev->vector && ev->hdr.ts_ns > c->softirq_ns)
		note->used_ns = ev->hdr.ts_ns - c->softirq_ns;
	c->softirq_ns = 0;
}

/* The record with its notes, into the log. */
static int put(struct event_notes *n, const struct ev_hdr *rec, const struct event_note *note,
               const struct event_scx *scx)
{
	struct ev_hdr *noted = (struct ev_hdr *)n->room;
	struct ev_sink log = event_log_sink(n->log);
	uint8_t *to = (uint8_t *)n->room;

	memcpy(to, rec, rec->size);
	to += rec->size;
	if (note->has_scx) {
		memcpy(to, scx, SCX_BYTES);
		to += SCX_BYTES;
	}
	memcpy(to, note, sizeof(*note));
	noted->size = (uint16_t)(to + sizeof(*note) - (uint8_t *)n->room);
	return log.push(log.ctx, noted);
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct event_notes *n = ctx;
	struct event_note note = { .size = rec->size,
		                   .has_scx = rec->kind == EV_SWITCH && n->has_scx };
	struct event_scx scx[2];
	uint64_t end;
	int err;

	if (rec->size > UINT16_MAX - SCX_BYTES - sizeof(note))
		return 0; /* no record is so long */
	note_tasks(n, rec, note.tasks);
	if (rec->kind == EV_SWITCH)
		note_switch(n, (const struct ev_switch *)rec, &note, scx);
	else if (rec->kind == EV_SOFTIRQ_ENTRY || rec->kind == EV_SOFTIRQ_EXIT)
		note_softirq(n, (const struct ev_softirq *)rec, &note);
	else
		note_scx(n, rec);
	end = event_log_end(n->log);
	err = put(n, rec, &note, scx);
	if (rec->kind == EV_SWITCH && rec->cpu < n->nr_cpus)
		n->cpus[rec->cpu].place = event_log_end(n->log) > end ? event_log_place(n->log)
		                                                      : NOT_LOGGED;
	return err;
}

struct ev_sink event_notes_sink(struct event_notes *n)
{
	return (struct ev_sink){ .push = push, .ctx = n };
}

void event_notes_resume(struct event_notes *n)
{
	if (n->nr_cpus)
		memset(n->cpus, 0, n->nr_cpus * sizeof(*n->cpus));
}

struct event_entry event_notes_read(const struct ev_hdr *rec)
{
	const struct event_note *note = note_of(rec);
	const struct event_scx *scx = scx_of(rec);

	return (struct event_entry){
		.rec = rec,
		.size = note->size,
		.tasks = { note->tasks[0], note->tasks[1] },
		.used_ns = note->used_ns,
		.prev = scx,
		.next = scx ? scx + 1 : NULL,
	};
}
