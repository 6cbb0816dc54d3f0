#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/intern.h"
#include "base/map.h"

#define MAX_TEXTS      (1U << 22)
#define MAX_TEXT_BYTES ((size_t)1 << 29)
#define MAX_FRAMES     (1U << 22)
#define MAX_TASKS      (1U << 20)
#define MAX_NODES      (1U << 24)
#define MAX_ROWS       (1U << 22)

static const char unknown[] = "unknown";

/* The same function: these agree. */
struct function_key {
	uint32_t symbol;
	uint32_t module;
	uint32_t is_kernel;
};

struct frame_key {
	struct function_key function;
	uint32_t file; /* text + 1; 0 = none */
	uint32_t line;
	uint32_t is_inlined;
	uint64_t address;
};

struct profile_task_key {
	uint32_t tid;
	uint32_t tgid;
	uint32_t comm;
	uint32_t process; /* text + 1; 0 = none */
	uint32_t layer;
	uint32_t cgroup; /* likewise */
};

/* A call: this frame, called by that of the parent. Stacks that begin alike share their outer calls. */
struct call {
	uint32_t parent; /* PROFILE_NONE at the root */
	uint32_t frame;
};

struct profile_row_key {
	uint32_t leaf; /* a call; PROFILE_NONE = no frames */
	uint32_t task;
};

struct profile_row {
	struct profile_row_key key;
	uint32_t cpu;
	uint64_t count;
	uint64_t value;
};

/* An array that only grows. */
struct growing_list {
	void *items;
	size_t size; /* of one */
	uint32_t nr;
	uint32_t room;
	uint32_t cap;
};

struct profile {
	struct profile_facts facts;
	struct intern *texts;
	struct map *frame_ids, *task_ids, *function_ids, *call_ids, *row_ids;
	struct growing_list frames;    /* struct profile_frame */
	struct growing_list functions; /* uint32_t by frame */
	struct growing_list tasks;     /* struct profile_task */
	struct growing_list calls;     /* struct call */
	struct growing_list rows;      /* struct profile_row */
	uint32_t nr_functions;
	bool has_modules;
	uint64_t count;
	uint64_t value;
	uint32_t *lent; /* PROFILE_MAX_DEPTH frames */
};

static int list_room(struct growing_list *l)
{
	if (l->nr >= l->cap)
		return -E2BIG;
	return grow_u32(&l->items, &l->room, l->nr, l->size, false);
}

/* After list_room(). */
static void list_put(struct growing_list *l, const void *item)
{
	memcpy((char *)l->items + (size_t)l->nr * l->size, item, l->size);
	l->nr++;
}

static struct profile_row *row_at(const struct profile *p, size_t idx)
{
	return (struct profile_row *)p->rows.items + idx;
}

static int add_text(struct profile *p, const char *text, uint32_t *out)
{
	return intern_add(p->texts, text, strlen(text), out);
}

/* NULL is 0, other texts are one more than their id. */
static int add_optional(struct profile *p, const char *text, uint32_t *out)
{
	uint32_t id = 0;
	int err = text ? add_text(p, text, &id) : 0;

	if (!err)
		*out = text ? id + 1 : 0;
	return err;
}

static const char *text_of(const struct profile *p, uint32_t id)
{
	return intern_string(p->texts, id, NULL);
}

static const char *optional_of(const struct profile *p, uint32_t id)
{
	return id ? text_of(p, id - 1) : NULL;
}

static int new_tables(struct profile *p)
{
	int err = map_new(sizeof(struct frame_key), MAX_FRAMES, &p->frame_ids);

	if (!err)
		err = map_new(sizeof(struct profile_task_key), MAX_TASKS, &p->task_ids);
	if (!err)
		err = map_new(sizeof(struct function_key), MAX_FRAMES, &p->function_ids);
	if (!err)
		err = map_new(sizeof(struct call), MAX_NODES, &p->call_ids);
	if (!err)
		err = map_new(sizeof(struct profile_row_key), MAX_ROWS, &p->row_ids);
	return err;
}

int profile_new(const struct profile_facts *facts, struct profile **out)
{
	SCOPED(scoped_profile) struct profile *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->frames = (struct growing_list){ .size = sizeof(struct profile_frame),
		                           .cap = MAX_FRAMES };
	p->functions = (struct growing_list){ .size = sizeof(uint32_t), .cap = MAX_FRAMES };
	p->tasks = (struct growing_list){ .size = sizeof(struct profile_task), .cap = MAX_TASKS };
	p->calls = (struct growing_list){ .size = sizeof(struct call), .cap = MAX_NODES };
	p->rows = (struct growing_list){ .size = sizeof(struct profile_row), .cap = MAX_ROWS };
	p->texts = intern_new(MAX_TEXTS, MAX_TEXT_BYTES);
	p->lent = calloc(PROFILE_MAX_DEPTH, sizeof(*p->lent));
	if (!p->texts || !p->lent)
		return -ENOMEM;
	err = new_tables(p);
	if (!err)
		err = profile_set_facts(p, facts);
	if (!err)
		*out = TAKE_PTR(p);
	return err;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	intern_free(p->texts);
	map_free(p->frame_ids);
	map_free(p->task_ids);
	map_free(p->function_ids);
	map_free(p->call_ids);
	map_free(p->row_ids);
	free(p->frames.items);
	free(p->functions.items);
	free(p->tasks.items);
	free(p->calls.items);
	free(p->rows.items);
	free(p->lent);
	free(p);
}

int profile_set_facts(struct profile *p, const struct profile_facts *facts)
{
	struct profile_facts own = *facts;
	uint32_t event, unit;
	int err = add_text(p, facts->event ? facts->event : unknown, &event);

	if (!err)
		err = add_text(p, facts->unit ? facts->unit : "samples", &unit);
	if (err)
		return err;
	own.event = text_of(p, event);
	own.unit = text_of(p, unit);
	p->facts = own;
	return 0;
}

/* The number of the function, and the next one for a new function. */
static int function_number(struct profile *p, const struct function_key *key, uint32_t *out)
{
	int err;

	if (map_find(p->function_ids, key, out))
		return 0;
	err = map_insert(p->function_ids, key, p->nr_functions);
	if (!err)
		*out = p->nr_functions++;
	return err;
}

static int frame_key(struct profile *p, const struct profile_frame *frame, struct frame_key *key)
{
	int err;

	memset(key, 0, sizeof(*key));
	key->function.is_kernel = frame->is_kernel;
	key->line = frame->line;
	key->is_inlined = frame->is_inlined;
	key->address = frame->address;
	err = add_text(p, frame->symbol ? frame->symbol : unknown, &key->function.symbol);
	if (!err)
		err = add_text(p, frame->module ? frame->module : unknown, &key->function.module);
	if (!err)
		err = add_optional(p, frame->file, &key->file);
	return err;
}

int profile_add_frame(struct profile *p, const struct profile_frame *frame, uint32_t *out)
{
	struct profile_frame own = *frame;
	struct frame_key key;
	uint32_t function;
	int err = frame_key(p, frame, &key);

	if (err || map_find(p->frame_ids, &key, out))
		return err;
	err = list_room(&p->frames);
	if (!err)
		err = list_room(&p->functions);
	if (!err)
		err = function_number(p, &key.function, &function);
	if (!err)
		err = map_insert(p->frame_ids, &key, p->frames.nr);
	if (err)
		return err;
	own.symbol = text_of(p, key.function.symbol);
	own.module = text_of(p, key.function.module);
	own.file = optional_of(p, key.file);
	p->has_modules |= strcmp(own.module, unknown) != 0;
	*out = p->frames.nr;
	list_put(&p->frames, &own);
	list_put(&p->functions, &function);
	return 0;
}

int profile_add_task(struct profile *p, const struct profile_task *task, uint32_t *out)
{
	struct profile_task_key key = { .tid = task->tid,
		                        .tgid = task->tgid,
		                        .layer = task->layer };
	struct profile_task own = *task;
	int err = add_text(p, task->comm ? task->comm : "", &key.comm);

	if (!err)
		err = add_optional(p, task->process, &key.process);
	if (!err)
		err = add_optional(p, task->cgroup, &key.cgroup);
	if (err || map_find(p->task_ids, &key, out))
		return err;
	err = list_room(&p->tasks);
	if (!err)
		err = map_insert(p->task_ids, &key, p->tasks.nr);
	if (err)
		return err;
	own.comm = text_of(p, key.comm);
	own.process = optional_of(p, key.process);
	own.cgroup = optional_of(p, key.cgroup);
	*out = p->tasks.nr;
	list_put(&p->tasks, &own);
	return 0;
}

/* The call of the leaf, with all that lead to it. */
static int add_calls(struct profile *p, const struct profile_stack *stack, uint32_t *out)
{
	struct call call = { .parent = PROFILE_NONE };
	uint32_t id = PROFILE_NONE;

	for (size_t i = stack->nr; i-- > 0;) {
		int err;

		call.parent = id;
		call.frame = stack->frames[i];
		if (map_find(p->call_ids, &call, &id))
			continue;
		err = list_room(&p->calls);
		if (!err)
			err = map_insert(p->call_ids, &call, p->calls.nr);
		if (err)
			return err;
		id = p->calls.nr;
		list_put(&p->calls, &call);
	}
	*out = id;
	return 0;
}

static int add_row(struct profile *p, const struct profile_row_key *key, uint32_t *out)
{
	struct profile_row row = { .key = *key };
	int err;

	if (map_find(p->row_ids, key, out))
		return 0;
	err = list_room(&p->rows);
	if (!err)
		err = map_insert(p->row_ids, key, p->rows.nr);
	if (err)
		return err;
	*out = p->rows.nr;
	list_put(&p->rows, &row);
	return 0;
}

static bool is_known(const struct profile *p, const struct profile_stack *stack)
{
	for (size_t i = 0; i < stack->nr; i++)
		if (stack->frames[i] >= p->frames.nr)
			return false;
	return stack->task < p->tasks.nr;
}

int profile_add_stack(struct profile *p, const struct profile_stack *stack)
{
	struct profile_row_key key = { .task = stack->task };
	uint64_t count, value;
	uint32_t idx;
	struct profile_row *row;
	int err;

	if (stack->nr > PROFILE_MAX_DEPTH)
		return -E2BIG;
	if (!is_known(p, stack))
		return -EINVAL;
	/* Rows cannot overflow where the sums of all do not. */
	if (__builtin_add_overflow(p->count, stack->count, &count) ||
	    __builtin_add_overflow(p->value, stack->value, &value))
		return -E2BIG;
	err = add_calls(p, stack, &key.leaf);
	if (!err)
		err = add_row(p, &key, &idx);
	if (err)
		return err;
	row = row_at(p, idx);
	row->cpu = stack->cpu;
	row->count += stack->count;
	row->value += stack->value;
	p->count = count;
	p->value = value;
	return 0;
}

const struct profile_facts *profile_facts(const struct profile *p)
{
	return &p->facts;
}

uint64_t profile_count(const struct profile *p)
{
	return p->count;
}

uint64_t profile_value(const struct profile *p)
{
	return p->value;
}

size_t profile_nr_stacks(const struct profile *p)
{
	return p->rows.nr;
}

size_t profile_nr_frames(const struct profile *p)
{
	return p->frames.nr;
}

size_t profile_nr_tasks(const struct profile *p)
{
	return p->tasks.nr;
}

size_t profile_nr_functions(const struct profile *p)
{
	return p->nr_functions;
}

void profile_stack_at(const struct profile *p, size_t idx, struct profile_stack *out)
{
	const struct profile_row *row = row_at(p, idx);
	const struct call *calls = p->calls.items;
	uint32_t at = row->key.leaf, nr = 0;

	for (; at != PROFILE_NONE && nr < PROFILE_MAX_DEPTH; at = calls[at].parent)
		p->lent[nr++] = calls[at].frame;
	*out = (struct profile_stack){ .frames = p->lent,
		                       .nr = nr,
		                       .task = row->key.task,
		                       .cpu = row->cpu,
		                       .count = row->count,
		                       .value = row->value };
}

const struct profile_frame *profile_frame_at(const struct profile *p, uint32_t idx)
{
	return (const struct profile_frame *)p->frames.items + idx;
}

const struct profile_task *profile_task_at(const struct profile *p, uint32_t idx)
{
	return (const struct profile_task *)p->tasks.items + idx;
}

uint32_t profile_function_of(const struct profile *p, uint32_t frame)
{
	return ((const uint32_t *)p->functions.items)[frame];
}

bool profile_has_modules(const struct profile *p)
{
	return p->has_modules;
}
