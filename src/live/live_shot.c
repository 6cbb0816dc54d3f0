#include "live/live_shot.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/copy.h"
#include "live/live_model.h"
#include "query/event_fields.h"

struct live_shot {
	atomic_uint refs;
	struct tasks *tasks;
	struct pair *pair;
	struct timeline *timeline;
	struct live_place *places;
	struct source_hole holes[LIVE_HOLES_MAX];
	struct source_facts facts;
	struct source source;
};

struct live_shot *live_shot_get(struct live_shot *shot)
{
	if (shot)
		atomic_fetch_add(&shot->refs, 1);
	return shot;
}

void live_shot_put(struct live_shot *shot)
{
	if (!shot || atomic_fetch_sub(&shot->refs, 1) > 1)
		return;
	timeline_free(shot->timeline);
	if (shot->pair)
		pair_free(shot->pair);
	tasks_free(shot->tasks);
	free(shot->places);
	free(shot);
}

static uint64_t start_of(const struct live_model *m, uint64_t now_ns)
{
	uint64_t start_ns = now_ns > m->window_ns ? now_ns - m->window_ns : 0;
	uint64_t first_ns = now_ns - pair_span_ns(m->pair);
	uint64_t whole_ns = timeline_whole_from_ns(m->timeline);

	start_ns = start_ns > first_ns ? start_ns : first_ns;
	return start_ns > whole_ns ? start_ns : whole_ns;
}

static void fill(struct live_shot *shot, const struct live_model *m, bool is_live)
{
	struct source_facts *f = &shot->facts;
	uint64_t now_ns = pair_now_ns(m->pair);

	*f = (struct source_facts){
		.name = "live",
		.producer = "schedscope",
		.clock = "boottime",
		.is_live = is_live,
		.nr_cpus = m->nr_cpus,
		.places = shot->places,
		.nr_places = m->nr_cpus,
		.filter = m->filter,
		.holes = shot->holes,
		.nr_holes = m->nr_holes,
	};
	memcpy(shot->holes, m->holes, m->nr_holes * sizeof(m->holes[0]));
	for (uint32_t kind = 0; kind < EV_KIND_MAX; kind++) {
		/* A kind that is recorded is there, though none may have come yet. */
		f->kinds[kind] = m->seen[kind] ? m->seen[kind] : (m->kinds >> kind) & 1;
		f->nr_events += event_type_count(f, kind);
		f->lost += m->lost[kind];
	}
	f->has_scx = m->seen[EV_SCX_RUN] || m->seen[EV_DSQ_LEAVE] || m->seen[EV_DSQ_DEPTH];
	shot->source = (struct source){
		.timeline = shot->timeline,
		.tasks = shot->tasks,
		.pair = shot->pair,
		.facts = f,
		.start_ns = start_of(m, now_ns),
		.end_ns = now_ns,
	};
}

int live_shot_new(const struct live_model *m, bool is_live, struct live_shot **out)
{
	SCOPED(scoped_live_shot) struct live_shot *shot = calloc(1, sizeof(*shot));
	struct pair_out rows;
	int err;

	if (!shot)
		return -ENOMEM;
	atomic_init(&shot->refs, 1);
	shot->places = copy_of(m->places, m->nr_cpus, sizeof(*m->places));
	err = shot->places ? tasks_copy(m->tasks, &shot->tasks) : -ENOMEM;
	if (!err)
		err = timeline_snapshot(m->timeline, &shot->timeline);
	if (err)
		return err;
	rows = timeline_out(shot->timeline);
	err = pair_snapshot(m->pair, shot->tasks, &rows, pair_now_ns(m->pair), &shot->pair);
	if (err)
		return err;
	fill(shot, m, is_live);
	*out = TAKE_PTR(shot);
	return 0;
}

const struct source *live_shot_source(const struct live_shot *shot)
{
	return &shot->source;
}

uint64_t live_shot_from_ns(const struct live_shot *shot, uint64_t since_ns)
{
	return since_ns > shot->source.start_ns ? since_ns : shot->source.start_ns;
}
