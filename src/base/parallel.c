#include "base/parallel.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/thread.h"

#define FIRST_CPUS 1024U      /* cpu_set_t has as many */
#define LAST_CPUS  (1U << 20) /* more than any kernel is built for */

struct shared {
	const struct parallel *p;
	size_t nr_items;
	atomic_size_t next;
};

struct parallel_worker {
	pthread_t thread;
	struct shared *shared;
	unsigned int nr;
	bool is_started;
};

/* CPUs to run on. The kernel refuses a set that is smaller than its own, so ours grows until it fits. */
static unsigned int count_cpus(void)
{
	for (unsigned int nr = FIRST_CPUS; nr <= LAST_CPUS; nr *= 2) {
		cpu_set_t *set = CPU_ALLOC(nr);
		size_t bytes = CPU_ALLOC_SIZE(nr);
		int count = 0, err;

		if (!set)
			return 1;
		err = sched_getaffinity(0, bytes, set) < 0 ? errno : 0;
		if (!err)
			count = CPU_COUNT_S(bytes, set);
		CPU_FREE(set);
		if (count > 0)
			return (unsigned int)count;
		if (err != EINVAL)
			return 1;
	}
	return 1;
}

unsigned int parallel_nr(unsigned int nr_workers, size_t nr_items)
{
	if (!nr_workers)
		nr_workers = count_cpus();
	if (nr_workers > PARALLEL_MAX)
		nr_workers = PARALLEL_MAX;
	if (nr_workers > nr_items)
		nr_workers = nr_items ? (unsigned int)nr_items : 1;
	return nr_workers;
}

static void work(struct parallel_worker *w)
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
	struct parallel_worker workers[PARALLEL_MAX];

	atomic_init(&shared.next, 0);
	workers[0] = (struct parallel_worker){ .shared = &shared };
	for (unsigned int i = 1; i < nr; i++)
		workers[i] = (struct parallel_worker){ .shared = &shared, .nr = i };
	for (unsigned int i = 1; i < nr; i++)
		workers[i].is_started = thread_start(&workers[i].thread, run, &workers[i]) == 0;
	work(&workers[0]);
	for (unsigned int i = 1; i < nr; i++)
		if (workers[i].is_started)
			(void)pthread_join(workers[i].thread, NULL);
}
