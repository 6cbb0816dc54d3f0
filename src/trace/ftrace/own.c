/* Policies of tasks and waits for locks, which only our recorder writes. */
#include "trace/ftrace/events.h"
#include "trace/ftrace/fields.h"
#include "trace/perfetto/schema.h"

void ftrace_policy(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	uint64_t policy = num(e, POLICY_POLICY);
	struct ev_policy *rec;

	if (!tid(e, POLICY_PID) || policy >= ABI_POLICIES)
		return;
	decoder_see_tid(on->dec, e->ts_ns, tid(e, POLICY_PID));
	rec = ADD(on, e, EV_POLICY, ev_policy);
	rec->tid = tid(e, POLICY_PID);
	rec->prio = prio_of(num(e, POLICY_PRIO));
	rec->cookie = (uint32_t)num(e, POLICY_COOKIE);
	rec->policy = (uint8_t)policy;
	rec->pad_ = 0;
	rec->pad2_ = 0;
}

void ftrace_lock(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_lock *rec;

	if (num(e, LOCK_START_NS) > num(e, LOCK_END_NS) || num(e, LOCK_END_NS) > e->ts_ns)
		return;
	decoder_see_tid(on->dec, e->ts_ns, tid(e, LOCK_PID));
	rec = ADD(on, e, EV_LOCK, ev_lock);
	rec->lock = num(e, LOCK_ADDRESS);
	rec->start_ns = num(e, LOCK_START_NS);
	rec->end_ns = num(e, LOCK_END_NS);
	rec->tid = tid(e, LOCK_PID);
	rec->type = (uint8_t)num(e, LOCK_TYPE);
	memset(rec->pad_, 0, sizeof(rec->pad_));
}
