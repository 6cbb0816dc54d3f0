/* Work that is about being on a CPU, or waiting for it. */
#include "workload.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Until the rounds are over, the time is, or the other side has left. */
static void pass_byte(struct truth *t, int in, int out, long rounds, uint64_t end_ns)
{
	char byte = 0;

	for (long i = 0; i < rounds; i++) {
		ssize_t got = read(in, &byte, 1);

		if (!got || (i % 256 == 255 && now_ns() >= end_ns))
			return;
		if (got != 1 || write(out, &byte, 1) != 1)
			die("pipe");
		t->count++;
	}
}

void work_pingpong(struct work *w)
{
	struct truth *left = work_truth(w), *right = work_truth(w);
	long rounds = work_number(w, "rounds", 10000), ms = work_number(w, "ms", 0);
	uint64_t end_ns = ms ? now_ns() + (uint64_t)ms * 1000000 : UINT64_MAX;
	int there[2], back[2];
	pid_t pid;

	if (pipe(there) || pipe(back))
		die("pipe");
	pin((int)work_number(w, "cpu", 1));
	pid = fork_or_die();
	if (!pid) {
		close(there[1]);
		truth_begin(right, "pp-right");
		pass_byte(right, there[0], back[1], rounds, UINT64_MAX);
		truth_end(right);
		_exit(0);
	}
	truth_begin(left, "pp-left");
	if (write(there[1], "", 1) != 1)
		die("pipe");
	pass_byte(left, back[0], there[1], rounds, end_ns);
	close(there[1]);
	truth_end(left);
	reap(pid);
}

/* One side of a turn that is passed on: it waits until the turn is its own parity. */
struct side {
	struct truth *truth;
	_Atomic uint32_t *turn;
	uint32_t parity;
	long rounds;
	int cpu;
};

static void *futex_side(void *arg)
{
	struct side *s = arg;
	char name[16];

	pin(s->cpu);
	snprintf(name, sizeof(name), "futex-%u", s->parity);
	truth_begin(s->truth, name);
	for (long i = 0; i < s->rounds; i++) {
		uint32_t turn;

		while (turn = atomic_load(s->turn), (turn & 1) != s->parity)
			syscall(SYS_futex, s->turn, FUTEX_WAIT_PRIVATE, turn, NULL, NULL, 0);
		/* Long enough for the other side to be asleep when it is woken. */
		spin_us(20);
		atomic_fetch_add(s->turn, 1);
		syscall(SYS_futex, s->turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		s->truth->count++;
	}
	truth_end(s->truth);
	return NULL;
}

void work_futex(struct work *w)
{
	_Atomic uint32_t turn = 0;
	struct side sides[2];

	for (uint32_t i = 0; i < 2; i++) {
		sides[i] = (struct side){ .truth = work_truth(w),
			                  .turn = &turn,
			                  .parity = i,
			                  .rounds = work_number(w, "rounds", 5000),
			                  .cpu = (int)i };
	}
	run_threads(futex_side, sides, sizeof(*sides), 2);
}

/* A lock that the holder has for a known time, while all others come to wait for it. */
struct convoy {
	struct truth *truth;
	pthread_mutex_t *lock;
	pthread_barrier_t *round;
	long rounds, us;
	int cpu; /* of the holder, which has to share it; -1: it naps with the lock */
	bool is_holder;
};

void burn_us(long us)
{
	struct timespec now;
	uint64_t end = 0, ns;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		ns = (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
		end = end ? end : ns + (uint64_t)us * 1000;
	} while (ns < end);
}

static void *convoy_main(void *arg)
{
	struct convoy *c = arg;

	if (c->is_holder && c->cpu >= 0)
		pin(c->cpu);
	truth_begin(c->truth, c->is_holder ? "holder" : "waiter");
	for (long i = 0; i < c->rounds; i++) {
		uint64_t start;

		if (c->is_holder)
			pthread_mutex_lock(c->lock);
		pthread_barrier_wait(c->round);
		start = now_ns();
		if (!c->is_holder)
			pthread_mutex_lock(c->lock);
		else if (c->cpu < 0)
			nap_us(c->us);
		else
			burn_us(c->us);
		if (c->is_holder)
			truth_sample(c->truth, now_ns() - start);
		pthread_mutex_unlock(c->lock);
		pthread_barrier_wait(c->round);
	}
	truth_end(c->truth);
	return NULL;
}

struct rival {
	struct truth *truth;
	int cpu;
	atomic_bool is_over;
};

static void *rival_main(void *arg)
{
	struct rival *r = arg;
	uint64_t end = now_ns() + 20000000000ULL;

	pin(r->cpu);
	truth_begin(r->truth, "rival");
	while (!atomic_load(&r->is_over) && now_ns() < end)
		;
	truth_end(r->truth);
	return NULL;
}

/*
 * The first truth is the holder's: how long it held the lock. The sum of the second is the address of the lock. With a CPU the last
 * one is of a thread that keeps that CPU busy.
 */
void work_convoy(struct work *w)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct convoy convoys[MAX_TRUTHS];
	long nr = work_number(w, "nr", 4);
	struct rival rival = { .cpu = (int)work_number(w, "cpu", -1) };
	pthread_barrier_t round;
	pthread_t thread;

	if (nr < 2 || nr >= MAX_TRUTHS || pthread_barrier_init(&round, NULL, (unsigned int)nr))
		die("barrier");
	for (long i = 0; i < nr; i++)
		convoys[i] = (struct convoy){ .truth = work_truth(w),
			                      .lock = &lock,
			                      .round = &round,
			                      .rounds = work_number(w, "rounds", 20),
			                      .us = work_number(w, "us", 5000),
			                      .cpu = rival.cpu,
			                      .is_holder = i == 0 };
	if (rival.cpu >= 0) {
		rival.truth = work_truth(w);
		if (pthread_create(&thread, NULL, rival_main, &rival))
			die("thread");
	}
	run_threads(convoy_main, convoys, sizeof(*convoys), (int)nr);
	atomic_store(&rival.is_over, true);
	if (rival.cpu >= 0)
		pthread_join(thread, NULL);
	convoys[1].truth->sum_ns = (uint64_t)(uintptr_t)&lock;
}

struct hog {
	struct truth *truth;
	pthread_barrier_t *start;
	const char *name;
	long us;
	int cpu;
};

static void *hog_main(void *arg)
{
	struct hog *h = arg;

	pin(h->cpu);
	pthread_barrier_wait(h->start);
	truth_begin(h->truth, h->name);
	spin_us(h->us);
	truth_end(h->truth);
	return NULL;
}

void work_hogs(struct work *w)
{
	long nr = work_number(w, "nr", 3);
	struct hog hogs[MAX_TRUTHS];
	pthread_barrier_t start;

	if (nr < 1 || nr > MAX_TRUTHS || pthread_barrier_init(&start, NULL, (unsigned int)nr))
		die("nr");
	for (long i = 0; i < nr; i++) {
		hogs[i] = (struct hog){ .truth = work_truth(w),
			                .start = &start,
			                .name = "hog",
			                .us = work_number(w, "ms", 1000) * 1000,
			                .cpu = (int)work_number(w, "cpu", 1) };
	}
	run_threads(hog_main, hogs, sizeof(*hogs), (int)nr);
}

struct yielder {
	struct truth *truth;
	pthread_barrier_t *start;
	long rounds;
	int cpu;
};

static void *yielder_main(void *arg)
{
	struct yielder *y = arg;

	pin(y->cpu);
	truth_begin(y->truth, "yielder");
	pthread_barrier_wait(y->start);
	for (long i = 0; i < y->rounds; i++) {
		sched_yield();
		y->truth->count++;
	}
	truth_end(y->truth);
	return NULL;
}

void work_yield(struct work *w)
{
	struct yielder sides[2];
	pthread_barrier_t start;

	if (pthread_barrier_init(&start, NULL, 2))
		die("barrier");
	for (int i = 0; i < 2; i++) {
		sides[i] = (struct yielder){ .truth = work_truth(w),
			                     .start = &start,
			                     .rounds = work_number(w, "rounds", 10000),
			                     .cpu = (int)work_number(w, "cpu", 1) };
	}
	run_threads(yielder_main, sides, sizeof(*sides), 2);
}

void work_spin(struct work *w)
{
	struct sched_param top = { .sched_priority = 1 };
	struct truth *t = work_truth(w);

	pin((int)work_number(w, "cpu", 1));
	if (work_number(w, "fifo", 0) && sched_setscheduler(0, SCHED_FIFO, &top))
		die("sched_setscheduler");
	truth_begin(t, "spinner");
	spin_us(work_number(w, "ms", 1000) * 1000);
	truth_end(t);
}

void work_migrate(struct work *w)
{
	struct truth *t = work_truth(w);
	long rounds = work_number(w, "rounds", 200);

	pin(0);
	truth_begin(t, "mover");
	for (long i = 1; i <= rounds; i++) {
		uint64_t start = now_ns();

		pin((int)(i & 1));
		truth_sample(t, now_ns() - start);
	}
	truth_end(t);
}

struct diver {
	struct truth *truth;
	atomic_bool *is_over;
	atomic_long *nr_there;
	int cpu;
};

static void *depth_hog(void *arg)
{
	struct diver *d = arg;

	pin(d->cpu);
	atomic_fetch_add(d->nr_there, 1);
	truth_begin(d->truth, "depth-hog");
	while (!atomic_load_explicit(d->is_over, memory_order_relaxed))
		;
	truth_end(d->truth);
	return NULL;
}

void work_depth(struct work *w)
{
	long nr = work_number(w, "nr", 3), rounds = work_number(w, "rounds", 50);
	int cpu = (int)work_number(w, "cpu", 1);
	struct truth *diver = work_truth(w);
	pthread_t threads[MAX_TRUTHS];
	struct diver hogs[MAX_TRUTHS];
	atomic_bool is_over = false;
	atomic_long nr_there = 0;

	if (nr < 1 || nr >= MAX_TRUTHS) {
		errno = EINVAL;
		die("nr");
	}
	for (long i = 0; i < nr; i++) {
		hogs[i] = (struct diver){ .truth = work_truth(w),
			                  .is_over = &is_over,
			                  .nr_there = &nr_there,
			                  .cpu = cpu };
		errno = pthread_create(&threads[i], NULL, depth_hog, &hogs[i]);
		if (errno)
			die("pthread_create");
	}
	pin(cpu);
	do
		nap_us(50000);
	while (atomic_load(&nr_there) < nr);
	truth_begin(diver, "diver");
	naps(diver, rounds, 5000);
	truth_end(diver);
	atomic_store(&is_over, true);
	for (long i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
}

static void *keeper_main(void *arg)
{
	struct sched_param none = { .sched_priority = 0 };
	struct hog *h = arg;

	pin(h->cpu);
	if (sched_setscheduler(0, SCHED_IDLE, &none))
		die("sched_setscheduler");
	truth_begin(h->truth, h->name);
	spin_us(h->us);
	truth_end(h->truth);
	return NULL;
}

void work_keep(struct work *w)
{
	long nr = sysconf(_SC_NPROCESSORS_ONLN);
	struct hog hogs[MAX_TRUTHS];

	for (long i = 0; i < nr && i < MAX_TRUTHS; i++) {
		hogs[i] = (struct hog){ .truth = work_truth(w),
			                .name = "keeper",
			                .us = work_number(w, "ms", 1000) * 1000,
			                .cpu = (int)i };
	}
	run_threads(keeper_main, hogs, sizeof(*hogs), w->nr_truths);
}

void work_touch(struct work *w)
{
	struct truth *t = work_truth(w);
	long pages = work_number(w, "pages", 1000), us = work_number(w, "us", 1000);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (size_t)pages * page;
	char *at;

	pin((int)work_number(w, "cpu", 1));
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		die("mmap");
	(void)madvise(at, size, MADV_NOHUGEPAGE); /* one fault each, where there are larger ones */
	truth_begin(t, "toucher");
	for (long i = 0; i < pages; i++) {
		((volatile char *)at)[(size_t)i * page] = 1;
		t->count++;
		if (i % 100 == 99)
			nap_us(us);
	}
	truth_end(t);
}
