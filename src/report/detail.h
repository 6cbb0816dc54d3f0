/*
 * report/detail — single slices and waits, and what each wait went to: of all of the time where there is room, else around the
 * worst waits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/json_write.h"
#include "report/gather.h"
#include "report/pack.h"

struct detail_span {
	uint64_t from_ns, to_ns; /* times of the trace */
};

struct detail_slice {
	uint64_t start_ns, end_ns;
	uint32_t who; /* raw number */
	uint16_t cpu;
	uint8_t end; /* enum pair_end */
};

struct detail_wait {
	uint64_t start_ns, end_ns;
	uint32_t who, waker; /* raw numbers */
	uint16_t cpu, from_cpu;
	uint8_t kind;
	uint32_t nr_parts;
};

struct detail_part {
	uint64_t ns;
	uint32_t culprit; /* raw number */
	uint16_t cpu;
	uint8_t cause;
};

struct detail {
	bool is_complete;
	struct detail_span *spans; /* none where it is complete */
	uint32_t nr_spans;
	struct detail_slice *slices;
	size_t nr_slices, room_slices;
	struct detail_wait *waits;
	size_t nr_waits, room_waits;
	struct detail_part *parts; /* of all waits, one after the other */
	size_t nr_parts, room_parts;
};

/* Of those that ended, max_bytes of packed tables at most. worst: the worst first. -ENOMEM. */
MUST_USE int detail_make(struct detail *d, const struct gather *g, const struct pair_wait *worst,
                         size_t nr_worst, uint64_t max_bytes);
void detail_mark(const struct detail *d, const struct who *w, struct tables_used *used);
/* Tables "slice", "waited" and "part". -ENOMEM. */
MUST_USE int detail_pack_slices(const struct detail *d, const struct who *w, uint64_t start_ns,
                                struct pack *out);
MUST_USE int detail_pack_waits(const struct detail *d, const struct who *w, uint64_t start_ns,
                               struct pack *out);
MUST_USE int detail_pack_parts(const struct detail *d, const struct who *w, struct pack *out);
/* The member "detail". */
void detail_document(const struct detail *d, uint64_t start_ns, struct json_writer *out);
void detail_done(struct detail *d);
