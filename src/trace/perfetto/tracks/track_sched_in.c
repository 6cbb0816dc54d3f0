#include <errno.h>
#include <string.h>

#include "base/grow.h"
#include "trace/perfetto/tracks/schema_tracks.h"
#include "trace/perfetto/tracks/tracks_in.h"

/*
 * No more events than CPUs happen in one instant; a file that says otherwise must not take forever.
 */
#define SEARCH_MAX 1024U

/* offcpu_reason as the state that sched_switch would report. */
static uint32_t state_of(struct track_text reason)
{
	static const struct {
		const char *name;
		uint32_t state;
	} states[] = {
		{ "runnable", EV_STATE_RUNNABLE },
		{ "preempted", EV_STATE_PREEMPTED },
		{ "interruptible_sleep", EV_STATE_S },
		{ "uninterruptible_sleep", EV_STATE_D },
		/* Older versions do not say which sleep it was; most are of this kind. */
		{ "blocked", EV_STATE_S },
		{ "killable_sleep", EV_STATE_D },
		{ "rtlock_wait", EV_STATE_D },
		{ "frozen", EV_STATE_D },
		{ "freezable", EV_STATE_S },
		{ "stopped", EV_STATE_STOPPED },
		{ "traced", EV_STATE_TRACED },
		{ "exit_dead", EV_STATE_DEAD },
		{ "exit_trace", EV_STATE_DEAD },
		{ "task_dead", EV_STATE_DEAD },
		{ "exit_zombie", EV_STATE_ZOMBIE },
		{ "parked", EV_STATE_PARKED },
		{ "idle", EV_STATE_IDLE },
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (track_text_is(reason, states[i].name))
			return states[i].state;
	return EV_STATE_RUNNABLE;
}

static struct track_cpu *cpu_get(struct track_at *at)
{
	struct tracks *t = at->t;
	struct track_group *g = &t->group;
	uint32_t index;

	if (!map_find(t->cpu_ids, &at->cpu, &index)) {
		index = (uint32_t)t->nr_cpus;
		if (GROW(t->cpus, t->cap_cpus, t->nr_cpus) ||
		    map_insert(t->cpu_ids, &at->cpu, index) < 0) {
			at->err = -ENOMEM;
			return NULL;
		}
		t->cpus[t->nr_cpus++] = (struct track_cpu){ .cpu = at->cpu,
			                                    .first_ts_ns = at->ts_ns };
	}
	t->cpus[index].nr_events++;
	t->cpus[index].last_ts_ns = at->ts_ns;
	if (GROW(g->cpus, g->cap_cpus, g->nr_cpus)) {
		at->err = -ENOMEM;
		return NULL;
	}
	g->cpus[g->nr_cpus++] = index;
	return &t->cpus[index];
}

static void queue_switch(struct track_at *at, const struct ev_switch *sw)
{
	struct track_group *g = &at->t->group;

	if (GROW(g->switches, g->cap_switches, g->nr_switches)) {
		at->err = -ENOMEM;
		return;
	}
	g->switches[g->nr_switches++] = *sw;
}

/* A task of the switch. */
struct switched {
	uint32_t tid;
	int16_t prio;
};

static void put_switch(struct track_at *at, struct track_cpu *c, struct switched prev,
                       uint32_t state, struct switched next, uint8_t flags)
{
	struct ev_switch sw = { .hdr = { .kind = EV_SWITCH, .cpu = c->cpu, .flags = flags },
		                .prev_tid = prev.tid,
		                .next_tid = next.tid,
		                .prev_state = state,
		                .prev_prio = prev.prio,
		                .next_prio = next.prio };

	queue_switch(at, &sw);
	c->has_current = true;
	c->current = next.tid;
	c->current_prio = next.prio;
}

/* What the CPU does from here to its next switch is unknown. */
static void put_gap(struct track_at *at, struct track_cpu *c)
{
	struct ev_switch gap = { .hdr = { .kind = EV_LOST, .cpu = c->cpu } };

	if (!c->is_unknown)
		queue_switch(at, &gap);
	c->is_unknown = true;
}

/* Whether what is missing was left out, so that all of the tasks that are here is there. */
static bool is_filter(const struct tracks *t)
{
	return t->has_missing_tasks && !t->has_losses;
}

/* A switch of which only one half is in the file: the other task is filtered out. */
static void put_end_alone(struct track_at *at, struct track_cpu *c)
{
	bool is_known = c->ends_in_idle && !at->t->has_missing_tasks;
	bool is_filtered = !is_known && is_filter(at->t);

	put_switch(at, c, (struct switched){ c->end_tid, c->end_prio }, c->end_state,
	           (struct switched){ 0, TRACK_PRIO }, is_filtered ? EV_FLAG_OTHER_NEXT : 0);
	c->is_unknown = is_filtered;
	if (!is_known)
		put_gap(at, c);
	c->has_end = false;
}

static void put_begin_alone(struct track_at *at, struct track_cpu *c)
{
	/* The end of the running slice was lost: it ended here at the latest. */
	uint32_t prev = c->has_current ? c->current : 0;
	bool is_known = prev || (c->begins_from_idle && !at->t->has_missing_tasks);
	uint8_t flags = prev || c->begins_from_idle ? 0 : EV_FLAG_UNKNOWN;

	if (!is_known && is_filter(at->t))
		flags |= EV_FLAG_OTHER_PREV;
	else if (!is_known)
		put_gap(at, c);
	put_switch(at, c, (struct switched){ prev, prev ? c->current_prio : TRACK_PRIO },
	           EV_STATE_RUNNABLE, (struct switched){ c->begin_tid, c->begin_prio }, flags);
	c->is_unknown = false;
	c->has_begin = false;
}

static void put_whole(struct track_at *at, struct track_cpu *c)
{
	put_switch(at, c, (struct switched){ c->end_tid, c->end_prio }, c->end_state,
	           (struct switched){ c->begin_tid, c->begin_prio }, 0);
	c->is_unknown = false;
	c->has_end = c->has_begin = false;
}

static bool is_idle(const struct track_at *at, enum track_key name_key, enum track_key tid_key)
{
	struct track_text name;
	uint32_t cpu;

	if (track_arg_text(&at->e, name_key, &name) && track_swapper_cpu(name, &cpu))
		return true;
	return track_arg_u32(&at->e, tid_key, 1) == 0;
}

void track_task_leaves(struct track_at *at, uint32_t state, bool is_to_idle)
{
	struct track_cpu *c = cpu_get(at);

	if (!c)
		return;
	if (c->has_end)
		put_end_alone(at, c);
	/* It was switched in and out at the same time. */
	if (c->has_begin && c->begin_tid == at->tid)
		put_begin_alone(at, c);
	c->has_end = true;
	c->end_tid = at->tid;
	c->end_prio = at->prio;
	c->end_state = at->tid ? state : EV_STATE_RUNNABLE;
	c->ends_in_idle = is_to_idle;
	if (c->has_begin)
		put_whole(at, c);
}

void track_task_comes(struct track_at *at, bool is_from_idle)
{
	struct track_cpu *c = cpu_get(at);

	if (!c)
		return;
	if (c->has_begin)
		put_begin_alone(at, c);
	c->has_begin = true;
	c->begin_tid = at->tid;
	c->begin_prio = at->prio;
	c->begins_from_idle = is_from_idle;
	if (c->has_end)
		put_whole(at, c);
}

static void oncpu_end(struct track_at *at)
{
	struct track_text reason = { 0 };

	if (!track_arg_text(&at->e, KEY_OFFCPU_REASON, &reason))
		(void)track_arg_text(&at->e, KEY_OFFCPU_REASON_OLD, &reason);
	track_task_leaves(at, state_of(reason), is_idle(at, KEY_SWITCH_TO, KEY_SWITCH_TO_TID));
}

/* Made up for a task that ran already when the recording began, or when its begin was lost. */
static bool is_made_up(const struct track_at *at)
{
	uint64_t keys = 1ULL << KEY_SWITCH_FROM | 1ULL << KEY_SWITCH_FROM_TID;

	return at->packet->raw_ts == 0 && !(at->e.has_keys & keys);
}

static void note_begin(struct track_at *at)
{
	struct track_group *g = &at->t->group;
	struct track_text name = track_event_name(&at->e);

	if (!at->tid)
		return;
	decoder_name(at->dec, at->ts_ns, at->tid, name.s, name.len);
	if (GROW(g->begun, g->cap_begun, g->nr_begun) ||
	    map_insert(at->t->last_cpus, &at->tid, at->cpu) == -ENOMEM) {
		at->err = -ENOMEM;
		return;
	}
	g->begun[g->nr_begun++] = at->tid;
	track_scx_run(at);
}

/*
 * The first compact switch of a CPU does not name the previous task, but the slice that ends with
 * it does.
 */
static void emit_first(struct track_at *at)
{
	struct in_first *rec;
	uint32_t seen;

	if (map_find(at->t->cpu_ids, &at->cpu, &seen))
		return;
	if (map_insert(at->t->cpu_ids, &at->cpu, 0) < 0) {
		at->err = -ENOMEM;
		return;
	}
	rec = track_rec(at, IN_TRACK, sizeof(*rec), at->cpu, at->t->first_ts_ns);
	rec->tid = at->tid;
}

void track_oncpu(struct track_at *at)
{
	bool is_end = at->e.type == TRACK_TYPE_END;

	if (!at->has_cpu) {
		track_damage(at, DAMAGE_TRACK_BAD);
		return;
	}
	if (!is_end && (at->e.type != TRACK_TYPE_BEGIN || is_made_up(at)))
		return;
	if (is_end) {
		decoder_name(at->dec, at->ts_ns, at->tid, NULL, 0);
		track_pmu_values(at);
		track_sample(at, TRACE_SAMPLE_OFFCPU, at->e.callstack_iid, 1);
	} else {
		note_begin(at);
	}
	if (at->err)
		return;
	if (!at->t->uses_switches) {
		if (is_end)
			emit_first(at);
		return;
	}
	if (is_end)
		oncpu_end(at);
	else
		track_task_comes(at, is_idle(at, KEY_SWITCH_FROM, KEY_SWITCH_FROM_TID));
}

static uint32_t owner_of(struct track_at *at, uint32_t track)
{
	const struct track_in *t;

	if (track == TRACK_NONE)
		return TRACK_NONE;
	t = track_descs_get(at->t->descs, track);
	return t->flags & TRACK_IS_IDLE ? TRACK_NONE : t->owner;
}

/* By the other end of the flow, the number or the name, as far as given. */
static uint32_t wakee_of(struct track_at *at)
{
	const struct track_flow *flow;
	struct track_text name;
	uint32_t tid = TRACK_NONE;

	for (uint32_t i = 0; i < at->e.nr_flows && tid == TRACK_NONE; i++) {
		flow = track_flow_get(at->t, at->e.flows[i], false);
		if (flow)
			tid = owner_of(at, flow->wakee);
	}
	if (tid != TRACK_NONE)
		return tid;
	tid = track_arg_u32(&at->e, KEY_WAKEE_TID, TRACK_NONE);
	if (!track_arg_text(&at->e, KEY_WAKEE, &name))
		return tid;
	/* It never ran, so nothing else may name it. */
	if (tid != TRACK_NONE)
		decoder_name(at->dec, at->ts_ns, tid, name.s, name.len);
	else
		(void)track_tid_by_name(at, name, &tid);
	return tid;
}

/* waker is TRACK_NONE where it is unknown. */
void track_put_wake(struct track_at *at, uint32_t tid, uint32_t waker, bool is_new)
{
	struct ev_wake *rec;
	uint32_t target = TRACK_NONE;

	decoder_name(at->dec, at->ts_ns, tid, NULL, 0);
	if (waker != TRACK_NONE)
		decoder_name(at->dec, at->ts_ns, waker, NULL, 0);
	rec = track_rec(at, is_new ? EV_WAKEUP_NEW : EV_WAKING, sizeof(*rec), at->cpu, at->ts_ns);
	rec->tid = tid;
	rec->waker_tid = waker == TRACK_NONE ? 0 : waker;
	rec->hdr.flags = waker == TRACK_NONE ? EV_FLAG_UNKNOWN : 0;
	rec->by = is_new ? ABI_BY_UNKNOWN : ABI_BY_NOT_RECORDED;
	/* Where it last ran, as the kernel reports at that moment. */
	(void)map_find(at->t->last_cpus, &tid, &target);
	rec->target_cpu = target;
	rec->prio = at->prio;
}

void track_waker(struct track_at *at)
{
	uint32_t wakee;

	track_sample(at, TRACE_SAMPLE_WAKER, at->e.callstack_iid, 1);
	if (!at->t->uses_wakes)
		return;
	wakee = wakee_of(at);
	if (wakee == TRACK_NONE || wakee == 0) {
		track_damage(at, DAMAGE_FLOW_NO_START);
		return;
	}
	track_put_wake(at, wakee, at->tid, at->category == CATEGORY_WAKER_NEW);
}

/* What the slice that followed says of a waker whose own events are not in the file. */
static uint32_t absent_waker(struct track_at *at, const struct track_flow *flow)
{
	const struct packet *pk;
	struct track_text name;
	uint32_t tid, cpu;

	if (flow->begin == FLOW_NONE)
		return TRACK_NONE;
	pk = &at->r->packets[flow->begin];
	at->strings = (struct track_strings_at){ .r = at->r, .state = pk->state };
	track_event_read(&at->e, pb_in_of(pk->body, pk->len), track_strings_of(&at->strings));
	at->cpu = track_arg_u32(&at->e, KEY_WAKER_CPU, at->cpu);
	if (at->cpu >= READER_CPUS_MAX)
		at->cpu = 0;
	tid = track_arg_u32(&at->e, KEY_WAKER_TID, TRACK_NONE);
	if (tid != TRACK_NONE || !track_arg_text(&at->e, KEY_WAKER, &name))
		return tid;
	if (track_swapper_cpu(name, &cpu))
		return 0;
	(void)track_tid_by_name(at, name, &tid);
	return tid;
}

/* Only where the waker's event has not said it already. */
void track_wakee(struct track_at *at)
{
	const struct track_flow *flow = NULL;
	uint32_t waker, tid = at->tid;
	bool is_new = at->category == CATEGORY_WAKEE_NEW;

	if (at->e.nr_flows)
		flow = track_flow_get(at->t, at->e.flows[0], false);
	if (!at->t->uses_wakes || !tid || !flow || flow->has_waker)
		return;
	waker = absent_waker(at, flow);
	track_put_wake(at, tid, waker, is_new);
}

static void flush_cpus(struct track_at *at)
{
	struct track_group *g = &at->t->group;

	for (size_t i = 0; i < g->nr_cpus; i++) {
		struct track_cpu *c = &at->t->cpus[g->cpus[i]];

		if (c->has_end)
			put_end_alone(at, c);
		if (c->has_begin)
			put_begin_alone(at, c);
	}
	g->nr_cpus = 0;
}

static bool begins_now(const struct track_group *g, uint32_t tid)
{
	size_t nr = g->nr_begun < SEARCH_MAX ? g->nr_begun : SEARCH_MAX;

	for (size_t i = 0; i < nr; i++)
		if (g->begun[i] == tid)
			return true;
	return false;
}

static void put_lost(struct track_at *at, uint32_t cpu)
{
	static const uint32_t kinds[] = { EV_SWITCH, EV_WAKING };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct ev_lost *rec = track_rec(at, EV_LOST, sizeof(*rec), cpu, at->ts_ns);

		rec->kind = kinds[i];
	}
}

static void put_switches(struct track_at *at)
{
	struct track_group *g = &at->t->group;
	struct ev_switch *rec;

	for (size_t i = 0; i < g->nr_switches; i++) {
		const struct ev_switch *sw = &g->switches[i];

		if (sw->hdr.kind == EV_LOST) {
			put_lost(at, sw->hdr.cpu);
			continue;
		}
		rec = track_rec(at, EV_SWITCH, sizeof(*rec), sw->hdr.cpu, at->ts_ns);
		memcpy(&rec->prev_tid, &sw->prev_tid, sizeof(*sw) - sizeof(sw->hdr));
		rec->hdr.flags = sw->hdr.flags;
	}
	g->nr_switches = 0;
}

/* Of a run with only the lower half of the queue's number. */
static void repair_dsq(const struct track_group *g, struct ev_scx_run *run)
{
	size_t nr = g->nr_leaves < SEARCH_MAX ? g->nr_leaves : SEARCH_MAX;

	for (size_t i = 0; i < nr; i++) {
		const struct ev_dsq_leave *leave = &g->leaves[i];

		if (leave->tid != run->tid || (uint32_t)leave->dsq_id != (uint32_t)run->dsq_id)
			continue;
		run->dsq_id = leave->dsq_id;
		run->flags &= ~(uint32_t)EV_SCX_DSQ_CUT;
		return;
	}
}

/* A task leaves its queue before the switch, and sched_ext's data of a run follows it. */
void track_group_end(struct track_at *at)
{
	struct track_group *g = &at->t->group;
	struct ev_dsq_leave *leave;
	struct ev_scx_run *run;

	flush_cpus(at);
	for (size_t i = 0; i < g->nr_leaves; i++) {
		leave = track_rec(at, EV_DSQ_LEAVE, sizeof(*leave), g->leaves[i].hdr.cpu,
		                  at->ts_ns);
		memcpy(&leave->start_ns, &g->leaves[i].start_ns,
		       sizeof(*leave) - sizeof(leave->hdr));
		if (!(g->leaves[i].hdr.flags & LEAVE_IS_REPORTED))
			leave->is_moved = leave->tid && !begins_now(g, leave->tid);
	}
	put_switches(at);
	for (size_t i = 0; i < g->nr_runs; i++) {
		repair_dsq(g, &g->runs[i]);
		run = track_rec(at, EV_SCX_RUN, sizeof(*run), g->runs[i].hdr.cpu, at->ts_ns);
		memcpy(&run->dsq_id, &g->runs[i].dsq_id, sizeof(*run) - sizeof(run->hdr));
	}
	g->nr_leaves = g->nr_runs = g->nr_begun = 0;
}
