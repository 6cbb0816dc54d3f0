#include "analyze/wait_times.h"

static uint32_t read_times(const struct wait_times *w, size_t offset, uint64_t *out)
{
	return timeline_times(w->sc->s->timeline, TIMELINE_WAIT, offset, w->next, out,
	                      WAIT_TIMES_BATCH);
}

static bool load(struct wait_times *w)
{
	uint64_t wakeups[WAIT_TIMES_BATCH];

	if (!w->is_begun)
		w->next = timeline_first(w->sc->s->timeline, TIMELINE_WAIT);
	w->is_begun = true;
	w->at = 0;
	w->nr = read_times(w, offsetof(struct pair_wait, waking_ns), w->starts);
	(void)read_times(w, offsetof(struct pair_wait, wakeup_ns), wakeups);
	(void)read_times(w, offsetof(struct pair_wait, end_ns), w->ends);
	for (uint32_t i = 0; i < w->nr; i++)
		w->starts[i] = w->starts[i] ? w->starts[i] : wakeups[i];
	w->next += w->nr;
	return w->nr;
}

bool wait_times_next(struct wait_times *w, uint64_t *start_ns, uint64_t *end_ns)
{
	if (++w->at >= w->nr && !load(w))
		return false;
	*start_ns = w->starts[w->at];
	*end_ns = w->ends[w->at];
	return true;
}

bool wait_times_row(const struct wait_times *w, struct pair_wait *out)
{
	const struct scope *sc = w->sc;
	union timeline_row row;

	if (!timeline_row(sc->s->timeline, TIMELINE_WAIT, w->next - w->nr + w->at, &row))
		return false;
	*out = row.wait;
	return sc->is_all || (pass_takes_cpu(sc->args, out->cpu) &&
	                      scope_takes(sc, out->task, w->starts[w->at]) &&
	                      scope_overlaps(sc, w->starts[w->at], w->ends[w->at]));
}
