#include "record/frame_query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/map.h"
#include "trace/reader.h"

_Static_assert(FRAME_ID_MAX == TRACE_FRAME_ID_MAX, "build ids are copied");

struct asking {
	const struct trace_info *info;
	struct frame_query *q;
	struct map *files; /* build id -> index */
	uint32_t room;
	bool *is_leaf; /* by frame: somewhere it is what ran, not what called */
};

void frame_query_free(struct frame_query *q)
{
	if (!q)
		return;
	free(q->files);
	free(q->places);
	arena_free(q->mem);
	free(q);
}

static bool is_wanted(const struct trace_info *info, const struct trace_frame *f)
{
	return !*f->name &&
	       (f->is_kernel ? info->kernel_text != 0 : f->build_id && f->build_id->nr);
}

static bool is_any_wanted(const struct trace_info *info)
{
	for (size_t i = 0; i < info->nr_frames; i++)
		if (is_wanted(info, &info->frames[i]))
			return true;
	return false;
}

static void mark_leaves(struct asking *a)
{
	const struct trace_info *info = a->info;

	for (size_t i = 0; i < info->nr_stacks; i++)
		if (info->stacks[i].nr)
			a->is_leaf[info->stack_frames[info->stacks[i].first]] = true;
}

/* The number of its file. 0, -ENOMEM, or -E2BIG: there is no room. */
static int add_file(struct asking *a, const struct trace_frame *f, uint32_t *out)
{
	struct frame_query *q = a->q;
	struct frame_file file = { .path = f->mapping, .nr_build_id = f->build_id->nr };
	int err;

	if (map_find(a->files, f->build_id, out))
		return 0;
	err = map_insert(a->files, f->build_id, q->nr_files);
	if (!err)
		err = GROW(q->files, a->room, q->nr_files);
	if (err)
		return err;
	memcpy(file.build_id, f->build_id->bytes, sizeof(file.build_id));
	*out = q->nr_files;
	q->files[q->nr_files++] = file;
	return 0;
}

/* Callers are known by where they go on, which may be the next function: what they called from is before that. */
static int add_place(struct asking *a, size_t frame)
{
	const struct trace_frame *f = &a->info->frames[frame];
	struct frame_place *p = &a->q->places[frame];
	/* Of a module, the place in its file says nothing of where that was loaded. */
	uint64_t at = f->is_kernel && f->address ? f->address : f->rel_pc;
	int err = 0;

	*p = (struct frame_place){ .at = at - (at && !a->is_leaf[frame]), .file = FRAME_UNWANTED };
	if (!is_wanted(a->info, f))
		return 0;
	if (f->is_kernel)
		p->file = FRAME_KERNEL;
	else
		err = add_file(a, f, &p->file);
	return err == -E2BIG ? 0 : err;
}

int frame_query_new(const struct trace_info *info, struct frame_query **out)
{
	SCOPED(scoped_frame_query) struct frame_query *q = NULL;
	SCOPED(scoped_map) struct map *files = NULL;
	SCOPED(scoped_free) bool *is_leaf = NULL;
	struct asking a = { .info = info };
	int err = 0;

	if (!is_any_wanted(info))
		return 0;
	q = calloc(1, sizeof(*q));
	if (!q || map_new(sizeof(struct trace_frame_id), FRAME_FILES_MAX, &files) < 0)
		return -ENOMEM;
	q->nr_places = info->nr_frames < FRAME_PLACES_MAX ? info->nr_frames : FRAME_PLACES_MAX;
	q->places = calloc(q->nr_places, sizeof(*q->places));
	is_leaf = calloc(info->nr_frames, sizeof(*is_leaf));
	if (!q->places || !is_leaf)
		return -ENOMEM;
	(void)snprintf(q->release, sizeof(q->release), "%s", info->release);
	q->kernel_text = info->kernel_text;
	a.q = q;
	a.files = files;
	a.is_leaf = is_leaf;
	mark_leaves(&a);
	for (size_t i = 0; i < q->nr_places && !err; i++)
		err = add_place(&a, i);
	if (err)
		return err;
	*out = TAKE_PTR(q);
	return 0;
}
