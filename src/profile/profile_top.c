#include "profile/profile_top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/map.h"
#include "profile/profile_join.h"

#define STACKS_MAX  (1U << 20) /* different ones, by the functions in them */
#define USERS_MAX   (1U << 20) /* pairs of function and process */
#define FRAMES_MAX  64U        /* of a stack that is shown */
#define ARENA_BYTES ((size_t)64 << 20)
#define KEY_SEED    0x5eedU /* keys of functions are the same in every profile */

struct profile_top {
	struct machine_profile_row *rows;
	size_t nr;
	size_t nr_functions;
	uint64_t samples;
	bool has_layers;
	struct profile_frame *frames; /* as those of the profile, which move when it grows */
	struct arena *mem;            /* of stacks, and names of what has none */
};

/* A sequence of functions, and one of the stacks that have it. */
struct merged {
	uint32_t leaf; /* function */
	uint32_t stack;
	uint64_t samples;
};

struct user {
	uint32_t function;
	uint32_t tgid;
	uint32_t task;
	uint64_t samples;
};

/* What is known of a function. */
struct function_sum {
	uint64_t self, total;
	uint32_t seen;  /* the last stack that counted to its total, + 1 */
	uint32_t frame; /* of a place in it */
	uint32_t place; /* frame with the most samples of its own, PROFILE_NONE */
	uint32_t user;  /* with the most; PROFILE_NONE */
	uint32_t nr_users;
	uint32_t heaviest[MACHINE_PROFILE_STACKS]; /* of merged */
	uint32_t nr_heaviest;
};

struct top_build {
	const struct profile *p;
	struct profile_join *join;
	struct function_sum *sums; /* by function */
	uint64_t *at_frame;        /* samples whose place is that frame */
	uint32_t *holder;          /* the function that such a frame belongs to */
	uint32_t *functions;       /* of the stack at hand */
	struct map *merged_ids, *user_ids;
	struct merged *merged;
	struct user *users;
	uint32_t nr_merged, nr_users, merged_room, users_room;
};

static void scoped_build(struct top_build *b)
{
	profile_join_free(b->join);
	free(b->sums);
	free(b->at_frame);
	free(b->holder);
	free(b->functions);
	map_free(b->merged_ids);
	map_free(b->user_ids);
	free(b->merged);
	free(b->users);
}

DEFINE_SCOPED(profile_top, profile_top_free)

void profile_top_free(struct profile_top *t)
{
	if (!t)
		return;
	arena_free(t->mem);
	free(t->frames);
	free(t->rows);
	free(t);
}

static int prepare(struct top_build *b)
{
	const struct profile_join_cfg cfg = { .sides = { b->p }, .merges_unknown = true };
	size_t nr, frames = profile_nr_frames(b->p) + 1;

	if (profile_join_new(&cfg, &b->join))
		return -ENOMEM;
	nr = (size_t)profile_join_nr(b->join) + 1;
	b->sums = calloc(nr, sizeof(*b->sums));
	b->at_frame = calloc(frames, sizeof(*b->at_frame));
	b->holder = calloc(frames, sizeof(*b->holder));
	b->functions = calloc(PROFILE_MAX_DEPTH, sizeof(*b->functions));
	if (!b->sums || !b->at_frame || !b->holder || !b->functions ||
	    map_new(sizeof(uint64_t), STACKS_MAX, &b->merged_ids) ||
	    map_new(sizeof(uint64_t), USERS_MAX, &b->user_ids))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		b->sums[i].frame = b->sums[i].place = b->sums[i].user = PROFILE_NONE;
	return 0;
}

/* Adds to what is under a key, or begins it; beyond the cap nothing is added, and *at is PROFILE_NONE. */
static int find_or_begin(struct map *ids, uint64_t key, uint32_t nr, uint32_t *at)
{
	int err;

	if (map_find(ids, &key, at))
		return 0;
	*at = PROFILE_NONE;
	err = map_insert(ids, &key, nr);
	if (!err)
		*at = nr;
	return err == -E2BIG ? 0 : err;
}

static int add_user(struct top_build *b, uint32_t function, const struct profile_stack *stack)
{
	uint32_t tgid = profile_task_at(b->p, stack->task)->tgid, at;
	int err = GROW(b->users, b->users_room, b->nr_users);

	if (!err)
		err = find_or_begin(b->user_ids, (uint64_t)function << 32 | tgid, b->nr_users, &at);
	if (err || at == PROFILE_NONE)
		return err;
	if (at == b->nr_users) {
		b->users[b->nr_users++] =
			(struct user){ .function = function, .tgid = tgid, .task = stack->task };
		b->sums[function].nr_users++;
	}
	b->users[at].samples += stack->count;
	return 0;
}

static int merge(struct top_build *b, uint32_t leaf, uint32_t idx,
                 const struct profile_stack *stack)
{
	uint64_t key = hash_bytes(b->functions, stack->nr * sizeof(*b->functions), KEY_SEED);
	uint32_t at;
	int err = GROW(b->merged, b->merged_room, b->nr_merged);

	if (!err)
		err = find_or_begin(b->merged_ids, key, b->nr_merged, &at);
	if (err || at == PROFILE_NONE)
		return err;
	if (at == b->nr_merged)
		b->merged[b->nr_merged++] = (struct merged){ .leaf = leaf, .stack = idx };
	b->merged[at].samples += stack->count;
	return 0;
}

/* The function that holds the code of the leaf: the first that was not inlined. */
static size_t holder_of(const struct profile *p, const struct profile_stack *stack)
{
	for (size_t i = 0; i < stack->nr; i++)
		if (!profile_frame_at(p, stack->frames[i])->is_inlined)
			return i;
	return 0;
}

static int add_stack(struct top_build *b, uint32_t idx)
{
	struct profile_stack stack;
	uint32_t leaf;
	size_t at;
	int err;

	profile_stack_at(b->p, idx, &stack);
	if (!stack.nr || stack.nr > PROFILE_MAX_DEPTH)
		return 0;
	for (size_t i = 0; i < stack.nr; i++) {
		uint32_t function = profile_join_function(b->join, PROFILE_NOW, stack.frames[i]);
		struct function_sum *s = &b->sums[function];

		b->functions[i] = function;
		if (s->seen != idx + 1)
			s->total += stack.count;
		s->seen = idx + 1;
	}
	at = holder_of(b->p, &stack);
	leaf = b->functions[at];
	b->sums[leaf].self += stack.count;
	b->sums[leaf].frame = stack.frames[at];
	b->at_frame[stack.frames[0]] += stack.count;
	b->holder[stack.frames[0]] = leaf;
	err = add_user(b, leaf, &stack);
	return err ? err : merge(b, leaf, idx, &stack);
}

static void choose_places(struct top_build *b)
{
	for (uint32_t i = 0; i < profile_nr_frames(b->p); i++) {
		struct function_sum *s = &b->sums[b->holder[i]];

		if (b->at_frame[i] &&
		    (s->place == PROFILE_NONE || b->at_frame[i] > b->at_frame[s->place]))
			s->place = i;
	}
	for (uint32_t i = 0; i < b->nr_users; i++) {
		struct function_sum *s = &b->sums[b->users[i].function];

		if (s->user == PROFILE_NONE || b->users[i].samples > b->users[s->user].samples)
			s->user = i;
	}
}

/* Kept in order, the heaviest first. */
static void choose_stacks(struct top_build *b)
{
	for (uint32_t i = 0; i < b->nr_merged; i++) {
		struct function_sum *s = &b->sums[b->merged[i].leaf];
		uint32_t at = s->nr_heaviest;

		while (at && b->merged[i].samples > b->merged[s->heaviest[at - 1]].samples)
			at--;
		if (at == MACHINE_PROFILE_STACKS)
			continue;
		if (s->nr_heaviest < MACHINE_PROFILE_STACKS)
			s->nr_heaviest++;
		memmove(&s->heaviest[at + 1], &s->heaviest[at],
		        (s->nr_heaviest - 1 - at) * sizeof(s->heaviest[0]));
		s->heaviest[at] = i;
	}
}

static uint32_t key_of(const struct machine_profile_row *r)
{
	uint64_t key = hash_bytes(r->symbol, strlen(r->symbol), KEY_SEED + r->is_kernel);
	uint32_t both;

	key ^= hash_bytes(r->module, strlen(r->module), KEY_SEED + 2);
	both = (uint32_t)(key ^ key >> 32);
	return both ? both : 1;
}

static void show_task(const struct top_build *b, const struct function_sum *s,
                      struct machine_profile_row *row)
{
	const struct user *u = s->user == PROFILE_NONE ? NULL : &b->users[s->user];
	const struct profile_task *task = u ? profile_task_at(b->p, u->task) : NULL;

	row->nr_tgids = s->nr_users;
	if (!task)
		return;
	row->tgid = u->tgid;
	row->comm = task->process ? task->process : task->comm;
}

/* Without memory for its frames a stack is left out. */
static void show_stacks(const struct top_build *b, const struct function_sum *s,
                        struct profile_top *t, struct machine_profile_row *row)
{
	for (uint32_t i = 0; i < s->nr_heaviest; i++) {
		const struct merged *m = &b->merged[s->heaviest[i]];
		struct profile_stack stack;
		const struct profile_frame **frames;
		uint32_t nr;

		profile_stack_at(b->p, m->stack, &stack);
		nr = stack.nr < FRAMES_MAX ? (uint32_t)stack.nr : FRAMES_MAX;
		frames = ARENA_ARRAY(t->mem, const struct profile_frame *, nr);
		if (!frames)
			return;
		for (uint32_t k = 0; k < nr; k++)
			frames[k] = &t->frames[stack.frames[k]];
		if (i == 0) {
			uint32_t layer = profile_task_at(b->p, stack.task)->layer;

			row->cpu = stack.cpu;
			row->layer = layer == PROFILE_NO_LAYER ? -1 : (int64_t)layer;
		}
		row->stacks[row->nr_stacks++] = (struct machine_profile_stack){ m->samples, frames,
			                                                        nr };
	}
}

/* Addresses without a name are one row per module. */
static const char *name_of(const struct profile_frame *f, struct profile_top *t)
{
	char buf[PROFILE_NAME_BYTES];
	const char *name = profile_frame_name(f, buf);

	if (name != buf)
		return name;
	name = arena_strdup(t->mem, buf);
	return name ? name : f->symbol;
}

static void show(const struct top_build *b, const struct function_sum *s, struct profile_top *t,
                 struct machine_profile_row *row)
{
	const struct profile_frame *function = profile_frame_at(b->p, s->frame);
	const struct profile_frame *place =
		profile_frame_at(b->p, s->place == PROFILE_NONE ? s->frame : s->place);

	*row = (struct machine_profile_row){
		.symbol = name_of(function, t),
		.module = function->module,
		.is_kernel = function->is_kernel,
		.samples = s->self,
		.total = s->total,
		.file = place->file,
		.line = place->line,
		.address = place->address,
		.layer = -1,
	};
	row->key = key_of(row);
	show_task(b, s, row);
	show_stacks(b, s, t, row);
	t->has_layers |= row->layer >= 0;
}

struct function_order {
	uint64_t samples;
	uint32_t function;
	const char *symbol;
};

static int by_samples(const void *a, const void *b)
{
	const struct function_order *x = a, *y = b;
	int names = strcmp(x->symbol, y->symbol);

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return names ? names : (x->function > y->function) - (x->function < y->function);
}

static int copy_frames(const struct profile *p, struct profile_top *t)
{
	size_t nr = profile_nr_frames(p);

	t->frames = calloc(nr + 1, sizeof(*t->frames));
	if (!t->frames)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		t->frames[i] = *profile_frame_at(p, i);
	return 0;
}

static int make_rows(struct top_build *b, struct profile_top *t)
{
	size_t nr = 0, all = profile_join_nr(b->join);
	SCOPED(scoped_free) struct function_order *order = calloc(all + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < all; i++) {
		if (!b->sums[i].self)
			continue;
		order[nr++] = (struct function_order){
			b->sums[i].self, i, profile_frame_at(b->p, b->sums[i].frame)->symbol
		};
	}
	qsort(order, nr, sizeof(*order), by_samples);
	t->nr_functions = nr;
	t->nr = nr < MACHINE_PROFILE_ROWS ? nr : MACHINE_PROFILE_ROWS;
	t->rows = calloc(t->nr + 1, sizeof(*t->rows));
	t->mem = arena_new(ARENA_BYTES);
	if (!t->rows || !t->mem || copy_frames(b->p, t))
		return -ENOMEM;
	for (size_t i = 0; i < t->nr; i++)
		show(b, &b->sums[order[i].function], t, &t->rows[i]);
	t->samples = profile_count(b->p);
	return 0;
}

int profile_top_new(const struct profile *p, struct profile_top **out)
{
	SCOPED(scoped_profile_top) struct profile_top *t = calloc(1, sizeof(*t));
	SCOPED(scoped_build) struct top_build b = { .p = p };
	int err = t ? prepare(&b) : -ENOMEM;

	for (uint32_t i = 0; !err && i < profile_nr_stacks(p); i++)
		err = add_stack(&b, i);
	if (err)
		return err;
	choose_places(&b);
	choose_stacks(&b);
	err = make_rows(&b, t);
	if (err)
		return err;
	*out = TAKE_PTR(t);
	return 0;
}

void profile_top_show(const struct profile_top *t, struct machine_profile *out)
{
	out->rows = t->rows;
	out->nr_rows = t->nr;
	out->nr_functions = t->nr_functions;
	out->samples = t->samples;
	out->has_layers = t->has_layers;
}
