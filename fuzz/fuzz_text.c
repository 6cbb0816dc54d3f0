/*
 * fuzz/fuzz_text — any text becomes valid records in order of time, or one sentence. What does not begin with "<" is put
 * behind the line that every file of tracefs begins with, so that all of it is read as lines of a trace.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/event_check.h"
#include "fuzz.h"
#include "trace/reader.h"

static const char head[] = "# tracer: nop\n";

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

static void check_samples(const struct trace_info *info)
{
	for (size_t i = 0; i < info->nr_samples; i++) {
		const struct trace_sample *s = &info->samples[i];

		fuzz_check(s->event < info->nr_sample_events);
		fuzz_check(!i || s[-1].ts_ns <= s->ts_ns);
		if (s->stack == ~0U)
			continue;
		fuzz_check(s->stack < info->nr_stacks);
		for (uint32_t k = 0; k < info->stacks[s->stack].nr; k++)
			fuzz_check(info->stack_frames[info->stacks[s->stack].first + k] <
			           info->nr_frames);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t head_len = size && data[0] == '<' ? 0 : sizeof(head) - 1;
	const struct trace_read_cfg cfg = { .nr_workers = 1, .max_bytes = 64 << 20 };
	/* No larger than what is read, so that sanitizers see the end. */
	char *text = malloc(head_len + size ? head_len + size : 1);
	struct seen seen = { 0 };
	struct ev_sink sink = { .push = push, .ctx = &seen };
	struct trace_info *info = NULL;
	struct trace_bytes in;
	struct diag d = { 0 };
	int err;

	fuzz_check(text);
	memcpy(text, head, head_len);
	if (size)
		memcpy(text + head_len, data, size);
	in = (struct trace_bytes){ text, head_len + size, "input" };
	err = trace_read_memory(&in, &cfg, &sink, &d, &info);
	fuzz_check((err < 0) == (d.what[0] != '\0'));
	fuzz_check((err < 0) == (info == NULL));
	if (info) {
		fuzz_check(info->nr_records == seen.nr);
		fuzz_check(info->start_ns <= info->end_ns);
		check_samples(info);
	}
	trace_info_free(info);
	free(text);
	return 0;
}
