/* analyze/sort_u64 — sorts numbers ascending: by digits when there are many, as fast as memory allows. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Never fails: without memory for a second array it takes longer. */
void sort_u64(uint64_t *values, size_t nr);
/* Without regard to the lowest bits, which costs less; such as differ only there keep their order, or not. */
void sort_u64_above(uint64_t *values, size_t nr, unsigned int low_bits);
