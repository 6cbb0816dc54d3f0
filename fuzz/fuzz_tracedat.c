/*
 * fuzz/fuzz_tracedat — any bytes after the beginning of a trace.dat file become valid records in order of time, or one sentence; any
 * page of a ring buffer has events that are inside of it.
 *
 * The first byte says which: even is a file, without its magic bytes; odd is a page, of the byte order and size that it says, too.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/event_check.h"
#include "fuzz.h"
#include "trace/reader.h"
#include "trace/tracedat/ring.h"

#define MAGIC       "\027\010\104tracing"
#define MAGIC_BYTES 10U

static int push(void *ctx, const struct ev_hdr *rec)
{
	uint64_t *last_ns = ctx;

	fuzz_check(ev_check(rec, rec->size));
	fuzz_check(rec->ts_ns >= *last_ns);
	*last_ns = rec->ts_ns;
	return 0;
}

static void read_file(const uint8_t *data, size_t size)
{
	const struct trace_read_cfg cfg = { .max_bytes = 16 << 20 };
	uint8_t *bytes = malloc(MAGIC_BYTES + size);
	const struct trace_bytes in = { bytes, MAGIC_BYTES + size, "input" };
	uint64_t last_ns = 0;
	struct ev_sink sink = { .push = push, .ctx = &last_ns };
	struct trace_info *info = NULL;
	struct diag d = { 0 };
	int err;

	if (!bytes)
		return;
	memcpy(bytes, MAGIC, MAGIC_BYTES);
	if (size)
		memcpy(bytes + MAGIC_BYTES, data, size);
	err = trace_read_memory(&in, &cfg, &sink, &d, &info);
	fuzz_check((err < 0) == (d.what[0] != '\0'));
	fuzz_check((err < 0) == (info == NULL));
	if (info) {
		fuzz_check(info->has_time || (info->start_ns == 0 && info->end_ns == 0));
		fuzz_check(info->start_ns <= info->end_ns);
	}
	trace_info_free(info);
	free(bytes);
}

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
		read_file(data + 1, size - 1);
	return 0;
}
