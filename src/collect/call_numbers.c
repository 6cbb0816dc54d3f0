#include "collect/call_numbers.h"

#include <asm/unistd.h>

#include "abi/call.h"

struct call_number {
	uint16_t nr;
	uint8_t call;
};

#define X(number, name) { __NR_##name, ABI_CALL_##name },
static const struct call_number calls[] = { ABI_CALLS_COMMON(X)
#ifdef __NR_poll
	                                            ABI_CALLS_LEGACY(X)
#endif
};
#undef X

void call_numbers(uint8_t *out, size_t nr)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].nr < nr)
			out[calls[i].nr] = calls[i].call;
}
