/* tests/trace/loaded — reads bytes as a trace, and keeps the records that come of it. */
#pragma once

#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event_check.h"
#include "counted.h"
#include "enc.h"
#include "trace/reader.h"

struct loaded {
	struct trace_info *info;
	struct diag d;
	int err;
	uint8_t *bytes; /* of all records */
	size_t len, size;
	const struct ev_hdr *recs[4096];
	size_t offsets[4096];
	size_t nr;
	bool with_names; /* keep EV_TASK_INFO too */
	size_t nr_names;
	int fail_after; /* the sink fails after so many; 0 = never */
	uint64_t last_ns;
};

static inline int loaded_push(void *ctx, const struct ev_hdr *rec)
{
	struct loaded *l = ctx;

	assert_true(ev_check(rec, rec->size));
	assert_true(rec->ts_ns >= l->last_ns);
	l->last_ns = rec->ts_ns;
	l->nr_names += rec->kind == EV_TASK_INFO;
	if (rec->kind == EV_TASK_INFO && !l->with_names)
		return 0;
	if (l->fail_after && (int)l->nr + 1 == l->fail_after)
		return -EPIPE;
	assert_true(l->nr < 4096);
	while (l->len + rec->size > l->size) {
		l->size = l->size ? 2 * l->size : 4096;
		l->bytes = realloc(l->bytes, l->size);
		assert_non_null(l->bytes);
	}
	memcpy(l->bytes + l->len, rec, rec->size);
	l->offsets[l->nr++] = l->len;
	l->len += rec->size;
	return 0;
}

static inline void load_cfg(struct loaded *l, const void *bytes, size_t len,
                            const struct trace_read_cfg *cfg)
{
	struct ev_sink sink = { .push = loaded_push, .ctx = l };
	const struct trace_bytes in = { .bytes = bytes, .len = len, .name = "test" };

	l->err = trace_read_memory(&in, cfg, &sink, &l->d, &l->info);
	for (size_t i = 0; i < l->nr; i++)
		l->recs[i] = (const struct ev_hdr *)(l->bytes + l->offsets[i]);
}

static inline void load(struct loaded *l, const struct enc *e)
{
	load_cfg(l, e->buf, e->len, NULL);
	expect_eq(l->err, 0);
}

static inline void loaded_done(struct loaded *l)
{
	trace_info_free(l->info);
	free(l->bytes);
	memset(l, 0, sizeof(*l));
}

/* The record of that number, of that kind. */
static inline const void *rec_at(const struct loaded *l, size_t nr, unsigned int kind)
{
	assert_true(nr < l->nr);
	expect_eq(l->recs[nr]->kind, kind);
	return l->recs[nr];
}
