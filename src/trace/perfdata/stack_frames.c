/* Samples and mappings in order of time; addresses become frames, and chains of them stacks. */
#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "trace/perfdata/stack_maps.h"

#define FRAMES_MAX (1U << 26)

struct frame_key {
	uint64_t pc;
	uint32_t path; /* of paths, plus one; 0 = unknown */
	uint32_t is_kernel;
};

struct stack_key {
	uint32_t chain, user_state, kernel_state, pad_;
};

struct maker {
	struct perfdata *d;
	struct pd_stacks *s;
	struct stack_maps maps;
	struct map *frame_ids, *stack_ids;
	struct trace_frame *frames;
	size_t nr_frames, cap_frames;
	struct trace_stack *stacks;
	size_t nr_stacks, cap_stacks;
	uint32_t *stack_frames;
	size_t nr_stack_frames, cap_stack_frames;
};

static int by_sample_time(const void *a, const void *b)
{
	const struct pd_raw_sample *x = a, *y = b;

	if (x->s.ts_ns != y->s.ts_ns)
		return x->s.ts_ns < y->s.ts_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_change_time(const void *a, const void *b)
{
	const struct pd_change *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* "[kernel.kallsyms]_text" is where the kernel begins; modules have their file. */
static const char *mapping_of(struct maker *m, const struct frame_key *key)
{
	size_t len = 0;
	const char *s = key->path ? intern_string(m->s->paths, key->path - 1, &len) : NULL;
	const char *end = s && len && s[0] == '[' && key->is_kernel ? memchr(s, ']', len) : NULL;

	if (!s)
		return key->is_kernel ? "[kernel.kallsyms]" : "";
	return info_text(m->d->r, s, end ? (size_t)(end + 1 - s) : len);
}

static struct trace_frame describe(struct maker *m, const struct frame_key *key, uint64_t address)
{
	size_t len = 0;
	const char *name = key->is_kernel ? pd_symbol_find(m->d, address, &len) : NULL;

	return (struct trace_frame){ .name = info_text(m->d->r, name, len),
		                     .mapping = mapping_of(m, key),
		                     .file = "",
		                     .build_id = key->path && !key->is_kernel
		                                         ? pd_build_id_of(m->s, key->path - 1)
		                                         : NULL,
		                     .rel_pc = key->pc,
		                     .address = key->is_kernel ? address : 0,
		                     .is_kernel = key->is_kernel };
}

static int frame_of(struct maker *m, const struct stack_space *space, uint64_t address,
                    bool is_kernel, uint32_t *out)
{
	const struct stack_map *map = stack_space_find(space, address);
	struct frame_key key = { .pc = address, .is_kernel = is_kernel };
	size_t len;
	const char *path = map ? intern_string(m->s->paths, map->path, &len) : NULL;

	if (path && *path) {
		key.path = map->path + 1;
		/* The kernel itself has no file whose places could be counted. */
		if (!is_kernel || path[0] != '[')
			key.pc = address - map->start + map->offset;
	}
	if (map_find(m->frame_ids, &key, out))
		return 0;
	if (!grow_counted(m->d->r, &m->frames, m->nr_frames, &m->cap_frames, sizeof(*m->frames)) ||
	    map_insert(m->frame_ids, &key, (uint32_t)m->nr_frames) < 0)
		return -ENOMEM;
	m->frames[m->nr_frames] = describe(m, &key, address);
	*out = (uint32_t)m->nr_frames++;
	return 0;
}

static int add_frames(struct maker *m, const struct pd_raw_chain *chain,
                      const struct stack_space *user, const struct stack_space *kernel)
{
	int context = CONTEXT_NONE, err = 0;

	for (uint32_t i = 0; i < chain->nr && !err; i++) {
		uint64_t address = m->s->addresses[chain->first + i];
		bool is_kernel;

		if (pd_chain_context(address, &context) || context == CONTEXT_OTHER)
			continue;
		is_kernel = context == CONTEXT_NONE ? address >> 63 : context == CONTEXT_KERNEL;
		if (!grow_counted(m->d->r, &m->stack_frames, m->nr_stack_frames,
		                  &m->cap_stack_frames, sizeof(*m->stack_frames)))
			return -ENOMEM;
		err = frame_of(m, is_kernel ? kernel : user, address, is_kernel,
		               &m->stack_frames[m->nr_stack_frames]);
		m->nr_stack_frames += !err;
	}
	return err;
}

static int stack_of(struct maker *m, const struct pd_raw_sample *sample, uint32_t *out)
{
	const struct pd_raw_chain *chain = &m->s->chains[sample->chain];
	const struct stack_space *user = chain->has_user ? stack_maps_of(&m->maps, sample->pid)
	                                                 : NULL;
	const struct stack_space *kernel = stack_maps_of(&m->maps, PD_NONE);
	const struct stack_key key = { .chain = sample->chain,
		                       .user_state = stack_space_state(user),
		                       .kernel_state = stack_space_state(kernel) };
	uint32_t first = (uint32_t)m->nr_stack_frames;
	int err;

	if (map_find(m->stack_ids, &key, out))
		return 0;
	err = add_frames(m, chain, user, kernel);
	if (err)
		return err;
	if (!grow_counted(m->d->r, &m->stacks, m->nr_stacks, &m->cap_stacks, sizeof(*m->stacks)) ||
	    map_insert(m->stack_ids, &key, (uint32_t)m->nr_stacks) < 0)
		return -ENOMEM;
	m->stacks[m->nr_stacks] = (struct trace_stack){ first,
		                                        (uint32_t)m->nr_stack_frames - first };
	*out = (uint32_t)m->nr_stacks++;
	return 0;
}

static int make(struct maker *m)
{
	struct pd_stacks *s = m->s;
	size_t change = 0;
	int err = 0;

	if (s->nr_samples)
		qsort(s->samples, s->nr_samples, sizeof(*s->samples), by_sample_time);
	if (s->nr_changes)
		qsort(s->changes, s->nr_changes, sizeof(*s->changes), by_change_time);
	for (size_t i = 0; i < s->nr_samples && !err; i++) {
		struct pd_raw_sample *sample = &s->samples[i];

		for (;
		     change < s->nr_changes && !err && s->changes[change].ts_ns <= sample->s.ts_ns;
		     change++)
			err = stack_maps_change(&m->maps, &s->changes[change]);
		sample->s.stack = PD_NONE;
		if (!err && sample->chain != PD_NONE)
			err = stack_of(m, sample, &sample->s.stack);
	}
	return err;
}

static void *keep(struct reader *r, const void *array, size_t nr, size_t size, int *err)
{
	void *copy = nr ? arena_alloc(r->mem, nr, size, 8) : NULL;

	if (copy)
		memcpy(copy, array, nr * size);
	else if (nr)
		*err = -ENOMEM;
	return copy;
}

static int hand_over(struct maker *m)
{
	struct reader *r = m->d->r;
	const struct pd_stacks *s = m->s;
	struct trace_info *info = &r->info;
	const char **events = ARENA_ARRAY(r->mem, const char *, s->nr_events);
	struct trace_sample *samples = ARENA_ARRAY(r->mem, struct trace_sample, s->nr_samples + 1);
	int err = events && samples ? 0 : -ENOMEM;
	size_t len;

	info->stacks = keep(r, m->stacks, m->nr_stacks, sizeof(*m->stacks), &err);
	info->stack_frames = keep(r, m->stack_frames, m->nr_stack_frames, sizeof(uint32_t), &err);
	info->frames = keep(r, m->frames, m->nr_frames, sizeof(*m->frames), &err);
	if (err)
		return err;
	for (size_t i = 0; i < s->nr_samples; i++)
		samples[i] = s->samples[i].s;
	for (uint16_t i = 0; i < s->nr_events; i++) {
		const char *name = reader_text(r, s->events[i], &len);

		events[i] = info_text(r, name, len);
	}
	info->samples = samples;
	info->nr_samples = s->nr_samples;
	info->nr_stacks = m->nr_stacks;
	info->nr_frames = m->nr_frames;
	info->sample_events = events;
	info->nr_sample_events = s->nr_events;
	return 0;
}

int pd_stacks_finish(struct perfdata *d)
{
	struct maker m = { .d = d, .s = d->stacks };
	int err = stack_maps_init(&m.maps, d->r);

	pd_symbols_sort(d);
	if (!err)
		err = map_new(sizeof(struct frame_key), FRAMES_MAX, &m.frame_ids);
	if (!err)
		err = map_new(sizeof(struct stack_key), FRAMES_MAX, &m.stack_ids);
	if (!err)
		err = make(&m);
	if (!err)
		err = hand_over(&m);
	stack_maps_done(&m.maps);
	map_free(m.frame_ids);
	map_free(m.stack_ids);
	free(m.frames);
	free(m.stacks);
	free(m.stack_frames);
	return err;
}
