/* collect/call_numbers — the system calls of this machine, as abi/call numbers them. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* out[number of the kernel] = ABI_CALL_*; others stay as they are. */
void call_numbers(uint8_t *out, size_t nr);
