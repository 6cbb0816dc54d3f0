/*
 * probe_target ROUNDS THREADS [wait [SLOW]] — calls one function of its own ROUNDS times in each thread, for tests
 * of uprobes. With "wait", only after a line on stdin. Call SLOW, from 0, takes 30 ms. Says its pid on the first
 * line.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_THREADS 16

static long slow_call = -1;

long probe_me(long x);

__attribute__((noinline)) long probe_me(long x)
{
	__asm__ volatile("" : "+r"(x));
	if (x == slow_call)
		usleep(30000);
	return x + 1;
}

static void *work(void *arg)
{
	long rounds = *(const long *)arg, x = 0;

	for (long i = 0; i < rounds; i++)
		x = probe_me(x);
	return x == rounds ? NULL : arg;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t ids[MAX_THREADS];

	if (threads < 1 || threads > MAX_THREADS)
		return 2;
	if (argc > 4)
		slow_call = strtol(argv[4], NULL, 10);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	if (argc > 3 && strcmp(argv[3], "wait") == 0 && getchar() == EOF)
		return 2;
	for (int i = 1; i < threads; i++)
		if (pthread_create(&ids[i], NULL, work, &rounds))
			return 1;
	if (work(&rounds))
		return 1;
	for (int i = 1; i < threads; i++) {
		void *failure;

		if (pthread_join(ids[i], &failure) || failure)
			return 1;
	}
	return 0;
}
