#include "trace/perfetto/write/track_out.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/perfetto/schema.h"

#define STRINGS_BYTES    (2U << 20)
#define EVENT_STRINGS    64U /* of one event at most */
#define INTERNED_BYTES   (64U << 10)
#define SCX_COUNTER_RANK 1000000U
#define SECOND_NS        1000000000ULL
#define DSQ_BUILTIN      (1ULL << 63)
#define DSQ_LOCAL_ON     (1ULL << 62) /* with DSQ_BUILTIN: that of the CPU in the lower half */

/* Kinds of tracks, mixed into their uuids. */
enum {
	UUID_THREAD = 1,
	UUID_IDLE,
	UUID_PMU,
	UUID_LOST,
	UUID_LOST_FOLDER,
	UUID_PRESSURE,
	UUID_FOLDER,
	UUID_COUNTER,
	UUID_SCX,
	UUID_SCHEDULER,
	UUID_DSQ_DEPTH,
	UUID_DSQ_LATENCY,
	UUID_MARKS,
	UUID_SCX_COUNTER,
	UUID_SPANS,
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

/* A track beside the task's own; the idle task has but one. */
static int track_beside(struct track_out *t, struct ftrace_cpu *c, struct trace_task *task,
                        uint32_t flag, struct track_desc *desc)
{
	uint32_t kind = (uint32_t)desc->uuid;
	int err = track_of_task(t, c, task, desc->ts_ns, &desc->parent_uuid);

	desc->uuid = task ? uuid_of(kind, desc->parent_uuid, 0) : desc->parent_uuid;
	if (err || !task || task->flags & flag)
		return err;
	task->flags |= flag;
	return put_track(t, desc);
}

int track_of_pmu(struct track_out *t, struct ftrace_cpu *c, struct trace_task *task, uint64_t ts_ns,
                 uint64_t *out)
{
	struct track_desc desc = { .ts_ns = ts_ns, .uuid = UUID_PMU, .name = "pmu" };
	int err = track_beside(t, c, task, TASK_HAS_PMU_TRACK, &desc);

	*out = desc.uuid;
	return err;
}

int track_of_scx(struct track_out *t, struct ftrace_cpu *c, struct trace_task *task, uint64_t ts_ns,
                 uint64_t *out)
{
	struct track_desc desc = { .ts_ns = ts_ns, .uuid = UUID_SCX, .name = "scx" };
	int err = track_beside(t, c, task, TASK_HAS_SCX_TRACK, &desc);

	*out = desc.uuid;
	return err;
}

int track_of_spans(struct track_out *t, struct trace_task *task, uint32_t lane, uint64_t ts_ns,
                   uint64_t *uuid)
{
	struct track_desc desc = { .ts_ns = ts_ns, .name = "spans" };
	int err = task ? track_of_task(t, NULL, task, ts_ns, &desc.parent_uuid) : 0;

	desc.uuid = uuid_of(UUID_SPANS, desc.parent_uuid, lane);
	if (err || *uuid == desc.uuid)
		return err;
	*uuid = desc.uuid;
	return put_track(t, &desc);
}

int track_of_scheduler(struct track_out *t, uint64_t ts_ns, uint64_t *out)
{
	struct track_desc desc = { .ts_ns = ts_ns,
		                   .uuid = uuid_of(UUID_SCHEDULER, 0, 0),
		                   .name = "sched_ext",
		                   .has_ranks = true };

	*out = desc.uuid;
	if (t->has_scheduler)
		return 0;
	t->has_scheduler = true;
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

int track_slice(struct track_out *t, uint64_t start_ns, uint64_t end_ns, struct track_event *begin,
                struct track_event *end)
{
	int err;

	begin->type = TRACK_SLICE_BEGIN;
	end->type = TRACK_SLICE_END;
	end->track_uuid = begin->track_uuid;
	err = put_event(t, start_ns, begin);
	return err ? err : put_event(t, end_ns, end);
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

int track_machine_counter(struct track_out *t, uint64_t ts_ns, const struct track_counter *counter,
                          uint64_t value)
{
	struct track_desc folder = { .kind = TRACK_PLAIN,
		                     .ts_ns = ts_ns,
		                     .uuid = uuid_of(UUID_FOLDER, 0, 0),
		                     .name = counter->folder };
	struct track_desc desc = { .kind = TRACK_OF_COUNTER,
		                   .ts_ns = ts_ns,
		                   .uuid = uuid_of(UUID_COUNTER, counter->id, 0),
		                   .parent_uuid = folder.uuid,
		                   .name = counter->name };
	int err = t->has_folder ? 0 : put_track(t, &folder);

	t->has_folder = true;
	if (!err && counter->is_new)
		err = put_track(t, &desc);
	return err ? err : put_value(t, ts_ns, desc.uuid, value);
}

/* Behind all queues. */
int track_scheduler_counter(struct track_out *t, uint64_t ts_ns,
                            const struct track_counter *counter, uint64_t value)
{
	struct track_desc desc = { .kind = TRACK_OF_COUNTER,
		                   .ts_ns = ts_ns,
		                   .uuid = uuid_of(UUID_SCX_COUNTER, counter->id, 0),
		                   .name = counter->name,
		                   .rank = (int32_t)(SCX_COUNTER_RANK + counter->id) };
	int err = 0;

	if (counter->is_new) {
		err = track_of_scheduler(t, ts_ns, &desc.parent_uuid);
		if (!err)
			err = put_track(t, &desc);
	}
	return err ? err : put_value(t, ts_ns, desc.uuid, value);
}

/* "LOCAL", "GLOBAL", "BYPASS", "LOCAL_ON|3" or the number in hexadecimal. */
static void dsq_name(uint64_t dsq_id, char *buf, size_t size)
{
	if (dsq_id == (DSQ_BUILTIN | 1))
		(void)snprintf(buf, size, "GLOBAL");
	else if (dsq_id == (DSQ_BUILTIN | 2))
		(void)snprintf(buf, size, "LOCAL");
	else if (dsq_id == (DSQ_BUILTIN | 3)) /* Linux 7 */
		(void)snprintf(buf, size, "BYPASS");
	else if (dsq_id >> 32 == (DSQ_BUILTIN | DSQ_LOCAL_ON) >> 32)
		(void)snprintf(buf, size, "LOCAL_ON|%u", (uint32_t)dsq_id);
	else
		(void)snprintf(buf, size, "0x%llx", (unsigned long long)dsq_id);
}

/* Two ranks for each queue, so that its counters are adjacent. */
static int put_dsq(struct track_out *t, const struct track_dsq *dsq, uint64_t ts_ns,
                   bool is_latency, uint64_t *uuid)
{
	char id[32], name[64];
	struct track_desc desc = { .kind = TRACK_OF_COUNTER,
		                   .ts_ns = ts_ns,
		                   .uuid = uuid_of(is_latency ? UUID_DSQ_LATENCY : UUID_DSQ_DEPTH,
		                                   dsq->dsq_id, 0),
		                   .name = name,
		                   .is_time = is_latency,
		                   .rank = (int32_t)(2 * dsq->number + is_latency) };
	int err;

	*uuid = desc.uuid;
	if (is_latency ? dsq->has_latency : dsq->has_depth)
		return 0;
	dsq_name(dsq->dsq_id, id, sizeof(id));
	(void)snprintf(name, sizeof(name), "DSQ %s %s", id, is_latency ? "latency" : "depth");
	err = track_of_scheduler(t, ts_ns, &desc.parent_uuid);
	return err ? err : put_track(t, &desc);
}

int track_dsq_depth(struct track_out *t, struct track_dsq *dsq, uint64_t ts_ns, uint64_t depth)
{
	uint64_t uuid;
	int err;

	if (dsq->has_depth && dsq->depth == depth && ts_ns < dsq->depth_ns + SECOND_NS)
		return 0;
	err = put_dsq(t, dsq, ts_ns, false, &uuid);
	dsq->has_depth = true;
	dsq->depth = depth;
	dsq->depth_ns = ts_ns;
	return err ? err : put_value(t, ts_ns, uuid, depth);
}

int track_dsq_latency(struct track_out *t, struct track_dsq *dsq, uint64_t ts_ns, uint64_t ns)
{
	uint64_t uuid;
	int err = put_dsq(t, dsq, ts_ns, true, &uuid);

	dsq->has_latency = true;
	return err ? err : put_value(t, ts_ns, uuid, ns);
}
