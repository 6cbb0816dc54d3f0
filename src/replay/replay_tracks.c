#include "replay/replay_tracks.h"

#include <errno.h>
#include <stdlib.h>

#include "model/timeline_moment.h"

int replay_tracks_init(struct replay_tracks *t, const struct source *s)
{
	uint32_t nr = tasks_nr(s->tasks);

	*t = (struct replay_tracks){ .s = s };
	t->tracks = calloc(nr ? nr : 1, sizeof(*t->tracks));
	return t->tracks ? 0 : -ENOMEM;
}

void replay_tracks_done(struct replay_tracks *t)
{
	free(t->tracks);
	*t = (struct replay_tracks){ 0 };
}

static char letter_of(uint16_t state_bits)
{
	static const struct {
		uint16_t bit;
		char letter;
	} letters[] = {
		{ EV_STATE_IDLE, 'I' },   { EV_STATE_PARKED, 'P' }, { EV_STATE_STOPPED, 'T' },
		{ EV_STATE_TRACED, 'T' }, { EV_STATE_S, 'S' },      { EV_STATE_D, 'D' },
		{ EV_STATE_ZOMBIE, 'Z' }, { EV_STATE_DEAD, 'X' },
	};

	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (state_bits & letters[i].bit)
			return letters[i].letter;
	return '?';
}

/* The row of a table that holds at a moment, of a task. */
static bool find(const struct replay_tracks *t, enum timeline_table table, uint32_t task,
                 uint64_t ts_ns, union timeline_row *row)
{
	const struct timeline_whose w = { table, task, TIMELINE_ANY_CPU };
	uint64_t start_ns;

	if (!timeline_after(t->s->timeline, &w, ts_ns, row))
		return false;
	start_ns = table == TIMELINE_WAIT ? pair_wait_start_ns(&row->wait) : row->slice.start_ns;
	return start_ns <= ts_ns;
}

static void hold(struct replay_track *to, enum replay_doing doing, uint64_t since_ns,
                 uint64_t until_ns)
{
	to->doing = (uint8_t)doing;
	to->since_ns = since_ns;
	to->until_ns = until_ns;
}

/* Sleepers are most, and the unknown fewest. */
static void find_doing(const struct replay_tracks *t, uint32_t task, uint64_t ts_ns,
                       struct replay_track *to)
{
	union timeline_row row;

	if (find(t, TIMELINE_SLEEP, task, ts_ns, &row)) {
		hold(to, REPLAY_SLEEPS, row.sleep.start_ns, row.sleep.end_ns);
		to->state = letter_of(row.sleep.state_bits);
	} else if (find(t, TIMELINE_SLICE, task, ts_ns, &row)) {
		hold(to, REPLAY_RUNS, row.slice.start_ns, row.slice.end_ns);
		to->state = 'R';
		to->cpu = row.slice.cpu;
		to->prio = row.slice.prio;
		to->has_prio = true;
	} else if (find(t, TIMELINE_WAIT, task, ts_ns, &row)) {
		hold(to, REPLAY_WAITS, pair_wait_start_ns(&row.wait), row.wait.end_ns);
		to->state = 'R';
	} else if (find(t, TIMELINE_GAP, task, ts_ns, &row)) {
		hold(to, REPLAY_UNKNOWN, row.gap.start_ns, row.gap.end_ns);
	} else {
		hold(to, REPLAY_UNKNOWN, ts_ns, ts_ns);
	}
}

const struct replay_track *replay_tracks_at(struct replay_tracks *t, uint32_t task, uint64_t ts_ns)
{
	const struct timeline_whose slices = { TIMELINE_SLICE, task, TIMELINE_ANY_CPU };
	struct replay_track *track = &t->tracks[task];
	union timeline_row last;

	if (track->since_ns <= ts_ns && ts_ns < track->until_ns)
		return track;
	*track = (struct replay_track){ .cpu = -1, .state = '?' };
	find_doing(t, task, ts_ns, track);
	if (track->doing != REPLAY_RUNS && timeline_before(t->s->timeline, &slices, ts_ns, &last)) {
		track->cpu = last.slice.cpu;
		track->prio = last.slice.prio;
		track->has_prio = true;
	}
	return track;
}
