#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "trace/perfetto/tracks/schema_tracks.h"
#include "trace/perfetto/tracks/tracks_in.h"

#define OPENS_MAX (1U << 24)
#define DEPTH_MAX 256U /* that an end searches for its begin */

struct open_key {
	uint32_t track;
	uint32_t category;
};

static uint32_t take_slot(struct track_at *at)
{
	struct tracks *t = at->t;
	uint32_t index = t->free_open;

	if (index != TRACK_NONE) {
		t->free_open = t->opens[index].below;
		return index;
	}
	if (t->nr_opens >= OPENS_MAX) {
		track_damage(at, DAMAGE_OVER_CAP);
		return TRACK_NONE;
	}
	if (GROW(t->opens, t->cap_opens, t->nr_opens)) {
		at->err = -ENOMEM;
		return TRACK_NONE;
	}
	return (uint32_t)t->nr_opens++;
}

void track_open(struct track_at *at, const struct track_open *open)
{
	const struct open_key key = { .track = at->track_idx, .category = at->category };
	uint32_t below = TRACK_NONE, index = take_slot(at);

	if (index == TRACK_NONE)
		return;
	(void)map_find(at->t->open_tops, &key, &below);
	at->t->opens[index] = *open;
	at->t->opens[index].below = below;
	if (map_insert(at->t->open_tops, &key, index) < 0)
		at->err = -ENOMEM;
}

static bool is_named(const struct track_open *open, struct track_text name)
{
	return !name.s || (open->name.s && open->name.len == name.len &&
	                   memcmp(open->name.s, name.s, name.len) == 0);
}

/* The innermost open one of the category, and of the name if the end has one. */
bool track_close(struct track_at *at, struct track_open *out)
{
	const struct open_key key = { .track = at->track_idx, .category = at->category };
	struct track_text name = track_event_name(&at->e);
	struct tracks *t = at->t;
	uint32_t index, above = TRACK_NONE;

	if (!map_find(t->open_tops, &key, &index))
		index = TRACK_NONE;
	for (unsigned int i = 0; index != TRACK_NONE && i < DEPTH_MAX; i++) {
		if (is_named(&t->opens[index], name))
			break;
		above = index;
		index = t->opens[index].below;
	}
	if (index == TRACK_NONE || !is_named(&t->opens[index], name)) {
		track_damage(at, DAMAGE_SLICE_END_MISPLACED);
		return false;
	}
	*out = t->opens[index];
	if (above != TRACK_NONE)
		t->opens[above].below = out->below;
	else if (out->below != TRACK_NONE)
		at->err = map_insert(t->open_tops, &key, out->below) < 0 ? -ENOMEM : at->err;
	else
		(void)map_remove(t->open_tops, &key);
	t->opens[index].below = t->free_open;
	t->free_open = index;
	return true;
}

/* True at a begin, which is now open; at an end *out is the slice, if there was one. */
static bool begin_or_end(struct track_at *at, uint64_t id, struct track_open *out, bool *has_ended)
{
	*out = (struct track_open){
		.ts_ns = at->ts_ns, .cpu = at->cpu, .id = id, .name = track_event_name(&at->e)
	};
	*has_ended = false;
	if (at->e.type == TRACK_TYPE_BEGIN) {
		track_open(at, out);
		return true;
	}
	if (at->e.type == TRACK_TYPE_END)
		*has_ended = track_close(at, out);
	return false;
}

static void introduce(struct track_at *at)
{
	if (at->tid)
		decoder_name(at->dec, at->ts_ns, at->tid, NULL, 0);
}

void track_hardirq(struct track_at *at)
{
	struct track_text action = { 0 };
	struct ev_irq_entry *entry;
	struct ev_irq_exit *exit;
	struct track_open slice;
	bool has_ended;

	if (begin_or_end(at, track_arg_u32(&at->e, KEY_IRQ, 0), &slice, &has_ended)) {
		(void)track_arg_text(&at->e, KEY_ACTION, &action);
		introduce(at);
		entry = track_rec(at, EV_IRQ_ENTRY, sizeof(*entry), at->cpu, at->ts_ns);
		entry->irq = (uint32_t)slice.id;
		entry->tid = at->tid;
		track_comm(entry->name, sizeof(entry->name), action);
	} else if (has_ended) {
		exit = track_rec(at, EV_IRQ_EXIT, sizeof(*exit), slice.cpu, at->ts_ns);
		exit->irq = (uint32_t)slice.id;
		exit->ret = 1;
	}
}

static uint32_t softirq_vector(struct track_text action)
{
	static const char *const names[] = { "hi",       "timer",   "net-tx", "net-rx",  "block",
		                             "irq-poll", "tasklet", "sched",  "hrtimer", "rcu" };

	if (track_text_begins(action, "SOFTIRQ:")) {
		action.s += strlen("SOFTIRQ:");
		action.len -= strlen("SOFTIRQ:");
	}
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (track_text_is(action, names[i]))
			return i;
	return UINT32_MAX;
}

void track_softirq(struct track_at *at)
{
	struct track_text action = track_event_name(&at->e);
	struct track_open slice;
	struct ev_softirq *rec;
	bool has_ended, is_begin;

	(void)track_arg_text(&at->e, KEY_ACTION, &action);
	is_begin = begin_or_end(at, softirq_vector(action), &slice, &has_ended);
	if (!is_begin && !has_ended)
		return;
	introduce(at);
	rec = track_rec(at, is_begin ? EV_SOFTIRQ_ENTRY : EV_SOFTIRQ_EXIT, sizeof(*rec), slice.cpu,
	                at->ts_ns);
	rec->vector = (uint32_t)slice.id;
	rec->tid = at->tid;
}

/* The file names the queue or the function; there is no address to report. */
void track_work(struct track_at *at)
{
	struct track_open slice;
	struct ev_work *rec;
	bool has_ended, is_begin = begin_or_end(at, 0, &slice, &has_ended);

	if (!is_begin && !has_ended)
		return;
	introduce(at);
	rec = track_rec(at, is_begin ? EV_WORK_START : EV_WORK_END, sizeof(*rec), slice.cpu,
	                at->ts_ns);
	rec->tid = at->tid;
}

void track_ipi(struct track_at *at)
{
	struct track_open slice;
	struct track_text reason;
	struct ev_ipi *rec;
	bool has_ended, is_begin = begin_or_end(at, 0, &slice, &has_ended);

	if (!is_begin && !has_ended)
		return;
	reason = slice.name;
	if (track_text_begins(reason, "IPI:")) {
		reason.s += strlen("IPI:");
		reason.len -= strlen("IPI:");
	}
	rec = track_rec(at, is_begin ? EV_IPI_ENTRY : EV_IPI_EXIT, sizeof(*rec), slice.cpu,
	                at->ts_ns);
	track_comm(rec->reason, sizeof(rec->reason), reason);
}

void track_ipi_send(struct track_at *at)
{
	struct ev_ipi_send *rec;

	introduce(at);
	rec = track_rec(at, EV_IPI_SEND, sizeof(*rec), at->cpu, at->ts_ns);
	rec->target_cpu = track_arg_u32(&at->e, KEY_TARGET_CPU, UINT32_MAX);
	rec->tid = at->tid;
}

static void end_span(struct track_at *at, const struct track_open *slice,
                     struct track_text category, uint64_t id)
{
	struct ev_span *rec;

	introduce(at);
	rec = track_rec(at, EV_SPAN, sizeof(*rec), slice->cpu, at->ts_ns);
	rec->start_ns = slice->ts_ns;
	rec->id = slice->id ? slice->id : id;
	rec->tid = at->tid;
	rec->category = decoder_text(at->dec, category.s, category.len);
	rec->name = decoder_text(at->dec, slice->name.s, slice->name.len);
}

/* Requests have tracks of their own, outside of any thread. */
void track_request(struct track_at *at)
{
	struct track_open slice;
	int64_t id = 0;
	bool has_ended;

	(void)track_arg_int(&at->e, KEY_REQ_ID, &id);
	if (begin_or_end(at, (uint64_t)id, &slice, &has_ended) || !has_ended)
		return;
	end_span(at, &slice, track_event_category_text(&at->e), (uint64_t)id);
}

/* Our own: the category that they had is an argument. */
void track_span(struct track_at *at)
{
	struct track_text category = { 0 };
	struct track_open slice;
	int64_t id = 0;
	bool has_ended;

	(void)track_arg_int(&at->e, KEY_REQ_ID, &id);
	(void)track_arg_text(&at->e, KEY_SPAN_CATEGORY, &category);
	if (!begin_or_end(at, (uint64_t)id, &slice, &has_ended) && has_ended)
		end_span(at, &slice, category, (uint64_t)id);
}
