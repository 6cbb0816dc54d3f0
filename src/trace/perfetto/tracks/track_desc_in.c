#include "trace/perfetto/tracks/track_desc_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/map.h"
#include "trace/perfetto/schema.h"
#include "trace/perfetto/tracks/schema_tracks.h"

#define TRACKS_MAX  (1U << 24)
#define PARENTS_MAX 32U /* deeper ones are a circle, or might as well be */

struct track_descs {
	struct map *by_uuid;
	struct track_in *tracks;
	uint32_t nr, room;
};

int track_descs_new(struct track_descs **out)
{
	struct track_descs *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	err = map_new(sizeof(uint64_t), TRACKS_MAX, &t->by_uuid);
	if (err) {
		free(t);
		return err;
	}
	*out = t;
	return 0;
}

void track_descs_free(struct track_descs *t)
{
	if (!t)
		return;
	map_free(t->by_uuid);
	free(t->tracks);
	free(t);
}

uint32_t track_descs_index(struct track_descs *t, uint64_t uuid)
{
	uint32_t index;

	if (map_find(t->by_uuid, &uuid, &index))
		return index;
	if (GROW(t->tracks, t->room, t->nr))
		return TRACK_NONE;
	if (map_insert(t->by_uuid, &uuid, t->nr) < 0)
		return TRACK_NONE;
	t->tracks[t->nr] = (struct track_in){ .uuid = uuid, .multiplier = 1, .owner = TRACK_NONE };
	return t->nr++;
}

uint32_t track_descs_find(const struct track_descs *t, uint64_t uuid)
{
	uint32_t index;

	return map_find(t->by_uuid, &uuid, &index) ? index : TRACK_NONE;
}

static struct track_text text_of(const struct pb_field *f)
{
	return (struct track_text){ .s = (const char *)f->bytes, .len = (size_t)f->value };
}

static void read_thread(struct track_in *track, struct pb_in in)
{
	struct pb_field f;

	track->flags |= TRACK_IS_THREAD;
	while (pb_next(&in, &f)) {
		if (f.nr == THREAD_DESC_PID && f.type == PB_VARINT)
			track->pid = (uint32_t)f.value;
		else if (f.nr == THREAD_DESC_TID && f.type == PB_VARINT)
			track->tid = (uint32_t)f.value;
		else if (f.nr == THREAD_DESC_NAME && f.type == PB_BYTES)
			track->thread_name = text_of(&f);
		else if (f.nr == THREAD_DESC_REFERENCE_US && f.type == PB_VARINT)
			track->reference_us = (int64_t)(f.value);
	}
}

static void read_process(struct track_in *track, struct pb_in in)
{
	struct pb_field f;

	track->flags |= TRACK_IS_PROCESS;
	while (pb_next(&in, &f)) {
		if (f.nr == PROCESS_DESC_PID && f.type == PB_VARINT)
			track->pid = (uint32_t)f.value;
		else if (f.nr == PROCESS_DESC_NAME && f.type == PB_BYTES)
			track->thread_name = text_of(&f);
	}
}

static void read_counter(struct track_in *track, struct pb_in in)
{
	struct pb_field f;

	track->flags |= TRACK_IS_COUNTER;
	while (pb_next(&in, &f)) {
		if (f.nr == COUNTER_UNIT_MULTIPLIER && f.type == PB_VARINT && f.value)
			track->multiplier = (int64_t)(f.value);
		else if (f.nr == COUNTER_IS_INCREMENTAL && f.value)
			track->flags |= TRACK_IS_INCREMENTAL;
		else if (f.nr == COUNTER_UNIT_NAME && f.type == PB_BYTES && !track->name.s)
			track->name = text_of(&f);
	}
}

static void read_field(struct track_in *track, const struct pb_field *f)
{
	if (f->type == PB_VARINT && f->nr == TRACK_UUID)
		track->uuid = f->value;
	else if (f->type == PB_VARINT && f->nr == TRACK_PARENT_UUID)
		track->parent = f->value;
	if (f->type == PB_VARINT && f->nr == TRACK_OWN_TID && f->value <= INT32_MAX) {
		track->flags |= TRACK_IS_THREAD;
		track->tid = (uint32_t)f->value;
	}
	if (f->type != PB_BYTES)
		return;
	if (f->nr == TRACK_NAME || f->nr == TRACK_STATIC_NAME || f->nr == TRACK_ATRACE_NAME)
		track->name = text_of(f);
	else if (f->nr == TRACK_THREAD)
		read_thread(track, pb_in_field(f));
	else if (f->nr == TRACK_PROCESS)
		read_process(track, pb_in_field(f));
	else if (f->nr == TRACK_COUNTER)
		read_counter(track, pb_in_field(f));
}

/* The first thread, parent and name of a uuid hold: events were written with them in mind. */
static void merge(struct track_in *old, const struct track_in *new)
{
	uint32_t kinds = TRACK_IS_PROCESS | TRACK_IS_COUNTER | TRACK_IS_INCREMENTAL;

	if (new->flags & TRACK_IS_THREAD && !(old->flags & TRACK_IS_THREAD)) {
		old->pid = new->pid;
		old->tid = new->tid;
		old->thread_name = new->thread_name;
		old->reference_us = new->reference_us;
	} else if (!(old->flags & TRACK_IS_DESCRIBED)) {
		old->pid = new->pid;
		old->thread_name = new->thread_name;
	}
	if (!old->name.s)
		old->name = new->name;
	if (!old->parent)
		old->parent = new->parent;
	if (new->flags & TRACK_IS_COUNTER && !(old->flags & TRACK_IS_COUNTER))
		old->multiplier = new->multiplier;
	old->flags |= (new->flags &(kinds | TRACK_IS_THREAD)) | TRACK_IS_DESCRIBED;
}

int track_descs_add(struct track_descs *t, struct pb_in in, struct track_described *out)
{
	struct track_in track = { .multiplier = 1 };
	struct pb_field f;
	uint32_t index;

	while (pb_next(&in, &f))
		read_field(&track, &f);
	if (out)
		*out = (struct track_described){ .is_process = track.flags & TRACK_IS_PROCESS,
			                         .is_thread = track.flags & TRACK_IS_THREAD,
			                         .pid = track.pid,
			                         .tid = track.tid,
			                         .name = track.thread_name };
	/* The global track has the number 0 and nothing to say. */
	if (!track.uuid)
		return -EINVAL;
	index = track_descs_index(t, track.uuid);
	if (index == TRACK_NONE)
		return t->nr >= TRACKS_MAX ? -E2BIG : -ENOMEM;
	merge(&t->tracks[index], &track);
	return 0;
}

/* The number at the end of a name that begins so; at most 9 digits. */
static bool number_after(struct track_text name, const char *prefix, uint32_t *out)
{
	size_t at = strlen(prefix);
	uint32_t value = 0;

	if (!name.s || name.len <= at || name.len > at + 9 || memcmp(name.s, prefix, at) != 0)
		return false;
	for (; at < name.len; at++) {
		if (name.s[at] < '0' || name.s[at] > '9')
			return false;
		value = value * 10 + (uint32_t)(name.s[at] - '0');
	}
	*out = value;
	return true;
}

bool track_swapper_cpu(struct track_text name, uint32_t *cpu)
{
	uint32_t value;

	if (!number_after(name, "swapper/", &value) || value >= 1000000)
		return false;
	*cpu = value;
	return true;
}

/* The idle threads of wprof have numbers that differ from version to version; their names do not. */
static void own_idle(struct track_in *track, const struct track_in *thread)
{
	track->flags |= TRACK_IS_IDLE;
	if (!track_swapper_cpu(thread->thread_name, &track->owner) &&
	    !track_swapper_cpu(track->name, &track->owner))
		track->owner = TRACK_NONE;
	track->owner_tgid = 0;
}

static void own(struct track_in *track, const struct track_in *thread)
{
	/* -(N+1) is the idle thread of CPU N in some dialects; 0 is that of the CPU in question. */
	if (thread->pid == WPROF_PID_IDLE || thread->tid > INT32_MAX) {
		own_idle(track, thread);
		if (track->owner == TRACK_NONE && thread->tid > INT32_MAX)
			track->owner = ~thread->tid;
		return;
	}
	if (thread->tid == 0) {
		own_idle(track, thread);
		return;
	}
	track->owner = thread->tid;
	track->owner_tgid = thread->pid;
	if (thread->pid == WPROF_PID_KERNEL || thread->pid == WPROF_PID_KTHREAD) {
		track->flags |= TRACK_IS_KERNEL;
		track->owner_tgid = thread->tid;
	}
}

struct track_in *track_descs_get(struct track_descs *t, uint32_t index)
{
	struct track_in *track = &t->tracks[index];
	uint32_t at = index;

	if (track->flags & TRACK_IS_RESOLVED)
		return track;
	track->flags |= TRACK_IS_RESOLVED;
	for (unsigned int depth = 0; depth < PARENTS_MAX; depth++) {
		const struct track_in *up = &t->tracks[at];

		if (up->flags & TRACK_IS_THREAD) {
			own(track, up);
			return track;
		}
		if (up->flags & TRACK_IS_PROCESS && !track->owner_tgid)
			track->owner_tgid = up->pid;
		if (!up->parent || !map_find(t->by_uuid, &up->parent, &at))
			break;
	}
	/* Our own idle tracks have a name and nothing else. */
	if (track_swapper_cpu(track->name, &track->owner))
		track->flags |= TRACK_IS_IDLE;
	else if (!number_after(track->name, "TID ", &track->owner) || !track->owner)
		track->owner = TRACK_NONE; /* else a thread of which wprof knows no more */
	return track;
}
