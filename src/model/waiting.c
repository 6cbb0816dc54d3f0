#include "model/waiting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256U

void waiting_init(struct waiting *w)
{
	*w = (struct waiting){ .first = WAITING_NONE, .last = WAITING_NONE };
}

void waiting_done(struct waiting *w)
{
	free(w->tasks);
	waiting_init(w);
}

static int make_room(struct waiting *w, uint32_t task)
{
	uint32_t room = w->nr ? w->nr : FIRST_ROOM;
	struct waiting_task *tasks;

	while (room <= task)
		room *= 2;
	if (room == w->nr)
		return 0;
	tasks = reallocarray(w->tasks, room, sizeof(*tasks));
	if (!tasks)
		return -ENOMEM;
	memset(tasks + w->nr, 0, (room - w->nr) * sizeof(*tasks));
	w->tasks = tasks;
	w->nr = room;
	return 0;
}

int waiting_begin(struct waiting *w, uint32_t task, uint64_t ts_ns)
{
	struct waiting_task *t;

	if (task >= WAITING_NONE / 2 || make_room(w, task))
		return -ENOMEM;
	t = &w->tasks[task];
	if (t->since_ns)
		return 0;
	*t = (struct waiting_task){ .since_ns = ts_ns, .before = w->last, .after = WAITING_NONE };
	if (w->last == WAITING_NONE)
		w->first = task;
	else
		w->tasks[w->last].after = task;
	w->last = task;
	return 0;
}

bool waiting_has(const struct waiting *w, uint32_t task)
{
	return task < w->nr && w->tasks[task].since_ns;
}

void waiting_end(struct waiting *w, uint32_t task)
{
	struct waiting_task *t;

	if (!waiting_has(w, task))
		return;
	t = &w->tasks[task];
	if (t->before == WAITING_NONE)
		w->first = t->after;
	else
		w->tasks[t->before].after = t->after;
	if (t->after == WAITING_NONE)
		w->last = t->before;
	else
		w->tasks[t->after].before = t->before;
	t->since_ns = 0;
}
