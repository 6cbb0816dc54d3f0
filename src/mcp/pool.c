#include "mcp/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/thread.h"

#define MAX_THREADS 16U
#define MAX_WAITING 256U

struct pool_job {
	pool_fn *fn;
	void *ctx;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t has_work;
	pthread_t threads[MAX_THREADS];
	unsigned int nr_threads; /* that run */
	unsigned int max_threads;
	unsigned int nr_idle;
	struct pool_job jobs[MAX_WAITING]; /* a ring */
	unsigned int first;
	unsigned int nr;
	bool is_ending;
};

int pool_new(unsigned int nr_threads, struct pool **out)
{
	struct pool *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->max_threads = nr_threads < 1 ? 1 : (nr_threads > MAX_THREADS ? MAX_THREADS : nr_threads);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->has_work, NULL);
	*out = p;
	return 0;
}

static void *work(void *ctx)
{
	struct pool *p = ctx;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		struct pool_job job;

		p->nr_idle++;
		while (!p->nr && !p->is_ending)
			pthread_cond_wait(&p->has_work, &p->lock);
		p->nr_idle--;
		if (!p->nr)
			break;
		job = p->jobs[p->first];
		p->first = (p->first + 1) % MAX_WAITING;
		p->nr--;
		pthread_mutex_unlock(&p->lock);
		job.fn(job.ctx);
		pthread_mutex_lock(&p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static int start_thread(struct pool *p)
{
	int err = thread_start(&p->threads[p->nr_threads], work, p);

	if (!err)
		p->nr_threads++;
	return err;
}

int pool_do(struct pool *p, pool_fn *fn, void *ctx)
{
	int err = 0;

	pthread_mutex_lock(&p->lock);
	if (p->nr == MAX_WAITING)
		err = -EAGAIN;
	else if (p->nr >= p->nr_idle && p->nr_threads < p->max_threads)
		err = start_thread(p);
	if (err && err != -EAGAIN && p->nr_threads)
		err = 0; /* fewer do it, later */
	if (!err) {
		p->jobs[(p->first + p->nr) % MAX_WAITING] = (struct pool_job){ fn, ctx };
		p->nr++;
		pthread_cond_signal(&p->has_work);
	}
	pthread_mutex_unlock(&p->lock);
	return err;
}

void pool_free(struct pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->is_ending = true;
	pthread_cond_broadcast(&p->has_work);
	pthread_mutex_unlock(&p->lock);
	for (unsigned int i = 0; i < p->nr_threads; i++)
		pthread_join(p->threads[i], NULL);
	pthread_cond_destroy(&p->has_work);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
