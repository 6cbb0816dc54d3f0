#include "trace/track_out.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/schema.h"

#define STRINGS_BYTES  (2U << 20)
#define EVENT_STRINGS  64U /* of one event at most */
#define INTERNED_BYTES (64U << 10)

/* Kinds of tracks, mixed into their uuids. */
enum {
	UUID_THREAD = 1,
	UUID_IDLE,
	UUID_PMU,
	UUID_LOST,
	UUID_LOST_FOLDER,
	UUID_PRESSURE,
	UUID_MARKS
};

int track_init(struct track_out *t, struct chunk_out *chunk)
{
	*t = (struct track_out){ .chunk = chunk,
		                 .interned.cap = INTERNED_BYTES,
		                 .is_cleared = true };
	t->strings = intern_new(TRACK_STRINGS_MAX, STRINGS_BYTES);
	return t->strings ? 0 : -ENOMEM;
}

void track_done(struct track_out *t)
{
	intern_free(t->strings);
	pb_done(&t->interned);
}

int track_begin(struct track_out *t)
{
	struct intern *strings;

	if (intern_nr(t->strings) + EVENT_STRINGS <= TRACK_STRINGS_MAX)
		return 0;
	strings = intern_new(TRACK_STRINGS_MAX, STRINGS_BYTES);
	if (!strings)
		return -ENOMEM;
	intern_free(t->strings);
	t->strings = strings;
	memset(t->used_as, 0, sizeof(t->used_as));
	pb_clear(&t->interned);
	t->is_cleared = true;
	return 0;
}

uint64_t track_iid(struct track_out *t, enum track_use use, const char *text)
{
	static const uint32_t fields[] = {
		[USE_CATEGORY] = INTERNED_EVENT_CATEGORIES,
		[USE_NAME] = INTERNED_EVENT_NAMES,
		[USE_ARG] = INTERNED_ANNOTATION_NAMES,
	};
	struct pb_mark entry;
	uint32_t id;

	if (intern_add(t->strings, text, strlen(text), &id) < 0 || id > TRACK_STRINGS_MAX)
		return 0;
	if (t->used_as[id] & 1U << use)
		return id;
	t->used_as[id] |= (uint8_t)(1U << use);
	entry = pb_begin(&t->interned, fields[use]);
	pb_uint(&t->interned, ENTRY_IID, id);
	pb_string(&t->interned, ENTRY_STRING, text);
	pb_end(&t->interned, entry);
	return id;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* 56 bits: eight bytes in the file, and no two alike among as many tracks as there can be tasks. */
static uint64_t uuid_of(uint32_t kind, uint64_t id, uint64_t start_ns)
{
	return (mix(mix(mix(kind) + id) + start_ns) >> 8) | 1;
}

static int put_track(struct track_out *t, const struct track_desc *desc)
{
	packet_track(&t->chunk->packets, desc);
	return chunk_packet_done(t->chunk);
}

static int track_of_idle(struct track_out *t, struct ftrace_cpu *c, uint64_t ts_ns, uint64_t *out)
{
	char name[32];
	struct track_desc desc = { .kind = TRACK_PLAIN,
		                   .ts_ns = ts_ns,
		                   .uuid = uuid_of(UUID_IDLE, c->cpu, 0),
		                   .name = name };

	*out = desc.uuid;
	if (c->has_idle_track)
		return 0;
	c->has_idle_track = true;
	(void)snprintf(name, sizeof(name), "swapper/%u", c->cpu);
	return put_track(t, &desc);
}

/* Without its process, a thread cannot be described as one. */
int track_of_task(struct track_out *t, struct ftrace_cpu *c, struct trace_task *task,
                  uint64_t ts_ns, uint64_t *out)
{
	struct track_desc desc;

	if (!task)
		return track_of_idle(t, c, ts_ns, out);
	desc = (struct track_desc){
		.kind = task->tgid ? TRACK_OF_THREAD : TRACK_PLAIN,
		.ts_ns = ts_ns,
		.uuid = uuid_of(UUID_THREAD, (uint64_t)task->tgid << 32 | task->tid,
		                task->start_ns),
		.name = task->comm,
		.tgid = task->tgid,
		.tid = task->tid,
	};
	*out = desc.uuid;
	if (task->flags & TASK_HAS_TRACK)
		return 0;
	task->flags |= TASK_HAS_TRACK;
	return put_track(t, &desc);
}

int track_of_pmu(struct track_out *t, struct ftrace_cpu *c, struct trace_task *task, uint64_t ts_ns,
                 uint64_t *out)
{
	struct track_desc desc = { .kind = TRACK_PLAIN, .ts_ns = ts_ns, .name = "pmu" };
	int err = track_of_task(t, c, task, ts_ns, &desc.parent_uuid);

	if (err || !task) {
		*out = desc.parent_uuid;
		return err;
	}
	desc.uuid = uuid_of(UUID_PMU, desc.parent_uuid, 0);
	*out = desc.uuid;
	if (task->flags & TASK_HAS_PMU_TRACK)
		return 0;
	task->flags |= TASK_HAS_PMU_TRACK;
	return put_track(t, &desc);
}

/* Described each time: marks are few. */
int track_of_marks(struct track_out *t, uint64_t ts_ns, uint64_t *out)
{
	struct track_desc desc = { .kind = TRACK_PLAIN,
		                   .ts_ns = ts_ns,
		                   .uuid = uuid_of(UUID_MARKS, 0, 0),
		                   .name = "marks" };

	*out = desc.uuid;
	return put_track(t, &desc);
}

static int put_event(struct track_out *t, uint64_t ts_ns, struct track_event *event)
{
	event->head = (struct packet_head){
		.has_ts = true,
		.ts_ns = ts_ns,
		.seq = SEQ_TRACKS,
		.seq_flags = SEQ_NEEDS_STATE | (t->is_cleared ? SEQ_STATE_CLEARED : 0),
		.interned = &t->interned,
	};
	packet_track_event(&t->chunk->packets, event);
	if (t->interned.error && !t->chunk->packets.error)
		t->chunk->packets.error = t->interned.error;
	pb_clear(&t->interned);
	t->is_cleared = false;
	return chunk_packet_done(t->chunk);
}

int track_instant(struct track_out *t, uint64_t ts_ns, struct track_event *event)
{
	event->type = TRACK_INSTANT;
	return put_event(t, ts_ns, event);
}

static int put_value(struct track_out *t, uint64_t ts_ns, uint64_t uuid, uint64_t value)
{
	struct track_event event = { .type = TRACK_COUNTER_VALUE,
		                     .track_uuid = uuid,
		                     .value = (int64_t)value };

	return put_event(t, ts_ns, &event);
}

static int describe_lost(struct track_out *t, struct ftrace_cpu *c, uint64_t ts_ns, uint64_t uuid)
{
	struct track_desc folder = { .kind = TRACK_PLAIN,
		                     .ts_ns = ts_ns,
		                     .uuid = uuid_of(UUID_LOST_FOLDER, 0, 0),
		                     .name = "lost events" };
	char name[32];
	struct track_desc desc = { .kind = TRACK_OF_COUNTER,
		                   .ts_ns = ts_ns,
		                   .uuid = uuid,
		                   .parent_uuid = folder.uuid,
		                   .name = name };
	int err = 0;

	if (!t->has_lost_folder)
		err = put_track(t, &folder);
	t->has_lost_folder = c->has_lost_track = true;
	(void)snprintf(name, sizeof(name), "lost events CPU %u", c->cpu);
	return err ? err : put_track(t, &desc);
}

int track_lost(struct track_out *t, struct ftrace_cpu *c, uint64_t ts_ns)
{
	uint64_t uuid = uuid_of(UUID_LOST, c->cpu, 0);
	int err = c->has_lost_track ? 0 : describe_lost(t, c, ts_ns, uuid);

	return err ? err : put_value(t, ts_ns, uuid, c->nr_lost);
}

int track_pressure(struct track_out *t, struct ftrace_cpu *c, uint64_t ts_ns, uint64_t value)
{
	char name[32];
	struct track_desc desc = { .kind = TRACK_OF_COUNTER,
		                   .ts_ns = ts_ns,
		                   .uuid = uuid_of(UUID_PRESSURE, c->cpu, 0),
		                   .name = name,
		                   .unit = "capacity" };
	int err = 0;

	if (!c->has_pressure_track) {
		c->has_pressure_track = true;
		(void)snprintf(name, sizeof(name), "hw pressure CPU %u", c->cpu);
		err = put_track(t, &desc);
	}
	return err ? err : put_value(t, ts_ns, desc.uuid, value);
}
