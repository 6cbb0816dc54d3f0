/*
 * fuzz/fuzz_tracedat — any bytes after the beginning of a trace.dat file become valid records in order of time, or one sentence; any
 * page of a ring buffer has events that are inside of it.
 *
 * The first byte says which: even is a file, without its magic bytes; odd is a page, of the byte order and size that it says, too.
 */
#include "fuzz_trace.h"
#include "trace/tracedat/ring.h"

#define MAGIC       "\027\010\104tracing"
#define MAGIC_BYTES 10U

static void read_page(uint8_t how, const uint8_t *data, size_t size)
{
	struct ring_layout layout = { .page_bytes = 256, /* small ones are cut, too */
		                      .is_big_endian = how & 2,
		                      .is_swapped = how & 4 };
	struct ring_event event;
	struct ring_page p;

	ring_layout_read(&layout, (const char *)data, how & 16 ? size : 0, how & 8 ? 4 : 8);
	(void)ring_is_raw(data, size);
	if (!ring_page_open(&p, &layout, data, size < 256 ? size : 256))
		return;
	while (ring_page_next(&p, &event)) {
		fuzz_check(event.data >= data && event.data + event.len <= data + size);
		fuzz_check(!p.is_bad);
	}
	fuzz_check(p.at == p.end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] & 1)
		read_page(data[0], data + 1, size - 1);
	else
		fuzz_trace_read_behind(MAGIC, MAGIC_BYTES, data + 1, size - 1);
	return 0;
}
