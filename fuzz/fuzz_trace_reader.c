/*
 * fuzz/fuzz_trace_reader — any bytes become valid records in order of time, or one sentence; the same with any
 * number of workers.
 */
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_seen one = { .hash = 1 }, two = { .hash = 1 };
	int err = fuzz_trace_read(data, size, 1, &one);

	if (size < 4096 && size % 16 == 0) {
		fuzz_check(fuzz_trace_read(data, size, 2, &two) == err);
		fuzz_check(two.nr == one.nr && two.hash == one.hash);
	}
	return 0;
}
