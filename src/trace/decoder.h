/*
 * trace/perfetto/decoder — the state of a worker while it decodes: the tasks named in this run, buffers for
 * columns.
 *
 * Names: events carry them with every tid; a record of ours carries none. So the first event of a run that
 * mentions a tid, or gives it another name, is preceded by an IN_NAME, and others are not.
 */
#pragma once

#include <string.h>

#include "trace/reader_priv.h"

#define NAME_SLOTS 1024U

struct name_slot {
	uint32_t tid;
	uint32_t epoch;
	uint64_t comm[2];
};

struct name_cache {
	uint32_t epoch; /* of the run */
	struct name_slot slots[NAME_SLOTS];
};

/* Bytes of a name, padded with zeroes to the length of a comm and cut there. */
struct comm_words {
	uint64_t w[2];
};

struct decode_scratch {
	uint8_t *bytes; /* columns that come in pieces */
	size_t len, cap;
	struct comm_words *comms; /* of a bundle's table */
	size_t nr_comms, cap_comms;
};

MUST_USE int decoder_init(struct decoder *dec, const struct reader *r);
void decoder_done(struct decoder *dec);
/* Around the records of one run: each run names its tasks again. */
void decoder_run_begin(struct decoder *dec, uint32_t lane);
void decoder_run_end(struct decoder *dec);

/* end: of the bytes that may be read, which makes the common case one load. */
static inline struct comm_words comm_words_of(const uint8_t *s, size_t len, const uint8_t *end)
{
	struct comm_words c = { { 0, 0 } };

	if (len >= EV_COMM_LEN)
		len = EV_COMM_LEN - 1;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (end - s >= EV_COMM_LEN) {
		memcpy(&c, s, sizeof(c));
		if (len < 8) {
			c.w[0] &= (1ULL << (8 * len)) - 1;
			c.w[1] = 0;
		} else {
			c.w[1] &= (1ULL << (8 * (len - 8))) - 1;
		}
		return c;
	}
#endif
	if (len)
		memcpy(&c, s, len);
	return c;
}

void decoder_emit_name(struct decoder *dec, uint64_t ts_ns, uint32_t tid,
                       const struct comm_words *comm);

static inline void decoder_see(struct decoder *dec, uint64_t ts_ns, uint32_t tid,
                               struct comm_words comm)
{
	const struct name_slot *s = &dec->names->slots[tid % NAME_SLOTS];
	bool is_known = s->tid == tid && s->epoch == dec->names->epoch;

	if (!tid ||
	    (is_known && ((s->comm[0] == comm.w[0] && s->comm[1] == comm.w[1]) || !comm.w[0])))
		return;
	decoder_emit_name(dec, ts_ns, tid, &comm);
}

/* A task whose name this event does not have. */
static inline void decoder_see_tid(struct decoder *dec, uint64_t ts_ns, uint32_t tid)
{
	decoder_see(dec, ts_ns, tid, (struct comm_words){ { 0, 0 } });
}
