#include "mcp/traces/trace_names.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "mcp/traces/trace_child_priv.h"
#include "record/frame_names.h"
#include "record/frame_query.h"

#define PATHS_BYTES ((size_t)32 << 20)

void trace_names_put_query(struct sandbox_msg *m, const struct frame_query *q)
{
	size_t nr = q->nr_places < TRACE_NAMES_PLACES ? q->nr_places : TRACE_NAMES_PLACES;
	uint32_t nr_files = q->nr_files < TRACE_NAMES_FILES ? q->nr_files : TRACE_NAMES_FILES;

	sandbox_msg_begin(m, TRACE_PLACES);
	sandbox_put_text(m, q->release);
	sandbox_put_u64(m, q->kernel_text);
	sandbox_put_u64(m, nr_files);
	for (uint32_t i = 0; i < nr_files; i++) {
		sandbox_put_text(m, strlen(q->files[i].path) < PATH_MAX ? q->files[i].path : "");
		sandbox_put_bytes(m, q->files[i].build_id, q->files[i].nr_build_id);
	}
	sandbox_put_bytes(m, q->places, nr * sizeof(*q->places));
}

/* A path without end or an id that is too long, or none, is no file that can be told from others. */
static int get_file(struct sandbox_msg *m, struct arena *mem, struct frame_file *out)
{
	const char *path = sandbox_get_text(m);
	size_t nr = 0;
	const void *id = sandbox_get_bytes(m, &nr);

	if (m->error || !path || strlen(path) >= PATH_MAX || !id || nr > FRAME_ID_MAX)
		return -EBADMSG;
	out->path = arena_strdup(mem, path);
	out->nr_build_id = (uint8_t)nr;
	memcpy(out->build_id, id, nr);
	return out->path ? 0 : -ENOMEM;
}

static int get_files(struct sandbox_msg *m, struct frame_query *q)
{
	uint64_t nr = sandbox_get_u64(m);
	int err = 0;

	if (m->error || nr > TRACE_NAMES_FILES)
		return -EBADMSG;
	q->files = calloc(nr + 1, sizeof(*q->files));
	q->mem = arena_new(PATHS_BYTES);
	if (!q->files || !q->mem)
		return -ENOMEM;
	for (; q->nr_files < nr && !err; q->nr_files++)
		err = get_file(m, q->mem, &q->files[q->nr_files]);
	return err;
}

static int get_places(struct sandbox_msg *m, struct frame_query *q)
{
	size_t len = 0;
	const void *bytes = sandbox_get_bytes(m, &len);

	if (m->error || !bytes || len % sizeof(*q->places) ||
	    len / sizeof(*q->places) > TRACE_NAMES_PLACES)
		return -EBADMSG;
	q->nr_places = len / sizeof(*q->places);
	q->places = malloc(len);
	if (!q->places)
		return -ENOMEM;
	memcpy(q->places, bytes, len);
	return 0;
}

static int get_query(struct sandbox_msg *m, struct frame_query **out)
{
	SCOPED(scoped_frame_query) struct frame_query *q = calloc(1, sizeof(*q));
	const char *release = sandbox_get_text(m);
	int err;

	if (!q)
		return -ENOMEM;
	q->kernel_text = sandbox_get_u64(m);
	if (m->error || !release || strlen(release) >= sizeof(q->release))
		return -EBADMSG;
	(void)snprintf(q->release, sizeof(q->release), "%s", release);
	err = get_files(m, q);
	if (!err)
		err = get_places(m, q);
	if (err)
		return err;
	*out = TAKE_PTR(q);
	return 0;
}

/* One text for each place, NULL where there is none; beyond so many bytes there are no more. */
static void put_names(struct sandbox_msg *m, const struct frame_names *names, size_t nr)
{
	size_t left = TRACE_NAMES_BYTES;

	sandbox_msg_begin(m, TRACE_NAMES);
	sandbox_put_u64(m, nr);
	for (size_t i = 0; i < nr; i++) {
		const char *name = frame_names_of(names, i);
		size_t len = name ? strlen(name) + 1 : 0;

		sandbox_put_text(m, len <= left ? name : NULL);
		left -= len <= left ? len : 0;
	}
}

int trace_names_answer(struct sandbox_msg *question, const struct frame_limits *limits,
                       struct sandbox_msg *answer)
{
	SCOPED(scoped_frame_query) struct frame_query *q = NULL;
	SCOPED(scoped_frame_names) struct frame_names *names = NULL;
	int err = get_query(question, &q);

	if (!err)
		err = frame_names_find(q, limits, &names);
	if (err)
		return err;
	put_names(answer, names, q->nr_places);
	return answer->error;
}

int trace_names_get(struct sandbox_msg *answer, size_t nr, struct frame_names **out)
{
	SCOPED(scoped_frame_names) struct frame_names *names = NULL;
	uint64_t nr_found = sandbox_get_u64(answer);

	if (answer->error || nr_found > nr)
		return -EBADMSG;
	if (frame_names_begin(nr, &names))
		return -ENOMEM;
	for (size_t i = 0; i < nr_found; i++) {
		const char *name = sandbox_get_text(answer);

		if (name && !frame_names_set(names, i, name))
			return -ENOMEM;
	}
	if (answer->error)
		return -EBADMSG;
	*out = TAKE_PTR(names);
	return 0;
}
