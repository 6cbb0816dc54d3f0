#include "profile/profile_list.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/map.h"
#include "profile/waits.h"

#define MAX_PIDS (1U << 23) /* pairs of function and process */

struct profile_list {
	struct profile_join *join;
	struct profile_function *functions;
	uint32_t nr;
	uint64_t whole[PROFILE_SIDES];
	enum profile_order order;
	bool is_of_waits;
};

struct pid_key {
	uint32_t function;
	uint32_t pid;
};

struct pid_sum {
	struct pid_key key;
	uint64_t count;
};

/* What is needed to build a list, and no longer. */
struct list_build {
	struct profile_list *l;
	const struct profile *p;
	enum profile_side side;
	uint32_t *seen;       /* by function: the last row that counted to its total, + 1 */
	uint64_t *most;       /* by function: samples of its heaviest row */
	uint64_t *own, *with; /* by frame: values at the leaf, and anywhere */
	struct map *pid_ids;
	struct pid_sum *pids;
	uint32_t nr_pids, pid_room;
};

static void scoped_build(struct list_build *b)
{
	free(b->seen);
	free(b->most);
	free(b->own);
	free(b->with);
	map_free(b->pid_ids);
	free(b->pids);
}

double profile_share(uint64_t value, uint64_t whole)
{
	return whole ? (double)value / (double)whole : 0;
}

static int add_pid(struct list_build *b, uint32_t function, uint32_t pid, uint64_t count)
{
	struct pid_key key = { function, pid };
	uint32_t at;
	int err;

	if (map_find(b->pid_ids, &key, &at)) {
		b->pids[at].count += count;
		return 0;
	}
	if (GROW(b->pids, b->pid_room, b->nr_pids))
		return -ENOMEM;
	err = map_insert(b->pid_ids, &key, b->nr_pids);
	if (!err)
		b->pids[b->nr_pids++] = (struct pid_sum){ key, count };
	return err;
}

/* What a stack means for the function that has its time. */
static int add_leaf(struct list_build *b, const struct profile_stack *stack, uint32_t leaf)
{
	uint32_t function = profile_join_function(b->l->join, b->side, leaf);
	const struct profile_task *task = profile_task_at(b->p, stack->task);
	struct profile_function *f = &b->l->functions[function];

	f->w[b->side].self_count += stack->count;
	f->w[b->side].self_value += stack->value;
	b->own[leaf] += stack->value;
	if (b->side != PROFILE_NOW)
		return 0;
	if (f->nr_pids == 0 || stack->count > b->most[function]) {
		b->most[function] = stack->count;
		f->cpu = stack->cpu;
		f->layer = task->layer;
	}
	f->nr_pids = 1; /* counted in the end */
	return add_pid(b, function, task->tgid, stack->count);
}

size_t profile_list_leaf(const struct profile_list *l, const struct profile *p,
                         const struct profile_stack *stack)
{
	return l->is_of_waits ? profile_waiter(p, stack) : 0;
}

static int add_row(struct list_build *b, uint32_t idx)
{
	struct profile_stack stack;
	size_t leaf;

	profile_stack_at(b->p, idx, &stack);
	leaf = profile_list_leaf(b->l, b->p, &stack);
	for (size_t i = leaf; i < stack.nr; i++) {
		uint32_t function = profile_join_function(b->l->join, b->side, stack.frames[i]);
		struct profile_function *f = &b->l->functions[function];

		b->with[stack.frames[i]] += stack.value;
		if (b->seen[function] == idx + 1)
			continue;
		b->seen[function] = idx + 1;
		f->w[b->side].total_count += stack.count;
		f->w[b->side].total_value += stack.value;
	}
	return stack.nr ? add_leaf(b, &stack, stack.frames[leaf]) : 0;
}

/* The heaviest frame represents its function, unless the newer profile has one. */
static int choose_frames(struct list_build *b)
{
	uint32_t nr = (uint32_t)profile_nr_frames(b->p);
	SCOPED(scoped_free) uint32_t *best = malloc(((size_t)b->l->nr + 1) * sizeof(*best));

	if (!best)
		return -ENOMEM;
	memset(best, 0xff, ((size_t)b->l->nr + 1) * sizeof(*best));
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t *at = &best[profile_join_function(b->l->join, b->side, i)];

		if (*at == PROFILE_NONE || b->own[i] > b->own[*at] ||
		    (b->own[i] == b->own[*at] && b->with[i] > b->with[*at]))
			*at = i;
	}
	for (uint32_t i = 0; i < b->l->nr; i++)
		if (best[i] != PROFILE_NONE && !b->l->functions[i].frame)
			b->l->functions[i].frame = profile_frame_at(b->p, best[i]);
	return 0;
}

static void choose_pids(struct list_build *b)
{
	for (uint32_t i = 0; i < b->l->nr; i++) {
		b->l->functions[i].nr_pids = 0;
		b->most[i] = 0;
	}
	for (uint32_t i = 0; i < b->nr_pids; i++) {
		const struct pid_sum *sum = &b->pids[i];
		struct profile_function *f = &b->l->functions[sum->key.function];
		uint64_t *most = &b->most[sum->key.function];

		if (f->nr_pids == 0 || sum->count > *most ||
		    (sum->count == *most && sum->key.pid < f->pid)) {
			f->pid = sum->key.pid;
			*most = sum->count;
		}
		f->nr_pids++;
	}
}

static int add_side(struct profile_list *l, const struct profile *p, enum profile_side side)
{
	SCOPED(scoped_build) struct list_build b = { .l = l, .p = p, .side = side };
	size_t nr_frames = profile_nr_frames(p);
	int err = map_new(sizeof(struct pid_key), MAX_PIDS, &b.pid_ids);

	b.seen = calloc((size_t)l->nr + 1, sizeof(*b.seen));
	b.most = calloc((size_t)l->nr + 1, sizeof(*b.most));
	b.own = calloc(nr_frames + 1, sizeof(*b.own));
	b.with = calloc(nr_frames + 1, sizeof(*b.with));
	if (!b.seen || !b.most || !b.own || !b.with)
		return -ENOMEM;
	for (uint32_t i = 0; i < (uint32_t)profile_nr_stacks(p) && !err; i++)
		err = add_row(&b, i);
	if (!err)
		err = choose_frames(&b);
	if (err)
		return err;
	if (side == PROFILE_NOW)
		choose_pids(&b);
	l->whole[side] = profile_value(p);
	return 0;
}

static double change_of(const struct profile_list *l, const struct profile_function *f)
{
	return profile_share(f->w[PROFILE_NOW].self_value, l->whole[PROFILE_NOW]) -
	       profile_share(f->w[PROFILE_BEFORE].self_value, l->whole[PROFILE_BEFORE]);
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

/* The most first. */
static int by_weight(const struct profile_list *l, const struct profile_function *a,
                     const struct profile_function *b)
{
	const struct profile_weight *wa = a->w, *wb = b->w;
	double ca, cb;
	int order = 0;

	if (l->order == PROFILE_BY_CHANGE) {
		ca = fabs(change_of(l, a));
		cb = fabs(change_of(l, b));
		order = (ca < cb) - (ca > cb);
	} else if (l->order == PROFILE_BY_TOTAL) {
		order = compare_u64(wa->total_value, wb->total_value);
	}
	if (order == 0)
		order = compare_u64(wa->self_value, wb->self_value);
	return order ? order : compare_u64(wa->total_value, wb->total_value);
}

static int by_order(const void *a, const void *b, void *ctx)
{
	const struct profile_function *fa = a, *fb = b;
	int order = by_weight(ctx, fa, fb);

	if (order == 0)
		order = strcmp(fa->frame->symbol, fb->frame->symbol);
	if (order == 0)
		order = strcmp(fa->frame->module, fb->frame->module);
	if (order == 0)
		order = (fa->frame->line > fb->frame->line) - (fa->frame->line < fb->frame->line);
	return order ? order : (fa->number > fb->number) - (fa->number < fb->number);
}

/* Frames that are in no stack are not functions. */
static void drop_unused(struct profile_list *l)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < l->nr; i++)
		if (l->functions[i].w[PROFILE_NOW].total_count ||
		    l->functions[i].w[PROFILE_BEFORE].total_count)
			l->functions[nr++] = l->functions[i];
	l->nr = nr;
}

int profile_list_new(const struct profile *p, const struct profile_list_cfg *cfg,
                     struct profile_list **out)
{
	struct profile_join_cfg join = { .sides = { p, cfg->before },
		                         .is_by_line = cfg->is_by_line };
	SCOPED(scoped_profile_list) struct profile_list *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	l->order = cfg->order;
	l->is_of_waits = profile_is_of_waits(p); /* folded text of before does not say */
	err = profile_join_new(&join, &l->join);
	if (err)
		return err;
	l->nr = profile_join_nr(l->join);
	l->functions = calloc((size_t)l->nr + 1, sizeof(*l->functions));
	if (!l->functions)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->nr; i++) {
		l->functions[i].number = i;
		l->functions[i].layer = PROFILE_NO_LAYER;
	}
	err = add_side(l, p, PROFILE_NOW);
	if (!err && cfg->before)
		err = add_side(l, cfg->before, PROFILE_BEFORE);
	if (err)
		return err;
	drop_unused(l);
	qsort_r(l->functions, l->nr, sizeof(*l->functions), by_order, l);
	*out = TAKE_PTR(l);
	return 0;
}

void profile_list_free(struct profile_list *l)
{
	if (!l)
		return;
	profile_join_free(l->join);
	free(l->functions);
	free(l);
}

uint32_t profile_list_nr(const struct profile_list *l)
{
	return l->nr;
}

const struct profile_function *profile_list_at(const struct profile_list *l, uint32_t idx)
{
	return &l->functions[idx];
}

const struct profile_join *profile_list_join(const struct profile_list *l)
{
	return l->join;
}
