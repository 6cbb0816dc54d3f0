/*
 * fuzz/fuzz_text — any text. What does not begin with "<" is put behind the line that every file of tracefs begins with, so
 * that all of it is read as lines of a trace.
 */
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char head[] = "# tracer: nop\n";

	fuzz_trace_read_behind(head, size && data[0] == '<' ? 0 : sizeof(head) - 1, data, size);
	return 0;
}
