/* Work whose tasks wait for a lock because its holder waits for a CPU. */
#include "workload.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

enum { REQUEST_NICE = -10, JANITOR_NICE = 10, HOLD_US = 4000, PAUSE_US = 5000, NAP_US = 2000 };

struct party {
	struct truth *truth;
	pthread_mutex_t *lock;
	uint64_t end_ns;
	int cpu; /* of a cruncher; others may use both */
};

/* Of the calling thread alone. */
static void be_nice(int nice)
{
	if (setpriority(PRIO_PROCESS, (id_t)gettid(), nice))
		die("nice");
}

/* The most urgent of all, which gets a CPU whenever it wants one: measures how long it takes to get the lock. */
static void *request_main(void *arg)
{
	struct party *p = arg;

	be_nice(REQUEST_NICE);
	truth_begin(p->truth, "request");
	while (now_ns() < p->end_ns) {
		uint64_t start = now_ns();

		pthread_mutex_lock(p->lock);
		truth_sample(p->truth, now_ns() - start);
		pthread_mutex_unlock(p->lock);
		nap_us(NAP_US);
	}
	truth_end(p->truth);
	return NULL;
}

/* Needs some CPU time with the lock: measures how long it had it. */
static void *janitor_main(void *arg)
{
	struct party *p = arg;

	be_nice(JANITOR_NICE);
	truth_begin(p->truth, "janitor");
	while (now_ns() < p->end_ns) {
		uint64_t start;

		pthread_mutex_lock(p->lock);
		start = now_ns();
		burn_us(HOLD_US);
		truth_sample(p->truth, now_ns() - start);
		pthread_mutex_unlock(p->lock);
		nap_us(PAUSE_US);
	}
	truth_end(p->truth);
	return NULL;
}

/* One per CPU: they never touch the lock, and keep its holder off the CPUs. */
static void *cruncher_main(void *arg)
{
	struct party *p = arg;

	pin(p->cpu);
	truth_begin(p->truth, "cruncher");
	while (now_ns() < p->end_ns)
		;
	truth_end(p->truth);
	return NULL;
}

/* Truths in this order: request, janitor, crunchers. */
void work_inversion(struct work *w)
{
	static const thread_main mains[] = { request_main, janitor_main, cruncher_main,
		                             cruncher_main };
	enum { NR = sizeof(mains) / sizeof(*mains) };
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	uint64_t end_ns = now_ns() + (uint64_t)work_number(w, "ms", 2000) * 1000000;
	struct party parties[NR];
	pthread_t threads[NR];

	for (int i = 0; i < NR; i++) {
		parties[i] = (struct party){ work_truth(w), &lock, end_ns, i % 2 };
		if (pthread_create(&threads[i], NULL, mains[i], &parties[i]))
			die("thread");
	}
	for (int i = 0; i < NR; i++)
		pthread_join(threads[i], NULL);
}
