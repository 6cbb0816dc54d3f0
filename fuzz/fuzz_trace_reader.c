/*
 * fuzz/fuzz_trace_reader — any bytes become valid records in order of time, or one sentence; the same with any
 * number of workers.
 */
#include <string.h>

#include "abi/event_check.h"
#include "base/hash.h"
#include "fuzz.h"
#include "trace/reader.h"

struct seen {
	uint64_t last_ns;
	uint64_t nr;
	uint64_t hash;
};

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct seen *s = ctx;

	fuzz_check(ev_check(rec, rec->size));
	fuzz_check(rec->ts_ns >= s->last_ns);
	s->last_ns = rec->ts_ns;
	s->nr++;
	s->hash = hash_bytes(rec, rec->size, s->hash);
	return 0;
}

static int read_all(const uint8_t *data, size_t size, unsigned int nr_workers, struct seen *s)
{
	const struct trace_read_cfg cfg = { .nr_workers = nr_workers,
		                            .max_bytes = 16 << 20,
		                            .max_packets = 1 << 20 };
	const struct trace_bytes in = { data, size, "input" };
	struct ev_sink sink = { .push = push, .ctx = s };
	struct trace_info *info = NULL;
	struct diag d = { 0 };
	int err = trace_read_memory(&in, &cfg, &sink, &d, &info);

	fuzz_check((err < 0) == (d.what[0] != '\0'));
	fuzz_check((err < 0) == (info == NULL));
	if (info) {
		fuzz_check(info->nr_records == s->nr);
		fuzz_check(info->has_time || (info->start_ns == 0 && info->end_ns == 0));
		fuzz_check(info->start_ns <= info->end_ns);
	}
	trace_info_free(info);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen one = { .hash = 1 }, two = { .hash = 1 };
	int err = read_all(data, size, 1, &one);

	if (size < 4096 && size % 16 == 0) {
		fuzz_check(read_all(data, size, 2, &two) == err);
		fuzz_check(two.nr == one.nr && two.hash == one.hash);
	}
	return 0;
}
