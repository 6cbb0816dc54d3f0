#include "model/trigger_eval.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup_pattern.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "base/match.h"
#include "base/name_pattern.h"
#include "model/waiting.h"

#define MAX_CALLERS   16384U /* tasks that call a watched function at a time */
#define NONE          UINT32_MAX
#define LOOK_AGAIN_NS 1000000ULL /* whether a task that waits is throttled by now */

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
	struct match
		*regexes[TRIGGER_MAX]; /* of comm, where that is a regular expression; else NULL */
	struct probe_ids probes[TRIGGER_MAX];
	size_t nr;
	struct tasks *tasks;
	const struct pair *pair;
	trigger_fire_fn *fire;
	void *ctx;
	struct map *callers; /* struct caller -> index of calls */
	struct calls *calls;
	uint32_t nr_calls;
	uint32_t first_free;
	uint64_t no_room;
	struct waiting waiting; /* for stalls and throttled waits */
	uint64_t wait_ns;       /* the lowest limit of those; 0 = none is watched */
	uint64_t due_ns;        /* none of those fires before */
};

/* What happened, to be held against all triggers of a kind. */
struct event {
	enum trigger_kind kind;
	uint16_t cpu;
	uint32_t task;
	uint64_t value;
	uint64_t ts_ns;
};

/* Judged while it lasts. */
static bool lasts(enum trigger_kind kind)
{
	return kind == TRIGGER_STALL || kind == TRIGGER_THROTTLED;
}

/* In the cgroup that it has now: what lasts began in it, or it was moved there meanwhile. */
static bool is_in_cgroup(const struct trigger_eval *e, const struct trigger *t, uint32_t task)
{
	const char *path;

	if (!t->cgroup[0])
		return true;
	path = tasks_cgroup_path(e->tasks, tasks_cgroup_now(e->tasks, task));
	return path && path[0] == '/' && cgroup_pattern_means(t->cgroup, path);
}

static bool is_named(const struct trigger_eval *e, size_t i, const char *comm)
{
	const char *pattern = e->triggers[i].comm;

	if (!pattern[0] || !comm)
		return !pattern[0];
	return e->regexes[i] ? match_any(e->regexes[i], comm, strlen(comm))
	                     : name_pattern_fits(pattern, comm);
}

static bool is_meant(const struct trigger_eval *e, size_t i, const struct task *task,
                     const char *comm)
{
	const struct trigger *t = &e->triggers[i];

	if ((t->tgid || t->tid || t->comm[0] || t->cgroup[0]) && !task)
		return false;
	return (!t->tgid || t->tgid == task->tgid) && (!t->tid || t->tid == task->tid) &&
	       is_named(e, i, comm);
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
	if (!is_meant(e, i, task, comm) || !is_in_cgroup(e, t, ev->task))
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

static void begin_waiting(struct trigger_eval *e, uint32_t task, uint64_t ts_ns)
{
	if (task == TASKS_NONE)
		return;
	if (waiting_begin(&e->waiting, task, ts_ns))
		e->no_room++;
	else if (ts_ns + e->wait_ns < e->due_ns)
		e->due_ns = ts_ns + e->wait_ns;
}

static void on_wakeup(void *ctx, const struct pair_wakeup *row)
{
	if (!row->is_running)
		begin_waiting(ctx, row->task, row->ts_ns);
}

/* What of a wait can fire while it lasts, until now. */
struct so_far {
	uint64_t wait_ns;
	uint64_t throttled_ns;
	bool is_throttled; /* now */
};

static bool wait_so_far(const struct trigger_eval *e, uint32_t task, uint64_t now_ns,
                        struct so_far *out, uint16_t *cpu)
{
	uint64_t since_ns, throttled_ns = pair_throttled_since(e->pair, task);

	if (!pair_is_waiting(e->pair, task, &since_ns, cpu))
		return false;
	*out = (struct so_far){ .wait_ns = now_ns > since_ns ? now_ns - since_ns : 0,
		                .throttled_ns = e->waiting.tasks[task].throttled_ns,
		                .is_throttled = throttled_ns != 0 };
	if (throttled_ns && now_ns > throttled_ns)
		out->throttled_ns += now_ns - throttled_ns;
	return true;
}

/* When what lasts can be above a limit, at the earliest. A throttling may begin without a word. */
static uint64_t next_due(const struct trigger *t, uint64_t value, const struct so_far *w,
                         uint64_t now_ns)
{
	uint64_t rest_ns = t->limit - value;

	if (t->kind == TRIGGER_THROTTLED && !w->is_throttled && rest_ns < LOOK_AGAIN_NS)
		rest_ns = LOOK_AGAIN_NS;
	return now_ns + rest_ns;
}

/* Judges what lasts, once per wait; when it is due again. */
static uint64_t judge_waiting(struct trigger_eval *e, uint32_t task, uint64_t now_ns)
{
	uint32_t *marks = &e->waiting.tasks[task].marks;
	struct event ev = { .task = task, .ts_ns = now_ns };
	uint64_t due_ns = UINT64_MAX;
	struct so_far w;

	if (!wait_so_far(e, task, now_ns, &w, &ev.cpu)) {
		waiting_end(&e->waiting, task);
		return due_ns;
	}
	for (size_t i = 0; i < e->nr; i++) {
		const struct trigger *t = &e->triggers[i];

		if (!lasts(t->kind) || *marks & 1U << i)
			continue;
		ev.kind = t->kind;
		ev.value = t->kind == TRIGGER_STALL ? w.wait_ns : w.throttled_ns;
		if (ev.value > t->limit) {
			*marks |= 1U << i;
			judge(e, i, &ev);
		} else if (next_due(t, ev.value, &w, now_ns) < due_ns) {
			due_ns = next_due(t, ev.value, &w, now_ns);
		}
	}
	return due_ns;
}

/* A wait that ends is judged once more: nothing may have come since it went over a limit. */
static void on_switched(void *ctx, const struct pair_switch *row)
{
	struct trigger_eval *e = ctx;

	if (row->prev_state == EV_STATE_RUNNABLE || row->prev_state & EV_STATE_PREEMPTED)
		begin_waiting(e, row->prev, row->ts_ns);
	if (waiting_has(&e->waiting, row->next))
		(void)judge_waiting(e, row->next, row->ts_ns);
	waiting_end(&e->waiting, row->next);
}

static void on_throttle(void *ctx, const struct pair_throttle *row)
{
	struct trigger_eval *e = ctx;

	if (waiting_has(&e->waiting, row->task))
		e->waiting.tasks[row->task].throttled_ns += row->end_ns - row->start_ns;
}

void trigger_eval_advance(struct trigger_eval *e, uint64_t now_ns)
{
	uint32_t task = e->waiting.first, next;

	if (!e->wait_ns || now_ns <= e->due_ns)
		return;
	e->due_ns = UINT64_MAX;
	for (; task != WAITING_NONE; task = next) {
		uint64_t due_ns = e->waiting.tasks[task].since_ns + e->wait_ns;

		next = e->waiting.tasks[task].after;
		if (due_ns < now_ns)
			due_ns = judge_waiting(e, task, now_ns);
		if (due_ns < e->due_ns)
			e->due_ns = due_ns;
	}
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

/* The kernel threw it out, or it did not end in the usual way. */
static void on_scx_state(struct trigger_eval *e, const struct pair_mark *row)
{
	struct trigger_hit hit = { .kind = TRIGGER_SCX_EJECT,
		                   .ts_ns = row->ts_ns,
		                   .cpu = PAIR_NO_CPU };
	const char *name = tasks_string(e->tasks, row->name_id);

	if (row->value != EV_SCX_EJECTED)
		return;
	if (name)
		strncpy(hit.comm, name, sizeof(hit.comm) - 1);
	for (uint32_t i = 0; i < e->nr; i++) {
		hit.trigger = i;
		if (e->triggers[i].kind == TRIGGER_SCX_EJECT)
			e->fire(e->ctx, &hit);
	}
}

static void on_mark(void *ctx, const struct pair_mark *row)
{
	struct trigger_eval *e = ctx;

	if (row->kind == EV_SCX_STATE)
		on_scx_state(e, row);
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
	waiting_end(&e->waiting, task);
	for (uint32_t i = 0; i < e->nr && map_nr(e->callers); i++)
		drop_calls(e, &(struct caller){ .task = task, .trigger = i });
}

void trigger_eval_probes(struct trigger_eval *e, size_t trigger, uint32_t entry_id,
                         uint32_t return_id)
{
	e->probes[trigger] = (struct probe_ids){ true, entry_id, return_id };
}

void trigger_eval_lost(struct trigger_eval *e, const struct ev_lost *lost)
{
	struct event ev = { TRIGGER_LOST, PAIR_NO_CPU, TASKS_NONE, lost->count, lost->hdr.ts_ns };

	judge_all(e, &ev);
	if (lost->kind != EV_PROBE)
		return;
	map_clear(e->callers);
	e->nr_calls = 0;
	e->first_free = NONE;
}

uint64_t trigger_eval_no_room(const struct trigger_eval *e)
{
	return e->no_room;
}

DEFINE_SCOPED(trigger_eval, trigger_eval_free)

/* Compiled once: what they are held against comes with every long wait. */
static int compile_regexes(struct trigger_eval *e)
{
	for (size_t i = 0; i < e->nr; i++) {
		SCOPED(scoped_free) char *regex = NULL;
		const char *words[1];
		int err;

		if (name_pattern_kind(e->triggers[i].comm) != NAME_PATTERN_REGEX)
			continue;
		err = name_pattern_regex(e->triggers[i].comm, &regex);
		words[0] = regex;
		if (!err)
			err = match_new(words, 1, NULL, &e->regexes[i]);
		if (err)
			return err;
	}
	return 0;
}

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
	err = compile_regexes(e);
	if (err)
		return err;
	e->tasks = cfg->tasks;
	e->fire = cfg->fire;
	e->ctx = cfg->ctx;
	e->first_free = NONE;
	waiting_init(&e->waiting);
	e->pair = cfg->pair;
	e->due_ns = UINT64_MAX;
	for (size_t i = 0; i < e->nr; i++)
		if (lasts(e->triggers[i].kind) &&
		    (!e->wait_ns || e->triggers[i].limit < e->wait_ns))
			e->wait_ns = e->triggers[i].limit ? e->triggers[i].limit : 1;
	*out = TAKE_PTR(e);
	return 0;
}

void trigger_eval_free(struct trigger_eval *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->nr; i++)
		match_free(e->regexes[i]);
	map_free(e->callers);
	waiting_done(&e->waiting);
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
		case TRIGGER_STALL:
		case TRIGGER_THROTTLED:
			out.wakeup = on_wakeup;
			out.switched = on_switched;
			out.throttle = on_throttle;
			out.task_end = on_task_end;
			break;
		case TRIGGER_SCX_EJECT:
			out.mark = on_mark;
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
