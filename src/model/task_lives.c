#include "model/task_lives.h"

#include <errno.h>
#include <stdlib.h>

struct task_life {
	uint32_t tid;
	uint32_t task;
	uint64_t from_ns;
};

struct task_lives {
	uint32_t nr;
	struct task_life lives[];
};

static int compare(const void *a, const void *b)
{
	const struct task_life *left = a, *right = b;

	if (left->tid != right->tid)
		return left->tid < right->tid ? -1 : 1;
	if (left->from_ns != right->from_ns)
		return left->from_ns < right->from_ns ? -1 : 1;
	return left->task < right->task ? -1 : left->task > right->task;
}

int task_lives_new(const struct tasks *tasks, struct task_lives **out)
{
	uint32_t nr = tasks_nr(tasks);
	struct task_lives *l = malloc(sizeof(*l) + nr * sizeof(l->lives[0]));

	if (!l)
		return -ENOMEM;
	l->nr = nr;
	for (uint32_t i = 0; i < nr; i++) {
		const struct task *t = tasks_at(tasks, i);

		l->lives[i] =
			(struct task_life){ .tid = t->tid, .task = i, .from_ns = t->first_seen_ns };
	}
	if (nr)
		qsort(l->lives, nr, sizeof(l->lives[0]), compare);
	*out = l;
	return 0;
}

void task_lives_free(struct task_lives *l)
{
	free(l);
}

uint32_t task_lives_at(const struct task_lives *l, uint32_t tid, uint64_t ts_ns)
{
	uint32_t low = 0, high = l->nr;

	/* The first entry behind (tid, ts_ns). */
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct task_life *at = &l->lives[mid];

		if (at->tid < tid || (at->tid == tid && at->from_ns <= ts_ns))
			low = mid + 1;
		else
			high = mid;
	}
	if (low > 0 && l->lives[low - 1].tid == tid)
		return l->lives[low - 1].task;
	return low < l->nr && l->lives[low].tid == tid ? l->lives[low].task : TASKS_NONE;
}
