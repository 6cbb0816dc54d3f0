/* analyze/sort_u64 — sorts numbers ascending: by digits when there are many, as fast as memory allows. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Never fails: without memory for a second array it takes longer. */
void sort_u64(uint64_t *values, size_t nr);
