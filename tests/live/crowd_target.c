/*
 * crowd_target FOLDER LIBRARIES THREADS [MS] — a process with many libraries and many threads, in code without frame pointers.
 *
 * Says "ready", MS later (at once) opens FOLDER/0.so, 1.so and so on, says "open", and runs until it is killed. Each thread, again
 * and again, uses a CPU for 1 ms: from crowd_thread() through through() of its library, crowd_call() and crowd_burn(); then it
 * sleeps. All together use a tenth of a CPU, one after the other from the first moment on: thousands that want a CPU at once would
 * take the machine from all others.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#define APART       __attribute__((noinline))
#define STACK_BYTES (64UL << 10)
#define BURN_NS     1000000LL
#define MS_NS       1000000LL
#define SECOND_NS   1000000000LL
#define SHARE       10 /* one in so many ms */

typedef void through_fn(void (*call)(void));

static through_fn **libraries;
static long nr_libraries, nr_threads;
volatile unsigned long crowd_work;

void crowd_burn(void);
void crowd_call(void);
void *crowd_thread(void *arg);

static void sleep_ms(long ms)
{
	(void)nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * MS_NS }, NULL);
}

static long long cpu_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * SECOND_NS + t.tv_nsec;
}

APART void crowd_burn(void)
{
	long long until = cpu_ns() + BURN_NS;

	while (cpu_ns() < until)
		for (int i = 0; i < 1000; i++)
			crowd_work++;
}

APART void crowd_call(void)
{
	crowd_burn();
	crowd_work++;
}

APART void *crowd_thread(void *arg)
{
	long number = (long)arg;

	sleep_ms(number * SHARE);
	for (;;) {
		libraries[number % nr_libraries](crowd_call);
		sleep_ms(nr_threads * SHARE);
	}
	return NULL;
}

static int open_libraries(const char *folder)
{
	char path[4096];

	libraries = calloc((size_t)nr_libraries, sizeof(through_fn *));
	for (long i = 0; libraries && i < nr_libraries; i++) {
		void *library;

		(void)snprintf(path, sizeof(path), "%s/%ld.so", folder, i);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		*(void **)&libraries[i] = library ? dlsym(library, "through") : NULL;
		if (!libraries[i])
			return -1;
	}
	return libraries ? 0 : -1;
}

static int start_threads(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, STACK_BYTES))
		return -1;
	for (long i = 0; i < nr_threads; i++)
		if (pthread_create(&thread, &attr, crowd_thread, (void *)i))
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	nr_libraries = strtol(argv[2], NULL, 10);
	nr_threads = strtol(argv[3], NULL, 10);
	puts("ready");
	fflush(stdout);
	if (argc > 4)
		sleep_ms(strtol(argv[4], NULL, 10));
	if (nr_libraries < 1 || nr_threads < 1 || open_libraries(argv[1]) || start_threads())
		return 1;
	puts("open");
	fflush(stdout);
	for (;;)
		sleep_ms(60000);
}
