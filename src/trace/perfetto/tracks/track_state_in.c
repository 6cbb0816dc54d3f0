#include <errno.h>
#include <string.h>

#include "trace/ftrace/events.h"
#include "trace/perfetto/tracks/schema_tracks.h"
#include "trace/perfetto/tracks/tracks_in.h"

/* What is kept of each task: its last state, and while it runs the CPU. */
#define STATE_OF(kept)   ((kept)&0xff)
#define CPU_OF(kept)     ((kept) >> 8)
#define KEPT(state, cpu) ((uint32_t)(state) | (uint32_t)(cpu) << 8)

struct state_event {
	uint32_t tid, state;
	bool is_beyond; /* its tid has more than 31 bits: other records have no room for it */
	struct track_text comm;
};

static uint32_t leaves_as(uint32_t state)
{
	static const uint32_t states[] = {
		[GENERIC_INTERRUPTIBLE] = EV_STATE_S, [GENERIC_UNINTERRUPTIBLE] = EV_STATE_D,
		[GENERIC_STOPPED] = EV_STATE_STOPPED, [GENERIC_DEAD] = EV_STATE_ZOMBIE,
		[GENERIC_DESTROYED] = EV_STATE_DEAD,
	};

	return state < sizeof(states) / sizeof(states[0]) ? states[state] : EV_STATE_RUNNABLE;
}

static struct state_event read_event(struct track_at *at)
{
	struct pb_in in = pb_in_of(at->packet->body, at->packet->len);
	struct state_event e = { 0 };
	struct pb_field f;

	at->cpu = 0;
	at->has_cpu = false;
	while (pb_next(&in, &f)) {
		if (f.nr == TASK_STATE_CPU && f.type == PB_VARINT && f.value < READER_CPUS_MAX) {
			at->cpu = (uint32_t)f.value;
			at->has_cpu = true;
		} else if (f.nr == TASK_STATE_TID && f.type == PB_VARINT) {
			e.is_beyond = f.value > INT32_MAX;
			e.tid = e.is_beyond ? 0 : (uint32_t)f.value;
		} else if (f.nr == TASK_STATE_PRIO && f.type == PB_VARINT) {
			at->prio = prio_of(f.value);
		} else if (f.nr == TASK_STATE_STATE && f.type == PB_VARINT) {
			e.state = f.value <= GENERIC_DESTROYED ? (uint32_t)f.value : 0;
		} else if (f.nr == TASK_STATE_COMM && f.type == PB_BYTES) {
			e.comm = (struct track_text){ .s = (const char *)f.bytes,
				                      .len = (size_t)f.value };
		}
	}
	if (track_text_begins(e.comm, "swapper")) {
		e.tid = 0;
		e.is_beyond = false;
	}
	return e;
}

static void put_birth(struct track_at *at, const struct state_event *e)
{
	struct ev_fork *rec = track_rec(at, EV_FORK, sizeof(*rec), at->cpu, at->ts_ns);

	rec->tid = rec->tgid = e->tid;
	track_comm(rec->comm, sizeof(rec->comm), e->comm);
}

static void put_end(struct track_at *at, const struct state_event *e)
{
	struct ev_exit *exit;
	struct ev_free *free_rec;

	if (e->state == GENERIC_DEAD) {
		exit = track_rec(at, EV_EXIT, sizeof(*exit), at->cpu, at->ts_ns);
		exit->tid = e->tid;
		exit->prio = at->prio;
		track_comm(exit->comm, sizeof(exit->comm), e->comm);
	} else {
		free_rec = track_rec(at, EV_FREE, sizeof(*free_rec), at->cpu, at->ts_ns);
		free_rec->tid = e->tid;
		free_rec->prio = at->prio;
		track_comm(free_rec->comm, sizeof(free_rec->comm), e->comm);
	}
}

/* From one state to the next, as switches, wakes, forks and exits. */
static void take_step(struct track_at *at, const struct state_event *e, uint32_t before)
{
	bool was_running = STATE_OF(before) == GENERIC_RUNNING;

	if (was_running) {
		at->cpu = CPU_OF(before);
		track_task_leaves(at, leaves_as(e->state), true);
	}
	switch (e->state) {
	case GENERIC_CREATED:
		put_birth(at, e);
		break;
	case GENERIC_RUNNABLE:
		if (!was_running)
			track_put_wake(at, e->tid, TRACK_NONE, STATE_OF(before) == GENERIC_CREATED);
		break;
	case GENERIC_RUNNING:
		track_task_comes(at, true);
		break;
	case GENERIC_DEAD:
	case GENERIC_DESTROYED:
		put_end(at, e);
		break;
	default:
		break;
	}
}

void track_task_state(struct track_at *at)
{
	struct state_event e = read_event(at);
	uint32_t before = 0;

	at->tid = e.tid;
	if (e.is_beyond) {
		track_damage(at, DAMAGE_BAD_TID);
		return;
	}
	/* The idle task is switched in and out like the others. */
	if (!e.tid)
		return;
	(void)map_find(at->t->generic, &e.tid, &before);
	if (!e.state || (e.state == GENERIC_RUNNING && !at->has_cpu) ||
	    (e.state == GENERIC_RUNNING && STATE_OF(before) == GENERIC_RUNNING) ||
	    (STATE_OF(before) == GENERIC_DEAD && e.state != GENERIC_DESTROYED)) {
		track_damage(at, DAMAGE_STATE_INVALID);
		return;
	}
	decoder_name(at->dec, at->ts_ns, e.tid, e.comm.s, e.comm.len);
	take_step(at, &e, before);
	if (map_insert(at->t->generic, &e.tid, KEPT(e.state, at->cpu)) == -ENOMEM)
		at->err = -ENOMEM;
}

void track_task_rename(struct track_at *at)
{
	struct pb_in in = pb_in_of(at->packet->body, at->packet->len);
	struct track_text comm = { 0 };
	struct ev_rename *rec;
	struct pb_field f;
	uint32_t tid = 0;

	while (pb_next(&in, &f)) {
		if (f.nr == GENERIC_RENAME_TID && f.type == PB_VARINT)
			tid = f.value <= INT32_MAX ? (uint32_t)f.value : 0;
		else if (f.nr == GENERIC_RENAME_COMM && f.type == PB_BYTES)
			comm = (struct track_text){ .s = (const char *)f.bytes,
				                    .len = (size_t)f.value };
	}
	if (!tid || !comm.len)
		return;
	decoder_name(at->dec, at->ts_ns, tid, NULL, 0);
	rec = track_rec(at, EV_RENAME, sizeof(*rec), 0, at->ts_ns);
	rec->tid = tid;
	track_comm(rec->comm, sizeof(rec->comm), comm);
}

void track_cpu_freq(struct track_at *at)
{
	struct pb_in in = pb_in_of(at->packet->body, at->packet->len);
	uint64_t cpu = READER_CPUS_MAX, hz = 0;
	struct ev_cpu_freq *rec;
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.nr == GENERIC_FREQ_CPU && f.type == PB_VARINT)
			cpu = f.value;
		else if (f.nr == GENERIC_FREQ_HZ && f.type == PB_VARINT)
			hz = f.value;
	}
	if (cpu >= READER_CPUS_MAX || hz / 1000 > UINT32_MAX) {
		track_damage(at, DAMAGE_BAD_CPU);
		return;
	}
	rec = track_rec(at, EV_CPU_FREQ, sizeof(*rec), (uint32_t)cpu, at->ts_ns);
	rec->cpu = (uint32_t)cpu;
	rec->khz = (uint32_t)(hz / 1000);
}
