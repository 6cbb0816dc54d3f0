#include <string.h>

#include "trace/ftrace/events.h"

static uint64_t num(const struct ftrace_event_in *e, uint32_t field)
{
	return e->has & ~e->texts & 1U << field ? e->values[field] : 0;
}

static void *add(struct ftrace_cpu *on, const struct ftrace_event_in *e, uint8_t kind,
                 uint32_t size)
{
	struct ev_hdr *hdr = rec_add(on->dec->out, kind, size, on->cpu, e->ts_ns);

	hdr->flags = e->flags;
	return hdr;
}

void ftrace_on_throttle(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_throttle *rec = add(on, e, EV_THROTTLE, sizeof(*rec));

	rec->cgroup = num(e, THROTTLE_CGROUP);
	rec->quota_ns = num(e, THROTTLE_QUOTA_NS);
	rec->period_ns = num(e, THROTTLE_PERIOD_NS);
	rec->until_ns = num(e, THROTTLE_UNTIL_NS);
	rec->tid = tid_of(num(e, THROTTLE_PID));
	rec->limit = (uint32_t)num(e, THROTTLE_LIMIT);
}

void ftrace_on_refill(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_refill *rec = add(on, e, EV_REFILL, sizeof(*rec));
	uint64_t len = e->texts & 1U << REFILL_CPUS ? e->values[REFILL_CPUS] : 0;

	rec->cgroup = num(e, REFILL_CGROUP);
	rec->nr_cpus = (uint32_t)num(e, REFILL_NR_CPUS);
	rec->pad_ = 0;
	memset(rec->cpus, 0, sizeof(rec->cpus));
	for (uint64_t i = 0; i < EV_REFILL_CPUS && 2 * i + 1 < len; i++)
		rec->cpus[i] = (__u16)(e->bytes[REFILL_CPUS][2 * i] |
		                       e->bytes[REFILL_CPUS][2 * i + 1] << 8);
	/* What names fewer CPUs than it counts does not say which. */
	if (rec->nr_cpus > len / 2)
		rec->nr_cpus = EV_REFILL_CPUS + 1;
}

void ftrace_on_steal(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_steal *rec = add(on, e, EV_STEAL, sizeof(*rec));

	rec->ns = num(e, STEAL_NS);
}

void ftrace_on_rt_limit(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_rt_limit *rec = add(on, e, EV_RT_LIMIT, sizeof(*rec));

	rec->is_on = num(e, RT_LIMIT_IS_ON) != 0;
	rec->pad_ = 0;
}

void ftrace_on_throttled(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_throttled *rec = add(on, e, EV_THROTTLED, sizeof(*rec));

	rec->cgroup = num(e, THROTTLED_CGROUP);
	rec->quota_ns = num(e, THROTTLED_QUOTA_NS);
	rec->period_ns = num(e, THROTTLED_PERIOD_NS);
	rec->start_ns = num(e, THROTTLED_START_NS);
	rec->cpu = (uint32_t)num(e, THROTTLED_CPU);
	rec->pad_ = 0;
}
