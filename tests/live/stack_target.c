/*
 * stack_target share MS | nap NR US — programs whose stacks are known, for the tests of `record --stacks`. Built with
 * frame pointers.
 *   share  uses a CPU for MS of its own time: 70 % in heavy(), 30 % in light()
 *   nap    sleeps NR times, in nap()
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "own_syscall.h"

#define NOINLINE __attribute__((noinline))
#define ROUNDS   100000U

void heavy(uint32_t rounds);
void light(uint32_t rounds);
void share(uint64_t until_ns);
void nap(long nr, long us);

static volatile uint64_t sink;

static uint64_t used_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

NOINLINE void heavy(uint32_t rounds)
{
	for (uint32_t i = 0; i < rounds; i++)
		sink = sink * 3 + i;
}

NOINLINE void light(uint32_t rounds)
{
	for (uint32_t i = 0; i < rounds; i++)
		sink = sink * 3 + i;
}

NOINLINE void share(uint64_t until_ns)
{
	while (used_ns() < until_ns) {
		heavy(ROUNDS / 10 * 7);
		light(ROUNDS / 10 * 3);
	}
}

NOINLINE void nap(long nr, long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	for (long i = 0; i < nr; i++)
		own_syscall(SYS_nanosleep, (long)&t, 0, 0);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "share") == 0)
		share(strtoull(argv[2], NULL, 10) * 1000000ULL);
	else if (argc == 4 && strcmp(argv[1], "nap") == 0)
		nap(strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10));
	else
		return 2;
	return 0;
}
