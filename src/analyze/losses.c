#include "analyze/losses.h"

#include "model/allowed.h"
#include "model/event_log.h"
#include "model/pair.h"
#include "model/timeline.h"

/* A source need not have all parts: what is not there has lost nothing. */

static uint64_t read_timeline_rows(const struct source *s)
{
	struct timeline_loss loss = { 0 };

	if (s->timeline)
		timeline_loss(s->timeline, &loss);
	return loss.dropped;
}

static uint64_t read_timeline_cut(const struct source *s)
{
	struct timeline_loss loss = { 0 };

	if (s->timeline)
		timeline_loss(s->timeline, &loss);
	return loss.cut;
}

static uint64_t read_tasks(const struct source *s)
{
	struct tasks_loss loss = { 0 };

	if (s->tasks)
		tasks_loss(s->tasks, &loss);
	return loss.no_room;
}

static uint64_t read_tasks_forgotten(const struct source *s)
{
	struct tasks_loss loss = { 0 };

	if (s->tasks)
		tasks_loss(s->tasks, &loss);
	return loss.early;
}

static uint64_t read_task_names(const struct source *s)
{
	struct tasks_loss loss = { 0 };

	if (s->tasks)
		tasks_loss(s->tasks, &loss);
	return loss.no_name_room;
}

static uint64_t read_logged_events(const struct source *s)
{
	return s->log ? event_log_dropped(s->log) : 0;
}

static uint64_t read_affinities(const struct source *s)
{
	return s->affinity ? allowed_dropped(s->affinity) : 0;
}

static uint64_t read_cgroups(const struct source *s)
{
	return s->tasks ? tasks_cgroups_dropped(s->tasks) : 0;
}

static uint64_t read_unproven_waits(const struct source *s)
{
	struct pair_breaks breaks = { 0 };

	if (s->pair)
		pair_breaks(s->pair, &breaks);
	return breaks.unproven_waits;
}

void source_losses(const struct source *s, struct losses *out)
{
	static uint64_t (*const readers[NR_LOSSES])(const struct source *s) = {
#define X(name, what) [LOSS_##name] = read_##name,
		LOSSES_OF_RECORDING(X)
#undef X
	};

	for (int i = 0; i < NR_LOSSES; i++)
		out->nr[i] = readers[i] ? readers[i](s) : s->facts ? s->facts->recorder.nr[i] : 0;
}
