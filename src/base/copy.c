#include "base/copy.h"

#include <stdlib.h>
#include <string.h>

void *copy_of(const void *from, size_t nr, size_t size)
{
	void *copy = calloc(nr ? nr : 1, size);

	if (copy && nr)
		memcpy(copy, from, nr * size);
	return copy;
}
