#include "collect/sample/sample_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/profile.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/map.h"
#include "collect/plumbing.h"

#define FRAMES_TYPICAL \
	48U /* more than most stacks have: by this the memory for frames is bounded */

struct known_stack {
	const uint64_t *ips;
	uint32_t nr;
	uint32_t end; /* enum prof_end */
};

struct sample_stacks {
	const struct plumbing *plumbing;
	struct arena *arena;
	struct map *index; /* hash -> number in known */
	struct known_stack *known;
	uint32_t nr, cap;
};

DEFINE_SCOPED(sample_stacks, sample_stacks_free)

int sample_stacks_new(uint32_t max_stacks, const struct plumbing *plumbing,
                      struct sample_stacks **out)
{
	SCOPED(scoped_sample_stacks) struct sample_stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->plumbing = plumbing;
	s->arena = arena_new(((size_t)max_stacks + 1024) * FRAMES_TYPICAL * sizeof(uint64_t));
	if (!s->arena || map_new(sizeof(uint64_t), max_stacks, &s->index))
		return -ENOMEM;
	*out = TAKE_PTR(s);
	return 0;
}

void sample_stacks_free(struct sample_stacks *s)
{
	if (!s)
		return;
	map_free(s->index);
	arena_free(s->arena);
	free(s->known);
	free(s);
}

int sample_stacks_add(struct sample_stacks *s, uint64_t hash, const struct prof_stack *stack)
{
	uint32_t nr = stack->nr <= PROF_DEPTH ? stack->nr : PROF_DEPTH;
	uint32_t cut = plumbing_frames(s->plumbing, (const uint64_t *)stack->ips, nr);
	uint32_t unused;
	uint64_t *ips;
	int err;

	if (map_find(s->index, &hash, &unused))
		return 0;
	err = GROW(s->known, s->cap, s->nr);
	if (err)
		return err;
	nr -= cut;
	ips = ARENA_ARRAY(s->arena, uint64_t, nr ? nr : 1);
	if (!ips)
		return -E2BIG;
	memcpy(ips, stack->ips + cut, nr * sizeof(*ips));
	err = map_insert(s->index, &hash, s->nr);
	if (err)
		return err;
	s->known[s->nr++] = (struct known_stack){ ips, nr, stack->end };
	return 0;
}

int sample_stacks_get(const struct sample_stacks *s, uint64_t hash, const uint64_t **ips,
                      uint32_t *nr, uint32_t *end)
{
	uint32_t at;

	*ips = NULL;
	*nr = 0;
	*end = PROF_END_NOT_KNOWN;
	if (!hash)
		return 0;
	if (!map_find(s->index, &hash, &at))
		return -ENOENT;
	*ips = s->known[at].ips;
	*nr = s->known[at].nr;
	*end = s->known[at].end;
	return 0;
}
