/* Work of threads and processes that do not keep the name, or the thread, that they began with. */
#include "workload.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* The kernel gives the thread that execs the leader's id; all others are gone by then. */
static void *exec_main(void *arg)
{
	struct work *w = arg;
	char naps_arg[32], us_arg[32], link_arg[512];
	const char *link = work_text(w, "link");
	char *args[] = { (char *)link, "thread-exec", "again=1", naps_arg, us_arg, link_arg, NULL };

	snprintf(naps_arg, sizeof(naps_arg), "naps=%ld", work_number(w, "naps", 20));
	snprintf(us_arg, sizeof(us_arg), "us=%ld", work_number(w, "us", 1000));
	snprintf(link_arg, sizeof(link_arg), "link=%s", link);
	nap_us(500); /* the leader waits for this thread by then */
	execv(link, args);
	die("exec");
}

void work_thread_exec(struct work *w)
{
	struct truth *t = work_truth(w);
	long rounds = work_number(w, "rounds", 30), nr = work_number(w, "naps", 20);

	if (work_number(w, "again", 0)) {
		naps(t, nr, work_number(w, "us", 1000));
		_exit(0);
	}
	snprintf(t->comm, sizeof(t->comm), "%s", basename(work_text(w, "link")));
	for (long i = 0; i < rounds; i++) {
		pid_t pid = fork_or_die();

		if (!pid)
			run_threads(exec_main, w, 0, 1);
		reap(pid);
		t->count += (uint64_t)nr;
	}
}

/* The longest name and the shortest: a name read while it changes would be neither. */
static const char *const both_names[] = { "aaaaaaaaaaaaaaa", "b" };

/* How often the calling thread has slept so far, by the kernel's account. */
static long nr_sleeps(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		die("getrusage");
	return usage.ru_nvcsw;
}

static void *names_main(void *arg)
{
	struct work *w = arg;
	struct truth *of[] = { work_truth(w), work_truth(w) };
	long rounds = work_number(w, "rounds", 20000), us = work_number(w, "us", 20);

	prctl(PR_SET_TIMERSLACK, 1);
	for (int i = 0; i < 2; i++) {
		truth_begin(of[i], both_names[i]);
		of[i]->voluntary = 0;
	}
	for (long i = 1; i <= rounds; i++) {
		long before = nr_sleeps();

		if (prctl(PR_SET_NAME, both_names[i & 1]))
			die("prctl");
		nap_us(us);
		/* Fewer than naps: a thread that comes to its sleep late finds the timer over. */
		of[i & 1]->voluntary += nr_sleeps() - before;
		of[i & 1]->count++;
	}
	return NULL;
}

void work_names(struct work *w)
{
	run_threads(names_main, w, 0, 1);
}

struct renamed {
	struct truth *truth;
	atomic_bool is_over;
	long us;
};

static void *renamed_main(void *arg)
{
	struct renamed *r = arg;

	prctl(PR_SET_TIMERSLACK, 1);
	truth_begin(r->truth, both_names[1]);
	while (!atomic_load_explicit(&r->is_over, memory_order_relaxed)) {
		nap_us(r->us);
		r->truth->count++;
	}
	truth_end(r->truth);
	return NULL;
}

/* While it sleeps, wakes and runs: the new name meets its events at any moment. */
void work_renamed(struct work *w)
{
	struct renamed r = { .truth = work_truth(w), .us = work_number(w, "us", 20) };
	long rounds = work_number(w, "rounds", 100000);
	char path[64];
	pthread_t thread;
	int fd;

	if (pthread_create(&thread, NULL, renamed_main, &r))
		die("pthread_create");
	while (!__atomic_load_n(&r.truth->count, __ATOMIC_ACQUIRE)) /* until it has begun */
		nap_us(1000);
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", r.truth->tid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		die(path);
	for (long i = 0; i < rounds; i++) {
		const char *name = both_names[i & 1];

		if (write(fd, name, strlen(name)) < 0)
			die(path);
	}
	close(fd);
	atomic_store(&r.is_over, true);
	pthread_join(thread, NULL);
}

struct follower {
	struct truth *truth;
	long naps;
	long us;
};

static void *follower_main(void *arg)
{
	struct follower *f = arg;

	truth_begin(f->truth, "follower");
	naps(f->truth, f->naps, f->us);
	truth_end(f->truth);
	return NULL;
}

void work_leader(struct work *w)
{
	struct truth *before = work_truth(w), *after = work_truth(w);
	long nr = work_number(w, "naps", 50), us = work_number(w, "us", 5000);
	long nr_followers = work_number(w, "nr", 3);
	struct follower followers[MAX_TRUTHS];
	pthread_t threads[MAX_TRUTHS];

	truth_begin(before, "lead-before");
	for (long i = 0; i < nr_followers; i++) {
		followers[i] =
			(struct follower){ .truth = work_truth(w), .naps = 2 * nr, .us = us };
		if (pthread_create(&threads[i], NULL, follower_main, &followers[i]))
			die("pthread_create");
	}
	naps(before, nr, us);
	truth_end(before);
	truth_begin(after, "lead-after");
	naps(after, nr, us);
	truth_end(after);
	for (long i = 0; i < nr_followers; i++)
		pthread_join(threads[i], NULL);
}
