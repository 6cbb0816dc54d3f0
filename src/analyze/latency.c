#include "analyze/latency.h"

#include "model/interrupt.h"

bool latency_counts(const struct pair_wait *w)
{
	return w->cause != PAIR_PREEMPTED && !w->is_open;
}

uint64_t latency_queue_ns(const struct pair_wait *w)
{
	return w->end_ns - pair_wait_start_ns(w);
}

uint32_t latency_interrupt(uint8_t flags, uint16_t by)
{
	return interrupt_key(interrupt_context(flags, by), by);
}

const char *latency_cause(const struct pair_wait *w)
{
	static const char *const names[] = { "woken", "new", "preempted" };

	return names[w->cause];
}

bool latency_is_throttled(const struct source *s, const struct pair_wait *w)
{
	uint64_t start_ns = pair_wait_woken_ns(w);
	struct timeline_query q = { TIMELINE_THROTTLE, w->task, TIMELINE_ANY_CPU, start_ns,
		                    start_ns + 1 };
	struct timeline_iter it;

	return w->cause == PAIR_PREEMPTED &&
	       timeline_end(s->timeline, TIMELINE_THROTTLE) >
	               timeline_first(s->timeline, TIMELINE_THROTTLE) &&
	       !timeline_find(s->timeline, &q, &it) && timeline_next(&it, NULL, NULL);
}

void latency_from_add(struct latency_from *f, const struct pair_wait *w)
{
	if (w->cause == PAIR_PREEMPTED)
		f->switch_out++;
	else if (w->waking_ns)
		f->waking++;
	else
		f->wakeup++;
}

void latency_from_report(const struct latency_from *f, struct report *r)
{
	const char *from = f->switch_out ? "switch_out" : NULL;

	if (f->wakeup)
		from = "wakeup";
	if (f->waking)
		from = "waking";
	report_string(r, "from", from);
	report_u64(r, "from_waking", f->waking);
	report_u64(r, "from_wakeup", f->wakeup);
	if (f->switch_out)
		report_u64(r, "from_switch_out", f->switch_out);
}

void latency_from_one(const struct pair_wait *w, struct report *r)
{
	if (w->cause == PAIR_PREEMPTED)
		report_string(r, "from", "switch_out");
	else
		report_string(r, "from", w->waking_ns ? "waking" : "wakeup");
}
