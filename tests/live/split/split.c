/* split SECONDS: burns a CPU for so long, in parts of known size (parts.c). */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "parts.h"

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

__attribute__((noinline)) static void round_of_parts(void)
{
	part_seventy();
	part_twenty();
	part_ten();
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? strtod(argv[1], NULL) : 1);

	while (now() < end)
		round_of_parts();
	return 0;
}
