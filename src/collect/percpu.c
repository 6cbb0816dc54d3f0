#include "collect/percpu.h"

#include <string.h>

void percpu_spread(void *values, size_t value_bytes, const uint32_t *possible, uint32_t nr)
{
	char *bytes = values;

	/* From the last: no number is below its place, so nothing is overwritten before it has moved. */
	for (uint32_t i = nr; i-- > 0;) {
		char *from = bytes + i * value_bytes;

		if (possible[i] == i)
			return; /* and so are all before it */
		memcpy(bytes + possible[i] * value_bytes, from, value_bytes);
		memset(from, 0, value_bytes);
	}
}
