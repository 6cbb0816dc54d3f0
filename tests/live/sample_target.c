/*
 * sample_target WORK [KEY=VALUE]... — programs whose profile is known: the tests of the sampler hold theirs against it.
 *
 * Says its pid, then does the work after a line on stdin, and prints its own account of it. Built with frame pointers.
 *   burn ms=                   uses a CPU, in burn()
 *   loop ms=                   the same, and counts how often
 *   tree ms= threads= children=  the same in threads and child processes
 *   fault nr=                  touches nr fresh pages, in touch()
 *   nap nr= us=                sleeps, in nap()
 *   wake nr=                   wakes a partner, in poke()
 *   exec ms=300                burns, then becomes `burn` by exec, and burns as much again
 * With cpu= it stays there; with fifo=1 no other task comes between.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "own_syscall.h"

#define MAX_THREADS 16
#define NOINLINE    __attribute__((noinline))

void burn(uint64_t until_ns);
void touch(char *at, long nr);
uint64_t nap(long nr, long us);
void poke(int fd, long nr);

/* What the other process of `wake` knows. */
struct partner {
	long slept, disturbed;
};

static struct partner *partner;   /* shared with it */
static uint64_t slept_ns, rounds; /* of nap and loop */
static int arg_count;
static char **args;

static long number_of(const char *key, long fallback)
{
	size_t len = strlen(key);

	for (int i = 2; i < arg_count; i++)
		if (strncmp(args[i], key, len) == 0 && args[i][len] == '=')
			return strtol(args[i] + len + 1, NULL, 10);
	return fallback;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static void pin_to(long cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(3);
}

static void go_first(void)
{
	struct sched_param param = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		exit(3);
}

/* Until the thread has used so much CPU time. The clock is read seldom, so that nearly all of it is in here. */
NOINLINE void burn(uint64_t until_ns)
{
	volatile uint64_t x = 1;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		for (int i = 0; i < 100000; i++)
			x = x * 3 + 1;
}

NOINLINE void touch(char *at, long nr)
{
	long page = sysconf(_SC_PAGESIZE);

	for (long i = 0; i < nr; i++)
		((volatile char *)at)[i * page] = 1;
}

NOINLINE uint64_t nap(long nr, long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };
	uint64_t slept = 0;

	for (long i = 0; i < nr; i++) {
		uint64_t begin = clock_ns(CLOCK_BOOTTIME);

		own_syscall(SYS_nanosleep, (long)&t, 0, 0);
		slept += clock_ns(CLOCK_BOOTTIME) - begin;
	}
	return slept;
}

NOINLINE void poke(int fd, long nr)
{
	for (long i = 0; i < nr; i++) {
		struct timespec t = { 0, 1000000 };

		nanosleep(&t, NULL); /* so that the partner sleeps again */
		if (own_syscall(SYS_write, fd, (long)"x", 1) != 1)
			exit(3);
	}
}

/* Like burn(), for speed alone. */
static uint64_t count_rounds(uint64_t until_ns)
{
	volatile uint64_t x = 1;
	uint64_t nr = 0;

	for (; clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns; nr++)
		for (int i = 0; i < 10000; i++)
			x = x * 3 + 1;
	return nr;
}

static void *burn_thread(void *arg)
{
	prctl(PR_SET_NAME, "t-thread");
	burn(*(const uint64_t *)arg);
	return NULL;
}

static void work_tree(uint64_t ns)
{
	long threads = number_of("threads", 2), children = number_of("children", 2);
	pthread_t ids[MAX_THREADS];

	if (threads > MAX_THREADS)
		exit(2);
	for (long i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, burn_thread, &ns))
			exit(3);
	for (long i = 0; i < children; i++)
		if (fork() == 0) {
			prctl(PR_SET_NAME, "t-child");
			burn(ns);
			_exit(0);
		}
	for (long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	for (long i = 0; i < children; i++)
		wait(NULL);
}

/* How often it slept: as often it was woken, and a little more often where it was disturbed on its way to sleep. */
static void read_all(int fd, long nr, struct partner *p)
{
	struct rusage before, now;
	char c;

	getrusage(RUSAGE_SELF, &before);
	for (long i = 0; i < nr; i++)
		if (read(fd, &c, 1) != 1)
			_exit(3);
	getrusage(RUSAGE_SELF, &now);
	p->slept = now.ru_nvcsw - before.ru_nvcsw;
	p->disturbed = now.ru_nivcsw - before.ru_nivcsw;
}

/* The partner reads one byte at a time, and sleeps until there is one. */
static void work_wake(long nr)
{
	int ends[2];

	if (pipe(ends))
		exit(3);
	if (fork() == 0) {
		prctl(PR_SET_NAME, "t-woken");
		read_all(ends[0], nr, partner);
		_exit(0);
	}
	prctl(PR_SET_NAME, "t-waker");
	usleep(50000);
	poke(ends[1], nr);
	wait(NULL);
}

static void work_fault(long nr)
{
	size_t bytes = (size_t)(nr * sysconf(_SC_PAGESIZE));
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		exit(3);
	madvise(at, bytes, MADV_NOHUGEPAGE);
	touch(at, nr);
}

/* Runnable, not running, so far. */
static unsigned long long waited_ns(void)
{
	unsigned long long ran = 0, waited = 0;
	FILE *f = fopen("/proc/self/schedstat", "re");

	if (!f || fscanf(f, "%llu %llu", &ran, &waited) != 2)
		abort();
	fclose(f);
	return waited;
}

static void print_result(const struct rusage *before, uint64_t cpu_before)
{
	struct rusage now, children;

	getrusage(RUSAGE_SELF, &now);
	getrusage(RUSAGE_CHILDREN, &children);
	printf("{\"partner_slept\": %ld, \"partner_disturbed\": %ld, ", partner->slept,
	       partner->disturbed);
	printf("\"rounds\": %llu, ", (unsigned long long)rounds);
	printf("\"wait_ns\": %llu, ", waited_ns());
	printf("\"cpu_ns\": %llu, \"child_cpu_us\": %lld, \"slept_ns\": %llu, \"faults\": %ld, \"voluntary\": %ld, "
	       "\"involuntary\": %ld}\n",
	       (unsigned long long)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_before),
	       (long long)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) * 1000000LL +
	               children.ru_utime.tv_usec + children.ru_stime.tv_usec,
	       (unsigned long long)slept_ns, now.ru_minflt - before->ru_minflt,
	       now.ru_nvcsw - before->ru_nvcsw, now.ru_nivcsw - before->ru_nivcsw);
}

int main(int argc, char **argv)
{
	uint64_t burn_ns, cpu_before;
	struct rusage before;
	const char *work;

	if (argc < 2)
		return 2;
	arg_count = argc;
	args = argv;
	work = argv[1];
	partner = mmap(NULL, sizeof(*partner), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	               -1, 0);
	if (partner == MAP_FAILED)
		return 3;
	burn_ns = (uint64_t)number_of("ms", 1000) * 1000000ULL;
	printf("%d\n", (int)getpid());
	fflush(stdout);
	if (number_of("wait", 1) && getchar() == EOF)
		return 2;
	pin_to(number_of("cpu", -1));
	if (number_of("fifo", 0))
		go_first();
	getrusage(RUSAGE_SELF, &before);
	cpu_before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (strcmp(work, "burn") == 0)
		burn(burn_ns);
	else if (strcmp(work, "loop") == 0)
		rounds = count_rounds(burn_ns);
	else if (strcmp(work, "tree") == 0)
		work_tree(burn_ns);
	else if (strcmp(work, "fault") == 0)
		work_fault(number_of("nr", 1000));
	else if (strcmp(work, "nap") == 0)
		slept_ns = nap(number_of("nr", 10), number_of("us", 10000));
	else if (strcmp(work, "wake") == 0)
		work_wake(number_of("nr", 100));
	else if (strcmp(work, "exec") == 0) {
		burn(burn_ns);
		execl("/proc/self/exe", argv[0], "burn", "ms=600", "wait=0", (char *)NULL);
		return 3;
	} else
		return 2;
	print_result(&before, cpu_before);
	return 0;
}
