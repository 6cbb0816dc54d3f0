#include "analyses/explain/quota_periods.h"

/* A time in which at least one task of the cgroup was throttled. */
struct stretch {
	uint64_t start_ns, end_ns;
};

/* How many timers of periods lie in it; next_ns is when the stretch after it ends, 0 = there is none. */
static uint64_t timers_in(const struct stretch *x, uint64_t period_ns, uint64_t next_ns)
{
	bool is_last_shared = next_ns && next_ns - x->end_ns < period_ns / 2;

	return (x->end_ns - x->start_ns) / period_ns + !is_last_shared;
}

/* Rows are in the order of their ends: from the last to the first those that touch become one. */
bool quota_periods(const struct source *s, uint64_t cgroup, struct quota_periods *out)
{
	uint64_t first = timeline_first(s->timeline, TIMELINE_THROTTLE), period_ns = 0, next_ns = 0;
	struct stretch now = { 0 };
	union timeline_row row;

	*out = (struct quota_periods){ 0 };
	for (uint64_t i = timeline_end(s->timeline, TIMELINE_THROTTLE); i-- > first;) {
		const struct pair_throttle *t = &row.throttle;

		if (!timeline_row(s->timeline, TIMELINE_THROTTLE, i, &row) ||
		    t->limit != EV_LIMIT_QUOTA || t->cgroup != cgroup)
			continue;
		if (!t->period_ns || (period_ns && period_ns != t->period_ns))
			return false;
		period_ns = t->period_ns;
		if (now.end_ns && t->end_ns < now.start_ns) {
			out->throttled += timers_in(&now, period_ns, next_ns);
			next_ns = now.end_ns;
			now.end_ns = 0;
		}
		if (!now.end_ns)
			now = (struct stretch){ t->start_ns, t->end_ns };
		else if (t->start_ns < now.start_ns)
			now.start_ns = t->start_ns;
	}
	if (!now.end_ns)
		return false;
	out->throttled += timers_in(&now, period_ns, next_ns);
	out->passed = (s->end_ns - s->start_ns + period_ns - 1) / period_ns;
	if (out->passed < out->throttled)
		out->passed = out->throttled;
	return s->end_ns - s->start_ns >= 2 * period_ns;
}
