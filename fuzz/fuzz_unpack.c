/* fuzz/fuzz_unpack — packed records of the task iterator, as the kernel might never write them. */
#include <stdlib.h>
#include <string.h>

#include "collect/stat/stat_unpack.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	union stat_unpacked out;
	char *copy;

	if (size < sizeof(struct stat_rec))
		return 0;
	copy = malloc(size); /* exactly as long, so that reading past it is noticed */
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	/* The length is right most of the time: let the fuzzer look behind that check. */
	if (!(data[0] & 1))
		((struct stat_rec *)copy)->size = (uint32_t)size;
	if (stat_unpack((struct stat_rec *)copy, size, &out) >= 0 && out.rec.size > sizeof(out))
		abort();
	free(copy);
	return 0;
}
