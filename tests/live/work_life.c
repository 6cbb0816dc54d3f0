/* Work that is about sleeping, and about tasks that begin, end, and change who they are. */
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct sleeper {
	struct truth *truth;
	long rounds;
	long us;
};

static void *sleeper_main(void *arg)
{
	struct sleeper *s = arg;

	truth_begin(s->truth, "napper");
	naps(s->truth, s->rounds, s->us);
	truth_end(s->truth);
	return NULL;
}

void work_sleep(struct work *w)
{
	long nr = work_number(w, "nr", 1);
	struct sleeper sleepers[MAX_TRUTHS];

	for (long i = 0; i < nr; i++) {
		sleepers[i] = (struct sleeper){ .truth = work_truth(w),
			                        .rounds = work_number(w, "rounds", 100),
			                        .us = work_number(w, "us", 5000) };
	}
	run_threads(sleeper_main, sleepers, sizeof(*sleepers), (int)nr);
}

/* The parent of a vfork waits in TASK_KILLABLE until the child is gone: an uninterruptible sleep. */
static void *vforker_main(void *arg)
{
	struct work *w = arg;
	struct truth *t = work_truth(w);
	long rounds = work_number(w, "rounds", 20);
	struct timespec length = { .tv_nsec = work_number(w, "us", 10000) * 1000 };

	truth_begin(t, "vforker");
	for (long i = 0; i < rounds; i++) {
		uint64_t start = now_ns();
		pid_t pid = vfork(); /* NOLINT: the point of it */

		if (!pid) {
			nanosleep(&length, NULL); /* NOLINT: touches nothing of the parent's */
			_exit(0);
		}
		if (pid < 0)
			die("vfork");
		truth_sample(t, now_ns() - start);
		reap(pid);
	}
	truth_end(t);
	return NULL;
}

/* In a thread: the end of a process closes files, which may be an uninterruptible sleep of its own. */
void work_dsleep(struct work *w)
{
	run_threads(vforker_main, w, 0, 1);
}

static void *rename_main(void *arg)
{
	struct work *w = arg;
	long us = work_number(w, "us", 5000);
	struct truth *before = work_truth(w), *after = work_truth(w);

	truth_begin(before, "name-before");
	naps(before, work_number(w, "before", 20), us);
	truth_end(before);
	truth_begin(after, "name-after");
	naps(after, work_number(w, "after", 40), us);
	truth_end(after);
	return NULL;
}

void work_rename(struct work *w)
{
	run_threads(rename_main, w, 0, 1);
}

/* The name after exec is that of the file: a link to this program. The second life tells its truth. */
void work_exec(struct work *w)
{
	char *args[] = {
		(char *)work_text(w, "link"), "exec", "again=1", NULL, NULL, NULL, NULL, NULL
	};
	const char *link = args[0];
	struct truth *t = work_truth(w);
	long us = work_number(w, "us", 5000);

	if (work_number(w, "again", 0)) {
		snprintf(t->comm, sizeof(t->comm), "%s", basename(link));
		t->tid = getpid();
		naps(t, work_number(w, "after", 40), us);
		return;
	}
	for (int i = 0; i < w->argc && i < 4; i++)
		args[3 + i] = w->argv[i];
	truth_begin(t, "exec-before");
	naps(t, work_number(w, "before", 20), us);
	execv(link, args);
	die("exec");
}

static _Noreturn void storm_child(struct truth *t, long us)
{
	uint64_t start = now_ns(), life_ns;

	spin_us(us);
	life_ns = now_ns() - start;
	/* Children may race for it; a maximum that is a little low does no harm. */
	if (life_ns > t->max_ns)
		t->max_ns = life_ns;
	_exit(0);
}

/* Children keep the name of their parent, so that each sample of their lives is under it. */
void work_storm(struct work *w)
{
	struct truth *t = work_truth(w);
	long nr = work_number(w, "nr", 5000), us = work_number(w, "us", 100);
	long alive = 0;

	truth_begin(t, work_name(w, "storm"));
	for (long i = 0; i < nr; i++) {
		if (!fork_or_die())
			storm_child(t, us);
		t->count++;
		if (++alive < 4)
			continue;
		if (wait(NULL) < 0)
			die("wait");
		alive--;
	}
	while (wait(NULL) > 0)
		;
	truth_end(t);
}

/* The next pid that the kernel gives out is the one after this. */
static bool ask_for_pid(pid_t pid)
{
	char text[16];
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	ssize_t length = snprintf(text, sizeof(text), "%d", pid - 1);
	bool is_done = fd >= 0 && write(fd, text, (size_t)length) == length;

	if (fd >= 0)
		close(fd);
	return is_done;
}

static pid_t life(struct truth *t, const char *name, long nr, long us)
{
	pid_t pid = fork_or_die();

	if (pid)
		return pid;
	truth_begin(t, name);
	naps(t, nr, us);
	truth_end(t);
	_exit(0);
}

/* Another process may be faster to take the wanted pid: tried again until the kernel agrees. */
void work_reuse(struct work *w)
{
	struct truth *old = work_truth(w), *new = work_truth(w);
	long us = work_number(w, "us", 2000);

	for (int attempt = 0; attempt < 20; attempt++) {
		pid_t first, second;

		first = life(old, "reuse-old", work_number(w, "before", 5), us);
		reap(first);
		nap_us(work_number(w, "gap_us", 200000));
		if (!ask_for_pid(first))
			die("/proc/sys/kernel/ns_last_pid");
		second = life(new, "reuse-new", work_number(w, "after", 7), us);
		reap(second);
		if (first == second)
			return;
	}
	errno = EBUSY;
	die("pid reuse");
}

static void move_to(const char *dir)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		die(path);
	close(fd);
}

void work_cgroup(struct work *w)
{
	struct truth *before = work_truth(w), *after = work_truth(w);
	long us = work_number(w, "us", 5000);

	move_to(work_text(w, "a"));
	truth_begin(before, "cg-mover");
	naps(before, work_number(w, "before", 20), us);
	truth_end(before);
	move_to(work_text(w, "b"));
	truth_begin(after, "cg-mover");
	naps(after, work_number(w, "after", 40), us);
	truth_end(after);
}

struct crowd {
	atomic_bool is_over;
	_Atomic uint64_t wakeups;
	long us;
};

static void *crowd_main(void *arg)
{
	struct crowd *c = arg;
	uint64_t wakeups = 0;

	for (; !atomic_load_explicit(&c->is_over, memory_order_relaxed); wakeups++)
		nap_us(c->us);
	atomic_fetch_add(&c->wakeups, wakeups);
	return NULL;
}

void work_crowd(struct work *w)
{
	struct truth *t = work_truth(w);
	long nr = work_number(w, "nr", 20000);
	struct crowd crowd = { .us = work_number(w, "us", 500000) };
	pthread_t *threads = calloc((size_t)nr, sizeof(*threads));
	pthread_attr_t attr;

	truth_begin(t, work_name(w, "crowd"));
	if (!threads || pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, 131072))
		die("threads");
	for (long i = 0; i < nr; i++) {
		errno = pthread_create(&threads[i], &attr, crowd_main, &crowd);
		if (errno)
			die("pthread_create");
	}
	printf("ready\n");
	fflush(stdout);
	nap_us(work_number(w, "ms", 5000) * 1000);
	atomic_store(&crowd.is_over, true);
	for (long i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	t->count = atomic_load(&crowd.wakeups);
	truth_end(t);
	truth_end_all(t);
}
