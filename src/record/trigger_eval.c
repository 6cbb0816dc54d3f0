#include "record/trigger_eval.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"

#define MAX_CALLERS 16384U /* tasks that call a watched function at a time */
#define NONE        UINT32_MAX

/* Open calls of one task and trigger, outermost first. */
struct calls {
	uint64_t start_ns[TRIGGER_NESTED];
	uint32_t nr;
	uint32_t next_free;
};

struct probe_ids {
	bool is_set;
	uint32_t entry_id;
	uint32_t return_id;
};

struct caller {
	uint32_t task;
	uint32_t trigger;
};

struct trigger_eval {
	struct trigger triggers[TRIGGER_MAX];
	struct probe_ids probes[TRIGGER_MAX];
	size_t nr;
	struct tasks *tasks;
	trigger_fire_fn *fire;
	void *ctx;
	struct map *callers; /* struct caller -> index of calls */
	struct calls *calls;
	uint32_t nr_calls;
	uint32_t first_free;
	uint64_t no_room;
};

/* What happened, to be held against all triggers of a kind. */
struct event {
	enum trigger_kind kind;
	uint16_t cpu;
	uint32_t task;
	uint64_t value;
	uint64_t ts_ns;
};

static bool is_meant(const struct trigger *t, const struct task *task, const char *comm)
{
	if ((t->tgid || t->tid || t->comm[0]) && !task)
		return false;
	return (!t->tgid || t->tgid == task->tgid) && (!t->tid || t->tid == task->tid) &&
	       (!t->comm[0] || (comm && fnmatch(t->comm, comm, 0) == 0));
}

static void judge(struct trigger_eval *e, size_t i, const struct event *ev)
{
	const struct trigger *t = &e->triggers[i];
	const struct task *task;
	const char *comm;
	struct trigger_hit hit;

	if (t->kind != ev->kind || ev->value <= t->limit)
		return;
	task = ev->task == TASKS_NONE ? NULL : tasks_at(e->tasks, ev->task);
	comm = task ? tasks_string(e->tasks, tasks_comm_at(e->tasks, ev->task, ev->ts_ns)) : NULL;
	if (!is_meant(t, task, comm))
		return;
	hit = (struct trigger_hit){
		.kind = t->kind,
		.trigger = (uint32_t)i,
		.ts_ns = ev->ts_ns,
		.value = ev->value,
		.tid = task ? task->tid : 0,
		.tgid = task ? task->tgid : 0,
		.cpu = ev->cpu,
	};
	if (comm)
		strncpy(hit.comm, comm, sizeof(hit.comm) - 1);
	e->fire(e->ctx, &hit);
}

static void judge_all(struct trigger_eval *e, const struct event *ev)
{
	for (size_t i = 0; i < e->nr; i++)
		judge(e, i, ev);
}

/* From the waking where it was recorded, else from the wakeup; being preempted is not a wakeup. */
static void on_wait(void *ctx, const struct pair_wait *row)
{
	uint64_t start_ns = row->waking_ns ? row->waking_ns : row->wakeup_ns;
	struct event ev = { TRIGGER_WAKEUP_LATENCY, row->cpu, row->task, row->end_ns - start_ns,
		            row->end_ns };

	if (start_ns && row->cause != PAIR_PREEMPTED && !row->is_open)
		judge_all(ctx, &ev);
}

static void on_sleep(void *ctx, const struct pair_sleep *row)
{
	struct event ev = { TRIGGER_SLEEP, row->cpu, row->task, row->end_ns - row->start_ns,
		            row->end_ns };

	if (!row->is_open)
		judge_all(ctx, &ev);
}

static void on_slice(void *ctx, const struct pair_slice *row)
{
	struct event ev = { TRIGGER_SLICE, row->cpu, row->task, row->end_ns - row->start_ns,
		            row->end_ns };

	if (row->end != PAIR_END_OPEN)
		judge_all(ctx, &ev);
}

static void on_queued(void *ctx, const struct pair_queued *row)
{
	struct event ev = { TRIGGER_QUEUE_DEPTH, row->cpu, row->task, row->depth, row->ts_ns };

	judge_all(ctx, &ev);
}

/* From the last insertion to the CPU: a move to another queue ends nothing. */
static void on_dsq(void *ctx, const struct pair_dsq *row)
{
	struct event ev = { TRIGGER_DSQ_LATENCY, row->cpu, row->task, row->end_ns - row->start_ns,
		            row->end_ns };

	if (row->has_start && !row->is_moved)
		judge_all(ctx, &ev);
}

/* The calls of a task; made if there are none. NULL without room. */
static struct calls *calls_of(struct trigger_eval *e, const struct caller *key)
{
	uint32_t i;

	if (map_find(e->callers, key, &i))
		return &e->calls[i];
	if (!e->calls)
		e->calls = calloc(MAX_CALLERS, sizeof(*e->calls));
	i = e->first_free != NONE ? e->first_free : e->nr_calls;
	if (!e->calls || i >= MAX_CALLERS || map_insert(e->callers, key, i))
		return NULL;
	if (i == e->first_free)
		e->first_free = e->calls[i].next_free;
	else
		e->nr_calls++;
	e->calls[i].nr = 0;
	return &e->calls[i];
}

static void drop_calls(struct trigger_eval *e, const struct caller *key)
{
	uint32_t i;

	if (!map_find(e->callers, key, &i))
		return;
	map_remove(e->callers, key);
	e->calls[i].next_free = e->first_free;
	e->first_free = i;
}

static void begin_call(struct trigger_eval *e, const struct caller *key, uint64_t ts_ns)
{
	struct calls *c = calls_of(e, key);

	if (!c) {
		e->no_room++;
		return;
	}
	/* Too deep, or returns are missing: the outermost is the least likely to return. */
	if (c->nr == TRIGGER_NESTED) {
		memmove(c->start_ns, c->start_ns + 1, sizeof(c->start_ns) - sizeof(*c->start_ns));
		c->nr--;
	}
	c->start_ns[c->nr++] = ts_ns;
}

static void end_call(struct trigger_eval *e, const struct caller *key, const struct pair_mark *row)
{
	struct event ev = { TRIGGER_UPROBE, row->cpu, row->task, 0, row->ts_ns };
	struct calls *c;
	uint32_t i;

	if (!map_find(e->callers, key, &i))
		return; /* called before we watched */
	c = &e->calls[i];
	ev.value = row->ts_ns - c->start_ns[--c->nr];
	if (!c->nr)
		drop_calls(e, key);
	judge(e, key->trigger, &ev);
}

static void on_mark(void *ctx, const struct pair_mark *row)
{
	struct trigger_eval *e = ctx;

	if (row->kind != EV_PROBE || row->task == TASKS_NONE)
		return;
	for (uint32_t i = 0; i < e->nr; i++) {
		struct caller key = { .task = row->task, .trigger = i };

		if (!e->probes[i].is_set)
			continue;
		if (row->value == e->probes[i].entry_id)
			begin_call(e, &key, row->ts_ns);
		else if (row->value == e->probes[i].return_id)
			end_call(e, &key, row);
	}
}

/* Its index may soon be another's. */
static void on_task_end(void *ctx, uint32_t task, uint64_t ts_ns)
{
	struct trigger_eval *e = ctx;

	(void)ts_ns;
	for (uint32_t i = 0; i < e->nr && map_nr(e->callers); i++)
		drop_calls(e, &(struct caller){ .task = task, .trigger = i });
}

void trigger_eval_probes(struct trigger_eval *e, size_t trigger, uint32_t entry_id,
                         uint32_t return_id)
{
	e->probes[trigger] = (struct probe_ids){ true, entry_id, return_id };
}

void trigger_eval_lost_probes(struct trigger_eval *e)
{
	map_clear(e->callers);
	e->nr_calls = 0;
	e->first_free = NONE;
}

uint64_t trigger_eval_no_room(const struct trigger_eval *e)
{
	return e->no_room;
}

DEFINE_SCOPED(trigger_eval, trigger_eval_free)

int trigger_eval_new(const struct trigger_eval_cfg *cfg, struct trigger_eval **out)
{
	SCOPED(scoped_trigger_eval) struct trigger_eval *e = NULL;
	int err;

	if (cfg->nr > TRIGGER_MAX)
		return -E2BIG;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	err = map_new(sizeof(struct caller), MAX_CALLERS, &e->callers);
	if (err)
		return err;
	if (cfg->nr)
		memcpy(e->triggers, cfg->triggers, cfg->nr * sizeof(*cfg->triggers));
	e->nr = cfg->nr;
	e->tasks = cfg->tasks;
	e->fire = cfg->fire;
	e->ctx = cfg->ctx;
	e->first_free = NONE;
	*out = TAKE_PTR(e);
	return 0;
}

void trigger_eval_free(struct trigger_eval *e)
{
	if (!e)
		return;
	map_free(e->callers);
	free(e->calls);
	free(e);
}

/* Only what some trigger asks for. */
struct pair_out trigger_eval_out(struct trigger_eval *e)
{
	struct pair_out out = { .ctx = e };

	for (size_t i = 0; i < e->nr; i++) {
		switch (e->triggers[i].kind) {
		case TRIGGER_WAKEUP_LATENCY:
			out.wait = on_wait;
			break;
		case TRIGGER_SLEEP:
			out.sleep = on_sleep;
			break;
		case TRIGGER_SLICE:
			out.slice = on_slice;
			break;
		case TRIGGER_QUEUE_DEPTH:
			out.queued = on_queued;
			break;
		case TRIGGER_DSQ_LATENCY:
			out.dsq = on_dsq;
			break;
		case TRIGGER_UPROBE:
			out.mark = on_mark;
			out.task_end = on_task_end;
			break;
		default: /* only a manual request fires it */
			break;
		}
	}
	return out;
}
