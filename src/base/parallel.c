#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/thread.h"

struct shared {
	const struct parallel *p;
	size_t nr_items;
	atomic_size_t next;
};

struct worker {
	pthread_t thread;
	struct shared *shared;
	unsigned int nr;
	bool is_started;
};

unsigned int parallel_nr(unsigned int nr_workers, size_t nr_items)
{
	cpu_set_t set;

	if (!nr_workers) {
		nr_workers = 1;
		if (sched_getaffinity(0, sizeof(set), &set) == 0)
			nr_workers = (unsigned int)CPU_COUNT(&set);
	}
	if (nr_workers > PARALLEL_MAX)
		nr_workers = PARALLEL_MAX;
	if (nr_workers > nr_items)
		nr_workers = nr_items ? (unsigned int)nr_items : 1;
	return nr_workers;
}

static void work(struct worker *w)
{
	struct shared *s = w->shared;
	size_t item;

	while ((item = atomic_fetch_add(&s->next, 1)) < s->nr_items) {
		s->p->fn(s->p->ctx, w->nr, item);
		if (w->nr == 0 && s->p->progress)
			s->p->progress(s->p->ctx, item + 1);
	}
}

static void *run(void *arg)
{
	work(arg);
	return NULL;
}

void parallel_for(const struct parallel *p, size_t nr_items)
{
	struct shared shared = { .p = p, .nr_items = nr_items };
	unsigned int nr = parallel_nr(p->nr_workers, nr_items);
	struct worker workers[PARALLEL_MAX];

	atomic_init(&shared.next, 0);
	workers[0] = (struct worker){ .shared = &shared };
	for (unsigned int i = 1; i < nr; i++)
		workers[i] = (struct worker){ .shared = &shared, .nr = i };
	for (unsigned int i = 1; i < nr; i++)
		workers[i].is_started = thread_start(&workers[i].thread, run, &workers[i]) == 0;
	work(&workers[0]);
	for (unsigned int i = 1; i < nr; i++)
		if (workers[i].is_started)
			(void)pthread_join(workers[i].thread, NULL);
}
