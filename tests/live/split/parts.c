/* The same loop three times, for 70, 20 and 10 % of the time: what a profile must find. */
#include "parts.h"

#define UNIT 20000U
/* The copies lie alike: on some Intel processors a loop whose jump crosses 32 bytes takes half as long again. */
#define PART __attribute__((noinline, aligned(64)))

/*
 * Not a loop that a compiler can shorten; each part has its own copy, so that each has its own addresses. A function that asks for
 * the address of its frame has one: on x86-64, gcc makes none for functions that keep nothing there, whatever its options.
 */
#define BURN(nr)                                                \
	__asm__ volatile("" ::"r"(__builtin_frame_address(0))); \
	for (unsigned int i = 0; i < (nr)*UNIT; i++)            \
	__asm__ volatile("" ::: "memory")

PART void part_seventy(void)
{
	BURN(70U);
}

PART void part_twenty(void)
{
	BURN(20U);
}

PART void part_ten(void)
{
	BURN(10U);
}
