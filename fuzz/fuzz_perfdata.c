/* fuzz/fuzz_perfdata — any bytes behind the mark of perf.data. */
#include "fuzz_trace.h"

/* The first byte: in which byte order. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool is_swapped = size && data[0] & 1;

	fuzz_trace_read_behind(is_swapped ? "2ELIFREP" : "PERFILE2", 8, size ? data + 1 : data,
	                       size ? size - 1 : 0);
	return 0;
}
