#include "sys/code_mask.h"

#include <sys/auxv.h>

/*
 * Bits above an address of code hold arm64's signature of it. How many bits addresses have is up to the
 * kernel; the stack of the first thread begins in their highest half.
 */
uint64_t code_mask(void)
{
#ifdef __aarch64__
	uint64_t on_stack = getauxval(AT_RANDOM);

	return on_stack ? ~0ULL >> __builtin_clzll(on_stack) : ~0ULL;
#else
	return ~0ULL;
#endif
}
