#include "trace/perfetto/clocks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "trace/perfetto/pb_read.h"
#include "trace/perfetto/schema.h"

#define SNAPSHOT_CLOCKS 64U /* of one snapshot; further ones are ignored */

enum { CLOCK_ID_TRACE_FILE = 11, CLOCK_FIRST_OF_SEQ = 64, CLOCK_LAST_OF_SEQ = 127 };
enum { CLOCK_IS_INCREMENTAL = 3, CLOCK_UNIT_NS = 4 };

void clocks_init(struct clocks *c)
{
	c->nr = 0;
	c->readings = NULL;
	c->nr_readings = c->cap_readings = 0;
	c->nr_snapshots = c->primary = c->trace = 0;
}

void clocks_done(struct clocks *c)
{
	for (uint32_t i = 0; i < c->nr; i++)
		free(c->all[i].pairs);
	free(c->readings);
	clocks_init(c);
}

uint32_t clocks_get(struct clocks *c, uint32_t id, uint32_t seq)
{
	if (id < CLOCK_FIRST_OF_SEQ || id > CLOCK_LAST_OF_SEQ)
		seq = 0;
	for (uint32_t i = 0; i < c->nr; i++)
		if (c->all[i].id == id && c->all[i].seq == seq)
			return i;
	if (c->nr == CLOCKS_MAX)
		return CLOCK_NONE;
	c->all[c->nr] = (struct clock){ .id = id, .seq = seq, .unit_ns = 1, .next = CLOCK_NONE };
	return c->nr++;
}

static bool read_clock(struct pb_in in, uint32_t *id, struct clock *out)
{
	struct pb_field f;

	*id = 0;
	*out = (struct clock){ .unit_ns = 1 };
	while (pb_next(&in, &f)) {
		if (f.type != PB_VARINT)
			continue;
		if (f.nr == CLOCK_ID)
			*id = (uint32_t)f.value;
		else if (f.nr == CLOCK_TIMESTAMP)
			out->last_ns = f.value;
		else if (f.nr == CLOCK_IS_INCREMENTAL)
			out->is_incremental = f.value != 0;
		else if (f.nr == CLOCK_UNIT_NS)
			out->unit_ns = f.value ? f.value : 1;
	}
	return !in.is_bad && *id;
}

static int add_reading(struct clocks *c, uint32_t clock, const struct clock *seen)
{
	struct clock *k = &c->all[clock];
	uint64_t ns = seen->last_ns * seen->unit_ns;

	if (c->nr_readings == CLOCK_READINGS)
		return 0;
	if (GROW(c->readings, c->cap_readings, c->nr_readings))
		return -ENOMEM;
	if (ns < k->last_ns && !k->is_incremental && !seen->is_incremental)
		k->goes_back = true;
	k->last_ns = ns;
	k->unit_ns = seen->unit_ns;
	k->is_incremental = seen->is_incremental;
	c->readings[c->nr_readings++] = (struct clock_reading){
		.snapshot = c->nr_snapshots,
		.clock = clock,
		.ns = ns,
	};
	return 0;
}

int clocks_snapshot(struct clocks *c, const uint8_t *body, size_t len, uint32_t seq, bool *is_good)
{
	struct pb_in in = pb_in_of(body, len);
	struct pb_field f;
	struct clock seen;
	uint32_t id, clock, nr = 0;
	int err = 0;

	*is_good = true;
	while (!err && pb_next(&in, &f)) {
		if (f.nr == CLOCK_SNAPSHOT_PRIMARY && f.type == PB_VARINT && !c->primary)
			c->primary = (uint32_t)f.value;
		if (f.nr != CLOCK_SNAPSHOT_CLOCKS || f.type != PB_BYTES || nr == SNAPSHOT_CLOCKS)
			continue;
		nr++;
		if (!read_clock(pb_in_field(&f), &id, &seen)) {
			*is_good = false;
			continue;
		}
		clock = clocks_get(c, id, seq);
		if (clock != CLOCK_NONE)
			err = add_reading(c, clock, &seen);
	}
	*is_good = *is_good && !in.is_bad;
	c->nr_snapshots++;
	return err;
}

int clocks_pair(struct clocks *c, uint32_t a, uint64_t a_ns, uint32_t b, uint64_t b_ns)
{
	int err;

	if (a >= c->nr || b >= c->nr)
		return 0;
	err = add_reading(c, a, &(struct clock){ .unit_ns = 1, .last_ns = a_ns });
	if (!err)
		err = add_reading(c, b, &(struct clock){ .unit_ns = 1, .last_ns = b_ns });
	c->nr_snapshots++;
	return err;
}

uint64_t clocks_take(struct clocks *c, uint32_t clock, uint64_t value)
{
	struct clock *k;

	if (clock >= c->nr)
		return value;
	k = &c->all[clock];
	value *= k->unit_ns;
	if (!k->is_incremental)
		return value;
	k->last_ns += value;
	return k->last_ns;
}

static uint32_t find_id(const struct clocks *c, uint32_t id)
{
	for (uint32_t i = 0; i < c->nr; i++)
		if (c->all[i].id == id && c->all[i].seq == 0)
			return i;
	return CLOCK_NONE;
}

static int by_from(const void *a, const void *b)
{
	const struct clock_pair *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

/* The readings of two clocks in the same snapshots, in order of the first. */
static int make_pairs(const struct clocks *c, uint32_t from, uint32_t to, struct clock_pair **out,
                      size_t *nr_out)
{
	struct clock_pair *pairs = reallocarray(NULL, c->nr_snapshots + 1, sizeof(*pairs));
	uint64_t from_ns = 0, to_ns = 0;
	uint32_t snapshot = UINT32_MAX;
	int seen = 0;
	size_t nr = 0;

	if (!pairs)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr_readings; i++) {
		const struct clock_reading *at = &c->readings[i];

		if (at->snapshot != snapshot)
			seen = 0;
		snapshot = at->snapshot;
		if (at->clock == from) {
			from_ns = at->ns;
			seen |= 1;
		} else if (at->clock == to) {
			to_ns = at->ns;
			seen |= 2;
		}
		if (seen == 3 && nr <= c->nr_snapshots) {
			pairs[nr++] = (struct clock_pair){ from_ns, to_ns };
			seen = 4; /* once per snapshot */
		}
	}
	qsort(pairs, nr, sizeof(*pairs), by_from);
	*out = pairs;
	*nr_out = nr;
	return 0;
}

static uint64_t go(const struct clock_pair *pairs, size_t nr, uint64_t ns)
{
	size_t low = 0, high = nr;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (pairs[mid].from_ns <= ns)
			low = mid;
		else
			high = mid;
	}
	return ns - pairs[low].from_ns + pairs[low].to_ns;
}

static bool share_snapshot(const struct clocks *c, uint32_t a, uint32_t b)
{
	uint32_t snapshot = UINT32_MAX;
	int seen = 0;

	for (size_t i = 0; i < c->nr_readings; i++) {
		if (c->readings[i].snapshot != snapshot)
			seen = 0;
		snapshot = c->readings[i].snapshot;
		seen |= (c->readings[i].clock == a) | (c->readings[i].clock == b) << 1;
		if (seen == 3)
			return true;
	}
	return false;
}

/* Breadth first from the trace's clock: each clock reached goes to the one that reached it. */
static int find_ways(struct clocks *c)
{
	uint32_t queue[CLOCKS_MAX], nr = 0;
	int err = 0;

	queue[nr++] = c->trace;
	for (uint32_t at = 0; at < nr && !err; at++)
		for (uint32_t i = 0; i < c->nr && !err; i++) {
			struct clock *k = &c->all[i];

			if (i == c->trace || k->next != CLOCK_NONE || k->goes_back ||
			    !share_snapshot(c, i, queue[at]))
				continue;
			err = make_pairs(c, i, queue[at], &k->pairs, &k->nr_pairs);
			if (err || !k->nr_pairs)
				continue;
			k->next = queue[at];
			queue[nr++] = i;
		}
	return err;
}

int clocks_link(struct clocks *c)
{
	uint32_t trace = c->primary ? find_id(c, c->primary) : CLOCK_NONE;

	if (trace == CLOCK_NONE && find_id(c, CLOCK_ID_TRACE_FILE) != CLOCK_NONE)
		trace = find_id(c, CLOCK_ID_TRACE_FILE);
	if (trace == CLOCK_NONE)
		trace = clocks_get(c, CLOCK_ID_BOOTTIME, 0);
	c->trace = trace == CLOCK_NONE ? 0 : trace;
	return find_ways(c);
}

bool clocks_has_way(const struct clocks *c, uint32_t clock)
{
	return clock == c->trace || (clock < c->nr && c->all[clock].next != CLOCK_NONE);
}

uint64_t clocks_to_trace(const struct clocks *c, uint32_t clock, uint64_t ns)
{
	if (!clocks_has_way(c, clock))
		return ns;
	for (; clock != c->trace; clock = c->all[clock].next)
		ns = go(c->all[clock].pairs, c->all[clock].nr_pairs, ns);
	return ns;
}

bool clocks_from_trace(const struct clocks *c, uint32_t id, uint64_t ns, uint64_t *out)
{
	uint32_t to = find_id(c, id);
	struct clock_pair *pairs = NULL;
	size_t nr = 0;

	if (to == CLOCK_NONE)
		return false;
	if (to == c->trace) {
		*out = ns;
		return true;
	}
	if (make_pairs(c, c->trace, to, &pairs, &nr) < 0)
		return false;
	if (nr)
		*out = go(pairs, nr, ns);
	free(pairs);
	return nr > 0;
}
