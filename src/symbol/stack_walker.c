#include "symbol/stack_walker.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "abi/profile.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/hash.h"
#include "symbol/binaries.h"
#include "symbol/mapped_files.h"
#include "symbol/parser.h"
#include "symbol/spaces.h"
#include "sys/stack_copy.h"

/* What a place in the other process was set to. */
struct place {
	uint32_t tgid; /* 0 = nothing */
	uint64_t hash; /* of the parts */
	uint64_t used; /* the larger, the later */
};

enum file_state { FILE_NEW, FILE_SENT, FILE_BAD };

struct stack_walker {
	struct spaces *spaces;
	struct mapped_files *files;
	struct parser *parser;
	uint64_t seed, clock;
	uint32_t generation; /* of the other process; another one knows nothing */
	uint8_t *states;     /* of files */
	uint32_t nr_states;
	struct place places[DWARF_WALK_SPACES];
	struct dwarf_part *parts; /* of the process at hand */
	uint32_t nr, room;
	uint64_t vdso_bytes; /* of our own */
};

struct stack_walker *stack_walker_new(struct spaces *spaces, struct mapped_files *files,
                                      struct parser *parser)
{
	struct stack_walker *w = calloc(1, sizeof(*w));
	uint64_t unused;

	if (!w)
		return NULL;
	*w = (struct stack_walker){ .spaces = spaces,
		                    .files = files,
		                    .parser = parser,
		                    .seed = hash_seed(),
		                    .vdso_bytes = binaries_own_vdso(&unused) };
	return w;
}

void stack_walker_free(struct stack_walker *w)
{
	if (!w)
		return;
	free(w->states);
	free(w->parts);
	free(w);
}

static void meet_process(struct stack_walker *w)
{
	uint32_t generation = parser_generation(w->parser);

	if (generation == w->generation)
		return;
	w->generation = generation;
	memset(w->places, 0, sizeof(w->places));
	if (w->states)
		memset(w->states, 0, w->nr_states);
}

/* False: it has no way to the file, or cannot use it. */
static bool send_file(struct stack_walker *w, uint32_t tgid, const struct space_mapping *m)
{
	const struct mapped_by by = { .tgid = tgid, .start = m->start, .end = m->end };
	SCOPED(scoped_close) int fd = -1;
	uint8_t *state;

	if (GROW_ZEROED(w->states, w->nr_states, m->file))
		return false;
	state = &w->states[m->file];
	if (*state != FILE_NEW)
		return *state == FILE_SENT;
	fd = mapped_files_lend(w->files, m->file, &by);
	if (fd < 0)
		return false; /* another process may have a way to it */
	*state = parser_walk_file(w->parser, m->file, fd) ? FILE_BAD : FILE_SENT;
	return *state == FILE_SENT;
}

struct part_ctx {
	struct stack_walker *w;
	uint32_t tgid;
};

static int add_part(void *ctx, const struct space_mapping *m)
{
	const struct part_ctx *c = ctx;
	struct stack_walker *w = c->w;
	struct dwarf_part part = { m->start, m->end, m->offset, m->file };

	if (strcmp(mapped_files_name(w->files, m->file), "[vdso]") == 0) {
		/* One of another size is that of another kind of process: 32-bit. */
		if (m->end - m->start != w->vdso_bytes)
			return 0;
		part.offset = 0;
		part.file = DWARF_WALK_VDSO;
	} else if (!send_file(w, c->tgid, m)) {
		return 0;
	}
	if (w->nr == DWARF_WALK_PARTS)
		return 0;
	if (GROW(w->parts, w->room, w->nr))
		return -ENOMEM;
	w->parts[w->nr++] = part;
	return 0;
}

/* The place of the process, or the one that was not used for longest. */
static uint32_t choose_place(const struct stack_walker *w, uint32_t tgid)
{
	uint32_t oldest = 0;

	for (uint32_t i = 0; i < DWARF_WALK_SPACES; i++) {
		if (w->places[i].tgid == tgid)
			return i;
		if (w->places[i].used < w->places[oldest].used)
			oldest = i;
	}
	return oldest;
}

static int set_place(struct stack_walker *w, uint32_t tgid, uint32_t *out)
{
	uint64_t hash = hash_bytes(w->parts, w->nr * sizeof(*w->parts), w->seed);
	uint32_t at = choose_place(w, tgid);
	struct place *place = &w->places[at];
	int err = 0;

	*out = at;
	if (place->tgid != tgid || place->hash != hash)
		err = parser_walk_space(w->parser, at, w->parts, w->nr);
	*place = (struct place){ err ? 0 : tgid, hash, ++w->clock };
	return err;
}

static int where_alone(const struct stack_copy *copy, struct prof_stack *out)
{
	out->ips[0] = copy->pc;
	out->nr = 1;
	out->end = PROF_END_NO_TABLE;
	return 0;
}

int stack_walker_walk(struct stack_walker *w, const struct stack_copy *copy, struct prof_stack *out)
{
	struct part_ctx ctx = { w, copy->tgid };
	uint32_t place;
	int err;

	if (!copy->is_64)
		return where_alone(copy, out);
	meet_process(w);
	w->nr = 0;
	err = spaces_each(w->spaces, copy->tgid, copy->ts_ns, add_part, &ctx);
	if (!err && w->nr)
		err = set_place(w, copy->tgid, &place);
	if (!err && w->nr)
		err = parser_walk_stack(w->parser, place, copy, out);
	if (err == -ENOMEM)
		return err;
	return err || !w->nr ? where_alone(copy, out) : 0;
}
