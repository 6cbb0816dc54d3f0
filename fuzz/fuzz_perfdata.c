/* fuzz/fuzz_perfdata — any bytes behind the mark of perf.data become valid records in order of time and whole facts, or one sentence. */
#include <stdlib.h>
#include <string.h>

#include "abi/event_check.h"
#include "fuzz.h"
#include "trace/reader.h"

struct seen {
	uint64_t last_ns;
	uint64_t nr;
};

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct seen *s = ctx;

	fuzz_check(ev_check(rec, rec->size));
	fuzz_check(rec->ts_ns >= s->last_ns);
	s->last_ns = rec->ts_ns;
	s->nr++;
	return 0;
}

static void check_stacks(const struct trace_info *info)
{
	uint64_t last_ns = 0;

	for (size_t i = 0; i < info->nr_samples; i++) {
		const struct trace_sample *s = &info->samples[i];
		const struct trace_stack *stack = s->stack == UINT32_MAX ? NULL
		                                                         : &info->stacks[s->stack];

		fuzz_check(s->ts_ns >= last_ns);
		last_ns = s->ts_ns;
		fuzz_check(s->event < info->nr_sample_events);
		fuzz_check(!stack || s->stack < info->nr_stacks);
		for (uint32_t k = 0; stack && k < stack->nr; k++)
			fuzz_check(info->stack_frames[stack->first + k] < info->nr_frames);
	}
	for (size_t i = 0; i < info->nr_frames; i++)
		fuzz_check(info->frames[i].name && info->frames[i].mapping);
}

/* The first byte: in which byte order. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct trace_read_cfg cfg = { .nr_workers = 1, .max_bytes = 16 << 20 };
	size_t len = size ? size - 1 + 8 : 8;
	uint8_t *bytes = malloc(len);
	const struct trace_bytes in = { bytes, len, "input" };
	struct seen seen = { 0 };
	struct ev_sink sink = { .push = push, .ctx = &seen };
	struct trace_info *info = NULL;
	struct diag d = { 0 };
	int err;

	if (!bytes)
		return 0;
	memcpy(bytes, size && data[0] & 1 ? "2ELIFREP" : "PERFILE2", 8);
	if (size > 1)
		memcpy(bytes + 8, data + 1, size - 1);
	err = trace_read_memory(&in, &cfg, &sink, &d, &info);
	fuzz_check((err < 0) == (d.what[0] != '\0'));
	fuzz_check((err < 0) == (info == NULL));
	if (info) {
		fuzz_check(info->nr_records == seen.nr);
		fuzz_check(info->start_ns <= info->end_ns);
		check_stacks(info);
	}
	trace_info_free(info);
	free(bytes);
	return 0;
}
