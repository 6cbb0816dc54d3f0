/* The same loop three times, for 70, 20 and 10 % of the time: what a profile must find. */
#include "parts.h"

#define UNIT 20000U

/* Not a loop that a compiler can shorten; each part has its own copy, so that each has its own addresses. */
#define BURN(nr)                                     \
	for (unsigned int i = 0; i < (nr)*UNIT; i++) \
	__asm__ volatile("" ::: "memory")

__attribute__((noinline)) void part_seventy(void)
{
	BURN(70U);
}

__attribute__((noinline)) void part_twenty(void)
{
	BURN(20U);
}

__attribute__((noinline)) void part_ten(void)
{
	BURN(10U);
}
