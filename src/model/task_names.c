#include "model/task_names.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/copy.h"
#include "base/grow.h"
#include "base/intern.h"

#define MAX_STRINGS      (1U << 20)
#define MAX_STRING_BYTES (32U << 20)
#define NONE             UINT32_MAX

struct task_name {
	uint64_t from_ns;
	uint32_t comm_id;
	uint32_t next; /* the one before it in time, or the next free one */
};

/* What tasks have of a string. */
struct string_use {
	uint64_t released_ns; /* when the last one let go of it */
	uint32_t nr;          /* places in lists of names */
	uint32_t next;        /* of those that may be removed */
	bool is_listed;
	bool is_pinned; /* something else may hold it, too */
};

struct task_names {
	uint64_t keep_ns; /* UINT64_MAX = nothing is removed, and uses are not counted */
	struct task_name *names;
	uint32_t nr, max;
	uint32_t free;
	struct intern *strings;
	struct string_use *uses; /* by id */
	uint32_t max_uses;
	uint32_t listed_first, listed_last; /* by the time at which they were listed */
	uint64_t no_room;
};

void task_names_free(struct task_names *n)
{
	if (!n)
		return;
	intern_free(n->strings);
	free(n->names);
	free(n->uses);
	free(n);
}

DEFINE_SCOPED(task_names, task_names_free)

int task_names_new(uint64_t keep_ns, struct task_names **out)
{
	SCOPED(scoped_task_names) struct task_names *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->keep_ns = keep_ns;
	n->free = n->listed_first = n->listed_last = NONE;
	n->strings = intern_new(MAX_STRINGS, MAX_STRING_BYTES);
	if (!n->strings)
		return -ENOMEM;
	*out = TAKE_PTR(n);
	return 0;
}

int task_names_copy(const struct task_names *n, struct task_names **out)
{
	SCOPED(scoped_task_names) struct task_names *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	copy->keep_ns = UINT64_MAX;
	copy->nr = copy->max = n->nr;
	copy->free = n->free;
	copy->no_room = n->no_room;
	copy->names = copy_of(n->names, n->nr, sizeof(*n->names));
	copy->strings = intern_copy(n->strings);
	if (!copy->names || !copy->strings)
		return -ENOMEM;
	*out = TAKE_PTR(copy);
	return 0;
}

static void list(struct task_names *n, uint32_t id)
{
	struct string_use *use = &n->uses[id];

	use->is_listed = true;
	use->next = NONE;
	if (n->listed_last == NONE)
		n->listed_first = id;
	else
		n->uses[n->listed_last].next = id;
	n->listed_last = id;
}

static void release(struct task_names *n, uint32_t id, uint64_t ts_ns)
{
	struct string_use *use = id && n->keep_ns != UINT64_MAX ? &n->uses[id] : NULL;

	if (!use || --use->nr)
		return;
	use->released_ns = ts_ns;
	if (!use->is_listed && !use->is_pinned)
		list(n, id);
}

/* Strings that no task has had for long enough. */
static void remove_old(struct task_names *n, uint64_t now_ns)
{
	while (n->listed_first != NONE) {
		uint32_t id = n->listed_first;
		struct string_use *use = &n->uses[id];
		bool is_due = now_ns >= use->released_ns && now_ns - use->released_ns >= n->keep_ns;

		/* Those behind it were listed later; this one may have been used since, and is listed again then. */
		if (!use->nr && !use->is_pinned && !is_due)
			return;
		n->listed_first = use->next;
		if (n->listed_first == NONE)
			n->listed_last = NONE;
		use->is_listed = false;
		if (!use->nr && !use->is_pinned)
			intern_remove(n->strings, id);
	}
}

/* The id of a name that one more task has; 0 without room. */
static uint32_t use_comm(struct task_names *n, const char *comm, size_t len, uint64_t ts_ns)
{
	uint32_t id;

	if (!intern_find(n->strings, comm, len, &id)) {
		if (n->keep_ns != UINT64_MAX)
			remove_old(n, ts_ns);
		if (intern_add(n->strings, comm, len, &id)) {
			n->no_room++;
			return INTERN_EMPTY;
		}
	}
	if (n->keep_ns == UINT64_MAX || !id)
		return id;
	if (GROW_ZEROED(n->uses, n->max_uses, id)) {
		n->no_room++;
		return INTERN_EMPTY; /* the string stays: nothing knows that it is not used */
	}
	n->uses[id].nr++;
	return id;
}

static uint32_t take_name(struct task_names *n)
{
	uint32_t name = n->free;

	if (name != NONE) {
		n->free = n->names[name].next;
		return name;
	}
	if (n->nr >= TASKS_MAX * TASKS_MAX_NAMES || GROW(n->names, n->max, n->nr))
		return NONE;
	return n->nr++;
}

/* The oldest name of a task that has had too many. */
static uint32_t take_oldest_name(struct task_names *n, struct task *e, uint64_t ts_ns)
{
	uint32_t *link = &e->first_name, name;

	for (uint8_t i = 1; i < e->nr_names; i++)
		link = &n->names[*link].next;
	name = *link;
	e->nr_names--;
	release(n, n->names[name].comm_id, ts_ns);
	return name;
}

void task_names_set(struct task_names *n, struct task *e, const char *comm, size_t len,
                    uint64_t ts_ns)
{
	uint32_t id = use_comm(n, comm, len, ts_ns), name;

	if (id == e->comm_id) {
		release(n, id, ts_ns); /* it has it already */
		return;
	}
	name = e->nr_names == TASKS_MAX_NAMES ? take_oldest_name(n, e, ts_ns) : take_name(n);
	if (name == NONE) {
		release(n, id, ts_ns);
		n->no_room++;
		return;
	}
	n->names[name] = (struct task_name){ ts_ns, id, e->first_name };
	e->first_name = name;
	e->nr_names++;
	e->comm_id = id;
}

void task_names_drop(struct task_names *n, struct task *e, uint64_t ts_ns)
{
	while (e->nr_names) {
		uint32_t name = e->first_name;

		e->first_name = n->names[name].next;
		e->nr_names--;
		release(n, n->names[name].comm_id, ts_ns);
		n->names[name].next = n->free;
		n->free = name;
	}
}

uint32_t task_names_at(const struct task_names *n, const struct task *e, uint64_t ts_ns)
{
	uint32_t name = e->first_name;

	if (!e->nr_names)
		return 0;
	for (uint8_t i = 1; i < e->nr_names && n->names[name].from_ns > ts_ns; i++)
		name = n->names[name].next;
	return n->names[name].comm_id;
}

uint32_t task_names_nth(const struct task_names *n, const struct task *e, uint32_t nr)
{
	uint32_t name = e->first_name;

	if (nr >= e->nr_names)
		return 0;
	for (uint32_t i = 0; i < nr; i++)
		name = n->names[name].next;
	return n->names[name].comm_id;
}

uint32_t task_names_intern(struct task_names *n, const char *s, size_t len)
{
	uint32_t id;

	if (intern_add(n->strings, s, len, &id) ||
	    (n->keep_ns != UINT64_MAX && GROW_ZEROED(n->uses, n->max_uses, id))) {
		n->no_room++;
		return INTERN_EMPTY;
	}
	if (n->keep_ns != UINT64_MAX)
		n->uses[id].is_pinned = true;
	return id;
}

const char *task_names_string(const struct task_names *n, uint32_t id)
{
	return intern_string(n->strings, id, NULL);
}

uint64_t task_names_no_room(const struct task_names *n)
{
	return n->no_room;
}
