/* base/copy — arrays of their own. */
#pragma once

#include <stddef.h>

/* A copy of an array, to be freed; never NULL with memory, also for an empty one. */
void *copy_of(const void *from, size_t nr, size_t size);
