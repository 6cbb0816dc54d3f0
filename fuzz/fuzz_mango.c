/* fuzz/fuzz_mango — any bytes as a message of mangoapp's queue: only a whole one of version 1 is taken. */
#include <string.h>

#include "fuzz.h"
#include "sys/sensors/mango.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mango_frame f;

	if (mango_decode(data, size, &f)) {
		fuzz_check(size >= sizeof(long) + 85 && data[sizeof(long)] == 1);
		fuzz_check(strlen(f.engine) <= MANGO_ENGINE);
	}
	return 0;
}
