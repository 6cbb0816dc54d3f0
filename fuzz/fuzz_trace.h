/*
 * fuzz/fuzz_trace — reads a trace of any format and checks what is promised of all of them: valid records in order of time and
 * facts that fit together, or one sentence.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "abi/event_check.h"
#include "base/hash.h"
#include "fuzz.h"
#include "trace/reader.h"

struct fuzz_seen {
	uint64_t last_ns;
	uint64_t nr;
	uint64_t hash; /* of all records */
};

static inline int fuzz_trace_push(void *ctx, const struct ev_hdr *rec)
{
	struct fuzz_seen *s = ctx;

	fuzz_check(ev_check(rec, rec->size));
	fuzz_check(rec->ts_ns >= s->last_ns);
	s->last_ns = rec->ts_ns;
	s->nr++;
	s->hash = hash_bytes(rec, rec->size, s->hash);
	return 0;
}

static inline void fuzz_trace_samples(const struct trace_info *info)
{
	for (size_t i = 0; i < info->nr_samples; i++) {
		const struct trace_sample *s = &info->samples[i];

		fuzz_check(s->event < info->nr_sample_events);
		fuzz_check(!i || s[-1].ts_ns <= s->ts_ns);
		if (s->stack == UINT32_MAX)
			continue;
		fuzz_check(s->stack < info->nr_stacks);
		for (uint32_t k = 0; k < info->stacks[s->stack].nr; k++)
			fuzz_check(info->stack_frames[info->stacks[s->stack].first + k] <
			           info->nr_frames);
	}
	for (size_t i = 0; i < info->nr_frames; i++)
		fuzz_check(info->frames[i].name && info->frames[i].mapping);
}

/* What reading returns. */
static inline int fuzz_trace_read(const void *bytes, size_t len, unsigned int nr_workers,
                                  struct fuzz_seen *seen)
{
	const struct trace_read_cfg cfg = { .nr_workers = nr_workers,
		                            .max_bytes = 16 << 20,
		                            .max_packets = 1 << 20 };
	const struct trace_bytes in = { .bytes = bytes, .len = len, .name = "input" };
	struct ev_sink sink = { .push = fuzz_trace_push, .ctx = seen };
	struct trace_info *info = NULL;
	struct diag d = { 0 };
	int err = trace_read_memory(&in, &cfg, &sink, &d, &info);

	fuzz_check((err < 0) == (d.what[0] != '\0'));
	fuzz_check((err < 0) == (info == NULL));
	if (info) {
		fuzz_check(info->nr_records == seen->nr);
		fuzz_check(info->has_time || (info->start_ns == 0 && info->end_ns == 0));
		fuzz_check(info->start_ns <= info->end_ns);
		fuzz_trace_samples(info);
	}
	trace_info_free(info);
	return err;
}

/* With other bytes before them, and nothing behind them, so that sanitizers see the end. */
static inline void fuzz_trace_read_behind(const void *head, size_t head_len, const uint8_t *data,
                                          size_t size)
{
	uint8_t *bytes = malloc(head_len + size ? head_len + size : 1);
	struct fuzz_seen seen = { 0 };

	fuzz_check(bytes);
	if (head_len)
		memcpy(bytes, head, head_len);
	if (size)
		memcpy(bytes + head_len, data, size);
	(void)fuzz_trace_read(bytes, head_len + size, 1, &seen);
	free(bytes);
}
