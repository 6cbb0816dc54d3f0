#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/perfetto/schema.h"
#include "trace/perfetto/tracks/schema_tracks.h"
#include "trace/perfetto/tracks/tracks_in.h"
#include "trace/perfetto/unwind_error.h"

#define STACKS_MAX (1U << 26)
#define DEPTH_MAX  1024U /* frames of one stack */
#define EVENTS_MAX 256U  /* different ones of samples; more are unknown */

/* Interned things are known by their table and number. */
struct track_stack_key {
	uint64_t iid;
	uint32_t table;
	uint32_t pad_;
};

/* As in the file; texts for the info are made at the end, by the caller's thread. */
struct raw_frame {
	struct track_text name, mapping, file;
	uint64_t rel_pc;
	uint32_t line;
	bool is_kernel;
	bool is_inlined;
};

struct track_stacks {
	struct map *stack_ids, *frame_ids;
	struct trace_stack *stacks;
	size_t nr_stacks, cap_stacks;
	uint32_t *stack_frames;
	size_t nr_stack_frames, cap_stack_frames;
	struct raw_frame *frames;
	size_t nr_frames, cap_frames;
	struct trace_sample *samples;
	size_t nr_samples, cap_samples;
	struct track_text events[EVENTS_MAX]; /* by which samples were taken; the first is unknown */
	uint16_t nr_events;
	uint64_t frequency;
};

int track_stacks_new(struct track_stacks **out)
{
	struct track_stacks *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	*out = s;
	s->nr_events = 1;
	err = map_new(sizeof(struct track_stack_key), STACKS_MAX, &s->stack_ids);
	return err ? err : map_new(sizeof(struct track_stack_key), STACKS_MAX, &s->frame_ids);
}

void track_stacks_free(struct track_stacks *s)
{
	if (!s)
		return;
	map_free(s->stack_ids);
	map_free(s->frame_ids);
	free(s->stacks);
	free(s->stack_frames);
	free(s->frames);
	free(s->samples);
	free(s);
}

static struct track_text text_at(struct track_at *at, uint32_t field, uint64_t iid)
{
	const struct iid_entry *entry = state_find(at->r, at->packet->state, field, iid);

	if (!entry)
		return (struct track_text){ 0 };
	return (struct track_text){ .s = (const char *)entry->bytes, .len = entry->len };
}

/* The last part of a mapping's path, as far as given. */
static struct track_text mapping_at(struct track_at *at, uint64_t iid)
{
	const struct iid_entry *entry = state_find(at->r, at->packet->state, INTERNED_MAPPINGS,
	                                           iid);
	struct pb_in in;
	struct pb_field f;
	uint64_t path = 0;

	if (!entry)
		return (struct track_text){ 0 };
	in = pb_in_of(entry->bytes, entry->len);
	while (pb_next(&in, &f)) {
		struct pb_in list;

		if (f.nr != MAPPING_PATH_IDS)
			continue;
		if (f.type == PB_VARINT)
			path = f.value;
		list = f.type == PB_BYTES ? pb_in_field(&f) : pb_in_of(NULL, 0);
		while (pb_left(&list) && pb_varint(&list, &path))
			;
	}
	return text_at(at, INTERNED_MAPPING_PATHS, path);
}

/* An inlined call says so at the end of its name, as wprof does it. */
static bool cut_inlined(struct track_text *name)
{
	static const char suffix[] = " (inlined)";
	const size_t len = sizeof(suffix) - 1;

	if (name->len <= len || memcmp(name->s + name->len - len, suffix, len) != 0)
		return false;
	name->len -= len;
	return true;
}

static struct raw_frame read_frame(struct track_at *at, const struct iid_entry *entry)
{
	struct raw_frame frame = { 0 };
	struct pb_in in = pb_in_of(entry->bytes, entry->len);
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.type != PB_VARINT)
			continue;
		if (f.nr == FRAME_FUNCTION_NAME_ID)
			frame.name = text_at(at, INTERNED_FUNCTION_NAMES, f.value);
		else if (f.nr == FRAME_MAPPING_ID)
			frame.mapping = mapping_at(at, f.value);
		else if (f.nr == FRAME_REL_PC)
			frame.rel_pc = f.value;
		else if (f.nr == FRAME_SOURCE_PATH_IID)
			frame.file = text_at(at, INTERNED_SOURCE_PATHS, f.value);
		else if (f.nr == FRAME_LINE_NUMBER)
			frame.line = (uint32_t)f.value;
		else if (f.nr == FRAME_KIND)
			frame.is_kernel = f.value == FRAME_KIND_KERNEL;
	}
	frame.is_kernel |= track_text_begins(frame.name, "[K]"); /* as wprof says it */
	frame.is_inlined = cut_inlined(&frame.name);
	return frame;
}

/* TRACK_NONE if it is not defined. */
static uint32_t frame_of(struct track_at *at, uint64_t iid)
{
	struct track_stacks *s = at->t->stacks;
	const uint32_t state = at->packet->state;
	const struct track_stack_key key = { .iid = iid, .table = at->r->states[state].interned };
	const struct iid_entry *entry;
	uint32_t index;

	if (map_find(s->frame_ids, &key, &index))
		return index;
	entry = state_find(at->r, state, INTERNED_FRAMES, iid);
	if (!entry)
		return TRACK_NONE;
	if (GROW(s->frames, s->cap_frames, s->nr_frames) ||
	    map_insert(s->frame_ids, &key, (uint32_t)s->nr_frames) < 0) {
		at->err = -ENOMEM;
		return TRACK_NONE;
	}
	s->frames[s->nr_frames] = read_frame(at, entry);
	return (uint32_t)s->nr_frames++;
}

static void add_frame(struct track_at *at, uint64_t iid)
{
	struct track_stacks *s = at->t->stacks;
	uint32_t frame = frame_of(at, iid);

	if (frame == TRACK_NONE || at->err)
		return;
	if (GROW(s->stack_frames, s->cap_stack_frames, s->nr_stack_frames)) {
		at->err = -ENOMEM;
		return;
	}
	s->stack_frames[s->nr_stack_frames++] = frame;
}

/* Files have the root first, we the leaf. */
static void read_frames(struct track_at *at, const struct iid_entry *entry, uint32_t first)
{
	struct track_stacks *s = at->t->stacks;
	struct pb_in in = pb_in_of(entry->bytes, entry->len);
	struct pb_field f;
	uint64_t iid;

	while (pb_next(&in, &f) && !at->err && s->nr_stack_frames - first < DEPTH_MAX) {
		struct pb_in list = pb_in_of(NULL, 0);

		if (f.nr != CALLSTACK_FRAME_IDS)
			continue;
		if (f.type == PB_VARINT)
			add_frame(at, f.value);
		else if (f.type == PB_BYTES)
			list = pb_in_field(&f);
		while (pb_left(&list) && pb_varint(&list, &iid) &&
		       s->nr_stack_frames - first < DEPTH_MAX)
			add_frame(at, iid);
	}
	for (size_t i = first, k = s->nr_stack_frames; i + 1 < k; i++) {
		uint32_t frame = s->stack_frames[i];

		s->stack_frames[i] = s->stack_frames[--k];
		s->stack_frames[k] = frame;
	}
}

static uint32_t stack_of(struct track_at *at, uint64_t iid)
{
	struct track_stacks *s = at->t->stacks;
	const uint32_t state = at->packet->state;
	const struct track_stack_key key = { .iid = iid, .table = at->r->states[state].interned };
	const struct iid_entry *entry;
	uint32_t index, first = (uint32_t)s->nr_stack_frames;

	if (map_find(s->stack_ids, &key, &index))
		return index;
	entry = state_find(at->r, state, INTERNED_CALLSTACKS, iid);
	if (!entry) {
		track_damage(at, DAMAGE_STACK_UNKNOWN);
		return TRACK_NONE;
	}
	read_frames(at, entry, first);
	if (GROW(s->stacks, s->cap_stacks, s->nr_stacks) ||
	    map_insert(s->stack_ids, &key, (uint32_t)s->nr_stacks) < 0) {
		at->err = -ENOMEM;
		return TRACK_NONE;
	}
	s->stacks[s->nr_stacks] =
		(struct trace_stack){ .first = first, .nr = (uint32_t)s->nr_stack_frames - first };
	return (uint32_t)s->nr_stacks++;
}

static void add_sample(struct track_at *at, const struct trace_sample *sample)
{
	struct track_stacks *s = at->t->stacks;

	if (GROW(s->samples, s->cap_samples, s->nr_samples)) {
		at->err = -ENOMEM;
		return;
	}
	s->samples[s->nr_samples++] = *sample;
	decoder_name(at->dec, sample->ts_ns, sample->tid, NULL,
	             0); /* no other record may mention it */
}

/* The number of an event; 0 without a name. */
static uint16_t event_of(struct track_stacks *s, struct track_text name)
{
	if (!name.len)
		return 0;
	for (uint16_t i = 1; i < s->nr_events; i++)
		if (s->events[i].len == name.len && memcmp(s->events[i].s, name.s, name.len) == 0)
			return i;
	if (s->nr_events == EVENTS_MAX)
		return 0;
	s->events[s->nr_events] = name;
	return s->nr_events++;
}

/* Whether the event shows where CPUs spend their time. An event without a name is taken for it. */
static bool is_of_cpu(struct track_text name)
{
	static const char *const clocks[] = { "cpu-clock", "task-clock", "cycles", "cpu-cycles",
		                              "ref-cycles" };

	for (size_t i = 0; i < name.len; i++) /* "cpu_core/cycles/" */
		if (name.s[i] == '/' && i + 1 < name.len)
			name = (struct track_text){ .s = name.s + i + 1, .len = name.len - i - 1 };
	for (size_t i = 0; name.len && i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (track_text_begins(name, clocks[i]))
			return true;
	return name.len == 0;
}

static void put_sample(struct track_at *at, struct trace_sample sample, uint64_t callstack_iid)
{
	if (!callstack_iid)
		return;
	sample.ts_ns = at->ts_ns;
	sample.tid = at->tid;
	sample.cpu = at->has_cpu ? at->cpu : TRACK_NONE;
	sample.stack = stack_of(at, callstack_iid);
	if (!at->err)
		add_sample(at, &sample);
}

void track_sample(struct track_at *at, enum trace_sample_kind kind, uint64_t callstack_iid,
                  uint64_t weight)
{
	put_sample(at, (struct trace_sample){ .weight = weight, .kind = (uint8_t)kind },
	           callstack_iid);
}

void track_event_sample(struct track_at *at, struct track_text event, uint64_t weight)
{
	struct trace_sample sample = { .weight = weight,
		                       .event = event_of(at->t->stacks, event),
		                       .kind = is_of_cpu(event) ? TRACE_SAMPLE_CPU
		                                                : TRACE_SAMPLE_OTHER };

	put_sample(at, sample, at->e.callstack_iid);
}

void track_timer(struct track_at *at)
{
	static const char name[] = "cpu-clock"; /* what wprof's timer is */

	track_event_sample(at, (struct track_text){ .s = name, .len = sizeof(name) - 1 }, 1);
}

/* Marks of losses and of the sampler's own activity are not samples. */
static bool is_sample_field(uint32_t nr)
{
	return nr != SAMPLE_RECORDS_LOST && nr != SAMPLE_SKIPPED_REASON &&
	       nr != SAMPLE_PRODUCER_EVENT;
}

static struct track_text bytes_of(const struct pb_field *f)
{
	return (struct track_text){ .s = (const char *)f->bytes,
		                    .len = f->type == PB_BYTES ? (size_t)f->value : 0 };
}

/* By the tracepoint at which it was taken. */
static enum trace_sample_kind kind_of_tracepoint(struct pb_in in)
{
	struct track_text name = { 0 };
	struct pb_field f;

	while (pb_next(&in, &f))
		if (f.nr == TRACEPOINT_NAME)
			name = bytes_of(&f);
	for (size_t i = 0; i < name.len; i++) /* "sched:sched_switch", "sched/sched_switch" */
		if (name.s[i] == ':' || name.s[i] == '/')
			name = (struct track_text){ .s = name.s + i + 1, .len = name.len - i - 1 };
	if (track_text_begins(name, "sched_switch"))
		return TRACE_SAMPLE_OFFCPU;
	return track_text_begins(name, "sched_wak") ? TRACE_SAMPLE_WAKER : TRACE_SAMPLE_OTHER;
}

/* PerfEvents.Counter: where a timebase has no name of its own. */
static struct track_text counter_name(uint64_t counter)
{
	static const char *const names[] = {
		NULL,           "cpu-clock",        "page-faults",     "task-clock",
		"cs",           "migrations",       "minor-faults",    "major-faults",
		"align-faults", "emulation-faults", "cycles",          "instructions",
		"cache-refs",   "cache-misses",     "branches",        "branch-misses",
		"bus-cycles",   "stalled-frontend", "stalled-backend", "ref-cycles",
	};
	const char *name = counter < sizeof(names) / sizeof(names[0]) ? names[counter] : NULL;

	return (struct track_text){ .s = name, .len = name ? strlen(name) : 0 };
}

/* What the sequence samples, as its timebase says: CPUs, unless it is a tracepoint or counts something else. */
static void read_timebase(struct track_at *at, struct pb_in in, struct trace_sample *sample)
{
	static const char tracepoint[] = "tracepoint";
	enum trace_sample_kind kind = TRACE_SAMPLE_CPU;
	struct track_stacks *s = at->t->stacks;
	struct track_text name = { 0 }, counter = { 0 };
	bool is_tracepoint = false, is_named = false;
	uint64_t frequency = 0, said = 0;
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.nr == TIMEBASE_TRACEPOINT && f.type == PB_BYTES) {
			kind = kind_of_tracepoint(pb_in_field(&f));
			is_tracepoint = true;
		} else if (f.nr == TIMEBASE_FREQUENCY && f.type == PB_VARINT) {
			frequency = f.value;
		} else if (f.nr == TIMEBASE_COUNTER && f.type == PB_VARINT) {
			counter = counter_name(f.value);
		} else if (f.nr == TIMEBASE_NAME) {
			name = bytes_of(&f);
			is_named = true;
		} else if (f.nr == TIMEBASE_KIND && f.type == PB_VARINT) {
			said = f.value;
		}
	}
	if (!is_tracepoint && !is_of_cpu(counter.len ? counter : name))
		kind = TRACE_SAMPLE_OTHER;
	if (said && said <= 1 + TRACE_SAMPLE_OTHER)
		kind = (enum trace_sample_kind)(said - 1);
	sample->kind = (uint8_t)kind;
	if (is_tracepoint && !is_named)
		counter = (struct track_text){ .s = tracepoint, .len = sizeof(tracepoint) - 1 };
	sample->event = event_of(s, name.len ? name : counter);
	if (kind == TRACE_SAMPLE_CPU && !s->frequency)
		s->frequency = frequency;
}

static void read_defaults(struct track_at *at, struct trace_sample *sample)
{
	struct pb_in in = at->r->states[at->packet->state].defaults, inner;
	struct pb_field f, g;

	while (pb_next(&in, &f)) {
		if (f.nr != DEFAULTS_PERF_SAMPLE || f.type != PB_BYTES)
			continue;
		inner = pb_in_field(&f);
		while (pb_next(&inner, &g))
			if (g.nr == SAMPLE_DEFAULTS_TIMEBASE && g.type == PB_BYTES)
				read_timebase(at, pb_in_field(&g), sample);
	}
}

void track_perf_sample(struct track_at *at)
{
	struct pb_in in = pb_in_of(at->packet->body, at->packet->len);
	struct trace_sample sample = { .ts_ns = at->ts_ns, .weight = 1, .cpu = TRACK_NONE };
	uint64_t pid = 0, stack = 0;
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (!is_sample_field(f.nr))
			return;
		if (f.nr == SAMPLE_CPU && f.value < READER_CPUS_MAX)
			sample.cpu = (uint32_t)f.value;
		else if (f.nr == SAMPLE_PID)
			pid = f.value;
		else if (f.nr == SAMPLE_TID)
			sample.tid = (uint32_t)f.value;
		else if (f.nr == SAMPLE_CALLSTACK_IID)
			stack = f.value;
		else if (f.nr == SAMPLE_WEIGHT && f.type == PB_VARINT)
			sample.weight = f.value;
		else if (f.nr == SAMPLE_UNWIND_ERROR && f.type == PB_VARINT)
			sample.end = unwind_error_end(f.value);
	}
	if (pid == WPROF_PID_IDLE || sample.tid > INT32_MAX)
		sample.tid = 0;
	if (in.is_bad)
		track_damage(at, DAMAGE_PACKET_BAD);
	sample.stack = stack ? stack_of(at, stack) : TRACK_NONE;
	read_defaults(at, &sample);
	if (!at->err)
		add_sample(at, &sample);
}

static void *keep(struct reader *r, const void *array, size_t nr, size_t size, int *err)
{
	void *copy;

	if (!nr)
		return NULL;
	copy = arena_alloc(r->mem, nr, size, 8);
	if (copy)
		memcpy(copy, array, nr * size);
	else
		*err = -ENOMEM;
	return copy;
}

static struct trace_frame *keep_frames(struct reader *r, const struct track_stacks *s, int *err)
{
	struct trace_frame *frames = ARENA_ARRAY(r->mem, struct trace_frame, s->nr_frames);

	if (!frames && s->nr_frames)
		*err = -ENOMEM;
	for (size_t i = 0; frames && i < s->nr_frames; i++) {
		const struct raw_frame *raw = &s->frames[i];

		frames[i] = (struct trace_frame){
			.name = info_text(r, raw->name.s, raw->name.len),
			.mapping = info_text(r, raw->mapping.s, raw->mapping.len),
			.file = info_text(r, raw->file.s, raw->file.len),
			.line = raw->line,
			.rel_pc = raw->rel_pc,
			.is_kernel = raw->is_kernel,
			.is_inlined = raw->is_inlined,
		};
	}
	return frames;
}

int track_stacks_finish(struct reader *r)
{
	const struct track_stacks *s = r->tracks->stacks;
	const char **events = ARENA_ARRAY(r->mem, const char *, s->nr_events);
	struct trace_info *info = &r->info;
	int err = events ? 0 : -ENOMEM;

	info->samples = keep(r, s->samples, s->nr_samples, sizeof(*s->samples), &err);
	info->stacks = keep(r, s->stacks, s->nr_stacks, sizeof(*s->stacks), &err);
	info->stack_frames = keep(r, s->stack_frames, s->nr_stack_frames, sizeof(uint32_t), &err);
	info->frames = keep_frames(r, s, &err);
	if (err)
		return err;
	for (uint16_t i = 0; i < s->nr_events; i++)
		events[i] = info_text(r, s->events[i].s, s->events[i].len);
	info->sample_events = events;
	info->nr_sample_events = s->nr_events;
	info->sampling_frequency = s->frequency;
	info->nr_samples = s->nr_samples;
	info->nr_stacks = s->nr_stacks;
	info->nr_frames = s->nr_frames;
	return 0;
}
