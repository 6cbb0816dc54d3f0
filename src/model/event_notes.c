#include "model/event_buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/pair.h"

#define DEFAULT_EVENTS 100000U
#define DEFAULT_BYTES  (16U << 20)
#define MAX_EVENTS     (1U << 24)
#define MAX_BYTES      (1U << 30)
#define MIN_BYTES      (1U << 12)

struct entry {
	uint64_t pos; /* in all bytes ever written; the record first, then two struct event_scx if has_scx */
	uint64_t used_ns;
	struct event_who who[2];
	bool has_scx;
};

/* Who is on a CPU since its last switch, and what sched_ext said of it. */
struct cpu {
	uint64_t since_ns; /* 0 = no switch yet */
	uint64_t number;   /* of that switch */
	uint32_t tid;
	uint32_t vector;     /* of the softirq that runs */
	uint64_t softirq_ns; /* since when; 0 = none */
	struct event_scx scx;
	struct event_scx early; /* said of a task that has not come on yet */
};

struct event_buffer {
	struct event_buffer_cfg cfg;
	uint8_t *bytes;
	uint64_t end; /* of all bytes ever written */
	struct entry *entries;
	uint64_t nr_received;
	uint32_t nr;
	bool has_scx; /* sched_ext has said anything, so switches get room for it */
	struct cpu *cpus;
	uint32_t nr_cpus;
};

void event_buffer_free(struct event_buffer *b)
{
	if (!b)
		return;
	free(b->bytes);
	free(b->entries);
	free(b->cpus);
	free(b);
}

static void scoped_event_buffer(struct event_buffer *const *b)
{
	event_buffer_free(*b);
}

int event_buffer_new(const struct event_buffer_cfg *cfg, struct event_buffer **out)
{
	SCOPED(scoped_event_buffer) struct event_buffer *b = NULL;

	if (!cfg->tasks || cfg->max_events > MAX_EVENTS || cfg->max_bytes > MAX_BYTES)
		return -EINVAL;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->cfg = *cfg;
	if (!b->cfg.max_events)
		b->cfg.max_events = DEFAULT_EVENTS;
	if (!b->cfg.max_bytes)
		b->cfg.max_bytes = DEFAULT_BYTES;
	b->cfg.max_bytes &= ~7U; /* records stay aligned */
	if (b->cfg.max_bytes < MIN_BYTES)
		b->cfg.max_bytes = MIN_BYTES;
	b->bytes = calloc(1, b->cfg.max_bytes);
	b->entries = calloc(b->cfg.max_events, sizeof(*b->entries));
	if (!b->bytes || !b->entries)
		return -ENOMEM;
	*out = TAKE_PTR(b);
	return 0;
}

static struct event_scx nothing(uint32_t tid)
{
	return (struct event_scx){ .dsq_id = EV_DSQ_INVALID, .layer = EV_NO_LAYER, .tid = tid };
}

static struct cpu *cpu_for(struct event_buffer *b, uint32_t cpu)
{
	struct cpu *more;

	if (cpu >= PAIR_MAX_CPUS)
		return NULL;
	if (cpu >= b->nr_cpus) {
		more = realloc(b->cpus, (cpu + 1) * sizeof(*more));
		if (!more)
			return NULL;
		memset(more + b->nr_cpus, 0, (cpu + 1 - b->nr_cpus) * sizeof(*more));
		b->cpus = more;
		b->nr_cpus = cpu + 1;
	}
	return &b->cpus[cpu];
}

/* Received records are numbered from 1; record number n has its entry at (n - 1) % max_events. */
static struct entry *entry_of(const struct event_buffer *b, uint64_t number)
{
	return &b->entries[(number - 1) % b->cfg.max_events];
}

static uint8_t *bytes_of(const struct event_buffer *b, const struct entry *e)
{
	return &b->bytes[e->pos % b->cfg.max_bytes];
}

/* Room for so many bytes in one piece; what lay there is dropped. NULL if it can never fit. */
static struct entry *take_room(struct event_buffer *b, uint32_t need)
{
	uint32_t max = b->cfg.max_bytes;
	uint64_t pos = b->end;
	struct entry *e;

	b->nr_received++;
	if (need > max) {
		b->nr = 0; /* numbers are without gaps: those before are gone with it */
		return NULL;
	}
	if (pos % max + need > max)
		pos += max - pos % max;
	b->end = pos + need;
	while (b->nr && (b->nr == b->cfg.max_events ||
	                 entry_of(b, b->nr_received - b->nr)->pos + max < b->end))
		b->nr--;
	b->nr++;
	e = entry_of(b, b->nr_received);
	*e = (struct entry){ .pos = pos };
	return e;
}

static struct event_who who_is(const struct event_buffer *b, uint32_t tid)
{
	const struct task *t = tasks_at(b->cfg.tasks, tasks_find(b->cfg.tasks, tid));

	return t ? (struct event_who){ t->comm_id, t->tgid } : (struct event_who){ 0 };
}

static void note_who(const struct event_buffer *b, const struct ev_hdr *rec, struct event_who *who)
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
		who[0] = who_is(b, first);
	if (second)
		who[1] = who_is(b, second);
}

static struct event_scx *scx_of(const struct event_buffer *b, const struct entry *e)
{
	uint8_t *bytes = bytes_of(b, e);

	return (struct event_scx *)(void *)(bytes + ((struct ev_hdr *)(void *)bytes)->size);
}

/* The switch that brought the task that is on the CPU now is told of what is known since. */
static void patch(const struct event_buffer *b, const struct cpu *c)
{
	struct entry *e;

	if (!c->number || b->nr_received - c->number >= b->nr)
		return;
	e = entry_of(b, c->number);
	if (e->has_scx)
		scx_of(b, e)[1] = c->scx;
}

static struct event_scx *scx_for(struct cpu *c, uint32_t tid)
{
	if (c->since_ns && c->tid == tid)
		return &c->scx;
	if (c->early.tid != tid)
		c->early = nothing(tid);
	return &c->early;
}

static void note_run(struct cpu *c, const struct ev_scx_run *ev)
{
	struct event_scx *s = scx_for(c, ev->tid);

	s->dsq_id = ev->dsq_id;
	s->layer = ev->layer;
	s->has_slice = ev->flags & EV_SCX_HAS_SLICE;
	s->slice_ns = ev->slice_ns;
	s->has_vtime = ev->flags & EV_SCX_HAS_VTIME;
	s->vtime = ev->vtime;
}

static void note_leave(struct cpu *c, const struct ev_dsq_leave *ev)
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

static void note_depth(struct cpu *c, const struct ev_dsq_depth *ev)
{
	if (c->scx.dsq_id != ev->dsq_id || ev->dsq_id == EV_DSQ_INVALID || !c->scx.tid)
		return;
	c->scx.has_depth = true;
	c->scx.depth = ev->depth;
}

/* What sched_ext says around a switch-in comes shortly before or after it, on the same CPU. */
static void note_scx(struct event_buffer *b, const struct ev_hdr *rec)
{
	struct cpu *c;

	if (rec->kind != EV_SCX_RUN && rec->kind != EV_DSQ_LEAVE && rec->kind != EV_DSQ_DEPTH)
		return;
	b->has_scx = true;
	c = cpu_for(b, rec->cpu);
	if (!c)
		return;
	if (rec->kind == EV_SCX_RUN)
		note_run(c, (const struct ev_scx_run *)rec);
	else if (rec->kind == EV_DSQ_LEAVE)
		note_leave(c, (const struct ev_dsq_leave *)rec);
	else
		note_depth(c, (const struct ev_dsq_depth *)rec);
	patch(b, c);
}

static void note_switch(struct event_buffer *b, const struct ev_switch *ev, struct entry *e)
{
	struct cpu *c = cpu_for(b, ev->hdr.cpu);
	struct event_scx prev = nothing(ev->prev_tid);

	if (c) {
		if (c->since_ns && c->tid == ev->prev_tid) {
			prev = c->scx;
			if (e && ev->hdr.ts_ns > c->since_ns)
				e->used_ns = ev->hdr.ts_ns - c->since_ns;
		}
		c->scx = c->early.tid && c->early.tid == ev->next_tid ? c->early
		                                                      : nothing(ev->next_tid);
		c->early = nothing(0);
		c->tid = ev->next_tid;
		c->since_ns = ev->hdr.ts_ns;
		c->number = b->nr_received;
	}
	if (e && e->has_scx) {
		scx_of(b, e)[0] = prev;
		scx_of(b, e)[1] = c ? c->scx : nothing(ev->next_tid);
	}
}

static void note_softirq(struct event_buffer *b, const struct ev_softirq *ev, struct entry *e)
{
	struct cpu *c = cpu_for(b, ev->hdr.cpu);

	if (!c)
		return;
	if (ev->hdr.kind == EV_SOFTIRQ_ENTRY) {
		c->vector = ev->vector;
		c->softirq_ns = ev->hdr.ts_ns;
		return;
	}
	if (e && c->softirq_ns && c->vector == ev->vector && ev->hdr.ts_ns > c->softirq_ns)
		e->used_ns = ev->hdr.ts_ns - c->softirq_ns;
	c->softirq_ns = 0;
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct event_buffer *b = ctx;
	bool has_scx = rec->kind == EV_SWITCH && b->has_scx;
	uint32_t need = rec->size + (has_scx ? 2 * (uint32_t)sizeof(struct event_scx) : 0);
	struct entry *e = take_room(b, need);

	if (e) {
		memcpy(bytes_of(b, e), rec, rec->size);
		e->has_scx = has_scx;
		note_who(b, rec, e->who);
	}
	if (rec->kind == EV_SWITCH)
		note_switch(b, (const struct ev_switch *)rec, e);
	else if (rec->kind == EV_SOFTIRQ_ENTRY || rec->kind == EV_SOFTIRQ_EXIT)
		note_softirq(b, (const struct ev_softirq *)rec, e);
	else
		note_scx(b, rec);
	return 0;
}

struct ev_sink event_buffer_sink(struct event_buffer *b)
{
	return (struct ev_sink){ .push = push, .ctx = b };
}

void event_buffer_reset(struct event_buffer *b)
{
	b->nr = 0;
	b->nr_received = 0;
	b->has_scx = false;
	b->end = 0;
	event_buffer_resume(b);
}

void event_buffer_resume(struct event_buffer *b)
{
	if (b->nr_cpus)
		memset(b->cpus, 0, b->nr_cpus * sizeof(*b->cpus));
}

bool event_buffer_at(const struct event_buffer *b, uint32_t i, struct event_entry *out)
{
	const struct entry *e;
	uint64_t number;

	if (i >= b->nr)
		return false;
	number = b->nr_received - b->nr + 1 + i;
	e = entry_of(b, number);
	*out = (struct event_entry){
		.number = number,
		.rec = (const struct ev_hdr *)(const void *)bytes_of(b, e),
		.who = { e->who[0], e->who[1] },
		.used_ns = e->used_ns,
		.prev = e->has_scx ? &scx_of(b, e)[0] : NULL,
		.next = e->has_scx ? &scx_of(b, e)[1] : NULL,
	};
	return true;
}

void event_buffer_stats(const struct event_buffer *b, struct event_buffer_stats *out)
{
	struct event_entry first, last;

	*out = (struct event_buffer_stats){ .current_size = b->nr,
		                            .max_size = b->cfg.max_events,
		                            .total_received = b->nr_received,
		                            .total_dropped = b->nr_received - b->nr };
	if (event_buffer_at(b, 0, &first) && event_buffer_at(b, b->nr - 1, &last)) {
		out->oldest_ns = first.rec->ts_ns;
		out->newest_ns = last.rec->ts_ns;
	}
}

uint32_t event_buffer_after(const struct event_buffer *b, uint64_t number)
{
	uint64_t nr_before = b->nr_received - b->nr;

	if (number <= nr_before)
		return 0;
	return number - nr_before < b->nr ? (uint32_t)(number - nr_before) : b->nr;
}
