#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/perfetto/schema.h"
#include "trace/perfetto/tracks/schema_tracks.h"
#include "trace/perfetto/tracks/tracks_in.h"

#define MISSING_TASKS 4U /* unpaired halves per broken pair: more are not losses */

/* What one pass over the heads of all events carries. */
struct track_linker {
	struct reader *r;
	struct tracks *t;
	struct track_event_in e;
	uint64_t last_ts_ns;
	uint64_t nr_alone;  /* halves of switches to or from a task without the other half */
	uint64_t nr_broken; /* times that a task began, or ended, to run twice in a row */
	uint32_t mono;      /* clock of old time stamps; CLOCK_NONE = not in this file */
};

static bool find_string(const void *ctx, uint32_t field, uint64_t iid, struct track_text *out,
                        uint32_t *id)
{
	const struct track_strings_at *at = ctx;
	const struct iid_entry *entry = state_find(at->r, at->state, field, iid);

	if (!entry)
		return false;
	*out = (struct track_text){ .s = (const char *)entry->bytes, .len = entry->len };
	*id = entry->text;
	return true;
}

struct track_strings track_strings_of(const struct track_strings_at *at)
{
	return (struct track_strings){ .find = find_string,
		                       .ctx = at,
		                       .keys = at->r->tracks->keys,
		                       .nr_keys = at->r->tracks->nr_texts };
}

/* What each string of the file means, once for all events. */
static int learn_texts(struct reader *r)
{
	struct tracks *t = r->tracks;
	struct track_text text;

	t->nr_texts = intern_nr(r->texts);
	t->keys = calloc(t->nr_texts, 1);
	t->categories = calloc(t->nr_texts, 1);
	if (!t->keys || !t->categories)
		return -ENOMEM;
	for (uint32_t i = 1; i < t->nr_texts; i++) {
		text.s = intern_string(r->texts, i, &text.len);
		t->keys[i] = (uint8_t)track_key_of(text);
		t->categories[i] = (uint8_t)track_category_of(text);
	}
	return 0;
}

/* Old events have microseconds of the monotonic clock of their own. */
static uint64_t old_ts_ns(struct track_linker *l, struct track_in *track)
{
	int64_t us = l->e.time_us;
	uint64_t ns;

	if (l->e.has_delta_us) {
		if (__builtin_add_overflow(us, track->reference_us, &us))
			return NO_TS;
		track->reference_us = us;
	}
	if (us < 0 || __builtin_mul_overflow((uint64_t)us, 1000ULL, &ns))
		return NO_TS;
	return l->mono == CLOCK_NONE ? ns : clocks_to_trace(&l->r->clocks, l->mono, ns);
}

static uint64_t row_ts_ns(struct track_linker *l, const struct packet *pk, uint32_t track)
{
	uint64_t ts_ns = packet_ts_ns(l->r, pk, &l->r->tally);

	if (ts_ns == NO_TS && (l->e.has_absolute_us || l->e.has_delta_us))
		ts_ns = old_ts_ns(l, track_descs_get(l->t->descs, track));
	if (ts_ns == NO_TS) {
		l->r->tally.damage[DAMAGE_TRACK_NO_TS]++;
		return l->last_ts_ns;
	}
	l->last_ts_ns = ts_ns;
	tally_time(&l->r->tally, ts_ns);
	return ts_ns;
}

/* Counts it, and returns its meaning. */
static uint8_t take_category(struct track_linker *l, const struct packet *pk)
{
	struct decoder dec = { .r = l->r };
	struct track_text text = l->e.category;
	const struct iid_entry *entry;
	uint32_t id = 0;

	if (text.s) {
		tally_text(&l->r->tally.categories, decoder_text(&dec, text.s, text.len), 1);
		return (uint8_t)track_category_of(text);
	}
	entry = state_find(l->r, pk->state, INTERNED_EVENT_CATEGORIES, l->e.category_iid);
	if (entry && entry->text < l->t->nr_texts)
		id = entry->text;
	tally_text(&l->r->tally.categories, id, 1);
	return l->t->categories[id];
}

/* The tasks at the ends of flows: the waker's event begins a wake, the wakee's ends it. */
static int take_flows(struct track_linker *l, const struct track_row *row)
{
	struct track_flow *flow;

	for (uint32_t i = 0; i < l->e.nr_flows; i++) {
		flow = track_flow_get(l->t, l->e.flows[i], true);
		if (!flow)
			return -ENOMEM;
		switch (row->category) {
		case CATEGORY_WAKER:
		case CATEGORY_WAKER_NEW:
			flow->has_waker = true;
			break;
		case CATEGORY_WAKEE:
		case CATEGORY_WAKEE_NEW:
		case CATEGORY_WAKEE_UNKNOWN:
			flow->wakee = row->track;
			break;
		case CATEGORY_FORKING:
			flow->has_parent = true;
			break;
		case CATEGORY_FORKED:
			flow->child = row->track;
			break;
		default:
			flow->begin = row->packet;
			if (flow->wakee == TRACK_NONE)
				flow->wakee = row->track;
			break;
		}
	}
	return 0;
}

static bool has_flow_role(const struct track_row *row)
{
	switch (row->category) {
	case CATEGORY_ONCPU:
		return row->type == TRACK_TYPE_BEGIN;
	case CATEGORY_WAKER:
	case CATEGORY_WAKER_NEW:
	case CATEGORY_WAKEE:
	case CATEGORY_WAKEE_NEW:
	case CATEGORY_WAKEE_UNKNOWN:
	case CATEGORY_FORKING:
	case CATEGORY_FORKED:
		return true;
	default:
		return false;
	}
}

static int add_row(struct track_linker *l, struct track_row row)
{
	struct tracks *t = l->t;

	if (!grow_counted(l->r, &t->rows, t->nr_rows, &t->cap_rows, sizeof(*t->rows)))
		return -ENOMEM;
	row.order = (uint32_t)t->nr_rows;
	t->rows[t->nr_rows++] = row;
	return 0;
}

static uint64_t track_uuid(const struct track_linker *l, const struct packet *pk)
{
	return l->e.has_uuid ? l->e.uuid : l->r->states[pk->state].default_track;
}

static int note_birth(struct track_linker *l, const struct track_row *row)
{
	const struct track_in *track = track_descs_get(l->t->descs, row->track);

	return track_live(l->t, track->owner, LIFE_HAS_BIRTH, 0);
}

static int link_event(struct track_linker *l, uint32_t index)
{
	const struct packet *pk = &l->r->packets[index];
	struct track_row row = { .packet = index };
	int err = 0;

	track_event_head(&l->e, pb_in_of(pk->body, pk->len));
	if (l->e.is_bad)
		l->r->tally.damage[DAMAGE_TRACK_BAD]++;
	if (!(pk->flags & PACKET_HAS_SEQ))
		l->r->tally.damage[DAMAGE_TRACK_NO_SEQ]++;
	row.track = track_descs_index(l->t->descs, track_uuid(l, pk));
	if (row.track == TRACK_NONE)
		return -ENOMEM;
	row.type = l->e.type;
	row.has_extras = l->e.extra.nr_values || l->e.extra_double.nr_values;
	row.ts_ns = row_ts_ns(l, pk, row.track);
	row.category = take_category(l, pk);
	if (has_flow_role(&row))
		err = take_flows(l, &row);
	l->t->is_wprof |= row.category == CATEGORY_ONCPU || row.category == CATEGORY_WAKER;
	l->t->has_stays |= row.category == CATEGORY_SCX_DSQ;
	if (row.category == CATEGORY_FORKED && !err)
		err = note_birth(l, &row);
	if (row.category == CATEGORY_ONCPU) {
		/* What is at the very start was made up for a task that ran already. */
		l->t->nr_begins += row.type == TRACK_TYPE_BEGIN && pk->raw_ts != 0;
		l->t->nr_ends += row.type == TRACK_TYPE_END;
	}
	return err ? err : add_row(l, row);
}

static int link_other(struct track_linker *l, uint32_t index)
{
	const struct packet *pk = &l->r->packets[index];
	struct track_row row = { .packet = index, .track = TRACK_NONE };

	l->e.has_absolute_us = l->e.has_delta_us = false;
	row.ts_ns = row_ts_ns(l, pk, row.track);
	return add_row(l, row);
}

/* Only the number of packed varints matters. */
static uint64_t count_packed(const struct pb_field *f)
{
	uint64_t nr = 0;

	for (uint64_t i = 0; i < f->value; i++)
		nr += f->bytes[i] < 0x80;
	return nr;
}

static uint64_t count_in(struct pb_in in, uint32_t member)
{
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.nr != member || f.type != PB_BYTES)
			continue;
		return member == COMPACT_SWITCH_TIMESTAMP ? count_packed(&f) : 1;
	}
	return 0;
}

static uint64_t count_switches(const struct packet *pk)
{
	struct pb_in in = pb_in_of(pk->body, pk->len);
	struct pb_field f;
	uint64_t nr = 0;

	while (pb_next(&in, &f)) {
		if (f.type != PB_BYTES)
			continue;
		if (f.nr == BUNDLE_EVENT)
			nr += count_in(pb_in_field(&f), FTRACE_SCHED_SWITCH);
		else if (f.nr == BUNDLE_COMPACT_SCHED)
			nr += count_in(pb_in_field(&f), COMPACT_SWITCH_TIMESTAMP);
	}
	return nr;
}

static void count_ftrace(struct track_linker *l)
{
	for (size_t i = 0; i < l->r->nr_packets; i++) {
		if (l->r->packets[i].kind != PAYLOAD_FTRACE)
			continue;
		l->t->has_ftrace = true;
		l->t->nr_ftrace_switches += count_switches(&l->r->packets[i]);
	}
}

/* Up to 0.5 a task was "blocked", whatever it waited for. */
static bool is_old_reason(struct track_event_in *e, const struct reader *r, const struct packet *pk,
                          bool *is_known)
{
	const struct track_strings_at at = { .r = r, .state = pk->state };
	struct track_text reason;

	track_event_read(e, pb_in_of(pk->body, pk->len), track_strings_of(&at));
	*is_known = (track_arg_text(e, KEY_OFFCPU_REASON, &reason) ||
	             track_arg_text(e, KEY_OFFCPU_REASON_OLD, &reason)) &&
	            !track_text_is(reason, "preempted");
	return *is_known && track_text_is(reason, "blocked");
}

static bool is_swapper(struct track_event_in *e, enum track_key key)
{
	struct track_text name;
	uint32_t cpu;

	return track_arg_text(e, key, &name) && track_swapper_cpu(name, &cpu);
}

/* The last half of a switch of a CPU. */
struct half {
	uint64_t ts_ns;
	uint8_t type; /* 0 = it has met the other half */
	bool needs_other;
	bool is_seen;
};

/* Of a switch to or from another task than idle, both halves must be there; at the edges of the file one may miss. */
static void check_half(struct track_linker *l, const struct track_row *row, struct half *half)
{
	bool is_end = row->type == TRACK_TYPE_END;
	bool is_idle = is_swapper(&l->e, is_end ? KEY_SWITCH_TO : KEY_SWITCH_FROM);

	if (half->type && half->type != row->type && half->ts_ns == row->ts_ns) {
		half->type = 0;
		return;
	}
	l->nr_alone += half->type && half->needs_other;
	*half = (struct half){ .ts_ns = row->ts_ns,
		               .type = (uint8_t)row->type,
		               .needs_other = !is_idle && (is_end || half->is_seen),
		               .is_seen = true };
}

/* A task begins and ends to run in turn: else events were lost. */
static void check_turn(struct track_linker *l, const struct track_row *row)
{
	struct track_in *track = track_descs_get(l->t->descs, row->track);

	l->nr_broken += track->last_oncpu == row->type;
	track->last_oncpu = (uint8_t)row->type;
}

/*
 * Whether slices of tasks other than idle are missing: then the task in a gap is unknown. A lost
 * switch leaves two unpaired halves and breaks two pairs; further unpaired halves were filtered.
 */
static int check_halves(struct track_linker *l)
{
	struct half *halves = calloc(READER_CPUS_MAX, sizeof(*halves));
	struct tracks *t = l->t;
	uint64_t nr_cpus = 0;

	if (!halves)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rows; i++) {
		const struct track_row *row = &t->rows[i];
		const struct packet *pk = &l->r->packets[row->packet];
		const struct track_strings_at at = { .r = l->r, .state = pk->state };
		uint32_t cpu;

		if (row->category != CATEGORY_ONCPU ||
		    (row->type == TRACK_TYPE_BEGIN && pk->raw_ts == 0))
			continue;
		check_turn(l, row);
		track_event_read(&l->e, pb_in_of(pk->body, pk->len), track_strings_of(&at));
		cpu = track_arg_u32(&l->e, KEY_CPU, READER_CPUS_MAX);
		if (cpu < READER_CPUS_MAX)
			check_half(l, row, &halves[cpu]);
	}
	for (uint32_t i = 0; i < READER_CPUS_MAX; i++)
		nr_cpus += halves[i].is_seen;
	free(halves);
	/* Each CPU can have one slice that is open at the end. */
	t->has_losses = l->nr_broken || t->nr_begins > t->nr_ends + nr_cpus;
	t->has_missing_tasks = l->nr_alone > MISSING_TASKS * l->nr_broken;
	return 0;
}

/* Of a file by wprof: which of its two tellings of the same switches and wakes is to be believed. */
static int choose_sources(struct track_linker *l)
{
	struct tracks *t = l->t;
	struct fixups *fix = &l->r->fix;
	bool is_known = false, is_whole;
	int err = 0;

	count_ftrace(l);
	for (size_t i = 0; i < t->nr_rows && !is_known; i++)
		if (t->rows[i].category == CATEGORY_ONCPU && t->rows[i].type == TRACK_TYPE_END)
			t->is_old = is_old_reason(&l->e, l->r, &l->r->packets[t->rows[i].packet],
			                          &is_known);
	/* A filter leaves halves of switches; a recorder that died leaves bundles unwritten. */
	is_whole = t->has_ftrace && t->nr_begins == t->nr_ends &&
	           t->nr_ftrace_switches == t->nr_begins;
	t->uses_switches = !is_whole;
	t->uses_wakes = !is_whole || t->is_old;
	if (!is_whole)
		err = check_halves(l);
	if (t->has_missing_tasks && !t->has_losses)
		l->r->info.filter = "the tasks that its filters let through";
	fix->uses_track_sched = t->uses_switches || t->uses_wakes;
	fix->drops_ftrace_switches = t->uses_switches;
	fix->drops_ftrace_wakes = t->uses_wakes;
	fix->has_raw_states = t->is_old;
	return err;
}

static int link_packet(struct track_linker *l, uint32_t index)
{
	switch (l->r->packets[index].kind) {
	case PAYLOAD_TRACK_EVENT:
		return link_event(l, index);
	case PAYLOAD_PERF_SAMPLE:
	case PAYLOAD_TASK_STATE:
	case PAYLOAD_TASK_RENAME:
	case PAYLOAD_CPU_FREQ:
		return link_other(l, index);
	default:
		return 0;
	}
}

static uint32_t find_clock(const struct clocks *c, uint32_t id)
{
	for (uint32_t i = 0; i < c->nr; i++)
		if (c->all[i].id == id && c->all[i].seq == 0)
			return i;
	return CLOCK_NONE;
}

int tracks_link(struct reader *r)
{
	struct track_linker l = { .r = r,
		                  .t = r->tracks,
		                  .mono = find_clock(&r->clocks, CLOCK_ID_MONOTONIC) };
	int err = learn_texts(r);

	for (size_t i = 0; i < r->nr_packets && !err; i++)
		err = link_packet(&l, (uint32_t)i);
	if (err)
		return err;
	if (l.t->is_wprof)
		err = choose_sources(&l);
	return err ? err : track_pmu_scan(r);
}
