/* sys/code_mask — return addresses that arm64 has signed: without what is above the address. */
#pragma once

#include <stdint.h>

/* The bits of an address of code in a return address; all, where none are signed. */
uint64_t code_mask(void);
