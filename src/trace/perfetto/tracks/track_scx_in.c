#include <errno.h>
#include <string.h>

#include "base/grow.h"
#include "trace/perfetto/tracks/schema_tracks.h"
#include "trace/perfetto/tracks/tracks_in.h"

/* A name of a slice in a queue ends in the queue's number, "DSQ:dsq_insert_0x7". */
static uint64_t dsq_of_name(struct track_text name)
{
	uint64_t id = 0;
	size_t at = name.len;

	while (at > 0 && name.s[at - 1] != '_')
		at--;
	if (at == 0 || name.len - at < 3 || name.len - at > 18 || memcmp(name.s + at, "0x", 2) != 0)
		return EV_DSQ_INVALID;
	for (at += 2; at < name.len; at++) {
		char c = name.s[at];

		if (c >= '0' && c <= '9')
			id = id << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			id = id << 4 | (uint64_t)(c - 'a' + 10);
		else
			return EV_DSQ_INVALID;
	}
	return id;
}

static uint8_t how_of(struct track_text action)
{
	static const struct {
		const char *name;
		uint8_t how;
	} names[] = {
		{ "dsq_insert", EV_DSQ_INSERT },
		{ "dsq_insert_vtime", EV_DSQ_INSERT_VTIME },
		{ "dispatch", EV_DSQ_INSERT },
		{ "dispatch_vtime", EV_DSQ_INSERT_VTIME },
		{ "dsq_move", EV_DSQ_MOVE },
		{ "dsq_move_vtime", EV_DSQ_MOVE_VTIME },
		{ "dispatch_from_dsq", EV_DSQ_MOVE },
		{ "dispatch_vtime_from_dsq", EV_DSQ_MOVE_VTIME },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (track_text_is(action, names[i].name))
			return names[i].how;
	return EV_DSQ_INSERT;
}

/* 4294967295 is none; so is whatever does not fit. */
static uint32_t layer_of(const struct track_event_in *e, enum track_key key, enum track_key old_key)
{
	return track_arg_u32(e, key, track_arg_u32(e, old_key, EV_NO_LAYER));
}

void track_dsq_leave(struct track_at *at, const struct ev_dsq_leave *leave)
{
	struct track_group *g = &at->t->group;

	if (GROW(g->leaves, g->cap_leaves, g->nr_leaves)) {
		at->err = -ENOMEM;
		return;
	}
	g->leaves[g->nr_leaves] = *leave;
	g->leaves[g->nr_leaves++].hdr.cpu = at->cpu;
}

void track_dsq(struct track_at *at)
{
	struct track_open slice = { .ts_ns = at->ts_ns,
		                    .cpu = at->cpu,
		                    .name = track_event_name(&at->e) };
	struct ev_dsq_leave leave = { .tid = at->tid };
	struct track_text action;
	int64_t dsq, value;

	if (at->e.type == TRACK_TYPE_BEGIN) {
		if (track_arg_text(&at->e, KEY_ACTION, &action))
			slice.how = how_of(action);
		track_open(at, &slice);
		return;
	}
	/* An instant: it entered the queue before the recording. */
	if (at->e.type == TRACK_TYPE_INSTANT) {
		slice.ts_ns = 0;
		if (track_arg_text(&at->e, KEY_ACTION, &action))
			slice.how = how_of(action);
	} else if (at->e.type != TRACK_TYPE_END || !track_close(at, &slice))
		return;
	if (at->tid)
		decoder_name(at->dec, at->ts_ns, at->tid, NULL, 0);
	if (!at->has_cpu)
		at->cpu = slice.cpu;
	leave.start_ns = slice.ts_ns;
	leave.how = slice.how;
	leave.layer = layer_of(&at->e, KEY_SCX_LAYER_ID, KEY_LAYER_ID);
	leave.dsq_id = dsq_of_name(slice.name);
	if (track_arg_int(&at->e, KEY_SCX_DSQ_ID, &dsq) || track_arg_int(&at->e, KEY_DSQ_ID, &dsq))
		leave.dsq_id = (uint64_t)dsq;
	if (track_arg_int(&at->e, KEY_SCX_VTIME, &value)) {
		leave.vtime = (uint64_t)value;
		leave.flags |= EV_SCX_HAS_VTIME;
	}
	if (track_arg_int(&at->e, KEY_SCX_MOVED, &value)) {
		leave.is_moved = value != 0;
		leave.hdr.flags |= LEAVE_IS_REPORTED;
	}
	if (track_arg_int(&at->e, KEY_SCX_DEQUEUED, &value) && value)
		leave.flags |= EV_SCX_DEQUEUED;
	track_dsq_leave(at, &leave);
}

/* What is said of a run beside its queue and layer. */
static void add_run(struct track_at *at, struct ev_scx_run *run)
{
	struct track_group *g = &at->t->group;
	int64_t value;

	if (track_arg_int(&at->e, KEY_SCX_SLICE_NS, &value)) {
		run->slice_ns = (uint64_t)value;
		run->flags |= EV_SCX_HAS_SLICE;
	}
	if (track_arg_int(&at->e, KEY_SCX_VTIME, &value)) {
		run->vtime = (uint64_t)value;
		run->flags |= EV_SCX_HAS_VTIME;
	}
	if (GROW(g->runs, g->cap_runs, g->nr_runs)) {
		at->err = -ENOMEM;
		return;
	}
	g->runs[g->nr_runs++] = *run;
}

/* What the begin of a slice says. 0 with 0 is a task that no scheduler has seen. */
void track_scx_run(struct track_at *at)
{
	struct ev_scx_run run = { .hdr.cpu = at->cpu, .tid = at->tid, .dsq_id = EV_DSQ_INVALID };
	int64_t dsq = 0;
	bool has_dsq = track_arg_int(&at->e, KEY_SCX_DSQ_ID, &dsq);

	run.layer = layer_of(&at->e, KEY_SCX_LAYER_ID, KEY_LAYER_ID);
	if (!has_dsq && run.layer == EV_NO_LAYER)
		return;
	if (dsq == 0 && run.layer == 0)
		return;
	if (has_dsq && dsq) {
		run.dsq_id = (uint64_t)dsq;
		/* wprof cuts the number to 32 bits here. */
		if (run.dsq_id <= UINT32_MAX)
			run.flags |= EV_SCX_DSQ_CUT;
	}
	add_run(at, &run);
}

/* The same as our own recordings have it: nothing is there unless it is known. */
static void own_run(struct track_at *at)
{
	struct ev_scx_run run = { .hdr.cpu = at->cpu, .tid = at->tid, .dsq_id = EV_DSQ_INVALID };
	int64_t value;

	run.layer = layer_of(&at->e, KEY_SCX_LAYER_ID, KEY_LAYER_ID);
	if (track_arg_int(&at->e, KEY_SCX_DSQ_ID, &value))
		run.dsq_id = (uint64_t)value;
	if (track_arg_int(&at->e, KEY_SCX_DSQ_CUT, &value) && value)
		run.flags |= EV_SCX_DSQ_CUT;
	add_run(at, &run);
}

/* Why a scheduler exited, as far as given. */
static void add_reason(struct track_at *at, struct ev_scx_state *rec)
{
	struct track_text message = { 0 };
	int64_t value;

	if (track_arg_int(&at->e, KEY_SCX_EXIT_KIND, &value) && value > 0 && value <= UINT32_MAX)
		rec->exit_kind = (uint32_t)value;
	if (track_arg_int(&at->e, KEY_SCX_EXIT_CODE, &value))
		rec->exit_code = value;
	(void)track_arg_text(&at->e, KEY_SCX_MESSAGE, &message);
	track_comm(rec->message, sizeof(rec->message), message);
}

void track_scx(struct track_at *at)
{
	static const char *const states[] = {
		[EV_SCX_OFF] = "scx_disable",
		[EV_SCX_ON] = "scx_enable",
		[EV_SCX_EJECTED] = "scx_eject",
	};
	struct track_text name = track_event_name(&at->e), ops = { 0 };
	struct ev_scx_state *rec;

	if (at->e.type != TRACK_TYPE_INSTANT)
		return;
	if (at->tid && track_text_is(name, "run")) {
		own_run(at);
		return;
	}
	for (uint32_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		if (!track_text_is(name, states[i]))
			continue;
		(void)track_arg_text(&at->e, KEY_SCX_OPS, &ops);
		rec = track_rec(at, EV_SCX_STATE, sizeof(*rec), at->cpu, at->ts_ns);
		rec->state = i;
		track_comm(rec->name, sizeof(rec->name), ops);
		add_reason(at, rec);
	}
}
