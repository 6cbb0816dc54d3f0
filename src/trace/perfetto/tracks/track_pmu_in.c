#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/perfetto/tracks/schema_tracks.h"
#include "trace/perfetto/tracks/tracks_in.h"

/* The number of a counter by its key, a new one if there is room; TRACK_PMU_MAX if there is none. */
static uint32_t slot_of(struct tracks *t, struct track_text key)
{
	for (uint32_t i = 0; i < t->nr_pmu; i++)
		if (t->pmu_keys[i].len == key.len && !memcmp(t->pmu_keys[i].s, key.s, key.len))
			return i;
	if (t->nr_pmu == TRACK_PMU_MAX)
		return TRACK_PMU_MAX;
	t->pmu_keys[t->nr_pmu] = key;
	return t->nr_pmu++;
}

/* Numbers with a fraction are ratios of counters, not counters; thousands are rounded by their writer. */
static bool is_ratio(const struct track_pmu_value *count)
{
	return track_text_begins(count->key, "pmu:") &&
	       !(fabs(count->value - rint(count->value)) < 1e-6);
}

static bool is_slice(const struct track_row *row)
{
	return (row->category == CATEGORY_ONCPU && row->type == TRACK_TYPE_END) ||
	       row->category == CATEGORY_PMU;
}

static bool has_counts(const struct tracks *t)
{
	for (size_t i = 0; i < t->nr_texts; i++)
		if (t->keys[i] == KEY_PMU || t->keys[i] == KEY_KILO)
			return true;
	return false;
}

/* Before any record is made: all of them have the same counters, and no ratios. */
int track_pmu_scan(struct reader *r)
{
	struct tracks *t = r->tracks;
	struct track_event_in *e;
	uint32_t slot;

	if (!has_counts(t))
		return 0;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rows; i++) {
		const struct packet *pk = &r->packets[t->rows[i].packet];
		const struct track_strings_at at = { .r = r, .state = pk->state };

		if (pk->kind != PAYLOAD_TRACK_EVENT || !is_slice(&t->rows[i]))
			continue;
		track_event_read(e, pb_in_of(pk->body, pk->len), track_strings_of(&at));
		for (uint32_t k = 0; k < e->nr_counts; k++) {
			slot = slot_of(t, e->counts[k].key);
			if (slot < TRACK_PMU_MAX)
				t->pmu_is_ratio[slot] |= is_ratio(&e->counts[k]);
		}
	}
	free(e);
	return 0;
}

/* The place of a counter in records; ratios have none. */
static uint32_t place_of(const struct tracks *t, uint32_t slot)
{
	uint32_t place = 0;

	for (uint32_t i = 0; i < slot; i++)
		place += !t->pmu_is_ratio[i];
	return place;
}

static uint64_t whole(double value)
{
	value = rint(value);
	if (!(value > 0.0))
		return 0;
	return value < 1.8e19 ? (uint64_t)value : UINT64_MAX;
}

void track_pmu_values(struct track_at *at)
{
	uint64_t values[TRACK_PMU_MAX] = { 0 };
	struct tracks *t = at->t;
	struct ev_pmu *rec;
	uint32_t slot, nr;

	if (!at->e.nr_counts)
		return;
	for (uint32_t i = 0; i < at->e.nr_counts; i++) {
		slot = slot_of(t, at->e.counts[i].key);
		if (slot < TRACK_PMU_MAX && !t->pmu_is_ratio[slot])
			values[place_of(t, slot)] = whole(at->e.counts[i].value);
	}
	nr = place_of(t, t->nr_pmu);
	if (!nr)
		return;
	if (at->tid)
		decoder_name(at->dec, at->ts_ns, at->tid, NULL, 0);
	rec = track_rec(at, EV_PMU, sizeof(*rec) + nr * sizeof(uint64_t), at->cpu, at->ts_ns);
	rec->tid = at->tid;
	rec->nr = nr;
	memcpy(rec + 1, values, nr * sizeof(uint64_t));
}

/* Our own slices, or wprof's samples on a counter's overflow. */
void track_pmu(struct track_at *at)
{
	int64_t period = 1;

	if (at->e.callstack_iid) {
		(void)track_arg_int(&at->e, KEY_SAMPLE_PERIOD, &period);
		track_event_sample(at, track_event_name(&at->e), period > 0 ? (uint64_t)period : 1);
	} else if (track_text_is(track_event_name(&at->e), "slice")) {
		track_pmu_values(at);
	}
}
