/*
 * analyze/buckets — durations by what they belong to: an interrupt, a device, a queue, a pair of tasks.
 *
 * A bucket per key that was seen, numbered in order of appearance, with all its durations. An event
 * of unknown duration can be counted without one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/grouped.h"
#include "analyze/report.h"
#include "analyze/samples.h"
#include "analyze/top.h"
#include "base/attr.h"

#define BUCKETS_NONE   UINT32_MAX
#define BUCKETS_CACHED 256U

struct map;

struct bucket {
	uint64_t key;
	uint64_t count; /* those without a duration too */
	uint64_t sum_ns;
	uint64_t max_ns;
};

struct buckets {
	struct bucket *at;
	uint32_t nr;
	uint32_t capacity;
	uint32_t cache[BUCKETS_CACHED]; /* numbers of buckets seen lately, by a part of the key's hash */
	struct map *by_key;
	struct grouped values;
	bool has_failed; /* without memory */
};

/* A zeroed struct is empty. The number of the bucket; BUCKETS_NONE without memory. */
uint32_t buckets_add(struct buckets *b, uint64_t key, uint64_t ns);
/* With a duration that counts in the sum only: there are no percentiles of it. */
uint32_t buckets_sum(struct buckets *b, uint64_t key, uint64_t ns);
uint32_t buckets_count(struct buckets *b, uint64_t key); /* without a duration */
/* When all is in: durations can be asked for. -ENOMEM. */
MUST_USE int buckets_order(struct buckets *b);
/* Lent; empty for one without durations. */
struct samples buckets_at(const struct buckets *b, uint32_t i);
/* The first ones by total duration, or by count; ids are numbers of buckets. */
void buckets_top(const struct buckets *b, bool is_by_count, struct top *top);
/* Members count, total_duration_ns, percentiles. */
void buckets_report(const struct buckets *b, uint32_t i, struct report *r);
void buckets_done(struct buckets *b);

/* Two halves of a key. */
uint64_t bucket_pair(uint32_t high, uint32_t low);
uint32_t bucket_high(uint64_t key);
uint32_t bucket_low(uint64_t key);
