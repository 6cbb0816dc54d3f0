#include "trace/perfetto/write/span_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define TEXTS_MAX      (1U << 20)
#define TEXTS_BYTES    ((size_t)64 << 20)
#define LANES_MAX      (1U << 16)
#define LANES_PER_TASK 256U

struct lane_key {
	uint32_t tid;
	uint32_t number;
};

int spans_init(struct span_out *s)
{
	*s = (struct span_out){ 0 };
	s->texts = intern_new(TEXTS_MAX, TEXTS_BYTES);
	if (!s->texts || map_new(sizeof(uint32_t), TEXTS_MAX, &s->text_ids) < 0 ||
	    map_new(sizeof(struct lane_key), LANES_MAX, &s->lane_ids) < 0)
		return -ENOMEM;
	return 0;
}

void spans_done(struct span_out *s)
{
	intern_free(s->texts);
	map_free(s->text_ids);
	map_free(s->lane_ids);
	free(s->lanes);
	*s = (struct span_out){ 0 };
}

int spans_text(struct span_out *s, uint32_t id, const char *text, size_t len)
{
	uint32_t idx;
	int err = intern_add(s->texts, text, len, &idx);

	if (!err)
		err = map_insert(s->text_ids, &id, idx);
	return err == -E2BIG ? -ERANGE : err;
}

const char *spans_find_text(const struct span_out *s, uint32_t id)
{
	uint32_t idx;

	return map_find(s->text_ids, &id, &idx) ? intern_string(s->texts, idx, NULL) : "";
}

/*
 * Whether the span lies around or behind all that is in the lane; if so, it is in it now. Two that begin at the same time
 * would be taken for the inner one first.
 */
static bool put(struct span_lane *lane, const struct span_interval *span)
{
	uint32_t nr = lane->nr;

	while (nr && lane->last[nr - 1].start_ns > span->start_ns)
		nr--;
	if (span->start_ns < lane->floor_ns || (nr && lane->last[nr - 1].end_ns > span->start_ns) ||
	    (nr && lane->last[nr - 1].start_ns == span->start_ns))
		return false;
	if (nr == SPAN_LANE_DEPTH) {
		lane->floor_ns = lane->last[0].end_ns;
		memmove(lane->last, lane->last + 1, --nr * sizeof(lane->last[0]));
	}
	lane->last[nr] = *span;
	lane->nr = nr + 1;
	return true;
}

static int add_lane(struct span_out *s, const struct lane_key *key)
{
	int err;

	if (GROW(s->lanes, s->room, s->nr_lanes))
		return -ENOMEM;
	err = map_insert(s->lane_ids, key, s->nr_lanes);
	if (err)
		return err == -E2BIG ? -ERANGE : err;
	s->lanes[s->nr_lanes++] = (struct span_lane){ .number = key->number };
	return 0;
}

int spans_lane(struct span_out *s, uint32_t tid, const struct span_interval *span,
               struct span_lane **out)
{
	struct lane_key key = { .tid = tid };
	uint32_t idx;
	int err;

	for (; key.number < LANES_PER_TASK; key.number++) {
		if (!map_find(s->lane_ids, &key, &idx)) {
			idx = s->nr_lanes;
			err = add_lane(s, &key);
			if (err)
				return err;
		}
		if (put(&s->lanes[idx], span)) {
			*out = &s->lanes[idx];
			return 0;
		}
	}
	return -ERANGE;
}
