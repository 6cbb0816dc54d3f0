#include "trace/perfdata/stack_maps.h"

#include <errno.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/grow.h"

#define PIDS_MAX 1048576U
#define MAPS_MAX 8192U /* of a process; inserting moves those behind */

struct stack_space {
	uint32_t nr_users;
	uint32_t state;
	size_t nr, cap;
	struct stack_map *maps; /* by start; they do not overlap */
};

int stack_maps_init(struct stack_maps *m, const struct reader *r)
{
	*m = (struct stack_maps){ .r = r };
	return map_new(sizeof(uint32_t), PIDS_MAX, &m->pids);
}

static void release(struct stack_maps *m, struct stack_space *s)
{
	if (!s || --s->nr_users)
		return;
	budget_give(m->r->cfg.budget, s->cap * sizeof(*s->maps));
	free(s->maps);
	free(s);
}

void stack_maps_done(struct stack_maps *m)
{
	for (size_t i = 0; i < m->nr; i++)
		release(m, m->spaces[i]);
	free(m->spaces);
	map_free(m->pids);
	*m = (struct stack_maps){ 0 };
}

/* The place of a process, NULL without memory or beyond the cap. */
static struct stack_space **place(struct stack_maps *m, uint32_t pid)
{
	uint32_t at;

	if (map_find(m->pids, &pid, &at))
		return &m->spaces[at];
	if (GROW(m->spaces, m->cap, m->nr) || map_insert(m->pids, &pid, (uint32_t)m->nr) < 0)
		return NULL;
	m->spaces[m->nr] = NULL;
	return &m->spaces[m->nr++];
}

const struct stack_space *stack_maps_of(const struct stack_maps *m, uint32_t pid)
{
	uint32_t at;

	return map_find(m->pids, &pid, &at) ? m->spaces[at] : NULL;
}

uint32_t stack_space_state(const struct stack_space *s)
{
	return s ? s->state : 0;
}

/* One that nothing else uses, with what was there, and room for two more. */
static int make_own(struct stack_maps *m, struct stack_space **at)
{
	struct stack_space *old = *at, *s = old;

	if (!old || old->nr_users > 1) {
		s = calloc(1, sizeof(*s));
		if (!s)
			return -ENOMEM;
		s->nr_users = 1;
	}
	if (!grow_counted(m->r, &s->maps, (old ? old->nr : 0) + 2, &s->cap, sizeof(*s->maps))) {
		if (s != old)
			free(s);
		return -ENOMEM;
	}
	if (s != old && old) {
		memcpy(s->maps, old->maps, old->nr * sizeof(*s->maps));
		s->nr = old->nr;
		release(m, old);
	}
	*at = s;
	return 0;
}

/* The first one that ends behind an address. */
static size_t find(const struct stack_space *s, uint64_t address)
{
	size_t low = 0, high = s->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->maps[mid].end > address)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* What is mapped over goes; of one that is larger, both ends stay. There is room for two more. */
static void insert(struct stack_space *s, const struct pd_change *c)
{
	const struct stack_map map = {
		.start = c->start, .end = c->end, .offset = c->offset, .path = c->path
	};
	size_t first = find(s, c->start), last = first, nr_new = 0;
	struct stack_map parts[3];

	if (first < s->nr && s->maps[first].start < c->start) {
		parts[nr_new] = s->maps[first];
		parts[nr_new++].end = c->start;
	}
	parts[nr_new++] = map;
	while (last < s->nr && s->maps[last].start < c->end)
		last++;
	if (last > first && s->maps[last - 1].end > c->end) {
		parts[nr_new] = s->maps[last - 1];
		parts[nr_new].offset += c->end - parts[nr_new].start;
		parts[nr_new++].start = c->end;
	}
	memmove(s->maps + first + nr_new, s->maps + last, (s->nr - last) * sizeof(*s->maps));
	memcpy(s->maps + first, parts, nr_new * sizeof(*parts));
	s->nr = s->nr - (last - first) + nr_new;
}

int stack_maps_change(struct stack_maps *m, const struct pd_change *c)
{
	struct stack_space **at = place(m, c->pid), *from;
	int err;

	if (!at)
		return map_nr(m->pids) < PIDS_MAX ? -ENOMEM : 0;
	if (c->kind == CHANGE_MAP) {
		if (*at && (*at)->nr >= MAPS_MAX)
			return 0;
		err = make_own(m, at);
		if (err)
			return err;
		insert(*at, c);
		(*at)->state = ++m->last_state;
		return 0;
	}
	from = c->kind == CHANGE_FORK ? (struct stack_space *)(uintptr_t)stack_maps_of(m, c->parent)
	                              : NULL;
	if (from)
		from->nr_users++;
	release(m, *at);
	*at = from;
	return 0;
}

const struct stack_map *stack_space_find(const struct stack_space *s, uint64_t address)
{
	size_t at = s ? find(s, address) : 0;

	return s && at < s->nr && s->maps[at].start <= address ? &s->maps[at] : NULL;
}
