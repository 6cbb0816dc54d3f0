#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "abi/event_check.h"
#include "base/grow.h"
#include "trace/perfetto/write/packets.h"
#include "trace/perfetto/write/writer_priv.h"

#define ARGS_MAX           8U
#define SCX_COUNTER_PREFIX "scx event "

/* Arguments of an event, with the names that wprof has for them. */
struct args {
	struct track_out *tracks;
	struct track_arg list[ARGS_MAX];
	size_t nr;
};

static void add_int(struct args *a, const char *name, int64_t value)
{
	a->list[a->nr++] = (struct track_arg){ .name_iid = track_iid(a->tracks, USE_ARG, name),
		                               .type = ARG_INT,
		                               .i = value };
}

/* What is unknown is left out. */
static void add_queue(struct args *a, uint64_t dsq_id, uint32_t layer, uint32_t flags)
{
	if (dsq_id != EV_DSQ_INVALID)
		add_int(a, "scx_dsq_id", (int64_t)dsq_id);
	if (flags & EV_SCX_DSQ_CUT)
		add_int(a, "scx_dsq_cut", 1);
	if (layer != EV_NO_LAYER)
		add_int(a, "scx_layer_id", layer);
}

static void add_uint(struct args *a, const char *name, uint64_t value)
{
	a->list[a->nr++] = (struct track_arg){ .name_iid = track_iid(a->tracks, USE_ARG, name),
		                               .type = ARG_UINT,
		                               .u = value };
}

/* The place of a record, and the track "scx" of its task, there since ts_ns. */
static int scx_place(struct trace_writer *w, const struct ev_hdr *hdr, uint32_t tid,
                     uint64_t since_ns, struct writer_place *at, uint64_t *track_uuid)
{
	struct trace_task *task;
	int err = writer_at(w, hdr, at);

	if (!err)
		err = writer_task(w, tid, at->ts_ns, &task);
	if (!err)
		err = track_begin(&w->tracks);
	if (err)
		return err;
	return track_of_scx(&w->tracks, at->cpu, task, since_ns ? since_ns : at->ts_ns, track_uuid);
}

int writer_scx_run(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_scx_run *rec = (const void *)hdr;
	struct args args = { .tracks = &w->tracks };
	struct track_event event = { .args = args.list };
	struct writer_place at;
	int err = scx_place(w, hdr, rec->tid, 0, &at, &event.track_uuid);

	if (err)
		return err;
	event.category_iid = track_iid(&w->tracks, USE_CATEGORY, "scx");
	event.name_iid = track_iid(&w->tracks, USE_NAME, "run");
	add_int(&args, "cpu", hdr->cpu);
	add_queue(&args, rec->dsq_id, rec->layer, rec->flags);
	if (rec->flags & EV_SCX_HAS_SLICE)
		add_uint(&args, "scx_slice_ns", rec->slice_ns);
	if (rec->flags & EV_SCX_HAS_VTIME)
		add_uint(&args, "scx_vtime", rec->vtime);
	event.nr_args = args.nr;
	return track_instant(&w->tracks, at.ts_ns, &event);
}

static const char *how_of(uint8_t how)
{
	static const char *const names[] = {
		[EV_DSQ_INSERT] = "dsq_insert",
		[EV_DSQ_INSERT_VTIME] = "dsq_insert_vtime",
		[EV_DSQ_MOVE] = "dsq_move",
		[EV_DSQ_MOVE_VTIME] = "dsq_move_vtime",
	};

	return how < sizeof(names) / sizeof(names[0]) ? names[how] : "dsq";
}

/* From the insertion to the end, or an instant at the end where the insertion is not known. */
static int put_stay(struct trace_writer *w, const struct ev_dsq_leave *rec, uint64_t start_ns)
{
	char name[64];
	struct args begin_args = { .tracks = &w->tracks }, args = { .tracks = &w->tracks };
	struct track_event begin = { .args = begin_args.list }, end = { .args = args.list };
	struct writer_place at;
	int err = scx_place(w, &rec->hdr, rec->tid, start_ns, &at, &begin.track_uuid);

	if (err)
		return err;
	(void)snprintf(name, sizeof(name), "DSQ:%s_0x%llx", how_of(rec->how),
	               (unsigned long long)rec->dsq_id);
	begin.category_iid = track_iid(&w->tracks, USE_CATEGORY, "SCX_DSQ");
	begin.name_iid = track_iid(&w->tracks, USE_NAME, name);
	begin_args.list[begin_args.nr++] =
		(struct track_arg){ .name_iid = track_iid(&w->tracks, USE_ARG, "action"),
		                    .type = ARG_TEXT,
		                    .text = how_of(rec->how) };
	begin.nr_args = begin_args.nr;
	add_queue(&args, rec->dsq_id, rec->layer, rec->flags);
	if (rec->flags & EV_SCX_HAS_VTIME)
		add_uint(&args, "scx_vtime", rec->vtime);
	add_int(&args, "scx_moved", rec->is_moved != 0);
	if (rec->flags & EV_SCX_DEQUEUED)
		add_int(&args, "scx_dequeued", 1);
	add_int(&args, "cpu", rec->hdr.cpu);
	end.nr_args = args.nr;
	if (start_ns) {
		end.category_iid = begin.category_iid;
		return track_slice(&w->tracks, start_ns, at.ts_ns, &begin, &end);
	}
	args.list[args.nr++] = begin_args.list[0];
	begin.args = args.list;
	begin.nr_args = args.nr;
	return track_instant(&w->tracks, at.ts_ns, &begin);
}

/* NULL without room for one more. */
static int find_dsq(struct trace_writer *w, uint64_t dsq_id, struct track_dsq **out)
{
	uint32_t nr = map_nr(w->dsq_ids), i;
	int err;

	*out = NULL;
	if (!map_find(w->dsq_ids, &dsq_id, &i)) {
		if (GROW(w->dsqs, w->dsqs_room, nr))
			return -ENOMEM;
		i = nr;
		err = map_insert(w->dsq_ids, &dsq_id, i);
		if (err)
			return err == -E2BIG ? 0 : err;
		w->dsqs[i] = (struct track_dsq){ .dsq_id = dsq_id, .number = i };
	}
	*out = &w->dsqs[i];
	return 0;
}

int writer_dsq_leave(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_dsq_leave *rec = (const void *)hdr;
	bool has_start = rec->start_ns && rec->start_ns <= hdr->ts_ns;
	struct track_dsq *dsq = NULL;
	int err = 0;

	if (rec->dsq_id == EV_DSQ_INVALID)
		return -ERANGE;
	if (rec->tid)
		err = put_stay(w, rec, has_start ? rec->start_ns : 0);
	if (!err && has_start && !rec->is_moved)
		err = find_dsq(w, rec->dsq_id, &dsq);
	if (err || !dsq)
		return err;
	return track_dsq_latency(&w->tracks, dsq, hdr->ts_ns, hdr->ts_ns - rec->start_ns);
}

int writer_dsq_depth(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_dsq_depth *rec = (const void *)hdr;
	struct track_dsq *dsq;
	int err;

	if (rec->dsq_id == EV_DSQ_INVALID)
		return -ERANGE;
	err = find_dsq(w, rec->dsq_id, &dsq);
	if (err || !dsq)
		return err ? err : -ERANGE;
	return track_dsq_depth(&w->tracks, dsq, hdr->ts_ns, rec->depth);
}

static void add_text(struct args *a, const char *name, const char *text)
{
	a->list[a->nr++] = (struct track_arg){ .name_iid = track_iid(a->tracks, USE_ARG, name),
		                               .type = ARG_TEXT,
		                               .text = text };
}

/* Why the scheduler went, as far as known. */
static void add_reason(struct args *a, const struct ev_scx_state *rec)
{
	const char *reason = ev_scx_reason(rec->exit_kind);

	if (rec->exit_kind)
		add_int(a, "scx_exit_kind", rec->exit_kind);
	if (reason)
		add_text(a, "scx_reason", reason);
	if (rec->exit_code)
		add_int(a, "scx_exit_code", rec->exit_code);
	if (rec->message[0])
		add_text(a, "scx_message", rec->message);
}

int writer_scx_state(struct trace_writer *w, const struct ev_hdr *hdr)
{
	static const char *const names[] = {
		[EV_SCX_OFF] = "scx_disable",
		[EV_SCX_ON] = "scx_enable",
		[EV_SCX_EJECTED] = "scx_eject",
	};
	struct ev_scx_state rec = *(const struct ev_scx_state *)(const void *)hdr;
	struct args args = { .tracks = &w->tracks };
	struct track_event event = { .args = args.list };
	int err;

	/* Texts may be unterminated. */
	rec.name[sizeof(rec.name) - 1] = rec.message[sizeof(rec.message) - 1] = '\0';
	if (rec.state >= sizeof(names) / sizeof(names[0]))
		return -ERANGE;
	err = track_begin(&w->tracks);
	if (!err)
		err = track_of_scheduler(&w->tracks, hdr->ts_ns, &event.track_uuid);
	if (err)
		return err;
	event.category_iid = track_iid(&w->tracks, USE_CATEGORY, "scx");
	event.name_iid = track_iid(&w->tracks, USE_NAME, names[rec.state]);
	add_text(&args, "scx_ops", rec.name);
	add_reason(&args, &rec);
	event.nr_args = args.nr;
	return track_instant(&w->tracks, hdr->ts_ns, &event);
}

/* The number of a counter; those beyond the cap have none. */
static bool find_counter(struct trace_writer *w, const char *name, struct track_counter *out)
{
	size_t i = 0;

	while (i < w->nr_scx_counters && strcmp(w->scx_counters[i], name) != 0)
		i++;
	if (i == WRITER_SCX_COUNTERS_MAX)
		return false;
	out->is_new = i == w->nr_scx_counters;
	out->id = i;
	if (out->is_new) {
		(void)snprintf(w->scx_counters[i], sizeof(w->scx_counters[i]), "%s", name);
		w->nr_scx_counters++;
	}
	return true;
}

int writer_scx_counter(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_scx_counter *rec = (const void *)hdr;
	struct track_counter counter = { 0 };
	char own[sizeof(rec->name)], name[sizeof(SCX_COUNTER_PREFIX) + sizeof(own)];
	int err;

	/* It may be unterminated. */
	(void)snprintf(own, sizeof(own), "%.*s", (int)sizeof(own) - 1, rec->name);
	if (!find_counter(w, own, &counter))
		return -ERANGE;
	(void)snprintf(name, sizeof(name), SCX_COUNTER_PREFIX "%s", own);
	counter.name = name;
	err = track_begin(&w->tracks);
	return err ? err
	           : track_scheduler_counter(&w->tracks, hdr->ts_ns, &counter,
	                                     (uint64_t)rec->value);
}
